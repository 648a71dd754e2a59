"""Embedding Propagation: vectors for the nodes and labels of any graph, without supervision.

The public names load on first use, so that `import embedprop` stays cheap.

Examples
--------
>>> import embedprop
>>> embedprop.__all__  # doctest: +NORMALIZE_WHITESPACE
['ClosedForm', 'EmbeddingPropagation', 'Graph', 'Model', 'Parts', '__version__', 'errors', 'load',
 'load_dataset']
"""

from typing import TYPE_CHECKING

from embedprop import errors

if TYPE_CHECKING:
    from embedprop.datasets import load_dataset
    from embedprop.estimators import ClosedForm, EmbeddingPropagation
    from embedprop.graph import Graph
    from embedprop.instance.parts import Parts
    from embedprop.model.codec import load_model as load
    from embedprop.model.model import Model

__version__ = "0.1.0"

__all__ = [
    "ClosedForm", "EmbeddingPropagation", "Graph", "Model", "Parts", "__version__", "errors",
    "load", "load_dataset",
]  # fmt: skip

_HOME = {
    "ClosedForm": "embedprop.estimators:ClosedForm",
    "EmbeddingPropagation": "embedprop.estimators:EmbeddingPropagation",
    "Graph": "embedprop.graph:Graph",
    "Model": "embedprop.model.model:Model",
    "Parts": "embedprop.instance.parts:Parts",
    "load": "embedprop.model.codec:load_model",
    "load_dataset": "embedprop.datasets:load_dataset",
}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'embedprop' has no attribute {name!r}")
    from importlib import import_module

    module, _, attribute = _HOME[name].partition(":")
    value: object = getattr(import_module(module), attribute)
    globals()[name] = value  # later accesses do not come here
    return value


def __dir__() -> list[str]:
    return __all__
