"""What a model with torch parts knows: new nodes go through the parts themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from embedprop.errors import InvalidGraphError
from embedprop.graph import Graph
from embedprop.graph.multisets import Multisets
from embedprop.instance.description import Instance
from embedprop.kernels.epb.batch import Draws
from embedprop.methods.epb.engines.engine import TrainingResult
from embedprop.methods.epb.tables.storage import MEMORY, Tables
from embedprop.model.heads import LearnedHead, log_softmax
from embedprop.model.learned import Learned, Members, Own, Relations
from embedprop.model.representations import Vectors

if TYPE_CHECKING:
    from embedprop.framework.modules import TypeModule


def learned_from(
    graph: Graph,
    instance: Instance,
    result: TrainingResult,
    previous: Learned | None,
    tables: Tables = MEMORY,
) -> Learned:
    """Return what was learned; with parts beyond means of tables, the parts too."""
    kind = Learned if result.modules is None else ModuleLearned
    learned = kind.from_training(graph, result, instance.representation, previous, tables)
    return learned if result.head is None else _with_head(learned, graph, result.head)


def _with_head(learned: Learned, graph: Graph, head: Any) -> Learned:
    """Return the same with the head's weights, and its scores of the nodes.

    They come from h and h~ in equal parts, or from the average where r is one.
    """
    weights = head.scores.weight.detach().numpy().astype(np.float32)
    bias = head.scores.bias.detach().numpy().astype(np.float32)
    if learned.representation.startswith("pagerank"):
        # The scores are linear in h, so their average is that of the averaged h.
        scores = log_softmax(learned.vectors @ weights.T + bias)
    else:
        h_tilde, known = learned.reconstructed(graph)
        own = log_softmax(learned.embedding @ weights.T + bias)
        heard = log_softmax(h_tilde @ weights.T + bias)
        scores = np.where(known[:, None], (own + heard) / 2, own)
    return replace(learned, head=LearnedHead(head.names, weights, bias, scores))


@dataclass(frozen=True, eq=False)
class ModuleLearned(Learned):
    """Vectors of labels and nodes, and the modules f, g and g~ of each label type.

    tables: per label type the vectors of all labels and dummy labels, in the order of its sets.
    n_learned: how many numbers the parts have.
    """

    modules: Mapping[str, TypeModule] = field(default_factory=dict, kw_only=True)
    tables: Mapping[str, Vectors] = field(default_factory=dict, kw_only=True)
    n_learned: int = field(default=0, kw_only=True)

    @classmethod
    def _more(cls, result: TrainingResult) -> dict[str, Any]:
        modules = result.modules or {}
        n_learned = sum(p.numel() for module in modules.values() for p in module.parameters())
        return {"modules": modules, "tables": result.label_vectors, "n_learned": n_learned}

    @property
    def n_parameters(self) -> int:
        """How many numbers were learned, those of all parts."""
        return self.n_learned

    def _dummy_vectors(self, label_type: str) -> Vectors:
        table = self.tables[label_type]  # dummy labels come last
        return table[len(table) - len(self.dummies[label_type]) :]

    def _own(self, sets: Mapping[str, Multisets]) -> dict[str, tuple[Vectors, NDArray[np.float32]]]:
        found = super()._own(sets)
        for name, (_, weights) in found.items():
            module = self.modules[name]
            if module.settings.is_set and module.settings.aggregator != "mean":
                h = self._aggregated(module, sets[name], self.label_vectors[name])
                found[name] = h, weights
        return found

    def _own_of(self, graph: Graph, new: NDArray[np.int64]) -> Own:
        found = dict(super()._own_of(graph, new))
        for name, module in self.modules.items():
            if not module.settings.is_set:
                sets, vectors = self._values(graph, name, module, new)
                h = self._aggregated(module, sets, vectors)
                found[name] = h, sets.sizes.astype(np.float32)
        return found

    def _values(
        self, graph: Graph, name: str, module: TypeModule, new: NDArray[np.int64]
    ) -> tuple[Multisets, Vectors]:
        """Return the numbers, text or image of new nodes as a label each, and f of these."""
        import torch

        low, high = self.columns[name]
        has = np.zeros(len(new), bool)
        vectors = np.empty((0, high - low), np.float32)
        if name in graph.values:
            present = graph.has_labels(name)
            has = present[new]
        if has.any():
            rows = np.searchsorted(np.flatnonzero(present), new[has])
            contents = _contents(graph, name, module)[rows]
            with torch.no_grad():
                vectors = module.label_vectors_of(torch.from_numpy(contents)).float().numpy()
        ptr = np.concatenate([[0], np.cumsum(has)])
        return Multisets(ptr, np.arange(len(vectors), dtype=np.int32)), vectors

    @staticmethod
    def _aggregated(module: TypeModule, sets: Multisets, vectors: Vectors) -> Vectors:
        import torch

        with torch.no_grad():
            filled = np.flatnonzero(sets.sizes)
            h = np.zeros((sets.n_sets, vectors.shape[1]), np.float32)
            if len(filled):
                reading = module.reading(sets, vectors)
                h[filled] = reading.embed(torch.from_numpy(filled)).float().numpy()
        return h

    def reconstructed(self, graph: Graph) -> tuple[Vectors, NDArray[np.bool_]]:
        """Return h~ of every node of the graph that was learned from, and who has neighbors."""
        out = np.zeros_like(self.embedding)
        sizes = graph.neighbors.sizes
        heard = np.flatnonzero(sizes)
        for name, module in self.modules.items():
            low, high = self.columns[name]
            # As in training: an edge goes by its place, for weights that are learned.
            draws = _draws(graph.neighbors, heard, graph.neighbor_relations, np.empty(0, np.int64))
            out[heard, low:high] = _run(module.reconstruct, draws)
        return out, sizes > 0

    def _members(self, graph: Graph, old: NDArray[np.int32], new: NDArray[np.int64]) -> Members:
        """Return the stored labels of known nodes, and the known ones of new nodes."""
        found = {}
        for name, module in self.modules.items():
            if _has_means(module):
                continue
            stored, table = module.labels.sets, self.tables[name]
            if module.settings.is_set:
                of_new, vectors = self._known_labels(graph, name, new), self.label_vectors[name]
            else:
                of_new, vectors = self._values(graph, name, module, new)
            ids = of_new.ids + np.int32(len(table))
            of_new = Multisets(of_new.ptr, ids, of_new.weights)
            table = np.concatenate([table, vectors])
            rows = np.where(old >= 0, old, stored.n_sets)
            rows[new] = stored.n_sets + np.arange(len(new))
            found[name] = _joined(stored, of_new).subset(rows), table
        return found

    def _hear(
        self,
        label_type: str,
        table: Vectors,
        mass: NDArray[np.float32],
        speakers: Multisets,
        over: Relations,
        members: Members,
        out: Vectors,
    ) -> NDArray[np.bool_]:
        module = self.modules[label_type]
        if _has_means(module):
            return super()._hear(label_type, table, mass, speakers, over, members, out)
        if members is None:
            members = {label_type: (module.labels.sets, self.tables[label_type])}
        sets, vectors = members[label_type]
        told = sets.sizes[speakers.ids] > 0
        speakers, over = speakers.keeping(told), None if over is None else over[told]
        heard = np.flatnonzero(speakers.sizes)
        new_edges = np.full(speakers.n_values, -1)
        draws = _draws(speakers, heard, over, new_edges)
        out[heard] = _run(module.reading(sets, vectors).reconstruct, draws)
        return np.asarray(speakers.sizes > 0)


def _has_means(module: TypeModule) -> bool:
    """Return whether h~ is the mean of the neighbors' h by the weight of their labels."""
    return module.settings.aggregator == module.settings.reconstruction == "mean"


