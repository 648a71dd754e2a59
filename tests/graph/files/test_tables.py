"""Formats that are read, and what every format has in common."""

import csv
import gzip
import io
import os
import threading
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from embedprop.errors import InvalidGraphError
from embedprop.graph.files.byte_chunks import DEFAULT_LIMITS
from embedprop.graph.files.table_layout import Roles, TableOptions
from embedprop.graph.files.tables import read_table

EDGES = Roles(("source", "target"), ("weight", "relation"))
NAMES = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=8
)


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    data = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def rows(path: Path, roles: Roles = EDGES, chunk_bytes: int = 8 << 20, **options) -> list[tuple]:
    limits = replace(DEFAULT_LIMITS, chunk_bytes=chunk_bytes)
    found: list[tuple] = []
    for batch in read_table(path, roles, TableOptions(**options), limits):
        found += zip(*batch.columns.values(), strict=True)
    return found


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("e.csv", "source,target\na,b\nc,d\n"),
        ("e.csv", "source,target\r\na,b\r\nc,d\r\n"),
        ("e.csv", "source,target\na,b\nc,d"),
        ("e.csv", "\ufeffsource,target\na,b\nc,d\n"),
        ("e.csv", "\n\nsource,target\n\na,b\n\nc,d\n\n"),
        ("e.csv", "# made by hand\nsource,target\n# first\na,b\nc,d\n"),
        ("e.csv", "Target , SOURCE\nb,a\nd,c\n"),
        ("e.csv", "id,source,note,target\n1,a,x,b\n2,c,,d\n"),
        ("e.csv", '"source","target"\n"a","b"\nc,"d"\n'),
        ("e.csv", "source;target\na;b\nc;d\n"),
        ("e.csv.gz", "source,target\na,b\nc,d\n"),
        ("E.CSV", "source,target\na,b\nc,d\n"),
        ("e.tsv", "source\ttarget\na\tb\nc\td\n"),
        ("e.tab", "source\ttarget\na\tb\nc\td\n"),
        ("e.txt", "a b\nc d\n"),
        ("e.txt", "  a   b \n\tc\t  d\n"),
        ("e.txt", "a\tb\nc\td\n"),
        ("e.edgelist", "a b {}\nc d {}\n"),
        ("e.snap.gz", "# Nodes: 4 Edges: 2\n# FromNodeId\tToNodeId\na\tb\nc\td\n"),
        ("e", "source target\na b\nc d\n"),
    ],
)
def test_edge_lists_as_people_have_them_are_read(tmp_path, name, content):
    assert rows(write(tmp_path, name, content)) == [("a", "b"), ("c", "d")]


def test_columns_are_found_by_name_whatever_their_order(tmp_path):
    path = write(tmp_path, "e.csv", "weight,target,x,source\n2.5,b,?,a\n")
    (batch,) = read_table(path, EDGES)
    assert {role: column.to_list() for role, column in batch.columns.items()} == {
        "source": ["a"],
        "target": ["b"],
        "weight": ["2.5"],
    }


def test_numbers_without_header_are_read_from_a_csv_file(tmp_path):
    assert rows(write(tmp_path, "e.csv", "1,2\n3,4\n")) == [("1", "2"), ("3", "4")]


def test_a_third_number_without_header_is_a_weight(tmp_path):
    (batch,) = read_table(write(tmp_path, "e.txt", "a b 0.5\nb c 2\n"), EDGES)
    assert batch.weights().tolist() == [0.5, 2]


def test_other_column_names_are_used_when_given(tmp_path):
    path = write(tmp_path, "e.csv", "From,to,source\na,b,x\n")
    assert rows(path, columns={"source": "from", "target": "to"}) == [("a", "b")]


def test_columns_of_a_file_without_header_are_given_by_number(tmp_path):
    path = write(tmp_path, "triples.txt", "a\tlikes\tb\n")
    columns = {"source": "1", "relation": "2", "target": "3"}
    assert rows(path, columns=columns) == [("a", "b", "likes")]


def test_has_header_false_makes_the_first_line_a_record(tmp_path):
    path = write(tmp_path, "e.csv", "source,target\na,b\n")
    assert rows(path, has_header=False) == [("source", "target"), ("a", "b")]


@pytest.mark.parametrize("separator", ["|", "\\t", "\t", " ", "\\s+"])
def test_a_given_separator_is_used(tmp_path, separator):
    char = {"\\t": "\t", "\\s+": " "}.get(separator, separator)
    path = write(tmp_path, "e.csv", f"source{char}target\na,1{char}b\n")
    assert rows(path, separator=separator) == [("a,1", "b")]


def test_blanks_belong_to_names_in_tables_with_another_separator(tmp_path):
    assert rows(write(tmp_path, "e.txt", "New York\tParis \n")) == [("New York", "Paris ")]
    assert rows(write(tmp_path, "n.txt", "New York\nParis\n"), Roles(("node",))) == [
        ("New York",),
        ("Paris",),
    ]


