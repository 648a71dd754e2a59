"""How long `transform_node` takes for a new node with 10 neighbors, through the Python API.

Usage: EMBEDPROP_DATA=... python benchmarks/transform_node.py

Cora with ids and words (256 dimensions); the model is saved and loaded first. Prints the median
and the 99th percentile of 5000 calls, and whether the result equals the same node in a batch.
"""

import json
import tempfile
import time

import numpy as np

from embedprop import EmbeddingPropagation, Graph, load_dataset
from estimators import epb


def main() -> None:
    graph = load_dataset("cora").graph
    with tempfile.TemporaryDirectory() as folder:
        epb(epochs=1).fit(graph).save(f"{folder}/model")
        model = EmbeddingPropagation.load(f"{folder}/model")
        rng = np.random.default_rng(0)
        neighborhoods = [rng.choice(graph.n_nodes, 10, replace=False).tolist() for _ in range(5000)]
        model.transform_node(neighborhoods[0])
        seconds, vectors = [], []
        for neighbors in neighborhoods:
            start = time.perf_counter()
            vectors.append(model.transform_node(neighbors))
            seconds.append(time.perf_counter() - start)
        pairs = [(f"new {i}", node) for i, nodes in enumerate(neighborhoods) for node in nodes]
        batch = Graph.from_edges(pairs)
        rows = [batch.nodes.find(f"new {i}") for i in range(len(neighborhoods))]
        same = np.array_equal(model.transform(batch)[rows], np.array(vectors))
    microseconds = 1e6 * np.quantile(seconds, [0.5, 0.99])
    print(
        json.dumps(
            {
                "median_microseconds": round(microseconds[0], 1),
                "p99_microseconds": round(microseconds[1], 1),
                "equals_batch": bool(same),
            }
        )
    )


if __name__ == "__main__":
    main()
