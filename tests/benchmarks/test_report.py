"""The page of all benchmarks says what the record says, also where a limit is missed."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.benchmarks.measurements import THREE

from embedprop.instance.parameters import FAST

ROOT = Path(__file__).parents[2]
ABOUT = {"machine": "m, load 0.5", "commit": "c", "date": "2000-01-02"}
EPOCH = {
    "benchmark": "epoch",
    "graph": "blogcatalog",
    "n_nodes": 3,
    "n_edges": 4,
    "label_types": ["node"],
    "epochs": 200,
    "cpu_seconds": 50.0,
    "product_cpu_seconds": {"A X": 0.05, "A' X": 0.05},
    "ratio": 2.5,
    **ABOUT,
}
LARGE = {"graph": "power-law", "n_nodes": 1_000_000, "n_edges": 10_000_000}


def preset(graph: str, name: str, quality: float, seed: int = 0, **others: Any) -> dict[str, Any]:
    epochs = {"paper": 200, "fast": FAST["epochs"]}[name]
    start = {"benchmark": "preset", "graph": graph, "preset": name, "epochs": epochs, "seed": seed}
    return start | {"quality": quality, "cpu_seconds": 5.0} | ABOUT | others


@pytest.fixture
def report(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    return importlib.import_module("report")


def holding(report: ModuleType, records: list[dict[str, Any]], what: str) -> bool | None:
    (one,) = [one for one in report.limits.limits(records) if what in one.what]
    found: bool | None = one.holds
    return found


@pytest.mark.parametrize(
    ("what", "record", "change"),
    [
        ("BlogCatalog: an epoch", EPOCH, {"ratio": 2.51}),
        ("second thread", EPOCH | {"speed_up_of_2_threads": 1.6}, {"speed_up_of_2_threads": 1.59}),
        (
            "Pubmed with words",
            EPOCH | {"graph": "pubmed", "label_types": ["word"], "ratio": 3.0},
            {"ratio": 3.01},
        ),
        ("10 M edges: an epoch", EPOCH | LARGE | {"ratio": 5.0}, {"ratio": 5.01}),
        (
            "peak memory",
            {"benchmark": "memory", **LARGE, "peak_gb": 3.1, "allowed_gb": 3.1},
            {"peak_gb": 3.11},
        ),
        (
            "from text: anonymous",
            {
                "benchmark": "larger_than_memory",
                "nodes": 10_000_000,
                "max_neighbors": 10,
                "from": "text",
                "peak anonymous GB": 6.0,
            },
            {"peak anonymous GB": 6.01},
        ),
        (
            "slope",
            {
                "benchmark": "scale",
                "instance": "epb",
                "slope": 1.1,
                "points": [{"n_edges": 10_000}, {"n_edges": 10_000_000}],
            },
            {"slope": 1.11},
        ),
        ("`: CPU", preset("blogcatalog", "fast", 34.5, cpu_seconds=6.0), {"cpu_seconds": 6.01}),
        ("micro-F1 at 10 %", preset("blogcatalog", "fast", 34.5), {"quality": 34.49}),
    ],
)
def test_a_limit_holds_up_to_its_bound_and_the_newest_record_counts(
    report: ModuleType, what: str, record: dict[str, Any], change: dict[str, Any]
) -> None:
    assert holding(report, [], what) is None
    assert holding(report, [record], what) is True
    assert holding(report, [record, record | change], what) is False
    assert holding(report, [record | change, record], what) is True


def test_records_of_other_sizes_do_not_count(report: ModuleType) -> None:
    small = EPOCH | LARGE | {"n_edges": 1000, "ratio": 1.0}
    assert holding(report, [small], "10 M edges: an epoch") is None
    assert holding(report, [EPOCH | {"epochs": 3}], "BlogCatalog: an epoch") is None


def test_presets_are_means_of_seeds_with_their_own_number_of_epochs(report: ModuleType) -> None:
    records = [
        preset("ppi", "paper", 18.0),
        preset("ppi", "fast", 17.0),
        preset("ppi", "fast", 18.0, seed=1),
        preset("ppi", "fast", 99.0, epochs=7),
    ]
    assert holding(report, records, "PPI: ") is True
    assert holding(report, [*records, preset("ppi", "fast", 16.9)], "PPI: ") is False
    assert holding(report, records, "POS: ") is None
    text = report.page([{**one, "commit": "c"} for one in records])
    assert "| PPI | 18.00 | 5.0 | 17.50 | 5.0 | -0.50 | 1 / 2 |" in text


def test_what_is_missed_and_what_is_not_measured_is_said_first(report: ModuleType) -> None:
    text = report.limits.table(report.limits.limits([EPOCH | {"ratio": 2.6}]))
    assert "**Missed (1):** BlogCatalog: an epoch" in text
    assert "| at most 2.5 | 2.60 | **no** |" in text
    assert "| no record | **not known** |" in text


def test_sections_have_the_newest_records_and_unknown_kinds_are_ignored(
    report: ModuleType, tmp_path: Path
) -> None:
    unknown = {"benchmark": "unheard_of", "graph": "nothing", **ABOUT}
    new = {"ratio": 1.25, "speed_up_of_2_processes": 1.75, "commit": "new"}
    text = report.page([EPOCH, EPOCH | new, unknown], tmp_path)
    section = text.split("## An epoch")[1].split("##")[0]
    assert "| blogcatalog | node | 4 | 200 | 0.25 | 0.1 | 1.25 |  | 1.75 | new |" in section
    assert section.count("blogcatalog") == 1
    assert "nothing" not in text
    assert "| epoch | new | m | 1 | 0.5 | 2000-01-02 | 2000-01-02 |" in text


def test_a_picture_is_shown_once_it_is_drawn(report: ModuleType, tmp_path: Path) -> None:
    records = [preset("ppi", "fast", 17.0)]
    assert "presets.png" not in report.page(records, tmp_path)
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "presets.png").touch()
    assert "(images/presets.png)" in report.page(records, tmp_path)


def test_what_was_measured_at_several_commits_tells_which(report: ModuleType) -> None:
    one = {"benchmark": "epoch", "ratio": 2.5, "machine": "m", "commit": "old"}
    lines = report.sections.plain_table([one, one | {"ratio": 1.5, "commit": "new"}]).splitlines()
    assert lines == ["| ratio | commit |", "|---|---|", "| 2.5 | old |", "| 1.5 | new |"]


def test_the_command_writes_page_and_picture_and_fails_where_a_limit_does(tmp_path: Path) -> None:
    record = tmp_path / "record.jsonl"
    record.write_text("".join(json.dumps(one) + "\n" for one in THREE))
    command = [sys.executable, str(ROOT / "benchmarks" / "report.py")]
    command += ["--records", str(record), "--docs", str(tmp_path / "docs")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    assert "0 of 9 by any of ours" in done.stdout
    assert "gensim DeepWalk" in (tmp_path / "docs" / "benchmarks.md").read_text()
    picture = tmp_path / "docs" / "images" / "quality-against-time.png"
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_page_in_the_docs_is_that_of_the_record(report: ModuleType) -> None:
    records = report.read_records(ROOT / "experiments" / "benchmarks.jsonl")
    assert records
    written = (ROOT / "docs" / "benchmarks.md").read_text()
    assert written == report.page(records), "run python benchmarks/report.py"
