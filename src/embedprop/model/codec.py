"""A fitted model as settings, arrays and vocabularies, and back."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from embedprop.errors import InvalidModelError
from embedprop.files.folder.load import StoredModel, load_model
from embedprop.files.folder.save import save_model
from embedprop.graph.vocabulary import Vocabulary
from embedprop.instance.description import Instance
from embedprop.methods.closed_form.ids import block_sizes
from embedprop.model.eigen import ClosedFormLearned
from embedprop.model.heads import LearnedHead
from embedprop.model.learned import Learned
from embedprop.model.learned_modules import ModuleLearned
from embedprop.model.module_codec import (
    StoredModules,
    module_arrays,
    module_settings,
    module_vocabularies,
)
from embedprop.model.representations import make_representation


class Loaded(NamedTuple):
    """What a folder holds: the parameters and the instance of the fit, and what was learned.

    given: which of `params` were given, and so win over a preset.
    """

    params: dict[str, Any]
    given: frozenset[str]
    instance: Instance
    learned: Learned
    loss_history: dict[str, list[float]]
    seed: int
    residuals: dict[str, float]


def save_estimator(model: BaseEstimator, learned: Learned, path: str | os.PathLike[str]) -> None:
    """Save a fitted estimator into a folder."""
    types = [name for name in learned.label_types if name != "node"]
    settings = {
        # Those of the fit: parameters that were set afterwards made none of these vectors.
        "params": _plain(_without_vectors(model._asked.params)),
        "given": sorted(model._asked.given),
        "instance": model.instance_.to_dict(),
        "directed": learned.directed,
        "loss_history": model.loss_history_,
        "residuals": model.residuals_,
        "seed": model.seed_,
    }
    arrays: dict[str, Any] = {"embedding": learned.embedding, "totals": learned.totals}
    arrays |= {f"labels {name}": learned.label_vectors[name] for name in types}
    arrays |= {f"dummies {name}": learned.dummies[name] for name in types}
    arrays |= {f"relations {name}": table for name, table in learned.relation_vectors.items()}
    vocabularies = {"nodes": learned.nodes.names}
    vocabularies |= {f"labels {name}": learned.vocabularies[name].names for name in types}
    if learned.relations is not None:
        vocabularies["relations"] = learned.relations.names
    if learned.node_vectors is not None:
        arrays["node vectors"] = learned.node_vectors
    if learned.head is not None:
        head = learned.head
        arrays |= {"head weights": head.weights, "head bias": head.bias, "head scores": head.scores}
        vocabularies["classes"] = head.names.names
    if isinstance(learned, ClosedFormLearned):
        arrays["factors"] = learned.factors
    if isinstance(learned, ModuleLearned):
        arrays |= module_arrays(learned)
        vocabularies |= module_vocabularies(learned)
        settings["modules"] = module_settings(learned)
        settings["n_parameters"] = learned.n_parameters
    save_model(path, settings=settings, arrays=arrays, vocabularies=vocabularies)


def load_estimator(path: str | os.PathLike[str], verify: bool) -> Loaded:
    """Load what `save_estimator` saved."""
    stored = load_model(path, verify=verify)
    try:
        settings = stored.settings
        instance = Instance.from_dict(settings["instance"])
        return Loaded(
            dict(settings["params"]),
            frozenset(settings.get("given", settings["params"])),
            instance,
            _learned(stored, instance),
            dict(settings["loss_history"]),
            settings["seed"],
            dict(settings.get("residuals", {})),
        )
    except (AttributeError, KeyError, TypeError, ValueError, IndexError) as error:
        raise InvalidModelError(
            f"{path}: the model's settings and arrays do not fit together ({error!r}). The model "
            f"is damaged: restore the folder from a copy, or train and save it again."
        ) from error


def _learned(stored: StoredModel, instance: Instance) -> Learned:
    arrays, dims = stored.arrays, {name: one.dim for name, one in instance.label_types.items()}
    embedding, totals, restart = arrays["embedding"], arrays["totals"], instance.restart
    nodes = Vocabulary.trusted(stored.vocabularies["nodes"])
    n_blocks = len(dims)
    if restart is not None and "node" in dims:
        n_blocks += len(block_sizes(dims["node"])) - 1
    _require_shape("embedding", embedding, (len(nodes), sum(dims.values())))
    _require_shape("totals", totals, (n_blocks, len(nodes)))
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
            _require_shape(f"labels {name}", vectors[name], (len(vocabularies[name]), dim))
        low += dim
    directed = bool(stored.settings["directed"])
    fields = (nodes, tuple(dims), vocabularies, vectors, embedding, totals, dummies, directed)
    if restart is not None:
        _require_shape("factors", arrays["factors"], (dims.get("node", 0),))
        return ClosedFormLearned(*fields, arrays["factors"], restart)
    more = _more(stored, instance, len(nodes))
    settings = stored.settings
    if "modules" not in settings:
        return Learned(*fields, **more)
    tables = {name: arrays[f"table {name}"] for name in dims}
    if "node" in dims:
        vectors["node"] = tables["node"]  # where g is no mean, h is another
    n_learned = settings["n_parameters"]
    modules = StoredModules(stored, instance)
    return ModuleLearned(*fields, **more, tables=tables, modules=modules, n_learned=n_learned)


def _more(stored: StoredModel, instance: Instance, n_nodes: int) -> dict[str, Any]:
    """Return what only some models have: relations, another r, a head."""
    arrays, vocabularies = stored.arrays, stored.vocabularies
    more: dict[str, Any] = {"representation": instance.representation}
    if "relations" in vocabularies:
        relations = Vocabulary.trusted(vocabularies["relations"])
        more["relations"] = relations
        more["relation_vectors"] = {
            name: arrays[f"relations {name}"] for name in instance.label_types
        }
        for name, table in more["relation_vectors"].items():
            _require_shape(
                f"relations {name}", table, (len(relations), instance.label_types[name].dim)
            )
    if "node vectors" in arrays:
        more["node_vectors"] = arrays["node vectors"]
        dims = [one.dim for one in instance.label_types.values()]
        width = make_representation(instance.representation).width(dims)
        _require_shape("node vectors", arrays["node vectors"], (n_nodes, width))
    if "classes" in vocabularies:
        classes = Vocabulary.trusted(vocabularies["classes"])
        _require_shape("head scores", arrays["head scores"], (n_nodes, len(classes)))
        more["head"] = LearnedHead(
            classes, arrays["head weights"], arrays["head bias"], arrays["head scores"]
        )
    return more


def _require_shape(name: str, array: Any, shape: tuple[int, ...]) -> None:
    if array.shape != shape:
        raise ValueError(f"{name} has the shape {array.shape} instead of {shape}")


def _without_vectors(params: dict[str, Any]) -> dict[str, Any]:
    """Return parameters without start vectors from memory; files go by their names."""
    given = params["pretrained"] or {}
    files = {k: os.fspath(v) for k, v in given.items() if isinstance(v, str | os.PathLike)}
    return params | {"pretrained": files or None}


def _plain(value: Any) -> Any:
    """Return parameters as JSON can hold them: NumPy numbers, tuples and sets become plain."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item) for item in value]
    if callable(value):
        return f"custom {type(value).__name__}"
    return value.item() if isinstance(value, np.generic) else value
