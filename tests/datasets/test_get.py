"""Names → the cache, through a real server: the same data as the prepared folders."""

import gzip
import hashlib
import json
import os
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import load_npz
from tests.datasets import python2_pickles as py2
from tests.datasets.servers import closed_port, serving_folder

from embedprop.datasets import folder_writer, get_dataset, load_dataset
from embedprop.datasets import sources as sources_module
from embedprop.datasets.download import download_bar
from embedprop.datasets.folder import cache_folder
from embedprop.datasets.sources import OriginalFile, Source
from embedprop.errors import DownloadError, InvalidGraphError, InvalidParameterError

pytestmark = pytest.mark.usefixtures("cache")


@pytest.fixture
def known(monkeypatch):
    """Let a test make a data set known."""

    def add(*added: Source) -> None:
        monkeypatch.setattr(sources_module, "sources", lambda: {s.name: s for s in added})

    return add


@pytest.fixture
def toy(tmp_path, known):
    """A Planetoid data set that no repository has; gives the folder of a mirror."""
    paths = py2.write_planetoid(tmp_path / "mirror" / "planetoid", "toy")

    def make_known() -> None:
        originals = tuple(
            OriginalFile(kind, "planetoid", "me/toy", "0" * 40, f"data/{path.name}", blob_of(path))
            for kind, path in paths.items()
        )
        known(
            Source(
                "toy", "Toy", 508, 507, 2, "planetoid", "none", originals, ("a, b", "c"), ("Mind!",)
            )
        )

    make_known()
    return paths, make_known


def blob_of(path) -> str:
    content = path.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def everything_below(folder):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


@pytest.mark.usefixtures("toy")
def test_a_weighted_planetoid_data_set_is_fetched_converted_and_loaded(cache, tmp_path):
    with serving_folder(tmp_path / "mirror") as address:
        folder = get_dataset("toy", mirror=address)
    assert folder == cache / "data" / "toy"
    dataset = load_dataset("toy", self_loops="keep")
    assert dataset.graph.n_nodes == 508
    assert dataset.graph.n_edges == 507
    assert dataset.graph.labels["word"].weights_of(506).tolist() == [0.5, 2]
    assert dataset.class_names == ("a, b", "c")
    assert dataset.targets.nnz == 506
    assert {part: len(nodes) for part, nodes in dataset.splits.items()} == {
        "train": 4,
        "val": 500,
        "test": 2,
    }
    assert dataset.meta["nodes_without_words"] == [505, 507]
    assert dataset.meta["notes"] == ["Mind!"]
    with pytest.raises(InvalidParameterError, match="do not say which paper cites which"):
        load_dataset("toy", directed=True)


@pytest.mark.usefixtures("toy")
def test_the_sheet_has_the_checksum_of_every_file(tmp_path):
    folder = get_dataset("toy", files=tmp_path / "mirror" / "planetoid")
    described = json.loads((folder / "meta.json").read_text())["files"]
    assert {*described, "meta.json"} == {path.name for path in folder.iterdir()}
    for name, about in described.items():
        content = (folder / name).read_bytes()
        assert about == {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}


@pytest.mark.usefixtures("toy")
def test_conversion_gives_the_same_bytes_each_time(tmp_path):
    def made():
        folder = get_dataset("toy", files=tmp_path / "mirror" / "planetoid", force=True)
        return {path.name: path.read_bytes() for path in folder.iterdir()}

    assert made() == made()


@pytest.mark.usefixtures("toy")
def test_a_data_set_that_is_there_needs_no_network_unless_forced(tmp_path):
    folder = get_dataset("toy", files=tmp_path / "mirror" / "planetoid")
    nobody = f"http://127.0.0.1:{closed_port()}"
    assert get_dataset("toy", mirror=nobody) == folder
    with pytest.raises(DownloadError, match="no connection"):
        get_dataset("toy", mirror=nobody, force=True)
    assert load_dataset("toy").graph.n_nodes == 508


def test_a_malicious_pickle_with_the_right_checksum_is_refused(cache, toy, tmp_path):
    paths, make_known = toy
    proof = tmp_path / "it ran"
    order = py2.string(f"touch '{proof}'".encode())
    paths["graph"].write_bytes(py2.pickled(py2.named("os", "system") + order + b"\x85R"))
    make_known()
    with (
        serving_folder(tmp_path / "mirror") as address,
        pytest.raises(InvalidGraphError, match=r"ind\.toy\.graph is refused: it asks for os"),
    ):
        get_dataset("toy", mirror=address)
    assert not proof.exists()
    assert not (cache / "data").exists()


