from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Hashable
from pathlib import Path
from typing import IO
from urllib.parse import unquote

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from embedprop.errors import InvalidParameterError, UnknownComponentError
from embedprop.files.atomic import replaced
from embedprop.files.export import FORMATS, default_path, export_vectors

VECTORS = np.array([[1, -0.1], [np.float32(1) / 3, 1e-30], [0, 7e20]], np.float32)
NAMES = ["a", "b", "ü"]


@pytest.mark.parametrize("n_rows", [0, 1, 2, 3, 4, 7])
def test_parquet_gives_back_names_and_vectors_over_several_row_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n_rows: int
) -> None:
    monkeypatch.setattr("embedprop.files.export.N_ROWS", 3)
    vectors = np.random.default_rng(0).normal(size=(n_rows, 5)).astype(np.float32)
    names = [f"name {row}" for row in range(n_rows)]
    export_vectors(tmp_path / "x.parquet", names, vectors, column="label")
    table = pl.read_parquet(tmp_path / "x.parquet")
    assert table.schema == {"label": pl.String, "vector": pl.List(pl.Float32)}
    assert table["label"].to_list() == names
    got = np.array(table["vector"].to_list(), np.float32).reshape(n_rows, 5)
    np.testing.assert_array_equal(got, vectors)


def test_vectors_that_are_columns_of_a_wider_table_are_written_alone(tmp_path: Path) -> None:
    wide = np.arange(12, dtype=np.float32).reshape(3, 4)
    export_vectors(tmp_path / "x.parquet", NAMES, wide[:, 1:3])
    vectors = pl.read_parquet(tmp_path / "x.parquet")["vector"].to_list()
    assert vectors == [[1, 2], [5, 6], [9, 10]]


@pytest.mark.parametrize(
    ("names", "expected", "kind"),
    [
        ([3, 1, -(2**63)], [3, 1, -(2**63)], pl.Int64),
        ([3, 1, 2**63], ["3", "1", str(2**63)], pl.String),
        ([("a", 1), 2.5, True], ["('a', 1)", "2.5", "True"], pl.String),
        (["\ud800", "b", "c"], ["\\ud800", "b", "c"], pl.String),
    ],
)
def test_names_of_other_types(
    tmp_path: Path, names: list[Hashable], expected: list[object], kind: object
) -> None:
    export_vectors(tmp_path / "x.parquet", names, VECTORS)
    column = pl.read_parquet(tmp_path / "x.parquet")["node"]
    assert column.dtype == kind
    assert column.to_list() == expected


@pytest.mark.parametrize("format", ["parquet", "word2vec", "npy"])
def test_names_that_are_the_same_as_text_are_refused(tmp_path: Path, format: str) -> None:
    place = tmp_path / f"x{FORMATS[format].suffix}"
    with pytest.raises(InvalidParameterError, match="the same as text"):
        export_vectors(place, [1, "1", 2], VECTORS, format=format)
    assert list(tmp_path.iterdir()) == []


def read_word2vec(path: Path) -> tuple[list[str], np.ndarray]:
    """Read as gensim does: the header, then lines split at blanks."""
    header, *lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    n_rows, dim = map(int, header.split())
    rows = [line.rstrip().split(" ") for line in lines]
    assert len(rows) == n_rows
    assert all(len(row) == dim + 1 for row in rows)
    return [row[0] for row in rows], np.array([row[1:] for row in rows]).astype(np.float32)


def test_word2vec_gives_back_the_same_numbers(tmp_path: Path) -> None:
    export_vectors(tmp_path / "x.txt", NAMES, VECTORS, format="word2vec")
    names, vectors = read_word2vec(tmp_path / "x.txt")
    assert names == NAMES
    np.testing.assert_array_equal(vectors, VECTORS)


@pytest.mark.parametrize("name", ["a b", "a\nb", "a\tb", "a\xa0b", "a\x85b", "\u2028", ""])
def test_word2vec_refuses_keys_that_readers_would_split(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidParameterError, match="--escape-keys"):
        export_vectors(tmp_path / "x.txt", ["a", "b", name], VECTORS, format="word2vec")
    assert list(tmp_path.iterdir()) == []


