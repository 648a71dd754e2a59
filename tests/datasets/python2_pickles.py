"""Pickles as Python 2 wrote them (protocol 2, byte strings), and Planetoid files made of them."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

HEAD, STOP = b"\x80\x02", b"."


def number(value: int) -> bytes:
    return b"J" + struct.pack("<i", value)


def string(content: bytes) -> bytes:
    return b"T" + struct.pack("<i", len(content)) + content


def named(module: str, name: str) -> bytes:
    return f"c{module}\n{name}\n".encode()


def pair(first: bytes, second: bytes) -> bytes:
    return first + second + b"\x86"


def array(values: np.ndarray) -> bytes:
    """An array, as numpy's __reduce__ describes it."""
    empty = named("numpy", "ndarray") + number(0) + b"\x85" + string(b"b") + b"\x87"
    dtype = named("numpy", "dtype") + string(values.dtype.str[1:].encode())
    dtype += number(0) + number(1) + b"\x87R"
    dtype += b"(" + number(3) + string(b"<") + b"NNN" + 2 * number(-1) + number(0) + b"tb"
    shape = b"(" + b"".join(map(number, values.shape)) + b"t"
    state = b"(" + number(1) + shape + dtype + b"\x89" + string(values.tobytes()) + b"t"
    return named("numpy.core.multiarray", "_reconstruct") + empty + b"R" + state + b"b"


def matrix(values: np.ndarray) -> bytes:
    """A scipy.sparse.csr_matrix."""
    sparse = csr_array(values.astype(np.float32))
    state = b"}(" + string(b"format") + string(b"csr")
    state += string(b"_shape") + pair(*map(number, sparse.shape))
    for part in ("data", "indices", "indptr"):
        state += string(part.encode()) + array(getattr(sparse, part))
    return named("scipy.sparse.csr", "csr_matrix") + b")\x81" + state + b"ub"


def lists(neighbors: dict[int, list[int]]) -> bytes:
    """A collections.defaultdict(list)."""
    items = b"".join(
        number(node) + b"](" + b"".join(map(number, others)) + b"e"
        for node, others in neighbors.items()
    )
    made = named("collections", "defaultdict") + named("__builtin__", "list") + b"\x85R"
    return made + b"(" + items + b"u"


def pickled(body: bytes) -> bytes:
    return HEAD + body + STOP


def one_hot(classes: list[int], n_classes: int) -> np.ndarray:
    return np.eye(n_classes, dtype=np.int32)[classes]


def write_planetoid(folder: Path, name: str, n_before: int = 504) -> dict[str, Path]:
    """Files of a small data set: a path of n_before nodes, and four more.

    The test rows are nodes n_before + 2 and n_before, in that order; n_before + 1 and + 3 are in
    the graph only, the latter with a self-loop and nothing else. Row i has word i % 3, the test
    rows have weights; classes alternate. The first 4 rows are for training.
    """
    a = n_before
    neighbors = {node: [node - 1, node + 1] for node in range(1, a + 2)}
    neighbors |= {0: [1, 1], a + 2: [a + 1], a + 3: [a + 3, a + 3]}
    allx = np.eye(3)[np.arange(a) % 3]
    ally = one_hot([node % 2 for node in range(a)], 2)
    bodies = {
        "x": matrix(allx[:4]),
        "y": array(ally[:4]),
        "allx": matrix(allx),
        "ally": array(ally),
        "tx": matrix(np.array([[0.5, 0, 2], [0, 0.25, 0]])),
        "ty": array(one_hot([1, 0], 2)),
        "graph": lists(neighbors),
    }
    folder.mkdir(parents=True, exist_ok=True)
    paths = {kind: folder / f"ind.{name}.{kind}" for kind in (*bodies, "test.index")}
    for kind, body in bodies.items():
        paths[kind].write_bytes(pickled(body))
    paths["test.index"].write_text(f"{a + 2}\n{a}\n")
    return paths
