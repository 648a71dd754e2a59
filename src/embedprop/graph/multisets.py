"""Multisets: the one container for l_i(v), the labels of each node, and N(v), its neighbors."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from embedprop.errors import InvalidGraphError
from embedprop.graph.arrays import Ids, Mask, Rows, Weights
from embedprop.graph.messages import counted

Number = TypeVar("Number", bound=np.generic)


@dataclass(frozen=True, eq=False)
class Multisets:
    """A multiset of ids for each of `n_sets` owners, in compressed rows (CSR). Read-only.

    Parameters
    ----------
    ptr
        Set i holds ``ids[ptr[i]:ptr[i + 1]]``; (n_sets + 1) int64, from 0 to ``len(ids)``.
    ids
        The members of all sets, one set after the other; int32, not negative.
    weights
        The weight of each member, float32, positive and finite. None (default): each weighs 1.

    Examples
    --------
    >>> words = Multisets.from_lists([[0, 2, 2], [], [1]])
    >>> words.of(0), words.sizes
    (array([0, 2, 2], dtype=int32), array([3, 0, 1]))
    """

    ptr: Rows
    ids: Ids
    weights: Weights | None = None

    def __post_init__(self) -> None:
        ptr = _vector("ptr", self.ptr, np.int64)
        ids = _vector("ids", self.ids, np.int32)
        weights = None if self.weights is None else _vector("weights", self.weights, np.float32)
        _check(ptr, ids, weights)
        for name, array in (("ptr", ptr), ("ids", ids), ("weights", weights)):
            object.__setattr__(self, name, array)

    @classmethod
    def from_lists(
        cls, lists: Iterable[Sequence[int]], weights: Iterable[Sequence[float]] | None = None
    ) -> Self:
        """Make multisets from one list of ids per set, with one list of weights per set or none.

        >>> Multisets.from_lists([[0, 1], [1]], weights=[[1, 3], [2]]).totals
        array([4., 2.], dtype=float32)
        """
        lists = list(map(list, lists))
        sizes, flat_weights = list(map(len, lists)), None
        if weights is not None:
            weights = list(map(list, weights))
            n_weights = list(map(len, weights))
            if n_weights != sizes:
                raise InvalidGraphError(
                    f"Expected one weight for every id: sets of sizes {sizes[:5]}... have "
                    f"weights of sizes {n_weights[:5]}..."
                )
            flat_weights = np.array(list(chain(*weights)), dtype=np.float32)
        # int64, so that an id beyond int32 is refused below rather than wrapped around.
        flat_ids: NDArray[Any] = np.array(list(chain(*lists)), dtype=np.int64)
        return cls(_ptr_of(np.array(sizes, dtype=np.int64)), flat_ids, flat_weights)

    @classmethod
    def identity(cls, n_sets: int) -> Self:
        """Make `n_sets` sets where set i holds i alone: the label type `node`.

        >>> Multisets.identity(3).ids
        array([0, 1, 2], dtype=int32)
        """
        return cls(np.arange(n_sets + 1, dtype=np.int64), np.arange(n_sets, dtype=np.int32))

    @property
    def n_sets(self) -> int:
        """The number of sets, empty ones included.

        >>> Multisets.from_lists([[0, 1], []]).n_sets
        2
        """
        return len(self.ptr) - 1

    @property
    def n_values(self) -> int:
        """The number of members of all sets together.

        >>> Multisets.from_lists([[0, 1], [], [1]]).n_values
        3
        """
        return len(self.ids)

    @cached_property
    def sizes(self) -> Rows:
        """The number of members of each set.

        >>> Multisets.from_lists([[0, 1], [], [1]]).sizes
        array([2, 0, 1])
        """
        return _read_only(np.diff(self.ptr))

    @property
    def owners(self) -> Ids:
        """The set that each member belongs to.

        >>> Multisets.from_lists([[5], [], [6, 7]]).owners
        array([0, 2, 2], dtype=int32)
        """
        return np.repeat(np.arange(self.n_sets, dtype=np.int32), self.sizes)

    @cached_property
    def totals(self) -> Weights:
        """The total weight of each set; 0 for an empty one.

        >>> Multisets.from_lists([[0, 1], []], weights=[[0.5, 2], []]).totals
        array([2.5, 0. ], dtype=float32)
        """
        if self.weights is None:
            return _read_only(self.sizes.astype(np.float32))
        totals = np.zeros(self.n_sets, dtype=np.float64)
        # reduceat misreads empty sets, so it sees only the others; between two lies nothing.
        filled = self.sizes > 0
        totals[filled] = np.add.reduceat(self.weights, self.ptr[:-1][filled], dtype=np.float64)
        return _read_only(totals.astype(np.float32))

    def __len__(self) -> int:
        return self.n_sets

    def __repr__(self) -> str:
        sizes = f"{counted(self.n_sets, 'set')}, {counted(self.n_values, 'value')}"
        return f"Multisets({sizes}{'' if self.weights is None else ', weighted'})"

    # Only the three arrays: what was computed of them is computed again.
    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return type(self), (self.ptr, self.ids, self.weights)

    def of(self, index: int) -> Ids:
        """Return the members of set `index`.

        >>> Multisets.from_lists([[0], [4, 2]]).of(1)
        array([4, 2], dtype=int32)
        """
        start, stop = self._bounds(index)
        return self.ids[start:stop]

    def weights_of(self, index: int) -> Weights:
        """Return the weights of the members of set `index`; ones where no weights were given.

        >>> Multisets.from_lists([[0], [4, 2]]).weights_of(1)
        array([1., 1.], dtype=float32)
        """
        start, stop = self._bounds(index)
        if self.weights is None:
            return np.ones(stop - start, dtype=np.float32)
        return self.weights[start:stop]

    def keeping(self, kept: Mask) -> Self:
        """Return the sets with only those members where `kept` is true.

        >>> Multisets.from_lists([[5], [6, 7]]).keeping(np.array([True, False, True])).sizes
        array([1, 1])
        """
        ptr = _ptr_of(np.bincount(self.owners[kept], minlength=self.n_sets))
        return type(self)(ptr, self.ids[kept], taken(self.weights, kept))

    def subset(self, indices: ArrayLike) -> Self:
        """Return the sets at `indices`, in that order; an index may be repeated.

        >>> Multisets.from_lists([[5], [6, 7], []]).subset([1, 0]).ids
        array([6, 7, 5], dtype=int32)
        """
        rows = np.asarray(indices, dtype=np.int64)
        # A member moves by as much as the start of its set does.
        sizes = self.sizes[rows]
        ptr = _ptr_of(sizes)
        places = np.arange(ptr[-1]) + np.repeat(self.ptr[:-1][rows] - ptr[:-1], sizes)
        return type(self)(ptr, self.ids[places], taken(self.weights, places))

    def _bounds(self, index: int) -> tuple[int, int]:
        if not 0 <= index < self.n_sets:
            raise IndexError(f"set {index} does not exist: expected 0 to {self.n_sets - 1}")
        return int(self.ptr[index]), int(self.ptr[index + 1])


def taken(column: NDArray[Number] | None, rows: NDArray[Any]) -> NDArray[Number] | None:
    """Return some rows of an optional column, such as weights."""
    return None if column is None else column[rows]


def _ptr_of(sizes: Rows) -> Rows:
    ptr = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=ptr[1:])
    return ptr


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view()  # a view: the caller's own array stays as it is
    view.flags.writeable = False
    return view


def _vector(name: str, values: ArrayLike, dtype: type[np.generic]) -> NDArray[Any]:
    # Checked before it is converted: NumPy would cut 1.5 to 1 and wrap large ids around.
    array = np.asarray(values)
    problem = ""
    if array.ndim != 1:
        problem = f"must have one dimension, but its shape is {array.shape}"
    # An empty list is an array of floats to NumPy, and holds no id that could be wrong.
    elif issubclass(dtype, np.integer) and array.dtype != dtype and array.size:
        if array.dtype.kind not in "iu":
            problem = f"must hold integers, but its type is {array.dtype}"
        elif array.max() > np.iinfo(dtype).max:
            problem = f"holds {array.max()}, more than {dtype.__name__} can"
    if problem:
        raise InvalidGraphError(f"`{name}` of multisets {problem}.")
    return _read_only(np.ascontiguousarray(array, dtype=dtype))


def _check(ptr: Rows, ids: Ids, weights: Weights | None) -> None:
    if not len(ptr) or ptr[0] != 0 or ptr[-1] != len(ids) or (ptr[1:] < ptr[:-1]).any():
        raise InvalidGraphError(
            f"`ptr` of multisets must rise from 0 to the number of ids, {len(ids)}, "
            f"but it is {np.array2string(ptr, threshold=6, edgeitems=2)}."
        )
    if len(ids) and ids.min() < 0:
        raise InvalidGraphError(
            f"`ids` of multisets must not be negative, but position {int(ids.argmin())} holds "
            f"{ids.min()}."
        )
    if weights is None:
        return
    if len(weights) != len(ids):
        raise InvalidGraphError(
            f"Expected one weight for each of the {len(ids)} ids, got {len(weights)} weights."
        )
    # min and max carry NaN along, and need no array of their own.
    if len(weights) and not (weights.min() > 0 and weights.max() < np.inf):
        wrong = int(np.argmin((weights > 0) & (weights < np.inf)))
        raise InvalidGraphError(
            f"`weights` of multisets must be positive and finite, but position {wrong} holds "
            f"{weights[wrong]}. Leave members without weight out."
        )
