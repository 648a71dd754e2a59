from pathlib import Path

import pytest
from tests.files.folder.models import NEW, OLD, Model


@pytest.fixture
def old() -> Model:
    return OLD


@pytest.fixture
def new() -> Model:
    return NEW


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the old model in it."""
    OLD.save(tmp_path / "model")
    return tmp_path / "model"
