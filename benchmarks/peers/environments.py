"""An environment for each peer, made on first use: their requirements exclude each other."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

REQUIREMENTS = Path(__file__).parent / "requirements"
STAMP = "made-of"


def cache_folder() -> Path:
    """Return where environments are kept: EMBEDPROP_BENCHMARKS, or a folder in the user's cache."""
    named = os.environ.get("EMBEDPROP_BENCHMARKS")
    return Path(named) if named else Path.home() / ".cache" / "embedprop-benchmarks"


def python_of(environment: str | None) -> Path:
    """Return the Python of an environment; make it if its requirements are new or have changed."""
    if environment is None:
        return Path(sys.executable)
    requirements = REQUIREMENTS / f"{environment}.txt"
    folder = cache_folder() / environment
    wanted = fingerprint(requirements)
    stamp = folder / STAMP
    python = folder / "bin" / "python"
    if stamp.is_file() and stamp.read_text() == wanted:
        return python
    print(f"making the environment {environment} in {folder}", flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    install = [str(python), "-m", "pip", "install", "--quiet", "--requirement", str(requirements)]
    subprocess.run(install, check=True)
    stamp.write_text(wanted)  # last: half an environment has none
    return python


def fingerprint(requirements: Path) -> str:
    """Return what an environment is made of: this version of Python, and these requirements."""
    text = f"{sys.version_info[:2]}\n{requirements.read_text()}"
    return hashlib.sha256(text.encode()).hexdigest()
