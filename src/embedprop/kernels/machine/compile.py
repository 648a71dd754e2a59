"""How kernels are compiled, and where the machine code is kept.

Numba notices a changed source file, but not a change in another file whose code it has inlined:
an edited helper would leave stale machine code behind. So the code is kept in a folder named by
the hash of all kernel sources: another source is another folder.
"""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba import njit

_HERE = Path(__file__).parents[1]


def _uncounted() -> dict[str, bool]:
    """Return Numba's option not to count references to arrays, if this version has it."""
    try:
        from numba.core.options import DefaultOptions
    except ImportError:  # not part of its public face
        return {}
    return {"_nrt": False} if hasattr(DefaultOptions, "_nrt") else {}


_UNCOUNTED = _uncounted()


def _source_hash() -> str:
    digest = hashlib.sha256()
    for file in sorted(_HERE.rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _cache_folder() -> Path | None:
    """Return the folder for machine code, or None where nothing can be written."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111
    config: Any = numba.config
    chosen = [Path(config.CACHE_DIR)] if config.CACHE_DIR else []
    for parent in (*chosen, _HERE / "__pycache__", Path(home) / "embedprop"):
        folder = parent / f"kernels-{_source_hash()}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK | os.X_OK):
            return folder
    return None


# None: compile anew in every process, as in a read-only container.
CACHE_FOLDER = _cache_folder()


def kernel(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function to machine code that is kept between processes, without the GIL.

    Division by zero gives inf as in NumPy: checks would keep loops from using vector registers.
    """
    settings: dict[str, Any] = {"nogil": True, "error_model": "numpy"} | options

    def compiled(function: Callable[..., Any]) -> Any:
        if CACHE_FOLDER is None:
            return njit(**settings)(function)
        # Read when the function is decorated; other people's functions keep their own place.
        config: Any = numba.config
        before = config.CACHE_DIR
        config.CACHE_DIR = str(CACHE_FOLDER)
        try:
            return njit(cache=True, **settings)(function)
        finally:
            config.CACHE_DIR = before

    return compiled


def uncounted(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function that makes no array, without counting references to those it is given.

    Every row that a loop looks at would be counted, in one place that all threads write to: it
    would cost a fifth of the time of one thread, and keep two from being faster than one. It may
    give back arrays to a function of its own kind only: others would free them.
    """
    return kernel(**_UNCOUNTED, **options)
