"""The readout of a model with torch parts: newcomers go through the parts themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, final

import numpy as np
from numpy.typing import NDArray

from embedprop.errors import InvalidGraphError, InvalidParameterError
from embedprop.files.folder.load import StoredModel
from embedprop.graph import Graph, Multisets, Vocabulary
from embedprop.graph.arrays import Ids, Mask, Rows, Vectors, Weights
from embedprop.graph.changes.texts import Tokens
from embedprop.instance.epb import CUSTOM, EPBInstance
from embedprop.instance.parts import PARTS_OF_TYPE
from embedprop.kernels.epb.batch import Draws
from embedprop.model.newcomers import Arrivals, Heard, Placed, no_labels
from embedprop.model.readout.means import MeansReadout
from embedprop.model.readout.readout import Labels, Saved

if TYPE_CHECKING:
    from embedprop.framework.modules import TypeModule


@final
@dataclass(frozen=True, eq=False)
class ModulesReadout:
    """The modules f, g and g~ of each label type, beside the means of those that have no others.

    tables: per label type the vectors of all labels and dummy labels, in the order of its sets.
    n_parameters: how many numbers all parts have.
    """

    name: ClassVar[str] = "modules"
    is_symmetric: ClassVar[bool] = False

    means: MeansReadout
    modules: Mapping[str, TypeModule]
    tables: Mapping[str, Vectors]
    n_parameters: int

    @property
    def averages(self) -> bool:
        """Whether r is an average of h over the graph."""
        return self.means.averages

    def with_vectors(self, vectors: Vectors) -> Self:
        """Return the same with these r of the nodes."""
        return replace(self, means=self.means.with_vectors(vectors))

    def dummy_vectors(self, name: str) -> Vectors:
        """Return the vectors of the dummy labels, which come last in a table."""
        table = self.tables[name]
        return table[len(table) - len(self.means.dummies[name]) :]

    def own(self, labels: Labels) -> dict[str, tuple[Vectors, Weights]]:
        """Return h_i and the label weight of new nodes from their known labels."""
        found = self.means.own(labels)
        for name, (_, weights) in found.items():
            module = self.modules[name]
            if module.settings.is_set and module.settings.aggregator != "mean":
                h = _aggregated(module, labels[name], self.means.label_vectors[name])
                found[name] = h, weights
        return found

    def arrival(self, heard: Heard, labels: Labels) -> Arrivals:
        """Return one new node with its known labels, and all learned nodes around it."""
        arrival = self.means.arrival(heard, {})
        return arrival._replace(own=self.own(labels))

    def arrivals(self, placed: Placed, heard: Heard, labels: Labels) -> Arrivals:
        """Return the new nodes of a graph with their known labels, and all nodes around them."""
        own = self.own(labels)
        for name, module in self.modules.items():
            if not module.settings.is_set:
                sets, vectors = self._values(placed, name, module)
                own[name] = _aggregated(module, sets, vectors), sets.sizes.astype(np.float32)
        arrivals = self.means.arrivals(placed, heard, labels, own)
        return arrivals._replace(members=self._members(placed, labels))

    def embed(self, arrivals: Arrivals, source: str) -> tuple[Vectors, Mask]:
        """Return h of the new nodes by `source`, and about which of them anything is known."""
        return self.means.embed(arrivals, source, self.hear)

    def represent(self, h: Vectors, arrivals: Arrivals) -> Vectors:
        """Return r of the new nodes from their h."""
        return self.means.represent(h, arrivals, self.hear)

    def hear(self, name: str, mass: Weights, arrivals: Arrivals, out: Vectors) -> Mask:
        """Write h~ of one label type into `out`; return which nodes have heard anything."""
        module = self.modules[name]
        if _has_means(module):
            return self.means.hear(name, mass, arrivals, out)
        members = arrivals.members or {name: (module.labels.sets, self.tables[name])}
        sets, vectors = members[name]
        has_labels = sets.sizes[arrivals.speakers.ids] > 0
        speakers = arrivals.speakers.keeping(has_labels)
        over = None if arrivals.over is None else arrivals.over[has_labels]
        heard = np.flatnonzero(speakers.sizes)
        new_edges = np.full(speakers.n_values, -1)
        draws = _draws(speakers, heard, over, new_edges)
        out[heard] = _run(module.reading(sets, vectors).reconstruct, draws)
        return np.asarray(speakers.sizes > 0)

    def reconstructed(self, graph: Graph, relations: Vocabulary | None) -> tuple[Vectors, Mask]:
        """Return h~ of every node of the graph that was learned from, and which have neighbors."""
        del relations  # the edges have their learned ids already
        out = np.zeros_like(self.means.embedding)
        sizes = graph.neighbors.sizes
        heard = np.flatnonzero(sizes)
        for name, module in self.modules.items():
            low, high = self.means.columns[name]
            # As in training: an edge goes by its place, for weights that are learned.
            draws = _draws(graph.neighbors, heard, graph.neighbor_relations, np.empty(0, np.int64))
            out[heard, low:high] = _run(module.reconstruct, draws)
        return out, sizes > 0

    def stored(self) -> StoredModel:
        """Return what must be saved to read out again; a user's own module is left out."""
        arrays: dict[str, NDArray[Any]] = dict(self.means.stored().arrays)
        vocabularies, sizes = {}, {}
        for name, module in self.modules.items():
            labels = module.labels
            arrays[f"table {name}"] = self.tables[name]
            arrays[f"ptr {name}"], arrays[f"ids {name}"] = labels.sets.ptr, labels.sets.ids
            if labels.sets.weights is not None:
                arrays[f"weights {name}"] = labels.sets.weights
            for key, value in module.saved_state().items():
                arrays[f"module {name} {key}"] = value
            if labels.tokens is not None:
                vocabularies[f"tokens {name}"] = list(labels.tokens.vocabulary.names)
            sizes[name] = {
                "shape": list(labels.shape), "n_labels": labels.n_labels, "n_edges": module.n_edges
            }  # fmt: skip
        settings = {"modules": sizes, "n_parameters": self.n_parameters}
        return StoredModel(settings, arrays, vocabularies)

    @classmethod
    def from_stored(cls, saved: Saved) -> Self:
        """Return the readout of a saved model; its modules are built when they are first used."""
        stored, means = saved.stored, MeansReadout.from_stored(saved)
        tables = {name: stored.arrays[f"table {name}"] for name in means.columns}
        modules = StoredModules(stored, saved.instance)
        return cls(means, modules, tables, stored.settings["n_parameters"])

    def _values(self, placed: Placed, name: str, module: TypeModule) -> tuple[Multisets, Vectors]:
        """Return the numbers, text or image of new nodes as a label each, and f of these."""
        import torch

        graph, new = placed.graph, placed.new
        vectors = np.empty((0, self.tables[name].shape[1]), np.float32)
        present = graph.has_labels(name) if name in graph.values else np.zeros(graph.n_nodes, bool)
        has = present[new]
        if has.any():
            rows = np.searchsorted(np.flatnonzero(present), new[has])
            contents = _contents(graph, name, module)[rows]
            with torch.no_grad():
                vectors = module.label_vectors_of(torch.from_numpy(contents)).float().numpy()
        ptr = np.concatenate([[0], np.cumsum(has)])
        return Multisets(ptr, np.arange(len(vectors), dtype=np.int32)), vectors

    def _members(self, placed: Placed, labels: Labels) -> dict[str, tuple[Multisets, Vectors]]:
        """Return the stored labels of known nodes, and the known ones of new nodes."""
        found = {}
        for name, module in self.modules.items():
            if _has_means(module):
                continue
            stored, table = module.labels.sets, self.tables[name]
            if not module.settings.is_set:
                of_new, vectors = self._values(placed, name, module)
            else:  # ids of new nodes were not learned
                of_new = labels[name] if name in labels else no_labels(len(placed.new))
                vectors = self.means.label_vectors[name]
            # The new labels come after the stored ones, and the new nodes' sets too.
            ptr = np.concatenate([stored.ptr, stored.ptr[-1] + of_new.ptr[1:]])
            ids = np.concatenate([stored.ids, of_new.ids + np.int32(len(table))])
            weights = np.concatenate([
                np.ones(sets.n_values, np.float32) if sets.weights is None else sets.weights
                for sets in (stored, of_new)
            ])  # fmt: skip
            rows = placed.old.copy()
            rows[placed.new] = stored.n_sets + np.arange(len(placed.new))
            joined = Multisets(ptr, ids, weights).subset(rows)
            found[name] = joined, np.concatenate([table, vectors])
        return found