@given(st.lists(st.text(min_size=1), min_size=1, max_size=5, unique=True))
def test_escaped_keys_can_be_unescaped(names: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.txt"
        vectors = np.ones((len(names), 1), np.float32)
        export_vectors(path, names, vectors, format="word2vec", escape_keys=True)
        assert [unquote(key) for key in read_word2vec(path)[0]] == names


def test_a_percent_sign_needs_no_escape_unless_asked(tmp_path: Path) -> None:
    export_vectors(tmp_path / "x.txt", ["5%", "b", "c"], VECTORS, format="word2vec")
    assert read_word2vec(tmp_path / "x.txt")[0] == ["5%", "b", "c"]


def test_npy_has_the_names_beside_it(tmp_path: Path) -> None:
    written = export_vectors(tmp_path / "x.npy", NAMES, VECTORS, format="npy")
    assert written == [tmp_path / "x.npy", tmp_path / "x.ids.parquet"]
    np.testing.assert_array_equal(np.load(written[0]), VECTORS)
    assert pl.read_parquet(written[1]).to_dict(as_series=False) == {"node": NAMES}


def test_the_projector_gets_one_line_for_each_name(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "projector"
    export_vectors(folder, ["a\tb\n", "", "c"], VECTORS, format="projector")
    assert (folder / "metadata.tsv").read_text().split("\n") == ["a\\tb\\n", "(empty)", "c", ""]
    vectors = np.loadtxt(folder / "vectors.tsv", delimiter="\t", dtype=np.float32)
    np.testing.assert_array_equal(vectors, VECTORS)
    assert '"vectors.tsv"' in (folder / "projector_config.pbtxt").read_text()


@pytest.mark.parametrize("format", list(FORMATS))
def test_what_was_there_is_replaced(tmp_path: Path, format: str) -> None:
    path, other = (tmp_path / f"{name}{FORMATS[format].suffix}" for name in "xy")
    export_vectors(path, NAMES, VECTORS, format=format)
    replaced_files = export_vectors(path, ["z"], VECTORS[:1], format=format)
    fresh_files = export_vectors(other, ["z"], VECTORS[:1], format=format)
    for replaced_file, fresh_file in zip(replaced_files, fresh_files, strict=True):
        assert replaced_file.read_bytes() == fresh_file.read_bytes()


@pytest.mark.parametrize("format", list(FORMATS))
def test_a_full_disk_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: str
) -> None:
    path = tmp_path / f"x{FORMATS[format].suffix}"
    files = export_vectors(path, NAMES, VECTORS, format=format)
    before = [file.read_bytes() for file in files]

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"could not be written \(No space left on device\)"):
        export_vectors(path, ["z"], VECTORS[:1], format=format)
    assert [file.read_bytes() for file in files] == before
    assert sum(1 for found in tmp_path.rglob("*") if found.is_file()) == len(files)


def test_a_folder_made_for_nothing_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        export_vectors(tmp_path / "new", NAMES, VECTORS, format="projector")
    assert list(tmp_path.iterdir()) == []


def test_an_error_while_writing_leaves_no_draft(tmp_path: Path) -> None:
    def write(files: list[IO[bytes]]) -> None:
        files[0].write(b"half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), replaced(tmp_path / "x") as files:
        write(files)
    assert list(tmp_path.iterdir()) == []


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to("target")
    with replaced(tmp_path / "link") as [file]:
        file.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "new"


def test_files_can_be_read_by_those_whom_the_umask_allows(tmp_path: Path) -> None:
    export_vectors(tmp_path / "x.parquet", NAMES, VECTORS)
    (tmp_path / "plain").touch()
    assert (tmp_path / "x.parquet").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_places_that_take_no_file_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "folder.parquet").mkdir()
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "manifest.json").touch()
    os.mkfifo(tmp_path / "pipe.parquet")
    for place, message in {
        tmp_path / "folder.parquet": "this is a folder",
        tmp_path / "no" / "x.parquet": "does not exist. Create it first.",
        tmp_path / "pipe.parquet": "not an ordinary file",
        tmp_path / "words.csv": "parquet files end in .parquet",
        tmp_path / "model" / "x.parquet": "inside a model folder",
    }.items():
        with pytest.raises(InvalidParameterError, match=message):
            export_vectors(place, NAMES, VECTORS)
    with pytest.raises(InvalidParameterError, match="expected a folder for the projector"):
        export_vectors(tmp_path / "file", NAMES, VECTORS, format="projector")


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(UnknownComponentError, match="format='x' is not known"):
        export_vectors("x", NAMES, VECTORS, format="x")
    with pytest.raises(UnknownComponentError, match="format='x' is not known"):
        default_path("model", "x")


def test_every_format_has_a_default_name_beside_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "model").mkdir()
    assert default_path(tmp_path / "model", "npy") == tmp_path / "model.npy"
    monkeypatch.chdir(tmp_path / "model")
    assert default_path(".", "projector", "word") == tmp_path / "model-word-projector"
    monkeypatch.chdir(tmp_path)
    assert default_path("model/", "parquet") == Path("model.parquet")


def test_a_format_with_a_spelling_mistake_is_named() -> None:
    with pytest.raises(UnknownComponentError, match=r"Did you mean 'parquet'\?$"):
        export_vectors("x", NAMES, VECTORS, format="parqet")


def test_folders_are_synced_after_files_were_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced = []
    monkeypatch.setattr("embedprop.files.atomic.sync", synced.append)
    with replaced(tmp_path / "x") as [file]:
        file.write(b"new")
        assert synced == []
    assert synced == [tmp_path]
