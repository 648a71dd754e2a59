"""Every bad file gets one line that names the file, the line and what to do."""

import gzip
import logging
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from embedprop.errors import InvalidGraphError, InvalidParameterError
from embedprop.graph.files.byte_chunks import DEFAULT_LIMITS
from embedprop.graph.files.table_layout import Roles, TableOptions
from embedprop.graph.files.tables import read_table

EDGES = Roles(("source", "target"), ("weight", "relation"))


def read(path: Path, limits=DEFAULT_LIMITS, **options) -> None:
    for batch in read_table(path, EDGES, TableOptions(**options), limits):
        batch.names("source"), batch.names("target")
        if "weight" in batch.columns:
            batch.weights()


HEAD = b"source,target\n"
ZIPPED = gzip.compress(HEAD + b"a,b\n", mtime=0)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("e.csv", b"", r"e\.csv is empty\. Expected a table with the columns source, target"),
        ("e.csv", b"\n \n\r\n", r"e\.csv is empty\."),
        ("e.txt", b"# nothing\n", r"is empty but for comments"),
        ("e.csv", HEAD, r"e\.csv has no rows\. Expected at least one row"),
        ("e.csv", HEAD + b"# x\n\n", r"has no rows"),
        ("e.csv", HEAD + b"a,b\nc\n", r"line 3: expected 2 fields separated by commas.* 1: 'c'"),
        ("e.csv", HEAD + b"a,b,c\n", r"line 2: expected 2 fields .* got 3: 'a,b,c'"),
        ("e.csv", HEAD + b"a,b\n\n# c\nc,d,\n", r"line 5: expected 2 fields"),
        ("e.csv", HEAD + b'a,b\n"x\ny",z\nq\n', r"line 5: expected 2 fields"),
        ("e.txt", b"a b\na b c\n", r"line 2: expected 2 fields separated by blanks, got 3"),
        ("e.csv", HEAD + b"a,b\n,c\n", r"line 3: the source is empty\. Fill it in"),
        ("e.csv", HEAD + b'a,""\n', r"line 2: the target is empty"),
        ("e.csv", HEAD + b"a,b\nc,caf\xe9\n", r"line 3: byte 0xe9 is not UTF-8.*iconv"),
        ("e.csv", b"caf\xe9,target\na,b\n", r"line 1: byte 0xe9 is not UTF-8"),
        ("e.csv", HEAD + b"a,b\nc\0,d\n", r"line 3: found a zero byte: this is not a text table"),
        ("e.csv", "source,target\na,b\n".encode("utf-16"), r"a zero byte"),
        ("e.csv", bytes(range(256)) * 40, r"not a text table"),
        ("e.csv", HEAD + b'a,b\nc,d"e"\nf,g\n', r"line 3: a double quote inside a field that"),
        ("e.csv", HEAD + b'a,b\n"c,d\ne,f\n', r"line 3: the quoted field that begins here is not"),
        ("e.csv", HEAD + b'"c,d\ne,"f"\n', r"line 2: the quoted field that begins here is not"),
        ("e.csv", HEAD + b'"c""x"y,d\n', r"line 2: the quoted field that begins here is not"),
        ("e.csv", HEAD + b"a,b\rc,d\n", r"line 2: found a carriage return inside a field"),
        ("e.csv", b"source,target\ra,b\rc,d\r", r"carriage return inside a field"),
        ("e.csv", b"from,to\na,b\n", r"columns 'source', 'target', but its columns are: from, to"),
        ("e.csv", b"source,to\na,b\n", r"the column 'target', but .*: source, to.*--columns"),
        ("e.csv", b"a,b\nc,d\n", r"has_header=False \(--no-header\)"),
        ("e.txt", b"from to\n1 2\n", r"columns are: from, to"),
        ("e.txt", b"source to\na b\n", r"the column 'target'"),
        ("e.csv", b"source,target,source\na,b,c\n", r"column 'source' is given twice"),
        ("e.txt", b"a\nb\n", r"expected at least 2 columns|the columns 'source'"),
        ("e.txt", b"h\tr\tt\n", r"has no header.* are not \(weight, relation\): 'r|'t'"),
        ("e.edgelist", b"a b {'weight': 3}\n", r"has no header.* Give it a header"),
        ("e.csv.gz", b"source,target\na,b\n", r"not a gzip file, although its name ends in \.gz"),
        ("e.csv.gz", ZIPPED[:-9], r"damaged or incomplete gzip file"),
        ("e.csv.gz", ZIPPED + b"junk", r"damaged or incomplete gzip file"),
        ("e.csv.gz", b"\x1f\x8bjunk" * 9, r"damaged or incomplete gzip file"),
        ("e.parquet", b"PAR1 and nothing else", r"is not a Parquet file, or is damaged"),
        ("e.parquet", b"", r"is not a Parquet file, or is damaged"),
        ("e.csv", b"PAR1source,target\n", r"is not a Parquet file, or is damaged"),
    ],
)  # fmt: skip
def test_a_bad_file_is_refused_with_its_reason(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InvalidGraphError, match=message) as error:
        read(path)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "-1", "1e39", "", "heavy", "1,5", "NaN"])
def test_a_bad_weight_is_refused_with_line_and_value(tmp_path, value):
    path = tmp_path / "e.tsv"
    path.write_text(f"source\ttarget\tweight\na\tb\t1\nb\tc\t{value}\n")
    with pytest.raises(InvalidGraphError, match=rf"line 3: expected a .* got '{value}'"):
        read(path)


