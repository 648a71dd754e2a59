"""Whether this code learns what the code of e33ba8e learned: every vector, to the byte.

    export OMP_NUM_THREADS=1 EMBEDPROP_DATA=...
    python benchmarks/same_bytes.py                  # e33ba8e, from this repository, against here
    python benchmarks/same_bytes.py --old DIR/src    # from a folder that has that code
    python benchmarks/same_bytes.py --only closed    # the cases whose names hold a word

Both versions run in processes of their own at the same time, on this machine and with the same
libraries: bytes differ by CPU, so none are stored. A line for each case says whether all arrays are
equal; a difference must be named, with its reason, in EXPLAINED. Exit code 1: one is not, or a case
failed. Without EMBEDPROP_DATA the cases on real graphs are left out.
"""

from __future__ import annotations

import argparse
import logging
import os
import subprocess
import sys
import tarfile
import tempfile
import time
import traceback
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

OLD_COMMIT = "e33ba8e"
HERE = Path(__file__).resolve()
# What differs for a good reason: {case: the reason}.
EXPLAINED: dict[str, str] = {}
ERROR = "error"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--old", type=Path, help=f"the src folder of {OLD_COMMIT}")
    parser.add_argument("--new", type=Path, default=HERE.parents[1] / "src")
    parser.add_argument("--only", default="", help="a word in the names of the cases")
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker is not None:
        work(options.worker, options.only)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        old = options.old or extracted(folder)
        found = both(old.resolve(), options.new.resolve(), folder, options.only)
        sys.exit(0 if compared(*found) else 1)


def extracted(folder: Path) -> Path:
    """Return the src folder of the old commit, taken from this repository."""
    command = ["git", "archive", OLD_COMMIT, "src"]
    archive = subprocess.run(command, cwd=HERE.parents[1], capture_output=True, check=True)
    with tarfile.open(fileobj=BytesIO(archive.stdout)) as files:
        files.extractall(folder / "old", filter="data")
    return folder / "old" / "src"


def both(old: Path, new: Path, folder: Path, only: str) -> tuple[Path, Path]:
    """Run all cases by both versions at once; return the folders with their arrays."""
    results = (folder / "of old", folder / "of new")
    running = []
    for src, result in zip((old, new), results, strict=True):
        result.mkdir()
        command = [sys.executable, str(HERE), "--worker", str(result), "--only", only]
        running.append(subprocess.Popen(command, env=os.environ | {"PYTHONPATH": str(src)}))
    for process in running:
        if process.wait() != 0:
            sys.exit(f"A process that runs the cases ended with code {process.returncode}.")
    return results


def work(folder: Path, only: str) -> None:
    """Run the cases by the version that is imported, and keep the arrays of each."""
    from same_bytes_cases import cases
    from same_bytes_runs import run

    logging.disable()
    for number, (name, case) in enumerate(cases().items()):
        if only in name:
            try:
                arrays = {key: np.asarray(value) for key, value in run(case).items()}
            except Exception:
                arrays = {ERROR: np.array(traceback.format_exc())}
            np.savez(folder / f"{number:02}.npz", **arrays)
            (folder / f"{number:02}.txt").write_text(name, encoding="utf-8")


def compared(old: Path, new: Path) -> bool:
    """Print a line for each case; return whether all is equal or explained."""
    names = {file.stem: file.read_text(encoding="utf-8") for file in sorted(old.glob("*.txt"))}
    n_equal, n_explained = 0, 0
    for stem, name in names.items():
        with np.load(old / f"{stem}.npz") as a, np.load(new / f"{stem}.npz") as b:
            verdict = difference(dict(a), dict(b))
        if verdict is None:
            n_equal += 1
            stale = " (EXPLAINED names it for nothing)" if name in EXPLAINED else ""
            print(f"equal    {name}{stale}")
        elif name in EXPLAINED:
            n_explained += 1
            print(f"differs  {name}: {verdict}; {EXPLAINED[name]}")
        else:
            print(f"DIFFERS  {name}: {verdict}; unexplained")
    n_bad = len(names) - n_equal - n_explained
    print(f"{len(names)} cases: {n_equal} equal, {n_explained} explained, {n_bad} unexplained")
    return bool(names) and n_bad == 0


def difference(old: dict[str, Any], new: dict[str, Any]) -> str | None:
    """Return how two sets of arrays differ, in words; None: not at all."""
    for version, arrays in (("e33ba8e", old), ("today's code", new)):
        if ERROR in arrays:
            return f"{version} failed:\n{arrays[ERROR]}"
    if old.keys() != new.keys():
        return f"only one has {', '.join(sorted(old.keys() ^ new.keys()))}"
    found = {key: of_array(old[key], new[key]) for key in old}
    return "; ".join(f"{key} {how}" for key, how in found.items() if how) or None


def of_array(a: Any, b: Any) -> str | None:
    if a.dtype != b.dtype or a.shape != b.shape:
        return f"is {b.dtype} {b.shape} instead of {a.dtype} {a.shape}"
    if a.tobytes() == b.tobytes():
        return None
    if a.dtype.kind != "f":
        return f"differs in {int((a != b).sum())} of {a.size}"
    return f"by at most {np.abs(a - b).max():.3g}, in {int((a != b).sum()):,} of {a.size:,}"


if __name__ == "__main__":
    start = time.perf_counter()
    try:
        main()
    finally:
        if "--worker" not in sys.argv:
            print(f"{time.perf_counter() - start:.0f} s")
