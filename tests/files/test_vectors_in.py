from __future__ import annotations

import gzip
import logging
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from embedprop.errors import InvalidGraphError, InvalidParameterError
from embedprop.files.vectors_in import read_vectors
from embedprop.graph.files.byte_chunks import Limits


def written(tmp_path: Path, data: str | bytes, name: str = "v.txt") -> Path:
    path = tmp_path / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


@pytest.mark.parametrize(
    "data",
    [
        "2 3\na 1 2 3\nb 4 5e0 -6\n",
        "a 1 2 3\nb 4 5 -6\n",
        "a 1 2 3\nb 4 5 -6",
        "a 1 2 3 \nb 4 5 -6 \n",  # as word2vec's own program writes
        "a\t1\t2\t3\nb  4 5\t-6\n",
        "2 3\r\na 1 2 3\r\nb 4 5 -6\r\n",
        "\n\na 1 2 3\n \nb 4 5 -6\n\n",
        "\ufeffa 1 2 3\nb 4 5 -6\n",
    ],
)
def test_word2vecs_and_gloves_format_are_read(tmp_path, data):
    for path in (
        written(tmp_path, data),
        written(tmp_path, gzip.compress(data.encode()), "v.txt.gz"),
        written(tmp_path, gzip.compress(data.encode()), "without_ending"),
    ):
        names, vectors = read_vectors(path)
        assert names == ("a", "b")
        assert vectors.tolist() == [[1, 2, 3], [4, 5, -6]]
        assert vectors.dtype == np.float32


@pytest.mark.parametrize("token", ["#", "##", '"', ",", "…", "日本", "1", "nan", "a%20b", "\xa0"])
def test_a_token_may_be_any_sign(tmp_path, token):
    names, vectors = read_vectors(written(tmp_path, f"x 0 0\n{token} 1 2\n"))
    assert names == ("x", token)
    assert vectors.tolist() == [[0, 0], [1, 2]]


def test_a_token_of_glove_may_hold_blanks_but_no_number(tmp_path):
    names, vectors = read_vectors(written(tmp_path, "a 1 2\n. . . 3 4\nat b@c.d 5 6\n"))
    assert names == ("a", ". . .", "at b@c.d")
    assert vectors.tolist() == [[1, 2], [3, 4], [5, 6]]
    with pytest.raises(InvalidParameterError, match="line 2: expected a token and 2 numbers"):
        read_vectors(written(tmp_path, "a 1 2\nb 7 3 4\n"))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("", "holds no vectors. Expected lines of a token and its numbers"),
        ("\n \n", "holds no vectors"),
        ("5 3\n", "holds no vectors"),
        ("a\n", "line 1: expected a token and numbers, separated by blanks, got 1 field"),
        ("a 1 2\nb 3\n", r"line 2: expected a token and 2 numbers \(as in line 1, the first\)"),
        ("a 1 2\n\nb 3 4 5\n", "line 3: .* got 4 fields: 'b 3 4 5'. Correct the line or"),
        ("2 3\na 1 2\nb 3 4\n", r"line 2: .* 3 numbers \(as line 1, the header, says\)"),
        ("2 2\na 1 2\nb 3 x\n", "line 3: expected 2 numbers .* but one is 'x'"),
        ("a 1 2\nb 3 nan\n", "line 2: .*finite and within float32, but one is 'nan'"),
        ("a 1 2\nb -inf 4\n", "line 2: .* one is '-inf'"),
        ("a 1 2\nb 1e39 4\n", "line 2: .* one is '1e39'"),
        ("a 1 2\nb 3 1_0\n", "line 2: .* one is '1_0'"),
        ("a 1 2\nb 3 1,5\n", "line 2: .* one is '1,5'"),
        (
            "3 2\na 1 2\nb 3 4\n",
            "the header says 3 vectors, but there are 2. If the",
        ),
        ("1 2\na 1 2\nb 3 4\n", "the header says 1 vector, but there are 2"),
        (b"a 1 2\n\xe4 3 4\n", "line 2: the token .*xe4.* is not UTF-8. Convert the file"),
        (b"1 2\na \x00\x00\x80?\x00\n", r"line 2: a zero byte.*load_word2vec_format\(path, bin"),
    ],
)
def test_a_damaged_file_is_told_with_its_line(tmp_path, data, message):
    path = written(tmp_path, data)
    with pytest.raises(InvalidParameterError, match=message) as caught:
        read_vectors(path)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("absent.txt", None, "does not exist"),
        ("v.txt.gz", b"a 1 2\n", "is not a gzip file, although its name"),
        ("v.txt.gz", gzip.compress(b"a 1 2\n" * 999, mtime=0)[:-9], "damaged or incomplete gzip"),
    ],
)
def test_a_file_that_cannot_be_read_is_told(tmp_path, name, data, message):
    path = tmp_path / name if data is None else written(tmp_path, data, name)
    with pytest.raises(InvalidGraphError, match=message):
        read_vectors(path)


