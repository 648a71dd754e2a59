"""A model as settings, arrays and vocabularies, and back."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from embedprop.errors import InvalidModelError
from embedprop.files.folder.load import StoredModel
from embedprop.files.folder.load import load_model as load_folder
from embedprop.files.folder.save import save_model as save_folder
from embedprop.graph import Vocabulary
from embedprop.instance.instance import INSTANCES
from embedprop.model.earlier import as_version_2
from embedprop.model.heads import LearnedHead
from embedprop.model.model import Learning, Model
from embedprop.model.readout.readout import READOUTS, columns_of, require_shape
from embedprop.model.representations import make_representation


def save_model(model: Model, path: str | os.PathLike[str]) -> None:
    """Save a model into a folder."""
    types = [name for name in model.label_types if name != "node"]
    readout = model.readout.stored()
    settings = {
        "method": model.instance.name,
        "instance": model.instance.to_dict(),
        "readout": model.readout.name,
        "parameters": dict(model.learning.parameters),
        "directed": model.directed,
        "loss_history": dict(model.learning.loss_history),
        "residuals": dict(model.learning.residuals),
        "seed": model.learning.seed,
        **readout.settings,
    }
    arrays: dict[str, Any] = {"embedding": model.embedding, **readout.arrays}
    arrays |= {f"labels {name}": model.label_vectors[name] for name in types}
    arrays |= {f"relations {name}": table for name, table in model.relation_vectors.items()}
    vocabularies = {"nodes": model.nodes.names, **readout.vocabularies}
    vocabularies |= {f"labels {name}": model.vocabularies[name].names for name in types}
    if model.relations is not None:
        vocabularies["relations"] = model.relations.names
    if model.vectors is not model.embedding:
        arrays["node vectors"] = model.vectors
    if model.head is not None:
        head = model.head
        arrays |= {"head weights": head.weights, "head bias": head.bias, "head scores": head.scores}
        vocabularies["classes"] = head.names.names
    save_folder(path, settings=settings, arrays=arrays, vocabularies=vocabularies)


def load_model(path: str | os.PathLike[str], verify: bool = False) -> Model:
    """Load what `save_model` saved, or an earlier version."""
    stored = load_folder(path, verify=verify)
    try:
        return _model(StoredModel(as_version_2(stored), stored.arrays, stored.vocabularies))
    except (AttributeError, KeyError, TypeError, ValueError, IndexError) as error:
        raise InvalidModelError(
            f"{path}: the model's settings and arrays do not fit together ({error!r}). The model "
            f"is damaged: restore the folder from a copy, or train and save it again."
        ) from error


def _model(stored: StoredModel) -> Model:
    settings, arrays = stored.settings, stored.arrays
    instance = INSTANCES[settings["method"]].from_dict(settings["instance"])
    nodes = Vocabulary.trusted(stored.vocabularies["nodes"])
    dims, embedding = instance.dims, arrays["embedding"]
    require_shape("embedding", embedding, (len(nodes), sum(dims.values())))
    vocabularies, vectors = _labels(stored, dims, nodes)
    relations, relation_vectors = _relations(stored, dims)
    r = arrays.get("node vectors", embedding)
    if r is not embedding:
        width = make_representation(instance.representation).width(list(dims.values()))
        require_shape("node vectors", r, (len(nodes), width))
    readout = READOUTS[settings["readout"]].from_stored(
        stored, instance, vectors, relation_vectors, r
    )
    learning = Learning(
        dict(settings["parameters"]),
        settings["seed"],
        dict(settings["loss_history"]),
        dict(settings["residuals"]),
    )
    return Model(
        instance,
        nodes,
        bool(settings["directed"]),
        vocabularies,
        vectors,
        embedding,
        r,
        readout,
        relations,
        relation_vectors,
        _head(stored, len(nodes)),
        learning,
    )


def _labels(
    stored: StoredModel, dims: Mapping[str, int], nodes: Vocabulary
) -> tuple[dict[str, Vocabulary], dict[str, Any]]:
    """Return the names and vectors of the labels; those of ids are the nodes' own."""
    vocabularies, vectors = {}, {}
    for name, (low, high) in columns_of(dims).items():
        if name == "node":
            vocabularies[name] = nodes
            # Where g is not a mean, h is another than the table.
            vectors[name] = stored.arrays.get("table node", stored.arrays["embedding"][:, low:high])
        else:
            vocabularies[name] = Vocabulary.trusted(stored.vocabularies[f"labels {name}"])
            vectors[name] = stored.arrays[f"labels {name}"]
            shape = (len(vocabularies[name]), high - low)
            require_shape(f"labels {name}", vectors[name], shape)
    return vocabularies, vectors


def _relations(
    stored: StoredModel, dims: Mapping[str, int]
) -> tuple[Vocabulary | None, dict[str, Any]]:
    if "relations" not in stored.vocabularies:
        return None, {}
    relations = Vocabulary.trusted(stored.vocabularies["relations"])
    vectors = {name: stored.arrays[f"relations {name}"] for name in dims}
    for name, table in vectors.items():
        require_shape(f"relations {name}", table, (len(relations), dims[name]))
    return relations, vectors


def _head(stored: StoredModel, n_nodes: int) -> LearnedHead | None:
    if "classes" not in stored.vocabularies:
        return None
    classes, arrays = Vocabulary.trusted(stored.vocabularies["classes"]), stored.arrays
    require_shape("head scores", arrays["head scores"], (n_nodes, len(classes)))
    return LearnedHead(classes, arrays["head weights"], arrays["head bias"], arrays["head scores"])
