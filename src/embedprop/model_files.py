"""A fitted model as settings, arrays and vocabularies, and back."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from embedprop.errors import InvalidModelError
from embedprop.graph.vocabulary import Vocabulary
from embedprop.learned import Learned
from embedprop.storage.load import StoredModel, load_model
from embedprop.storage.save import save_model

Loaded = tuple[dict[str, Any], Learned, dict[str, list[float]], int]


def save_estimator(model: BaseEstimator, learned: Learned, path: str | os.PathLike[str]) -> None:
    """Save a fitted estimator into a folder."""
    types = [name for name in learned.label_types if name != "node"]
    save_model(
        path,
        settings={
            "params": _plain(model.get_params()),
            "label_types": {
                name: learned.label_vectors[name].shape[1] for name in learned.label_types
            },
            "loss_history": model.loss_history_,
            "seed": model.seed_,
        },
        arrays={"embedding": learned.embedding, "totals": learned.totals}
        | {f"labels {name}": learned.label_vectors[name] for name in types}
        | {f"dummies {name}": learned.dummies[name] for name in types},
        vocabularies={"nodes": learned.nodes.names}
        | {f"labels {name}": learned.vocabularies[name].names for name in types},
    )


def load_estimator(path: str | os.PathLike[str], verify: bool) -> Loaded:
    """Load (parameters, what was learned, loss history, seed) from a folder."""
    stored = load_model(path, verify=verify)
    try:
        settings = stored.settings
        learned = _learned(stored, dict(settings["label_types"]))
        return dict(settings["params"]), learned, dict(settings["loss_history"]), settings["seed"]
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise InvalidModelError(
            f"{path}: the model's settings and arrays do not fit together ({error!r}). The model "
            f"is damaged: restore the folder from a copy, or train and save it again."
        ) from error


def _learned(stored: StoredModel, dims: dict[str, int]) -> Learned:
    arrays = stored.arrays
    embedding, totals = arrays["embedding"], arrays["totals"]
    nodes = Vocabulary.trusted(stored.vocabularies["nodes"])
    if embedding.shape != (len(nodes), sum(dims.values())) or totals.shape != (
        len(dims),
        len(nodes),
    ):
        raise ValueError(f"embedding {embedding.shape}, totals {totals.shape}, {len(nodes)} nodes")
    vocabularies, vectors, dummies = {}, {}, {}
    low = 0
    for name, dim in dims.items():
        if name == "node":
            vocabularies[name], vectors[name] = nodes, embedding[:, low : low + dim]
            dummies[name] = np.empty(0, np.int64)
        else:
            vocabularies[name] = Vocabulary.trusted(stored.vocabularies[f"labels {name}"])
            vectors[name] = arrays[f"labels {name}"]
            dummies[name] = arrays[f"dummies {name}"]
            if vectors[name].shape != (len(vocabularies[name]), dim):
                raise ValueError(f"{vectors[name].shape} for the labels of type {name!r}")
        low += dim
    return Learned(nodes, tuple(dims), vocabularies, vectors, embedding, totals, dummies)


def _plain(value: Any) -> Any:
    """Return parameters as JSON can hold them: NumPy numbers, tuples and sets become plain."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value