def _draws(
    speakers: Multisets,
    heard: NDArray[np.int64],
    over: Relations,
    places: NDArray[np.int64],
) -> Draws:
    """Return the edges to the sets `heard` as a module reads them."""
    none = np.empty(0, np.float32)
    return Draws(
        heard.astype(np.int32),
        speakers.ptr[heard],
        speakers.ptr[heard + 1],
        speakers.ids,
        none if speakers.weights is None else speakers.weights,
        np.empty((len(heard), 0), np.int32),
        np.empty(0, np.int32) if over is None else over,
        places,
    )


def _run(function: Callable[[Draws], Any], draws: Draws) -> Vectors:
    import torch

    with torch.no_grad():
        result: Vectors = function(draws).float().numpy()
    return result


def _joined(first: Multisets, second: Multisets) -> Multisets:
    """Return the sets of both, one after the other."""
    weights = None
    if first.weights is not None or second.weights is not None:
        ones = [np.ones(s.n_values, np.float32) if s.weights is None else s.weights
                for s in (first, second)]  # fmt: skip
        weights = np.concatenate(ones)
    ptr = np.concatenate([first.ptr, first.ptr[-1] + second.ptr[1:]])
    return Multisets(ptr, np.concatenate([first.ids, second.ids]), weights)


def _contents(graph: Graph, name: str, module: TypeModule) -> NDArray[Any]:
    """Return what f reads of the labels of a graph, if they have the shape that it knows."""
    from embedprop.framework.labels import contents_of

    labels = module.labels
    contents = contents_of(graph, name, labels.tokens)
    if labels.tokens is None and contents.shape[1:] != labels.shape:
        raise InvalidGraphError(
            f"Label type {name!r}: the model was learned from labels of shape {labels.shape}, but "
            f"these are of shape {contents.shape[1:]}. Bring them to that size."
        )
    return contents
