"""EP-B as plainly as it can be written: autograd, dense gradients, `torch.optim.Adam`.

The twin of the fused engine. It shares nothing with it but the draws (order, neighbors,
negatives): the means of the paper are products with small dense matrices.
"""

from __future__ import annotations

import numpy as np
import torch
from scipy.sparse import csr_array

from embedprop.graph.changes.learnable import learned_labels
from embedprop.methods.epb.draws import Drawer
from embedprop.methods.epb.epochs import TrainingResult

# On matrices this small a second thread only waits.
torch.set_num_threads(1)


def train_by_autograd(graph, instance, plan, start, start_relations):
    """Return what is learned, with the mean loss of each epoch, per label type."""
    drawer = Drawer(graph, instance, plan, np.float64)
    vectors, relation_vectors, losses = {}, {}, {}
    for name, settings in instance.label_types.items():
        labels = label_matrix(learned_labels(graph, name))
        tables = [
            torch.nn.Parameter(torch.from_numpy(np.array(one[name], np.float64)))
            for one in (start, start_relations)
            if name in one
        ]
        optimizer = torch.optim.Adam(tables, lr=plan.learning_rate)
        losses[name] = []
        for epoch in range(plan.epochs):
            optimizer.param_groups[0]["lr"] = plan.rate(epoch)
            total, n_visits = 0.0, 0
            for draws in batches_of(drawer, epoch, plan.batch_size):
                optimizer.zero_grad()
                loss = batch_loss(draws, labels, settings, *tables)
                loss.backward()
                optimizer.step()
                total += loss.item()
                n_visits += len(draws.nodes)
            losses[name].append(total / n_visits)
        vectors[name] = tables[0].detach().numpy()
        if len(tables) > 1:
            relation_vectors[name] = tables[1].detach().numpy()
    return TrainingResult(vectors, losses, relation_vectors=relation_vectors)


def batches_of(drawer, epoch, batch_size):
    """Yield the draws of each batch of an epoch."""
    for part in drawer.rounds(epoch):
        for low in range(0, len(part.order), batch_size):
            yield part.draw(part.order[low : low + batch_size])


def batch_loss(draws, labels, settings, table, relations=None):
    """The sum over the batch of [margin + d(h~(v), h(v)) - d(h~(v), h(u))]+ over all negatives."""
    power = {"euclidean": 1, "squared_euclidean": 2}[settings.distance]
    h_tilde = reconstructions(draws, labels, table, relations)
    own = torch.linalg.vector_norm(h_tilde - mean_rows(labels[draws.nodes], table), dim=1) ** power
    total = torch.zeros((), dtype=table.dtype)
    for u in draws.negatives.T:
        other = torch.linalg.vector_norm(h_tilde - mean_rows(labels[u], table), dim=1) ** power
        total = total + torch.relu(settings.margin + own - other).sum()
    return total


def reconstructions(draws, labels, table, relations=None):
    """h~ of each position: the mean over the labels that travel, each plus its edge's relation."""
    rows, edges, weights = edges_of(draws)
    shape = (len(draws.nodes), labels.shape[0])
    neighbors = csr_array((weights, (rows, draws.neighbor_ids[edges])), shape=shape)
    h_tilde = mean_rows(neighbors @ labels, table)
    if relations is None:
        return h_tilde
    traveled = weights * labels.sum(axis=1)[draws.neighbor_ids[edges]]
    shape = (len(draws.nodes), len(relations))
    types = csr_array((traveled, (rows, draws.neighbor_relations[edges])), shape=shape)
    return h_tilde + mean_rows(types, relations)


def mean_rows(weights, table):
    """Return the mean of the table's rows by each row of `weights`."""
    dense = torch.from_numpy(weights.toarray()).to(table.dtype)
    return dense @ table / dense.sum(dim=1, keepdim=True)


def label_matrix(learned):
    """The node × label matrix of weights, dummy labels included."""
    sets = learned.sets
    weights = np.ones(sets.n_values) if sets.weights is None else sets.weights.astype(np.float64)
    return csr_array((weights, sets.ids, sets.ptr), shape=(sets.n_sets, learned.n_vectors))


def edges_of(draws):
    """The position, the place in the draws' lists and the weight of each edge."""
    sizes = draws.ends - draws.starts
    edges = np.concatenate([np.arange(s, e) for s, e in zip(draws.starts, draws.ends, strict=True)])
    weights = draws.neighbor_weights[edges] if len(draws.neighbor_weights) else np.ones(len(edges))
    return np.repeat(np.arange(len(sizes)), sizes), edges, weights.astype(np.float64)
