"""From trained vectors to a model: h of every node, r, the readout, the head's scores."""

import numpy as np

from embedprop.graph import Graph, Vocabulary
from embedprop.graph.arrays import Vectors
from embedprop.graph.changes.learnable import LearnableGraph
from embedprop.methods.epb.epochs import TrainingResult
from embedprop.methods.epb.task import Targets, Task
from embedprop.model.model import LearnedHead, Learning, Model, log_softmax
from embedprop.model.readout.means import MeansReadout
from embedprop.model.readout.modules import ModulesReadout
from embedprop.model.readout.readout import columns_of
from embedprop.model.representations import Known, concatenate, make_representation, write_means

EPBReadout = MeansReadout | ModulesReadout


def model_of(
    task: Task, result: TrainingResult, learning: Learning, previous: Model | None = None
) -> Model:
    """Return the model; labels that only `previous` knows are kept."""
    graph, instance = task.learnable.graph, task.instance
    names, vectors = _labels(task.learnable, result, previous)
    embedding, totals = _embedding(task, result)
    if "node" in vectors and result.embeddings is None:
        # It comes first; sharing the rows saves a copy of the largest table.
        vectors["node"] = embedding[:, : vectors["node"].shape[1]]
    readout: EPBReadout
    means = MeansReadout(
        columns_of(instance.dims),
        embedding,
        embedding,
        totals,
        {name: task.learnable.labels(name).dummy_nodes for name in instance.dims},
        vectors,
        result.relation_vectors,
        instance.representation,
    )
    modules, readout = result.modules, means
    if modules is not None:  # which do more than means of tables
        n_learned = sum(p.numel() for module in modules.values() for p in module.parameters())
        readout = ModulesReadout(means, modules, result.label_vectors, n_learned)
    readout = _with_representation(readout, graph)
    head = None if task.targets is None else _head(readout, graph, result, task.targets)
    return Model(
        instance=instance,
        nodes=graph.nodes,
        directed=graph.directed,
        vocabularies=names,
        label_vectors=vectors,
        embedding=embedding,
        vectors=readout.means.vectors,
        readout=readout,
        relations=graph.relations,
        relation_vectors=result.relation_vectors,
        head=head,
        learning=learning,
    )


def _embedding(task: Task, result: TrainingResult) -> tuple[Vectors, Vectors]:
    """Return h of every node, the label types side by side, and the total weight of its labels."""
    n_nodes, tables = task.learnable.graph.n_nodes, task.tables
    blocks, totals = [], []
    for name, learned in result.label_vectors.items():
        if name == "node":
            h, total = learned, np.ones(n_nodes, np.float32)
        else:
            h = tables.zeros((n_nodes, learned.shape[1]), np.float32)
            total = write_means(
                task.learnable.labels(name).sets, learned, np.empty(0, np.float32), h
            )
        blocks.append(h if result.embeddings is None else result.embeddings[name])
        totals.append(total)
    return concatenate(blocks, tables.zeros), np.stack(totals)


def _labels(
    learnable: LearnableGraph, result: TrainingResult, previous: Model | None
) -> tuple[dict[str, Vocabulary], dict[str, Vectors]]:
    """Return the names and vectors of all labels, without dummy labels."""
    graph = learnable.graph
    names: dict[str, Vocabulary] = {}
    vectors: dict[str, Vectors] = {}
    for name, learned in result.label_vectors.items():
        names[name] = _vocabulary(graph, name)
        vectors[name] = learned[: learnable.labels(name).n_labels]
        is_kept = name != "node" and name in graph.labels
        if previous is not None and is_kept and name in previous.vocabularies:
            names[name], vectors[name] = _kept(previous, name, names[name], vectors[name])
    return names, vectors


def _vocabulary(graph: Graph, name: str) -> Vocabulary:
    """Return the names of the labels; numbers, texts and images go by the names of their nodes."""
    if name in graph.labels:
        return graph.vocabulary(name)
    present = np.flatnonzero(graph.has_labels(name)).tolist()
    return Vocabulary.trusted(graph.nodes[node] for node in present)


def _kept(
    previous: Model, name: str, vocabulary: Vocabulary, vectors: Vectors
) -> tuple[Vocabulary, Vectors]:
    """Return vocabulary and vectors with the labels at their end that only `previous` knows."""
    old = previous.vocabularies[name]
    missing = np.flatnonzero(vocabulary.find_all(old) < 0)
    if len(missing) == 0:
        return vocabulary, vectors
    extended, _ = vocabulary.extended(old[id_] for id_ in missing.tolist())
    return extended, np.concatenate([vectors, previous.label_vectors[name][missing]])


def _with_representation(readout: EPBReadout, graph: Graph) -> EPBReadout:
    """Return the readout with r of every node, where r is more than h."""
    means = readout.means
    if means.representation == "concatenation":
        return readout
    r = make_representation(means.representation)
    h_tilde, known = readout.reconstructed(graph, graph.relations)
    h_tilde = np.where(known[:, None], h_tilde, means.embedding)
    parts = Known(means.embedding, h_tilde, list(means.columns.values()), graph.neighbors)
    return readout.with_vectors(r.of_graph(parts))


def _head(
    readout: EPBReadout, graph: Graph, result: TrainingResult, targets: Targets
) -> LearnedHead:
    """Return the head with its scores of all nodes.

    They come from h and h~ in equal parts, or from r where that is an average of h.
    """
    linear = result.head.scores
    weights = linear.weight.detach().numpy().astype(np.float32)
    bias = linear.bias.detach().numpy().astype(np.float32)
    if readout.averages:
        # The scores are linear in h, so their average is that of the averaged h.
        scores = log_softmax(readout.means.vectors @ weights.T + bias)
    else:
        h_tilde, known = readout.reconstructed(graph, graph.relations)
        own = log_softmax(readout.means.embedding @ weights.T + bias)
        heard = log_softmax(h_tilde @ weights.T + bias)
        scores = np.where(known[:, None], (own + heard) / 2, own)
    return LearnedHead(targets.names, weights, bias, scores)
