"""Names and dense ids: what the user calls a node or a label, and the row it has in every array."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Self, cast

import numpy as np

from embedprop.errors import InvalidGraphError, UnknownNodeError, did_you_mean
from embedprop.graph.arrays import Ids
from embedprop.graph.messages import counted

HASHABLE = "Expected a string, a number or a tuple; a list can be turned into a tuple."
# Names that are compared for "did you mean": with a million names it would take minutes.
MOST_COMPARED = 10_000


def is_missing(name: object) -> bool:
    """Return whether `name` stands for "no value": None, NaN, pandas' NA or NaT."""
    if name is None or type(name).__name__ in ("NAType", "NaTType"):
        return True
    # NaN and NaT are the values that differ from themselves.
    return isinstance(name, float | np.datetime64 | np.timedelta64) and name != name


def plain_name(name: object) -> Hashable:
    """Return `name` as a plain Python object where it is a NumPy scalar or a tuple of such."""
    # Else 1 and np.int64(1) would be equal as keys, but not in files and messages.
    if type(name) is tuple:
        return tuple(map(plain_name, name))
    # Dates stay: `item` would turn nanoseconds into a bare number.
    if isinstance(name, np.generic) and name.dtype.kind not in "mM":
        return cast("Hashable", name.item())
    return name  # hashing it tells soon enough whether it can be one


class Vocabulary:
    """The names of nodes, labels or relations, each with the dense id 0, 1, 2, ... of its position.

    Parameters
    ----------
    names
        Unique hashable names; their order is kept. NumPy scalars become plain Python objects.

    Raises
    ------
    InvalidGraphError
        A name is given twice, is missing (None, NaN) or cannot be hashed.

    Examples
    --------
    >>> words = Vocabulary(["graph", "label", "node"])
    >>> words.ids(["node", "graph"])
    array([2, 0], dtype=int32)
    >>> words[1], "edge" in words, words.find("edge")
    ('label', False, -1)
    """

    __slots__ = ("_ids", "_names")

    def __init__(self, names: Iterable[Hashable]) -> None:
        plain = names.tolist() if isinstance(names, np.ndarray) else map(plain_name, names)
        self._names: tuple[Hashable, ...] = tuple(plain)
        self._ids: dict[Hashable, int] | None = None
        _check_names(self._names)

    @classmethod
    def trusted(cls, names: Iterable[Hashable]) -> Self:
        """Make a vocabulary of names known to be plain, unique and not missing, without checks.

        >>> Vocabulary.trusted(["a", "b"])
        Vocabulary(2 names: 'a', 'b')
        """
        vocabulary = cls.__new__(cls)
        vocabulary._names = tuple(names)
        vocabulary._ids = None
        return vocabulary

    @property
    def names(self) -> Sequence[Hashable]:
        """All names, in the order of their ids.

        >>> Vocabulary("ab").names
        ('a', 'b')
        """
        return self._names

    def __len__(self) -> int:
        return len(self._names)

    def __getitem__(self, id_: int) -> Hashable:
        return self._names[id_]

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._names)

    def __contains__(self, name: object) -> bool:
        return self.find(name) >= 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and self._names == other._names

    def __hash__(self) -> int:
        return hash(self._names)

    def __repr__(self) -> str:
        return f"Vocabulary({counted(len(self), 'name')}: {self._shown()})"

    def find(self, name: Hashable) -> int:
        """Return the id of `name`, or -1 if it is unknown.

        >>> Vocabulary(["a", "b"]).find("b"), Vocabulary(["a", "b"]).find("c")
        (1, -1)
        """
        try:
            return self._id_of().get(name, -1)
        except TypeError:  # an unhashable object is nobody's name
            return -1

    def find_all(self, names: Iterable[Hashable]) -> Ids:
        """Return the id of each name, -1 where it is unknown.

        >>> Vocabulary(["a", "b"]).find_all(["b", "c"])
        array([ 1, -1], dtype=int32)
        """
        names, get = list(names), self._id_of().get
        # The fast way first: hardly ever is a name unhashable.
        try:
            return np.fromiter((get(name, -1) for name in names), np.int32, len(names))
        except TypeError:
            return np.fromiter(map(self.find, names), np.int32, len(names))

    def ids(self, names: Iterable[Hashable]) -> Ids:
        """Return the id of each name.

        Raises
        ------
        UnknownNodeError
            A name is not in the vocabulary; the message names the first such one.

        Examples
        --------
        >>> Vocabulary(["a", "b"]).ids(["b", "a", "b"])
        array([1, 0, 1], dtype=int32)
        """
        names = list(names)
        found = self.find_all(names)
        if len(found) and found.min() < 0:
            unknown = names[int(np.argmin(found))]
            known = f" ({self._shown()})" if self._names else ""
            raise UnknownNodeError(
                f"Unknown name {unknown!r}: it is not among the {counted(len(self), 'known name')}"
                f"{known}. Check its spelling and its type ('1' is not 1)."
                f"{self.suggestion(unknown)}"
            )
        return found

    def extended(self, names: Iterable[Hashable]) -> tuple[Vocabulary, Ids]:
        """Return a vocabulary with the unknown ones of `names` at its end, and the ids of `names`.

        >>> Vocabulary(["a", "b"]).extended(["c", "a", "c"])
        (Vocabulary(3 names: 'a', 'b', 'c'), array([2, 0, 2], dtype=int32))
        """
        plain = list(map(plain_name, names))
        _check_present_and_hashable(plain)
        id_of = dict(self._id_of())
        ids = np.fromiter((id_of.setdefault(name, len(id_of)) for name in plain), np.int32)
        if len(id_of) == len(self):
            return self, ids
        vocabulary = Vocabulary.trusted(id_of)
        # The dictionary is there already; it would be as costly again to make.
        vocabulary._ids = id_of
        return vocabulary, ids

    def suggestion(self, name: Hashable) -> str:
        """Return the end of a message about an unknown name: the nearest known one, or nothing.

        >>> Vocabulary(["paris", "rome"]).suggestion("pariss")
        " Did you mean 'paris'?"
        """
        return "" if len(self) > MOST_COMPARED else did_you_mean(name, self._names)

    def _id_of(self) -> dict[Hashable, int]:
        # Made when it is first asked for: many vocabularies are only read from id to name.
        if self._ids is None:
            self._ids = {name: id_ for id_, name in enumerate(self._names)}
        return self._ids

    def _shown(self) -> str:
        return ", ".join(map(repr, self._names[:3])) + (", ..." if len(self) > 3 else "")


def _check_names(names: Sequence[Hashable]) -> None:
    _check_present_and_hashable(names)
    if len(set(names)) == len(names):
        return
    seen: dict[Hashable, int] = {}
    for position, name in enumerate(names):
        first = seen.setdefault(name, position)
        if first != position:
            raise InvalidGraphError(
                f"Name {name!r} is given twice, at positions {first} and {position} (counted from "
                f"0). Every name must be unique: remove one of the two."
            )


def _check_present_and_hashable(names: Sequence[Hashable]) -> None:
    for position, name in enumerate(names):
        if is_missing(name):
            raise InvalidGraphError(
                f"The name at position {position} (counted from 0) is missing ({name!r}). "
                f"Expected a string, an integer or another hashable: fill it in or leave it out."
            )
        try:
            hash(name)
        except TypeError:
            raise InvalidGraphError(
                f"The name at position {position} (counted from 0) cannot be hashed: {name!r}. "
                f"{HASHABLE}"
            ) from None
