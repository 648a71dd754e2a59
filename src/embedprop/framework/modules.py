"""A described instance becomes torch modules: f, g, g~, d and the loss of one label type."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from embedprop.errors import InvalidParameterError, TrainingError
from embedprop.framework.aggregators import Messages
from embedprop.framework.losses import Compared
from embedprop.graph.changes.texts import Tokens
from embedprop.graph.multisets import Multisets
from embedprop.instance.catalog import describe_part, parse_part, registry_of
from embedprop.instance.epb import TypeInstance
from embedprop.kernels.epb.batch import Draws

# A matrix of all pairs is cheaper than a row per pair as long as it is not this much larger.
_PAIRS_WASTED = 4
_FIELDS = {"label_embedding": "f", "aggregator": "g", "reconstruction": "g_tilde",
           "distance": "d", "loss": "loss"}  # fmt: skip


# What a part must return: {0} is the shape, {1} what it was.
_VECTORS = (
    "{0[0]} vectors of dim {0[1]}, that is shape {0}, but returned {1}. "
    "Change the module's output, or dim={0[1]}."
)
_OUTPUTS = {
    "distance": "one number for each pair of vectors, here of shape {0}, but returned {1}.",
    "loss": "one number for each of the {0[0]} nodes of the batch, that is shape {0}, but "
    "returned {1}.",
}


def make_part(part: str, text: str, margin: float | None = None, **given: Any) -> Any:
    """Return the module that is written as ``"softmax(temperature=0.2)"``.

    margin: for a part that has one and does not name it. given: what all parts of a kind take.
    """
    chosen, registry = parse_part(part, text), registry_of(part)
    parameters = dict(chosen.parameters)
    if margin is not None and "margin" in describe_part(registry.kind, chosen.name).parameters:
        parameters.setdefault("margin", margin)
    return registry[chosen.name](**given, **parameters)


@dataclass(frozen=True, eq=False)
class Labels:
    """l_i(v) without a gap (dummy labels from n_labels on), and what f reads of each label.

    contents: (n_labels, ...) for numbers, images and texts; None where f reads the label's id.
    shape: of what f is made for; tokens: the words that an encoder of texts knows.
    """

    sets: Multisets
    n_labels: int
    n_vectors: int
    contents: NDArray[Any] | None
    shape: tuple[int, ...]
    tokens: Tokens | None = None


class Reader(nn.Module):
    """The labels of nodes as tensors: which labels, of what weight."""

    def __init__(self, sets: Multisets) -> None:
        super().__init__()
        weights = np.ones(sets.n_values, np.float32) if sets.weights is None else sets.weights
        arrays = {"ptr": sets.ptr, "ids": sets.ids.astype(np.int64), "weights": weights}
        for name, array in arrays.items():
            self.register_buffer(name, torch.tensor(array), persistent=False)

    ptr: Tensor
    ids: Tensor
    weights: Tensor

    def forward(self, nodes: Tensor) -> tuple[Tensor, Tensor]:
        """Return the entries of all labels of `nodes`, and the position of the node of each."""
        starts = self.ptr[nodes]
        sizes = self.ptr[nodes + 1] - starts
        owners = torch.repeat_interleave(torch.arange(len(nodes), device=nodes.device), sizes)
        first = torch.cumsum(sizes, 0) - sizes
        return (starts - first)[owners] + torch.arange(len(owners), device=nodes.device), owners


class Heard(NamedTuple):
    """The edges over which labels travel to the visited nodes of a batch, one row each.

    nodes: the speakers; positions: the visited node of each; places: of the edge in the graph.
    """

    nodes: Tensor
    weights: Tensor
    positions: Tensor
    places: Tensor
    relations: Tensor


class TypeModule(nn.Module):
    """One label type: from drawn neighbors and negatives to the loss of each visited node."""

    def __init__(
        self,
        name: str,
        settings: TypeInstance,
        labels: Labels,
        n_edges: int,
        n_relations: int,
        own_parts: Mapping[str, Any],
    ) -> None:
        super().__init__()
        self.name, self.settings, self._own = name, settings, own_parts
        self.label_dropout = settings.label_dropout
        self.labels, self.n_edges, self.is_new = labels, n_edges, False
        self.reader = Reader(labels.sets)
        self.dim = dim = settings.dim
        self.f = self._part("label_embedding", shape=labels.shape, dim=dim)
        n_dummies = 0 if settings.is_set else labels.n_vectors - labels.n_labels
        self.dummies = nn.Parameter(torch.zeros(n_dummies, dim))
        self.g = self._part("aggregator", dim=dim, n_edges=labels.sets.n_values)
        self.g_tilde = self._part("reconstruction", dim=dim, n_edges=n_edges)
        self.d = self._part("distance")
        self.loss = self._part("loss")
        self.relations = nn.Parameter(torch.zeros(n_relations, dim))

    def _part(self, part: str, **given: Any) -> Any:
        if part in self._own:
            return self._own[part]
        return make_part(part, getattr(self.settings, part), self.settings.margin, **given)

    def go_on_from(self, previous: TypeModule) -> None:
        """Take what the parts f, g and g~ of a smaller graph have learned, where the sizes agree.

        Statistics of the labels stay those of the first fit: f means the same as before.
        """
        state = self.state_dict()
        for key, value in previous.state_dict().items():
            is_part = key.startswith(("f.", "g.", "g_tilde.")) and not self._is_table(key)
            if key == "f.tokens.weight" and self.labels.tokens and previous.labels.tokens:
                # Words stand by frequency, which may be another now.
                known = previous.labels.tokens.vocabulary.find_all(self.labels.tokens.vocabulary)
                at = np.flatnonzero(known >= 0)
                state[key][at + 1] = value[known[at].astype(np.int64) + 1].to(state[key])
            elif is_part and key in state and state[key].shape == value.shape:
                state[key].copy_(value)

    def saved_state(self) -> dict[str, NDArray[Any]]:
        """Return parameters and buffers as arrays, without tables and the user's own modules."""
        skipped = tuple(f"{_FIELDS[part]}." for part in self._own)
        return {
            key: value.detach().cpu().numpy()
            for key, value in self.state_dict().items()
            if not (key.startswith(skipped) or self._is_table(key))
        }

    def _is_table(self, key: str) -> bool:
        """Return whether a parameter is the lookup table, which is kept as label vectors."""
        return key == "f.table" and self.settings.label_embedding == "lookup"

    def load_saved_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Take parameters and buffers from arrays that `saved_state` gave."""
        expected = self.saved_state()
        if expected.keys() != state.keys():
            raise ValueError(f"parameters {sorted(expected.keys() ^ state.keys())} do not fit")
        tensors = {key: torch.from_numpy(np.array(value)) for key, value in state.items()}
        self.load_state_dict(tensors, strict=False)

    def reading(self, sets: Multisets, vectors: NDArray[np.float32]) -> TypeModule:
        """Return the same parts over other nodes: their labels, and the vectors of all labels."""
        other = copy.copy(self)
        other._modules = dict(self._modules)
        other.is_new = True
        other.labels = Labels(sets, len(vectors), len(vectors), None, (len(vectors),))
        other.reader = Reader(sets)
        weight = torch.from_numpy(np.array(vectors))
        other.f = nn.Embedding(len(vectors), vectors.shape[1], _weight=weight)
        return other

    def label_vectors(self, ids: Tensor) -> Tensor:
        """Return f of labels, and the vectors of dummy labels."""
        if self.labels.contents is None:
            return self.label_vectors_of(ids)
        is_label = ids < self.labels.n_labels
        chosen = torch.from_numpy(self.labels.contents[ids[is_label].cpu().numpy()])
        vectors = self.dummies.new_zeros(len(ids), self.dim)
        if len(chosen):
            vectors[is_label] = self.label_vectors_of(chosen.to(ids.device))
        if len(chosen) < len(ids):  # else they have no gradient, and Adam leaves them alone
            vectors[~is_label] = self.dummies[ids[~is_label] - self.labels.n_labels]
        return vectors

    def label_vectors_of(self, contents: Tensor) -> Tensor:
        """Return f of numbers, texts or images, or of ids."""
        return self._checked("label_embedding", self.f(contents), (len(contents), self.dim))

    def embed(self, nodes: Tensor) -> Tensor:
        """Return h of nodes: g over their own labels."""
        entries, owners = self.reader(nodes)
        distinct, place = distinct_of(self.reader.ids[entries], self.labels.n_vectors)
        return self._aggregate_own(self.label_vectors(distinct)[place], entries, owners, len(nodes))

    def forward(self, draws: Draws) -> tuple[Tensor, Tensor, Tensor]:
        """Return the loss of each visited node, its h~ and its h."""
        device = self.reader.ptr.device
        nodes = torch.from_numpy(draws.nodes).to(device).long()
        negatives, others = self._negatives(draws.negatives, device)
        compared = torch.cat([nodes, negatives])
        own_entries, own_owners = self._dropped(*self.reader(compared))
        heard = _heard(draws, device)
        entries, owners = self.reader(heard.nodes)
        entries, owners = self._dropped(entries, owners, heard.positions)
        ids = torch.cat([self.reader.ids[own_entries], self.reader.ids[entries]])
        distinct, at = distinct_of(ids, self.labels.n_vectors)
        vectors = self.label_vectors(distinct)
        said, spoken = vectors[at[: len(own_entries)]], vectors[at[len(own_entries) :]]
        h = self._aggregate_own(said, own_entries, own_owners, len(compared))
        h_tilde = self._reconstruct(spoken, entries, owners, heard, len(nodes))
        h_own = h[: len(nodes)]
        own = self._checked("distance", self.d(h_tilde, h_own), (len(nodes),))
        apart = self._apart(h_tilde, h[len(nodes) :], others)
        loss = self.loss(Compared(own, apart, h_tilde, h_own))
        return self._finite(self._checked("loss", loss, (len(nodes),))), h_tilde, h_own

    def _negatives(self, drawn: NDArray[np.int32], device: torch.device) -> tuple[Tensor, Tensor]:
        """Return the distinct negatives of a batch, and where each drawn one stands among them."""
        if not getattr(self.loss, "uses_negatives", True):
            drawn = drawn[:, :0]
        return distinct_of(torch.from_numpy(drawn).to(device).long(), self.labels.sets.n_sets)

    def _dropped(
        self, entries: Tensor, owners: Tensor, positions: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Leave out each label with the chance `label_dropout`, but never all of a set."""
        if not self.label_dropout or not self.training:
            return entries, owners
        sets = owners if positions is None else positions[owners]
        kept = torch.rand(len(entries), device=entries.device) >= self.label_dropout
        filled = kept.new_zeros(int(sets.max()) + 1 if len(sets) else 0)
        filled[sets[kept]] = True
        kept |= ~filled[sets]
        return entries[kept], owners[kept]

    def reconstruct(self, draws: Draws) -> Tensor:
        """Return h~ of the visited nodes alone."""
        heard = _heard(draws, self.reader.ptr.device)
        entries, owners = self.reader(heard.nodes)
        distinct, at = distinct_of(self.reader.ids[entries], self.labels.n_vectors)
        spoken = self.label_vectors(distinct)[at]
        return self._reconstruct(spoken, entries, owners, heard, len(draws.nodes))

    def _aggregate_own(
        self, vectors: Tensor, entries: Tensor, owners: Tensor, n_nodes: int
    ) -> Tensor:
        weights = self.reader.weights[entries].to(vectors.dtype)
        # Labels of new nodes have no weight of their own that was learned.
        places = torch.full_like(entries, -1) if self.is_new else entries
        messages = Messages(vectors, weights, owners, places, n_nodes)
        return self._checked("aggregator", self.g(messages), (n_nodes, self.dim))

    def _reconstruct(
        self, vectors: Tensor, entries: Tensor, owners: Tensor, heard: Heard, n_nodes: int
    ) -> Tensor:
        """Return g~ over the labels that travel over the edges in `heard`."""
        if len(self.relations):
            vectors = vectors + self.relations[heard.relations[owners]]
        weights = (self.reader.weights[entries] * heard.weights[owners]).to(vectors.dtype)
        positions, places = heard.positions[owners], heard.places[owners]
        messages = Messages(vectors, weights, positions, places, n_nodes)
        return self._checked("reconstruction", self.g_tilde(messages), (n_nodes, self.dim))

    def _apart(self, h_tilde: Tensor, h: Tensor, others: Tensor) -> Tensor:
        """Return d(h~(v), h(u)) of all negatives: (nodes, negatives); `others` are rows of h."""
        if len(h) <= _PAIRS_WASTED * others.shape[1] and hasattr(self.d, "between"):
            apart = self.d.between(h_tilde, h).gather(1, others)
        else:
            apart = self.d(h_tilde[:, None], h[others])
        return self._checked("distance", apart, tuple(others.shape))

    def _finite(self, losses: Tensor) -> Tensor:
        """Return the loss of each node if there is one."""
        if not torch.isfinite(losses).all():
            raise TrainingError(
                f"loss={self.settings.loss!r} of label type {self.name!r} is "
                f"{losses[~torch.isfinite(losses)][0].item()}. Lower learning_rate, look for "
                f"extreme weights or numbers, or check the module if it is your own."
            )
        return losses

    def _checked(self, part: str, values: Any, expected: tuple[int, ...]) -> Tensor:
        """Return what a part returned, which may be a user's own, if it has the shape."""
        came = tuple(values.shape) if isinstance(values, Tensor) else type(values).__name__
        if came != expected:
            raise InvalidParameterError(
                f"{part}={getattr(self.settings, part)!r} of label type {self.name!r} must return "
                + _OUTPUTS.get(part, _VECTORS).format(expected, came)
            )
        return cast(Tensor, values)


