"""The documents are whole: what they link to is there, what they show runs, nothing is left out."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from embedprop.instance.catalog import REGISTRIES, describe_part

ROOT = Path(__file__).parents[1]
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
NAMES = [str(file.relative_to(ROOT)) for file in DOCUMENTS]
LOCAL_PICTURE = re.compile(r"!\[[^\]]*\]\((?!https?:)([^)\s]+)")
LOCAL_LINK = re.compile(r"\]\((?!https?:)([^)\s]+)\)")
PLACEHOLDER = re.compile(r"<!--\s*table\s*-->")
CODE = re.compile(r"```.*?```", re.DOTALL)
# A file or folder that ARCHITECTURE.md names.
NAMED_PATH = re.compile(r"`([\w./]+/[\w.]*)`")


def anchors_of(file: Path) -> set[str]:
    """The anchors of the headings of a page, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", CODE.sub("", file.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings}


def commands() -> list[str]:
    """Every `embedprop` command that a document shows."""
    found = []
    for file in DOCUMENTS:
        blocks = re.findall(r"```bash\n(.*?)```", file.read_text("utf-8"), re.DOTALL)
        lines = "".join(blocks).replace("\\\n", " ").splitlines()
        found += [line for line in lines if line.startswith("embedprop ")]
    return sorted(set(found))


def test_there_are_documents_with_pictures() -> None:
    found = [one for file in DOCUMENTS for one in LOCAL_PICTURE.findall(file.read_text())]
    assert "docs/images/demo.png" in found
    assert len(found) > 2


@pytest.mark.parametrize("file", DOCUMENTS, ids=NAMES)
def test_every_picture_of_a_document_exists(file: Path) -> None:
    found = LOCAL_PICTURE.findall(file.read_text())
    assert [one for one in found if not (file.parent / one).is_file()] == []


@pytest.mark.parametrize("file", DOCUMENTS, ids=NAMES)
def test_no_table_of_a_document_is_left_out(file: Path) -> None:
    assert not PLACEHOLDER.search(file.read_text())


@pytest.mark.parametrize("file", DOCUMENTS, ids=NAMES)
def test_every_link_of_a_document_leads_somewhere(file: Path) -> None:
    broken = []
    for link in LOCAL_LINK.findall(CODE.sub("", file.read_text("utf-8"))):
        path, _, anchor = link.partition("#")
        target = file.parent / path if path else file
        is_there = target.exists()
        if anchor and is_there:
            is_there = anchor in anchors_of(target)
        if not is_there:
            broken.append(link)
    assert broken == []


def test_every_path_that_the_architecture_names_exists() -> None:
    text = CODE.sub("", (ROOT / "ARCHITECTURE.md").read_text("utf-8"))
    named = NAMED_PATH.findall(text)
    assert len(named) > 50
    roots = (ROOT / "src/embedprop", ROOT)
    assert [one for one in named if not any((root / one).exists() for root in roots)] == []


@pytest.mark.parametrize("command", commands())
def test_the_options_of_every_command_that_is_shown_exist(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from embedprop.cli.main import main

    words = shlex.split(command.partition(" #")[0])[1:]
    name = words[:2] if words[0] == "data" else words[:1]
    assert main([*name, "--help"]) == 0
    known = set(re.findall(r"(?<![\w-])--?\w[\w-]*", capsys.readouterr().out))
    assert {word for word in words if re.fullmatch(r"--?[a-z][\w-]*", word)} <= known


@pytest.mark.parametrize("page", ["closed-form", "framework", "missing-labels"])
def test_the_code_of_a_page_runs(page: str) -> None:
    text = (ROOT / f"docs/{page}.md").read_text("utf-8")
    names: dict[str, object] = {}
    for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(compile(code, f"docs/{page}.md", "exec"), names)
    assert "model" in names


def is_ours(part: object) -> bool:
    """Whether no test and no other package registered it."""
    return str(getattr(part, "__module__", "")).startswith("embedprop.")


def written(kind: str, name: str) -> str:
    parameters = describe_part(kind, name).parameters
    given = ", ".join(f"{key}={value!r}" for key, value in parameters.items())
    return f"{name}({given})" if given else name


def test_the_page_on_the_framework_lists_every_part() -> None:
    text = (ROOT / "docs/framework.md").read_text("utf-8").partition("<!-- parts -->")[2]
    sections = {one.split("`")[1]: one for one in text.split("\n## ")[1:]}
    assert list(sections) == list(REGISTRIES)
    for kind, section in sections.items():
        ours = [name for name in REGISTRIES[kind] if is_ours(REGISTRIES[kind][name])]
        rows = [
            f"| `{written(kind, name)}` | {describe_part(kind, name).description} |"
            for name in ours
        ]
        assert [line for line in section.splitlines() if line.startswith("| `")] == rows


def test_the_example_of_the_baselines_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs/baselines.md").read_text(), re.S)
    exec(compile(code, "docs/baselines.md", "exec"), {})
    assert capsys.readouterr().out == "(5, 8)\nann tea\nbob tea\ncem tea\ndot coffee\neve coffee\n"