def test_of_a_repeated_token_the_first_vector_counts_and_a_warning_tells(tmp_path, caplog):
    path = written(tmp_path, "4 1\na 1\nb 2\na 3\nb 4\n")
    with caplog.at_level(logging.WARNING, "embedprop"):
        names, vectors = read_vectors(path)
    assert names == ("a", "b")
    assert vectors.tolist() == [[1], [2]]
    assert caplog.messages == [
        f"{path}: 2 repeated tokens, such as 'a'; the first vector of each is used"
    ]


def test_only_the_wanted_tokens_and_the_first_are_kept(tmp_path):
    path = written(tmp_path, "the 1 2\na 3 4\nb x y\nc 5 6\n")
    names, vectors = read_vectors(path, only=["c", 7, "absent"])
    assert names == ("the", "c")
    assert vectors.tolist() == [[1, 2], [5, 6]]
    with pytest.raises(InvalidParameterError, match=r"line 3: .* one is 'x'"):
        read_vectors(path, only=["b"])
    with pytest.raises(InvalidParameterError, match=r"line 3: .* got 2 fields"):
        read_vectors(written(tmp_path, "the 1 2\na 3 4\nb 5\n"), only=["a"])


NO_TOKEN = ["Zs", "Zl", "Zp", "Cc", "Cs"]  # blanks, controls, halves of a pair
SIGNS = st.characters(exclude_categories=NO_TOKEN, exclude_characters="\ufeff")
TOKENS = st.text(SIGNS, min_size=1)
NUMBERS = st.lists(
    st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=3, max_size=3
)


@given(st.dictionaries(TOKENS, NUMBERS, min_size=1, max_size=8), st.booleans(), st.integers(1, 40))
def test_what_is_written_is_read_back_whatever_the_size_of_the_pieces(
    tmp_path_factory, table, has_header, chunk_bytes
):
    rows = [f"{token} {' '.join(map(repr, numbers))}" for token, numbers in table.items()]
    text = "\n".join([f"{len(table)} 3"] * has_header + rows)
    path = written(tmp_path_factory.mktemp("v"), text)
    names, vectors = read_vectors(path, limits=Limits(chunk_bytes=chunk_bytes))
    assert names == tuple(table)
    np.testing.assert_array_equal(vectors, np.array(list(table.values()), dtype=np.float32))


def test_a_line_without_end_is_refused(tmp_path):
    path = written(tmp_path, b"a 1\nb " + b"1" * 5000)
    with pytest.raises(InvalidGraphError, match="line 2 is longer than 1,000 bytes"):
        read_vectors(path, limits=Limits(chunk_bytes=100, record_bytes=1000))


MEMORY = """
import pathlib, sys
from embedprop.files.vectors_in import read_vectors
def peak():
    return int(pathlib.Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])
before = peak()
names, vectors = read_vectors(pathlib.Path(sys.argv[1]), only=["t5"])
sys.stdout.write(f"{len(names)} {(peak() - before) >> 10}")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak of memory is read from /proc")
def test_memory_holds_only_what_is_kept(tmp_path):
    path = tmp_path / "v.txt"
    numbers = " ".join(["0.12345"] * 100)
    with path.open("w") as file:
        file.writelines(f"t{i} {numbers}\n" for i in range(80_000))
    assert path.stat().st_size > 60e6
    output = subprocess.run(
        [sys.executable, "-c", MEMORY, os.fspath(path)], capture_output=True, check=True, text=True
    ).stdout
    n_names, megabytes = map(int, output.split())
    assert n_names == 2
    assert megabytes < 40
