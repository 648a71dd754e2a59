"""EP-B as plainly as it can be written: autograd, dense gradients, `torch.optim.Adam`.

The twin of the fused engine. It shares nothing with it but the draws (order, neighbors,
negatives): the means of the paper are products with small dense matrices.
"""

from __future__ import annotations

import numpy as np
import torch
from scipy.sparse import csr_array

from embedprop.training.batches import Drawer
from embedprop.training.labels import learned_labels
from embedprop.training.random_streams import RandomStreams

# On matrices this small a second thread only waits.
torch.set_num_threads(1)


def train_by_autograd(graph, instance, plan, start, dtype=np.float64, n_steps=None):
    """Return (label vectors, mean loss of each epoch), per label type, after `n_steps` steps."""
    drawer = Drawer(graph, instance, RandomStreams(plan.seed), dtype)
    vectors, losses = {}, {}
    for name, settings in instance.label_types.items():
        labels = label_matrix(learned_labels(graph, name))
        table = torch.nn.Parameter(torch.from_numpy(np.array(start[name], dtype)))
        optimizer = torch.optim.Adam([table], lr=plan.learning_rate)
        losses[name], steps = [], 0
        for epoch in range(plan.epochs):
            order = drawer.order(epoch)
            total = 0.0
            for low in range(0, len(order), plan.batch_size):
                if steps == n_steps:
                    break
                draws = drawer.draw(epoch, order[low : low + plan.batch_size])
                optimizer.zero_grad()
                loss = batch_loss(table, labels, draws, settings.margin)
                loss.backward()
                optimizer.step()
                total += loss.item()
                steps += 1
            losses[name].append(total / len(order))
        vectors[name] = table.detach().numpy()
    return vectors, losses


def batch_loss(table, labels, draws, margin):
    """The sum over the batch of [margin + d(h~(v), h(v)) - d(h~(v), h(u))]+ over all negatives."""
    h_tilde = mean_rows(adjacency(draws, labels.shape[0]) @ labels, table)
    own = torch.linalg.vector_norm(h_tilde - mean_rows(labels[draws.nodes], table), dim=1)
    total = torch.zeros((), dtype=table.dtype)
    for u in draws.negatives.T:
        other = torch.linalg.vector_norm(h_tilde - mean_rows(labels[u], table), dim=1)
        total = total + torch.relu(margin + own - other).sum()
    return total


def mean_rows(weights, table):
    """Return the mean of the table's rows by each row of `weights`."""
    dense = torch.from_numpy(weights.toarray()).to(table.dtype)
    return dense @ table / dense.sum(dim=1, keepdim=True)


def label_matrix(learned):
    """The node × label matrix of weights, dummy labels included."""
    sets = learned.sets
    weights = np.ones(sets.n_values) if sets.weights is None else sets.weights.astype(np.float64)
    return csr_array((weights, sets.ids, sets.ptr), shape=(sets.n_sets, learned.n_vectors))


def adjacency(draws, n_nodes):
    """The position × node matrix of edge weights."""
    sizes = draws.ends - draws.starts
    edges = np.concatenate([np.arange(s, e) for s, e in zip(draws.starts, draws.ends, strict=True)])
    weights = draws.neighbor_weights[edges] if len(draws.neighbor_weights) else np.ones(len(edges))
    rows = np.repeat(np.arange(len(sizes)), sizes)
    shape = (len(sizes), n_nodes)
    return csr_array((weights.astype(np.float64), (rows, draws.neighbor_ids[edges])), shape=shape)
