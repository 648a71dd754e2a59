"""What the kernels of EP-B are given: a problem, and memory to work in.

A batch goes through three stages, each at a meeting of the threads later than the one before
(`epoch`): what it reads is listed, its positions are compared, and its gradients are added.
"""

from typing import NamedTuple

from embedprop.kernels.epb.adam import AdamTables, Table
from embedprop.kernels.machine.arrays import Float, Floats, Ints
from embedprop.kernels.machine.compile import uncounted

# Lists in use at the same time, see `epoch`.
SIDES = 4
# Kinds of messages: to those whom a position hears, to v itself, and from here on to each u.
TO_NEIGHBORS, TO_OWN, TO_NEGATIVES = 0, 1, 2


class Draws(NamedTuple):
    """What chance has decided for a run of positions: the same for every engine.

    Position i visits nodes[i], whose neighbors are neighbor_ids[starts[i]:ends[i]], with weights
    (an empty array: all 1), and compares it with negatives[i]. neighbor_relations is the relation
    of each of these edges (empty: without relations), places its place in the graph's own lists
    (empty: starts and ends are such places; of walks: there is none).
    """

    nodes: Ints
    starts: Ints
    ends: Ints
    neighbor_ids: Ints
    neighbor_weights: Floats
    negatives: Ints
    neighbor_relations: Ints
    places: Ints


class Problem(NamedTuple):
    """A run of positions, and the table that they move.

    Where relations are learned, `draws` are as `with_relations` returns them and reads_per_edge is
    2, else 1. n_steps: how many were made before. margin has the type of the vectors.
    """

    table: Table
    draws: Draws
    adam: AdamTables
    batch_size: int
    reads_per_edge: int
    margin: Float
    squared: bool
    learning_rate: float
    n_steps: int


class Labels(NamedTuple):
    """l_i(v) as CSR with weights that add up to 1 per node, and totals T(v)."""

    ptr: Ints
    ids: Ints
    weights: Floats
    totals: Floats


class Senders(NamedTuple):
    """Who sends a gradient to receivers[i]: entries[offsets[i]:offsets[i + 1]], with weights.

    receivers has one place to spare. weights: an empty array: all 1. ends: per possible receiver,
    while the lists are made, how many send to it, then where its list ends; at all other times 0.
    """

    receivers: Ints
    offsets: Ints
    ends: Ints
    entries: Ints
    weights: Floats


class Workspace(NamedTuple):
    """Memory that every batch uses again; what is per part has the parts for its first axis.

    rows, n_rows[:, 0]: the distinct rows of the table that a batch reads, with one place to spare,
    and how many there are; the SIDES are the first axis.
    slot: per part, for each row of the table its place in a list that is being made (where nobody
    asks for it, any number), -1 if it is not there; at all other times -1.
    messages: per part, h~ of each position, then the backward messages, at their `address`.
    squares (2, blocks of columns, batch_size, 1 + n_negatives): squared distances of h~ to h(v),
    then to each h(u), for even and odd batches. distances: per part, from these.
    hinges (n_parts, batch_size, n_negatives): the losses, 0 where the margin is kept.
    scales (n_parts, batch_size): 1 / sum of the weights in h~. gradient: per part, of one row.
    to_rows: per part, who sends to rows of the table.
    """

    rows: Ints
    n_rows: Ints
    slot: Ints
    messages: Floats
    squares: Floats
    distances: Floats
    hinges: Floats
    scales: Floats
    gradient: Floats
    to_rows: Senders


class NodeSpace(NamedTuple):
    """More memory for shared labels: h(x) is computed once per distinct node x of a batch.

    nodes: these nodes, with one place to spare; n_nodes[:, 0]: how many there are; starts, ends:
    where the labels of each stand.
    own (batch_size,), negatives (batch_size, n_negatives): the places of v and of each u among
    them; heard[offsets[b]:offsets[b + 1]] the places of those whom position b hears, with weights
    w(x, v) T(x). All these have the SIDES for their first axis.
    slot, to_nodes: as slot and to_rows of `Workspace`, for nodes; a receiver is a place in `nodes`.
    embeddings, gradients: per part, h(x) of each node, and the gradient of that.
    """

    nodes: Ints
    n_nodes: Ints
    starts: Ints
    ends: Ints
    own: Ints
    negatives: Ints
    heard: Ints
    weights: Floats
    offsets: Ints
    slot: Ints
    to_nodes: Senders
    embeddings: Floats
    gradients: Floats


class Positions(NamedTuple):
    """The positions of a batch, in numbers of rows of `h`: of the table, or of node embeddings.

    Position b is of own[b], hears heard[starts[b]:ends[b]], with weights (an empty array: all 1),
    and is compared with negatives[b].
    """

    own: Ints
    negatives: Ints
    heard: Ints
    weights: Floats
    starts: Ints
    ends: Ints


@uncounted(forceinline=True)
def bounds_of(batch: int, problem: Problem) -> tuple[int, int]:
    """Return the first position of a batch, and the one after it; the last may be shorter."""
    first = batch * problem.batch_size
    return first, min(first + problem.batch_size, problem.draws.nodes.shape[0])


@uncounted(forceinline=True)
def address(kind: int, b: int, batch_size: int) -> int:
    """Return the row of the message of a kind that position b sends."""
    return kind * batch_size + b


@uncounted()
def senders_of(senders: Senders, part: int) -> Senders:
    """Return those of one part."""
    receivers, offsets, ends = senders.receivers[part], senders.offsets[part], senders.ends[part]
    return Senders(receivers, offsets, ends, senders.entries[part], senders.weights[part])