class StoredModules(Mapping[str, "TypeModule"]):
    """The modules of a loaded model, built when one is first used: until then torch is not."""

    def __init__(self, stored: StoredModel, instance: EPBInstance) -> None:
        self._stored, self._instance = stored, instance
        self._built: dict[str, TypeModule] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._instance.label_types)

    def __len__(self) -> int:
        return len(self._instance.label_types)

    def __getitem__(self, name: str) -> TypeModule:
        if name in self._built:
            return self._built[name]
        import torch

        from embedprop.framework.modules import Labels as ModuleLabels
        from embedprop.framework.modules import TypeModule

        settings, arrays = self._instance.label_types[name], self._stored.arrays
        sizes = self._stored.settings["modules"][name]
        tokens = self._stored.vocabularies.get(f"tokens {name}")
        weights = arrays.get(f"weights {name}")
        sets = Multisets(arrays[f"ptr {name}"], arrays[f"ids {name}"], weights)
        n_vectors, shape = len(arrays[f"table {name}"]), tuple(sizes["shape"])
        words = None if tokens is None else Tokens(Vocabulary.trusted(tokens))
        labels = ModuleLabels(sets, sizes["n_labels"], n_vectors, None, shape, words)
        own = [part for part in PARTS_OF_TYPE if getattr(settings, part).startswith(CUSTOM)]
        missing = {part: _missing(part, name) for part in own}
        n_edges, n_relations = sizes["n_edges"], self._instance.n_relations
        with torch.random.fork_rng(devices=[]):
            module = TypeModule(name, settings, labels, n_edges, n_relations, missing)
        start = f"module {name} "
        state = {key.removeprefix(start): arrays[key] for key in arrays if key.startswith(start)}
        module.load_saved_state(state)
        self._built[name] = module.eval()
        return module


