"""`embedprop data`: what is there, and how the rest is fetched."""

import os
from pathlib import Path

import pytest
from tests.cli.conftest import assert_refused
from tests.datasets.servers import closed_port, serving_folder


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("EMBEDPROP_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("EMBEDPROP_DATA", raising=False)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    return tmp_path / "cache"


@pytest.fixture(scope="session")
def raw():
    folder = Path(os.environ.get("EMBEDPROP_DATA", "none")) / "raw"
    if not folder.is_dir():
        pytest.skip("EMBEDPROP_DATA names no folder with original files")
    return folder


def rows_of(answer):
    header, *rows = (line.split("\t") for line in answer.out.splitlines())
    assert header == ["name", "nodes", "edges", "classes", "where"]
    return {name: rest for name, *rest in rows}


def test_the_list_says_what_can_be_fetched_and_what_cannot(shell):
    answer = shell("data", "list")
    assert answer.code == 0
    rows = rows_of(answer)
    assert rows["cora"] == ["2,708", "5,278", "7", "not here: embedprop data get cora"]
    assert rows["wn18"][-1].startswith("not here: cannot be fetched")
    assert rows["cora-linqs"][-1].startswith("not here: cannot be fetched")


def test_without_a_command_the_help_is_shown(shell):
    answer = shell("data")
    assert answer.code == 0
    assert "list" in answer.out
    assert "get" in answer.out


def test_without_network_there_is_one_line_that_names_the_address(shell, cache):
    address = f"http://127.0.0.1:{closed_port()}"
    answer = shell("data", "get", "ppi", "--mirror", address)
    assert_refused(answer, f"{address}/mat/Homo_sapiens.mat", "no connection", "--files")
    assert not (cache / "data").exists()


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("Cora", ["Unknown data set 'Cora'", "cora, citeseer"]),
        ("fb15k237", ["fb15k237 cannot be fetched", "EMBEDPROP_DATA"]),
        ("citeseer-linqs", ["citeseer-linqs cannot be fetched", "--files FOLDER"]),
    ],
)
def test_what_cannot_be_fetched_is_refused_with_the_reason(shell, name, parts):
    assert_refused(shell("data", "get", name), *parts)


def test_a_mirror_that_is_no_address_is_refused(shell):
    assert_refused(shell("data", "get", "ppi", "--mirror", "file:///etc"), "is not an address")


def test_local_files_that_are_missing_are_named(shell, tmp_path):
    answer = shell("data", "get", "ppi", "--files", tmp_path)
    assert_refused(answer, "Homo_sapiens.mat is missing")


def test_a_data_set_is_fetched_and_then_listed_with_its_folder(raw, shell, cache):
    with serving_folder(raw) as address:
        answer = shell("data", "get", "citeseer", "--mirror", address)
    assert answer.code == 0, answer
    assert "3,327 nodes, 4,676 edges" in answer.out
    assert "undirected, it is not known which paper cites which" in answer.out
    assert rows_of(shell("data", "list"))["citeseer"][-1] == str(cache / "data" / "citeseer")
    assert shell("data", "get", "citeseer", "--quiet") == (0, "", "")


def test_the_list_has_data_sets_of_the_users_folder_too(shell, tmp_path, monkeypatch):
    (tmp_path / "own" / "mine").mkdir(parents=True)
    (tmp_path / "own" / "mine" / "meta.json").write_text('{"n_nodes": 1234, "n_edges": 5}')
    monkeypatch.setenv("EMBEDPROP_DATA", str(tmp_path / "own"))
    rows = rows_of(shell("data", "list"))
    assert rows["mine"] == ["1,234", "5", "0", str(tmp_path / "own" / "mine")]