def test_an_altered_file_is_refused_before_it_is_read(cache, toy, tmp_path):
    paths, _ = toy
    paths["graph"].write_bytes(py2.pickled(py2.lists({0: [0]})))
    with (
        serving_folder(tmp_path / "mirror") as address,
        pytest.raises(DownloadError, match=r"ind\.toy\.graph .* checksum"),
    ):
        get_dataset("toy", mirror=address)
    with pytest.raises(InvalidParameterError, match=r"ind\.toy\.graph: the checksum is not"):
        get_dataset("toy", files=tmp_path / "mirror" / "planetoid")
    assert not (cache / "data").exists()


def test_files_with_other_counts_than_published_are_refused(cache, toy, tmp_path):
    paths, make_known = toy
    py2.write_planetoid(tmp_path / "mirror" / "planetoid", "toy", n_before=505)
    make_known()
    with pytest.raises(InvalidGraphError, match=r"expected 508 nodes.* files have 509, 508 and 2"):
        get_dataset("toy", files=paths["x"].parent)
    assert not (cache / "data").exists()


@pytest.mark.usefixtures("toy")
@pytest.mark.parametrize("step", ["_write_table", "save_npz", "_meta", "sync"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError("disk full")])
def test_an_interrupted_conversion_leaves_no_half_data_set(
    cache, tmp_path, monkeypatch, step, error
):
    def stop(*_, **__):
        raise error

    files = tmp_path / "mirror" / "planetoid"
    with monkeypatch.context() as patch:
        patch.setattr(folder_writer, step, stop)
        with pytest.raises((KeyboardInterrupt, OSError)):
            get_dataset("toy", files=files)
    assert everything_below(cache) == []
    with pytest.raises(InvalidParameterError, match="No data set 'toy'"):
        load_dataset("toy")
    before = everything_below(get_dataset("toy", files=files))
    with monkeypatch.context() as patch:
        patch.setattr(folder_writer, step, stop)
        with pytest.raises((KeyboardInterrupt, OSError)):
            get_dataset("toy", files=files, force=True)
    assert everything_below(cache / "data" / "toy") == before
    assert everything_below(cache / "unfinished") == []
    assert load_dataset("toy").graph.n_nodes == 508


def test_linqs_files_of_ones_own_are_converted(tmp_path, known):
    (tmp_path / "toy.content").write_text("p\t1\t0\tA\nq\t0\t1\tB\n")
    (tmp_path / "toy.cites").write_text("p\tq\nnew\tq\n")
    originals = tuple(
        OriginalFile(kind, "linqs", "me/toy", "0" * 40, f"toy.{kind}")
        for kind in ("content", "cites")
    )
    obstacle = "no checksum is known"
    known(Source("toy-linqs", "Toy", 3, 2, 2, "linqs", "", originals, obstacle=obstacle))
    with pytest.raises(InvalidParameterError, match="toy-linqs cannot be fetched: no checksum"):
        get_dataset("toy-linqs")
    folder = get_dataset("toy-linqs", files=tmp_path)
    graph = load_dataset("toy-linqs", directed=True).graph
    assert [graph.neighbors.of(v).tolist() for v in range(3)] == [[1], [], [1]]
    table = gzip.decompress((folder / "nodes.csv.gz").read_bytes()).decode()
    assert table == "node,original_id\n0,p\n1,q\n2,new\n"