def test_below_a_header_a_name_may_begin_with_a_hash(tmp_path):
    path = write(tmp_path, "e.csv", "source,target\n#a,b\n# a remark\nc,#d\n")
    assert rows(path) == [("#a", "b"), ("c", "#d")]


def test_without_a_header_lines_with_a_hash_are_comments(tmp_path):
    assert rows(write(tmp_path, "e.txt", "a b\n#c d\ne f\n")) == [("a", "b"), ("e", "f")]


def test_a_byte_order_mark_inside_a_file_belongs_to_the_name(tmp_path):
    path = write(tmp_path, "e.csv", "source,target\n\ufeffa,b\n")
    assert rows(path) == [("\ufeffa", "b")]


def test_quoted_fields_hold_separators_quotes_and_line_breaks(tmp_path):
    path = write(tmp_path, "e.csv", 'source,target\n"a,1","say ""x"""\n"two\nlines",b\n"",c\n')
    assert rows(path) == [("a,1", 'say "x"'), ("two\nlines", "b"), ("", "c")]


def test_quotes_are_plain_characters_between_blanks(tmp_path):
    assert rows(write(tmp_path, "e.txt", 'a"b c\n"d e\n')) == [('a"b', "c"), ('"d', "e")]


def test_a_pipe_is_read_like_a_file(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text("source,target\na,b\n"))
    writer.start()
    assert rows(pipe) == [("a", "b")]
    writer.join()


@given(st.lists(st.tuples(NAMES, NAMES), min_size=1, max_size=12), st.integers(1, 60), st.data())
def test_what_csv_writes_is_read_back_in_blocks_of_any_size(pairs, chunk_bytes, data):
    separator = data.draw(st.sampled_from(",;\t|"))
    # With "\n" as the end csv.writer leaves a carriage return unquoted, and could not read it back.
    end, quoting = data.draw(
        st.sampled_from(
            [("\r\n", csv.QUOTE_MINIMAL), ("\r\n", csv.QUOTE_ALL), ("\n", csv.QUOTE_ALL)]
        )
    )
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=separator, lineterminator=end, quoting=quoting)
    writer.writerows([("source", "target"), *pairs])
    assert read_back(text.getvalue(), chunk_bytes, separator=separator) == pairs


@given(
    st.lists(
        st.tuples(*[st.text("ab#é\"'1", min_size=1).filter(lambda s: s[0] != "#")] * 2),
        min_size=1,
    ),
    st.sampled_from([" ", "\t", "   ", " \t"]),
    st.integers(1, 40),
)
def test_fields_between_blanks_are_read_back_in_blocks_of_any_size(pairs, blanks, chunk_bytes):
    text = "".join(f"{blanks}{s}{blanks}{t}\n" for s, t in pairs)
    assert read_back(text, chunk_bytes, separator=" ", has_header=False) == pairs


def read_back(text: str, chunk_bytes: int, **options) -> list[tuple]:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        return rows(write(Path(folder), "e.csv", text), chunk_bytes=chunk_bytes, **options)


@pytest.mark.parametrize("chunk_bytes", [1, 7, 64, 4096])
def test_the_line_of_a_mistake_does_not_depend_on_the_size_of_blocks(tmp_path, chunk_bytes):
    text = '# c\nsource,target\n"a\nb",c\n\n' + "x,y\n" * 50 + "x\n" + "x,y\n" * 50
    path = write(tmp_path, "e.csv", text)
    with pytest.raises(InvalidGraphError, match="line 56: expected 2 fields separated by commas"):
        rows(path, chunk_bytes=chunk_bytes)


def test_many_quoted_line_breaks_come_through_a_large_block(tmp_path):
    pairs = [(f"a\n{i}", f'"{i},\r\n') for i in range(30_000)]
    text = io.StringIO(newline="")
    csv.writer(text).writerows([("source", "target"), *pairs])
    assert rows(write(tmp_path, "e.csv", text.getvalue())) == pairs


def test_parquet_columns_of_any_simple_type_become_text(tmp_path):
    frame = pl.DataFrame(
        {"target": [1, 2], "x": [0, 0], "source": ["a", "b"], "weight": [0.5, 2.0]}
    )
    frame.write_parquet(tmp_path / "e.parquet")
    assert rows(tmp_path / "e.parquet") == [("a", "1", "0.5"), ("b", "2", "2")]


def test_a_gzipped_parquet_file_is_unpacked(tmp_path):
    buffer = io.BytesIO()
    pl.DataFrame({"source": ["a"], "target": ["b"]}).write_parquet(buffer)
    assert rows(write(tmp_path, "e.parquet.gz", buffer.getvalue())) == [("a", "b")]


def test_categories_and_large_numbers_in_parquet_keep_every_digit(tmp_path):
    names = pl.Series(["x", "y", "x"], dtype=pl.Categorical)
    frame = pl.DataFrame({"source": names, "target": [2**62 + 1, 0, -1]})
    frame.write_parquet(tmp_path / "e.parquet")
    assert rows(tmp_path / "e.parquet") == [("x", str(2**62 + 1)), ("y", "0"), ("x", "-1")]
