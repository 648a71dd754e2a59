"""Embedding Propagation: vectors for the nodes and labels of any graph, without supervision.

The public names load on first use, so that `import embedprop` stays cheap.

Examples
--------
>>> import embedprop
>>> embedprop.__all__
['EmbeddingPropagation', 'Graph', '__version__', 'errors', 'load_dataset']
"""

from importlib import import_module
from typing import TYPE_CHECKING

from embedprop import errors

if TYPE_CHECKING:
    from embedprop.datasets import load_dataset
    from embedprop.estimators import EmbeddingPropagation
    from embedprop.graph.graph import Graph

__version__ = "0.1.0"

__all__ = ["EmbeddingPropagation", "Graph", "__version__", "errors", "load_dataset"]

_HOME = {
    "EmbeddingPropagation": "embedprop.estimators",
    "Graph": "embedprop.graph.graph",
    "load_dataset": "embedprop.datasets",
}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'embedprop' has no attribute {name!r}")
    value: object = getattr(import_module(_HOME[name]), name)
    globals()[name] = value  # the next access does not come here
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