def test_a_data_set_without_converter_says_so():
    with pytest.raises(
        InvalidParameterError, match=r"wn18 cannot be fetched: .*not convert.*EMBEDPROP_DATA"
    ):
        get_dataset("wn18")


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {}, "{home}/.cache/embedprop"),
        ("linux", {"XDG_CACHE_HOME": "/elsewhere"}, "/elsewhere/embedprop"),
        ("linux", {"XDG_CACHE_HOME": "relative"}, "{home}/.cache/embedprop"),
        ("darwin", {}, "{home}/Library/Caches/embedprop"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/embedprop/Cache"),
        ("win32", {"EMBEDPROP_CACHE": "~/mine"}, "{home}/mine"),
    ],
)
def test_the_cache_is_at_the_usual_place(tmp_path, monkeypatch, platform, variables, expected):
    monkeypatch.setattr("sys.platform", platform)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("EMBEDPROP_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert str(cache_folder()) == expected.format(home=tmp_path)


@pytest.mark.usefixtures("toy")
def test_a_move_that_fails_brings_the_old_data_set_back(cache, tmp_path, monkeypatch):
    files = tmp_path / "mirror" / "planetoid"
    before = everything_below(get_dataset("toy", files=files))
    rename = Path.rename

    def refuse(path, target):
        if path.name == "new":
            raise OSError("no room")
        return rename(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", refuse)
        with pytest.raises(OSError, match="no room"):
            get_dataset("toy", files=files, force=True)
    assert everything_below(cache / "data" / "toy") == before
    assert everything_below(cache / "unfinished") == []


@pytest.mark.usefixtures("toy")
def test_what_a_killed_process_left_goes_after_a_day_and_not_before(cache, tmp_path):
    for name, age in (("old", 2 * 86_400), ("young", 3_600)):
        (cache / "unfinished" / name).mkdir(parents=True)
        os.utime(cache / "unfinished" / name, (time.time() - age,) * 2)
    get_dataset("toy", files=tmp_path / "mirror" / "planetoid")
    assert [path.name for path in (cache / "unfinished").iterdir()] == ["young"]


def test_the_bar_of_downloads_draws_on_a_terminal_only(monkeypatch, capsys):
    with download_bar(verbose=True) as report:
        assert report is None
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with download_bar(verbose=False) as report:
        assert report is None
    with download_bar(verbose=True) as report:
        report("graph.mat", 10, None)
        report("graph.mat", 20, 20)
    assert "graph.mat" in capsys.readouterr().err


@pytest.fixture(scope="module")
def fetched(real_data, tmp_path_factory):
    """Fetch a real data set through a server, once for all tests; give its folder."""
    cache = tmp_path_factory.mktemp("fetched")

    def fetch(name):
        with pytest.MonkeyPatch.context() as patch, serving_folder(real_data / "raw") as address:
            patch.setenv("EMBEDPROP_CACHE", str(cache))
            patch.setenv("no_proxy", "127.0.0.1")
            return get_dataset(name, mirror=address)

    return fetch


def unpacked(path) -> bytes:
    return gzip.decompress(path.read_bytes())


@pytest.mark.parametrize("name", ["blogcatalog", "ppi", "pos"])
def test_mat_files_give_the_prepared_tables_to_the_byte(fetched, real_data, name):
    folder = fetched(name)
    for table in ("edges.csv.gz", "classes.csv.gz"):
        assert unpacked(folder / table) == unpacked(real_data / name / table)
    assert_same_sheet(folder, real_data / name)


@pytest.mark.parametrize("name", ["cora", "citeseer"])
def test_planetoid_files_give_the_prepared_data(fetched, real_data, name):
    folder = fetched(name)
    prepared = real_data / name
    assert unpacked(folder / "classes.csv.gz") == unpacked(prepared / "classes.csv.gz")
    split = "split_planetoid.json"
    assert json.loads((folder / split).read_text()) == json.loads((prepared / split).read_text())
    ours, theirs = (load_npz(f / "words.npz") for f in (folder, prepared))
    assert ours.shape == theirs.shape
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(ours, part), getattr(theirs, part))
    assert ours.dtype == theirs.dtype
    assert_same_sheet(folder, prepared)


@pytest.mark.parametrize("name", ["cora", "citeseer", "blogcatalog", "ppi", "pos"])
@pytest.mark.parametrize("self_loops", ["drop", "keep"])
def test_loaded_graphs_are_those_of_the_prepared_data(fetched, real_data, name, self_loops):
    ours = load_dataset(name, self_loops=self_loops, data_dir=fetched(name).parent)
    theirs = load_dataset(name, self_loops=self_loops, data_dir=real_data)
    assert ours.graph.n_self_loops_dropped == theirs.graph.n_self_loops_dropped
    assert ours.graph.label_types == theirs.graph.label_types
    assert_same_sets(ours.graph.neighbors, theirs.graph.neighbors)
    for label_type, sets in theirs.graph.labels.items():
        assert_same_sets(ours.graph.labels[label_type], sets)
    assert ours.class_names == theirs.class_names
    assert (ours.targets != theirs.targets).nnz == 0
    assert ours.splits.keys() == theirs.splits.keys()
    for part, nodes in theirs.splits.items():
        assert ours.splits[part].tolist() == nodes.tolist()


def assert_same_sets(ours, theirs) -> None:
    np.testing.assert_array_equal(ours.ptr, theirs.ptr)
    np.testing.assert_array_equal(ours.ids, theirs.ids)
    assert (ours.weights is None) == (theirs.weights is None)
    if theirs.weights is not None:
        np.testing.assert_array_equal(ours.weights, theirs.weights)


def assert_same_sheet(ours, theirs) -> None:
    """Compare all counts; those of directed rows are not known from Planetoid's files."""
    ours, theirs = (json.loads((folder / "meta.json").read_text()) for folder in (ours, theirs))
    directed = {"rows", "distinct_rows", "reciprocal_pairs"} if theirs["directed"] else set()
    for key in ("n_nodes", "n_classes", "multi_label", "weighted", "class_statistics"):
        assert ours[key] == theirs[key]
    for key in ("nodes_without_words", "class_index_in_planetoid_files"):
        assert ours.get(key, []) == theirs.get(key, [])
    for key, count in theirs["edge_statistics"].items():
        if key not in directed:
            assert ours["edge_statistics"][key] == count
