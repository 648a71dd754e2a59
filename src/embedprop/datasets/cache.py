"""Where downloads and the data sets made of them are kept, one place per user."""

from __future__ import annotations

import os
import sys
from pathlib import Path

CACHE_VARIABLE = "EMBEDPROP_CACHE"


def cache_folder() -> Path:
    """Return the cache: what EMBEDPROP_CACHE names, or the usual place of the platform.

    It holds ``data`` (finished data sets), ``originals`` (files as they were published) and
    ``unfinished`` (what is being written). It is not made by asking for it.
    """
    given = os.environ.get(CACHE_VARIABLE)
    if given:
        return Path(given).expanduser().absolute()
    # The places that each platform asks programs to use.
    if sys.platform == "win32":
        return _usual("LOCALAPPDATA", "~/AppData/Local") / "embedprop" / "Cache"
    if sys.platform == "darwin":
        return Path("~/Library/Caches/embedprop").expanduser()
    return _usual("XDG_CACHE_HOME", "~/.cache") / "embedprop"


def cached_data() -> Path:
    """Return the folder of the data sets in the cache."""
    return cache_folder() / "data"


def _usual(variable: str, otherwise: str) -> Path:
    """Return the folder that `variable` names; a relative one does not count, says XDG."""
    given = Path(os.environ.get(variable, ""))
    return given if given.is_absolute() else Path(otherwise).expanduser()
