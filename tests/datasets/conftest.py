"""A cache of its own for each test, and the real files where there are any."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, no other data, and no proxy between us and loopback."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("EMBEDPROP_CACHE", str(folder))
    monkeypatch.delenv("EMBEDPROP_DATA", raising=False)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    return folder


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of data sets, with the original files in raw."""
    folder = Path(os.environ.get("EMBEDPROP_DATA", ""))
    if not os.environ.get("EMBEDPROP_DATA") or not (folder / "raw").is_dir():
        pytest.skip("EMBEDPROP_DATA names no folder with original files")
    return folder
