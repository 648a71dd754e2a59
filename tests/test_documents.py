"""The documents are whole: pictures are there, and nothing is left to be filled in."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
LOCAL_PICTURE = re.compile(r"!\[[^\]]*\]\((?!https?:)([^)\s]+)")
PLACEHOLDER = re.compile(r"<!--\s*table\s*-->")


def test_there_are_documents_with_pictures() -> None:
    found = [one for file in DOCUMENTS for one in LOCAL_PICTURE.findall(file.read_text())]
    assert "docs/images/demo.png" in found
    assert len(found) > 2


@pytest.mark.parametrize("file", DOCUMENTS, ids=lambda file: file.name)
def test_every_picture_of_a_document_exists(file: Path) -> None:
    found = LOCAL_PICTURE.findall(file.read_text())
    assert [one for one in found if not (file.parent / one).is_file()] == []


@pytest.mark.parametrize("file", DOCUMENTS, ids=lambda file: file.name)
def test_no_table_of_a_document_is_left_out(file: Path) -> None:
    assert not PLACEHOLDER.search(file.read_text())


def test_the_example_of_the_baselines_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs/baselines.md").read_text(), re.S)
    exec(compile(code, "docs/baselines.md", "exec"), {})
    assert capsys.readouterr().out == "(5, 8)\nann tea\nbob tea\ncem tea\ndot coffee\neve coffee\n"