def _missing(part: str, label_type: str) -> Any:
    """Return a module that says why it cannot be used."""
    from torch import nn

    class Missing(nn.Module):
        def forward(self, *_: Any) -> Any:
            raise InvalidParameterError(
                f"{part} of label type {label_type!r} was a module of your own, which a saved "
                f"model does not hold. Known nodes keep their vectors; for what needs the module, "
                f"use the model before it was saved, or train it again."
            )

    return Missing()


def _has_means(module: TypeModule) -> bool:
    """Return whether h~ is the mean of the neighbors' h by the weight of their labels."""
    return module.settings.aggregator == module.settings.reconstruction == "mean"


def _aggregated(module: TypeModule, sets: Multisets, vectors: Vectors) -> Vectors:
    """Return g over the labels of each node that has some; zeros for the others."""
    import torch

    with torch.no_grad():
        filled = np.flatnonzero(sets.sizes)
        h = np.zeros((sets.n_sets, vectors.shape[1]), np.float32)
        if len(filled):
            reading = module.reading(sets, vectors)
            h[filled] = reading.embed(torch.from_numpy(filled)).float().numpy()
    return h


def _draws(speakers: Multisets, heard: Rows, over: Ids | None, places: Rows) -> Draws:
    """Return the edges to the sets `heard` as a module reads them."""
    nodes, negatives = heard.astype(np.int32), np.empty((len(heard), 0), np.int32)
    starts, ends, ids = speakers.ptr[heard], speakers.ptr[heard + 1], speakers.ids
    weights = np.empty(0, np.float32) if speakers.weights is None else speakers.weights
    relations = np.empty(0, np.int32) if over is None else over
    return Draws(nodes, starts, ends, ids, weights, negatives, relations, places)


def _run(function: Callable[[Draws], Any], draws: Draws) -> Vectors:
    import torch

    with torch.no_grad():
        result: Vectors = function(draws).float().numpy()
    return result


def _contents(graph: Graph, name: str, module: TypeModule) -> NDArray[Any]:
    """Return what f reads of the labels of a graph, if they have the shape that it knows."""
    from embedprop.framework.labels import contents_of

    labels = module.labels
    contents = contents_of(graph, name, labels.tokens)
    if labels.tokens is None and contents.shape[1:] != labels.shape:
        raise InvalidGraphError(
            f"Label type {name!r}: the model was learned from labels of shape {labels.shape}, but "
            f"these are of shape {contents.shape[1:]}. Bring them to that shape."
        )
    return contents
