import io
from collections.abc import Hashable

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from embedprop.errors import InvalidParameterError
from embedprop.files.folder.names import check_saveable, read_names, write_names

SCALARS = st.one_of(
    st.text(st.characters(exclude_categories=())),
    st.integers(),
    st.floats(allow_nan=False),
    st.booleans(),
)
NAMES = st.recursive(SCALARS, lambda parts: st.lists(parts, max_size=3).map(tuple))


def round_trip(names: list[Hashable]) -> tuple[str, list[Hashable]]:
    file = io.BytesIO()
    encoding = write_names(names, file)
    return encoding, read_names(file, encoding)


@given(st.lists(NAMES, unique=True, max_size=10))
def test_names_come_back_equal_and_of_the_same_types(names: list[Hashable]) -> None:
    check_saveable(names)
    _, loaded = round_trip(names)
    assert loaded == names
    assert repr(loaded) == repr(names)  # 1, 1.0 and True are equal


@pytest.mark.parametrize(
    ("names", "encoding"),
    [
        ([], "text"),
        (["a", "ä\n\0", ""], "text"),
        (["a", "\ud800"], "json"),
        ([3, -(2**63), 2**63 - 1], "integer"),
        ([3, 2**63], "json"),
        ([3, True], "json"),
        ([1, "1"], "json"),
        ([("a", (1, 2.5)), ()], "json"),
        ([float("inf"), 10**400], "json"),
    ],
)
def test_the_encoding_follows_the_types(names: list[Hashable], encoding: str) -> None:
    assert round_trip(names) == (encoding, names)


def test_numpy_scalars_come_back_as_equal_python_ones() -> None:
    names = [np.int64(3), np.float32(0.1), np.str_("a"), (np.bool_(True), np.uint8(4))]
    check_saveable(names)
    _, loaded = round_trip(names)
    assert loaded == names
    assert [type(name) for name in loaded] == [int, float, str, tuple]


NESTED: Hashable = ()
for _ in range(100_000):
    NESTED = (NESTED,)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (None, "None"),
        (b"a", "b'a'"),
        (frozenset([1]), "frozenset"),
        (("a", None), r"\('a', None\)"),
        (np.datetime64("2020-01-01"), "2020-01-01"),
        (10**5000, ""),
        (NESTED, ""),
    ],
    ids=["None", "bytes", "frozenset", "in a tuple", "date", "huge", "deep"],
)
def test_a_name_of_another_type_is_refused_by_name(name: Hashable, shown: str) -> None:
    with pytest.raises(InvalidParameterError, match=f"the name .*{shown}.* cannot be saved"):
        check_saveable(["a", name, object()])


def parquet(**columns: pa.Array) -> io.BytesIO:
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file)
    return file


TEXT = pa.large_string()


@pytest.mark.parametrize(
    ("file", "encoding"),
    [
        (io.BytesIO(b"PAR1 this is no Parquet file PAR1"), "text"),
        (io.BytesIO(b""), "text"),
        (parquet(other=pa.array(["a"], TEXT)), "text"),
        (parquet(name=pa.array(["a", None], TEXT)), "text"),
        (parquet(name=pa.array([1, 2])), "text"),
        (parquet(name=pa.array(["a"], TEXT)), "integer"),
        (parquet(name=pa.array(["a"], TEXT)), "json"),
        (parquet(name=pa.array(["{}"], TEXT)), "json"),
        (parquet(name=pa.array(["[null]"], TEXT)), "json"),
        (parquet(name=pa.array(["[" * 200_000 + "]" * 200_000], TEXT)), "json"),
    ],
    ids=range(10),
)
def test_a_file_with_something_else_is_refused(file: io.BytesIO, encoding: str) -> None:
    with pytest.raises(ValueError, match=r"Parquet|expected|JSON|name|Expecting"):
        read_names(file, encoding)