def distinct_of(ids: Tensor, n: int) -> tuple[Tensor, Tensor]:
    """Return the distinct ids below n, ascending, and where each given one stands among them.

    >>> distinct_of(torch.tensor([7, 2, 7]), 9)
    (tensor([2, 7]), tensor([1, 0, 1]))
    """
    slots = torch.zeros(n, dtype=torch.int64, device=ids.device)
    slots[ids.flatten()] = 1
    distinct = torch.nonzero(slots)[:, 0]
    slots[distinct] = torch.arange(len(distinct), device=ids.device)
    return distinct, slots[ids]


def _heard(draws: Draws, device: torch.device) -> Heard:
    sizes = draws.ends - draws.starts
    positions = np.repeat(np.arange(len(sizes)), sizes)
    first = np.cumsum(sizes) - sizes
    at = (draws.starts - first)[positions] + np.arange(len(positions))
    weights = draws.neighbor_weights[at] if len(draws.neighbor_weights) else np.ones(len(at))
    places = draws.places[at] if len(draws.places) else at
    relations = draws.neighbor_relations[at] if len(draws.neighbor_relations) else at[:0]
    arrays = (draws.neighbor_ids[at].astype(np.int64), weights, positions, places,
              relations.astype(np.int64))  # fmt: skip
    return Heard(*(torch.from_numpy(np.ascontiguousarray(array)).to(device) for array in arrays))
