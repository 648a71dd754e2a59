import json
import os

import pytest

from embedprop import __version__
from embedprop.evaluation import provenance as module
from embedprop.evaluation.provenance import commit, date, machine, provenance, publish
from embedprop.evaluation.records import read_records


@pytest.fixture(autouse=True)
def _asked_anew():
    commit.cache_clear()
    yield
    commit.cache_clear()


def test_a_record_says_with_which_version_commit_and_machine_it_was_made():
    assert provenance() == {"version": __version__, "commit": commit(), "machine": machine()}
    assert machine().endswith(f", {os.cpu_count()} cores")


def test_without_git_the_commit_is_empty(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert commit() == ""


def test_outside_a_checkout_the_commit_is_empty(monkeypatch, tmp_path):
    monkeypatch.setattr(module, "__file__", str(tmp_path / "provenance.py"))
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert commit() == ""


@pytest.mark.skipif(not hasattr(os, "getloadavg"), reason="this system does not count its load")
def test_a_measurement_is_printed_and_appended_with_machine_commit_and_day(tmp_path, capsys):
    publish({"seconds": 1.5}, tmp_path / "records.jsonl")
    (record,) = read_records(tmp_path / "records.jsonl")
    assert record == json.loads(capsys.readouterr().out)
    assert (record["seconds"], record["date"]) == (1.5, date())
    assert record["machine"].startswith(f"{machine()}, ")
    assert record["commit"].startswith(commit())
