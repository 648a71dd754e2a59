"""A model as settings, arrays and vocabularies, and back."""

import os
from collections.abc import Mapping
from typing import Any, TypeAlias

from embedprop.errors import FormatVersionError, InvalidModelError
from embedprop.files.folder.load import StoredModel
from embedprop.files.folder.load import load_model as load_folder
from embedprop.files.folder.save import save_model as save_folder
from embedprop.graph import Vocabulary
from embedprop.graph.arrays import Vectors
from embedprop.instance.instance import INSTANCES
from embedprop.model.earlier import as_version_2
from embedprop.model.model import LearnedHead, Learning, Model
from embedprop.model.readout.readout import READOUTS, Saved, columns_of, require_shape
from embedprop.model.representations import make_representation

Arrays: TypeAlias = Mapping[str, Any]


def save_model(model: Model, path: str | os.PathLike[str]) -> None:
    """Save a model into a folder."""
    types = [name for name in model.label_types if name != "node"]
    readout = model.readout.stored()
    settings = {
        "method": model.instance.name,
        "instance": model.instance.to_dict(),
        "readout": model.readout.name,
        "directed": model.directed,
        **vars(model.learning),
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
    """Return the model in a folder that `save` of a model or estimator wrote, of any version.

    Its vectors stay on disk and are read when used; with ``verify=True`` every byte is checked
    against the hashes that were saved.

    >>> import tempfile
    >>> from embedprop import ClosedForm, Graph, load
    >>> folder = tempfile.mkdtemp()
    >>> ClosedForm(dim=2).fit(Graph.from_edges([("a", "b"), ("b", "c")])).save(folder)
    >>> load(folder)
    Model(closed-form, 3 nodes, 2 numbers each, label types: node)
    """
    stored = load_folder(path, verify=verify)
    _require_known(path, stored.settings)
    try:
        return _model(StoredModel(as_version_2(stored), stored.arrays, stored.vocabularies))
    except (AttributeError, KeyError, TypeError, ValueError, IndexError) as error:
        raise InvalidModelError(
            f"{path}: the model's settings and arrays do not fit together ({error!r}). The model "
            f"is damaged: restore the folder from a copy, or train and save it again."
        ) from error


def _require_known(path: str | os.PathLike[str], settings: Mapping[str, Any]) -> None:
    """Refuse what another version, or another package, knows and this one does not."""
    for key, registry in (("method", INSTANCES), ("readout", READOUTS)):
        if settings.get(key, next(iter(registry))) not in registry:
            raise FormatVersionError(
                f"{path}: the model has the {key} {settings[key]!r}, which is not known here. Load "
                f"it with the version, or beside the package, that wrote it."
            )


def _model(stored: StoredModel) -> Model:
    settings, arrays = stored.settings, stored.arrays
    names = {key: Vocabulary.trusted(one) for key, one in stored.vocabularies.items()}
    instance = INSTANCES[settings["method"]].from_dict(settings["instance"])
    nodes, relations, classes = names["nodes"], names.get("relations"), names.get("classes")
    dims: dict[str, int] = instance.dims
    embedding = r = _table(arrays, "embedding", nodes, sum(dims.values()))
    if "node vectors" in arrays:
        width = make_representation(instance.representation).width(list(dims.values()))
        r = _table(arrays, "node vectors", nodes, width)
    vocabularies = {name: nodes if name == "node" else names[f"labels {name}"] for name in dims}
    vectors = {
        # Labels that are ids are the nodes; where g is not a mean, h is another than their table.
        name: arrays.get("table node", embedding[:, low:high])
        if name == "node"
        else _table(arrays, f"labels {name}", vocabularies[name], high - low)
        for name, (low, high) in columns_of(dims).items()
    }
    over = {} if relations is None else {
        name: _table(arrays, f"relations {name}", relations, dim) for name, dim in dims.items()
    }  # fmt: skip
    saved = Saved(stored, instance, vectors, over, r)
    return Model(
        instance,
        nodes,
        bool(settings["directed"]),
        vocabularies,
        vectors,
        embedding,
        r,
        READOUTS[settings["readout"]].from_stored(saved),
        relations,
        over,
        None if classes is None else _head(arrays, nodes, classes),
        _learning(settings),
    )


def _head(arrays: Arrays, nodes: Vocabulary, classes: Vocabulary) -> LearnedHead:
    scores = _table(arrays, "head scores", nodes, len(classes))
    return LearnedHead(classes, arrays["head weights"], arrays["head bias"], scores)


def _learning(settings: Mapping[str, Any]) -> Learning:
    kept = ("parameters", "loss_history", "residuals")
    parameters, losses, residuals = (dict(settings[key]) for key in kept)
    return Learning(parameters, settings["seed"], losses, residuals)


def _table(arrays: Arrays, key: str, rows: Vocabulary, width: int) -> Vectors:
    """Return an array that has a row for each name."""
    require_shape(key, arrays[key], (len(rows), width))
    table: Vectors = arrays[key]
    return table
