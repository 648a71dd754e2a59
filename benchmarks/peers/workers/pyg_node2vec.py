"""Node2Vec of PyTorch Geometric. Its walk operator is a separate package: here it is by Numba."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from job import EdgeList, Settings, run
from numpy.typing import NDArray
from torch_geometric.nn.models import node2vec
from walker import uniform_walks

SIGNATURE = "(Tensor rowptr, Tensor col, Tensor seed, int n_steps, float p, float q) -> Tensor"


def random_walk(
    rowptr: torch.Tensor, col: torch.Tensor, seed: torch.Tensor, n_steps: int, p: float, q: float
) -> torch.Tensor:
    if (p, q) != (1.0, 1.0):
        raise ValueError(f"p={p}, q={q}: this operator walks uniformly.")
    key = int(torch.randint(2**31, ()))
    walks = uniform_walks(rowptr.numpy(), col.numpy(), seed.numpy(), n_steps, key)
    return torch.from_numpy(walks)


def register() -> None:
    torch.library.define("pyg::random_walk", SIGNATURE)
    torch.library.impl("pyg::random_walk", "CPU", random_walk)
    node2vec.WITH_PYG_LIB = True  # it asks for the package, and needs but this operator of it


def load(edges: EdgeList) -> Any:
    both = np.concatenate([edges.pairs, edges.pairs[:, ::-1]])
    return torch.from_numpy(np.ascontiguousarray(both.T)), edges.n_nodes


def embed(graph: Any, settings: Settings) -> NDArray[Any]:
    edge_index, n_nodes = graph
    torch.manual_seed(settings["seed"])
    model = node2vec.Node2Vec(
        edge_index,
        embedding_dim=settings["dim"],
        walk_length=settings["walk_length"],
        context_size=settings["context_size"],
        walks_per_node=settings["n_walks"],
        num_negative_samples=settings["n_negatives"],
        num_nodes=n_nodes,
        sparse=True,
    )
    loader = model.loader(batch_size=settings["batch_size"], shuffle=True, num_workers=0)
    optimizer = torch.optim.SparseAdam(model.parameters(), lr=settings["learning_rate"])
    for _ in range(settings["epochs"]):
        for positive, negative in loader:
            optimizer.zero_grad()
            model.loss(positive, negative).backward()
            optimizer.step()
    return np.asarray(model().detach().numpy())


if __name__ == "__main__":
    torch.set_num_threads(1)
    register()
    run(load, embed, ("torch-geometric", "torch"), {"epochs": 1})