def test_numbers_are_read_with_blanks_exponents_and_signs(tmp_path):
    path = tmp_path / "e.csv"
    path.write_text("source,target,weight\na,b, 1e-3\na,b,+2\na,b,.5 \na,b,0\n")
    (batch,) = read_table(path, EDGES)
    assert batch.weights().tolist() == pytest.approx([1e-3, 2, 0.5, 0])


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InvalidGraphError, match=r"nowhere\.csv does not exist"):
        read(tmp_path / "nowhere.csv")


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(InvalidGraphError, match="is a folder"):
        read(tmp_path)


def test_an_unreadable_file_is_named(tmp_path, monkeypatch):
    path = tmp_path / "e.csv"
    path.write_text("source,target\na,b\n")

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)  # not chmod: root may read every file
    with pytest.raises(InvalidGraphError, match=r"e\.csv cannot be read: Permission denied"):
        read(path)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"source": "from"}, "the columns 'from', 'target'"),
        (
            {"source": "a", "target": "b", "weight": "w"},
            "the column 'w', but its columns are: a, b",
        ),
    ],
)
def test_a_column_that_was_asked_for_must_be_there(tmp_path, columns, message):
    path = tmp_path / "e.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(InvalidGraphError, match=message):
        read(path, columns=columns)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"source": "0", "target": "2"}, "numbers from 1 to 2 .* but source is '0'"),
        ({"source": "1", "target": "3"}, "numbers from 1 to 2 .* but target is '3'"),
        ({"source": "1"}, "does not say which column is target"),
        ({"source": "from", "target": "to"}, "must give numbers"),
    ],
)
def test_numbers_of_columns_must_fit_a_file_without_header(tmp_path, columns, message):
    path = tmp_path / "e.csv"
    path.write_text("a,b\n")
    with pytest.raises(InvalidGraphError, match=message):
        read(path, columns=columns, has_header=False)


def test_has_header_true_insists_on_the_columns(tmp_path):
    path = tmp_path / "e.txt"
    path.write_text("1 2\n")
    with pytest.raises(InvalidGraphError, match="but its columns are: 1, 2"):
        read(path, has_header=True)


@pytest.mark.parametrize("separator", ["", "ab", '"', "#", "\n", "é"])
def test_a_separator_is_one_plain_character(separator):
    with pytest.raises(InvalidParameterError, match="separator must be one ASCII character"):
        TableOptions(separator=separator)


def test_a_gzip_bomb_is_refused_early(tmp_path):
    path = tmp_path / "e.csv.gz"
    path.write_bytes(gzip.compress(HEAD + b"a,b\n" * 1_000_000, mtime=0))
    limits = replace(DEFAULT_LIMITS, chunk_bytes=1 << 12, free_expansion_bytes=1 << 16)
    with pytest.raises(
        InvalidGraphError, match=r"grows more than 100 times when unpacked.*unpack it yourself"
    ):
        read(path, limits)
    read(path)  # below 64 MB any factor is taken


@pytest.mark.parametrize("start", [b"", HEAD, HEAD + b"a,b\n"])
def test_an_endless_line_is_refused_early(tmp_path, start):
    path = tmp_path / "e.csv"
    path.write_bytes(start + b"x" * 10_000)
    limits = replace(DEFAULT_LIMITS, chunk_bytes=100, record_bytes=1000)
    line = start.count(b"\n") + 1
    with pytest.raises(InvalidGraphError, match=f"line {line} is longer than 1,000 bytes"):
        read(path, limits)


def test_a_quote_that_is_never_closed_is_refused_early(tmp_path):
    path = tmp_path / "e.csv"
    path.write_bytes(HEAD + b'a,b\n"c,d\n' + b"e,f\n" * 10_000)
    limits = replace(DEFAULT_LIMITS, chunk_bytes=100, record_bytes=1000)
    with pytest.raises(InvalidGraphError, match="line 3: a quoted field begins here"):
        read(path, limits)


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_a_parquet_row_without_a_name_is_named(tmp_path, missing):
    frame = pl.DataFrame({"source": [1.0, missing], "target": ["a", "b"]})
    frame.write_parquet(tmp_path / "e.parquet")
    with pytest.raises(InvalidGraphError, match=r"e\.parquet, row 2: the source is empty"):
        read(tmp_path / "e.parquet")


def test_a_parquet_column_of_lists_is_refused(tmp_path):
    pl.DataFrame({"source": [[1]], "target": [[2]]}).write_parquet(tmp_path / "e.parquet")
    with pytest.raises(InvalidGraphError, match=r"column 'source': values of type .*list"):
        read(tmp_path / "e.parquet")


def test_a_parquet_column_that_is_missing_is_named(tmp_path):
    pl.DataFrame({"source": [1], "to": [2]}).write_parquet(tmp_path / "e.parquet")
    with pytest.raises(InvalidGraphError, match="the column 'target', but its columns are: source"):
        read(tmp_path / "e.parquet")


def test_a_truncated_parquet_file_is_refused(tmp_path):
    path = tmp_path / "e.parquet"
    pl.DataFrame({"source": range(1000), "target": range(1000)}).write_parquet(path)
    data = bytearray(path.read_bytes())
    path.write_bytes(data[:100] + data[200:])
    with pytest.raises(InvalidGraphError, match="is not a Parquet file, or is damaged"):
        read(path)


def test_the_meaning_of_columns_without_names_is_told(tmp_path, caplog):
    path = tmp_path / "e.txt"
    path.write_text("1 2 5 likes\n")
    with caplog.at_level(logging.INFO, logger="embedprop"):
        read(path)
    assert "its columns are read as source, target, weight, relation" in caplog.text
