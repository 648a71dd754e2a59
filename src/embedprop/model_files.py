"""A fitted model as settings, arrays and vocabularies, and back."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from embedprop.closed_form.ids import block_sizes
from embedprop.closed_form.learned import ClosedFormLearned
from embedprop.errors import InvalidModelError
from embedprop.graph.vocabulary import Vocabulary
from embedprop.instance import Instance
from embedprop.learned import Learned
from embedprop.storage.load import StoredModel, load_model
from embedprop.storage.save import save_model


class Loaded(NamedTuple):
    """What a folder holds: the parameters and the instance of the fit, and what was learned."""

    params: dict[str, Any]
    instance: Instance
    learned: Learned
    loss_history: dict[str, list[float]]
    seed: int
    residuals: dict[str, float]


def save_estimator(model: BaseEstimator, learned: Learned, path: str | os.PathLike[str]) -> None:
    """Save a fitted estimator into a folder."""
    types = [name for name in learned.label_types if name != "node"]
    save_model(
        path,
        settings={
            # Those of the fit: parameters that were set afterwards made none of these vectors.
            "params": _plain(model.fit_params_),
            "instance": model.instance_.to_dict(),
            "directed": learned.directed,
            "loss_history": model.loss_history_,
            "residuals": model.residuals_,
            "seed": model.seed_,
        },
        arrays={"embedding": learned.embedding, "totals": learned.totals}
        | ({"factors": learned.factors} if isinstance(learned, ClosedFormLearned) else {})
        | {f"labels {name}": learned.label_vectors[name] for name in types}
        | {f"dummies {name}": learned.dummies[name] for name in types},
        vocabularies={"nodes": learned.nodes.names}
        | {f"labels {name}": learned.vocabularies[name].names for name in types},
    )


def load_estimator(path: str | os.PathLike[str], verify: bool) -> Loaded:
    """Load what `save_estimator` saved."""
    stored = load_model(path, verify=verify)
    try:
        settings = stored.settings
        instance = Instance.from_dict(settings["instance"])
        dims = {name: one.dim for name, one in instance.label_types.items()}
        learned = _learned(stored, dims, bool(settings["directed"]), instance.restart)
        return Loaded(
            dict(settings["params"]),
            instance,
            learned,
            dict(settings["loss_history"]),
            settings["seed"],
            dict(settings.get("residuals", {})),
        )
    except (AttributeError, KeyError, TypeError, ValueError, IndexError) as error:
        raise InvalidModelError(
            f"{path}: the model's settings and arrays do not fit together ({error!r}). The model "
            f"is damaged: restore the folder from a copy, or train and save it again."
        ) from error


def _learned(
    stored: StoredModel, dims: dict[str, int], directed: bool, restart: float | None
) -> Learned:
    arrays = stored.arrays
    embedding, totals = arrays["embedding"], arrays["totals"]
    nodes = Vocabulary.trusted(stored.vocabularies["nodes"])
    n_blocks = len(dims)
    if restart is not None and "node" in dims:
        n_blocks += len(block_sizes(dims["node"])) - 1
    if embedding.shape != (len(nodes), sum(dims.values())) or totals.shape != (
        n_blocks,
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
    fields = (nodes, tuple(dims), vocabularies, vectors, embedding, totals, dummies, directed)
    if restart is None:
        return Learned(*fields)
    if arrays["factors"].shape != (dims.get("node", 0),):
        raise ValueError(f"factors {arrays['factors'].shape}")
    return ClosedFormLearned(*fields, arrays["factors"], restart)


def _plain(value: Any) -> Any:
    """Return parameters as JSON can hold them: NumPy numbers, tuples and sets become plain."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value
