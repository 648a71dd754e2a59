"""The parameters of both methods, each written once, for the estimators and the shell alike."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias

from embedprop.instance.parts import Parts

Schedule = Literal["constant", "linear"]


@dataclass(eq=False, repr=False)
class EPBParameters:
    """Settings of EP-B and of the framework; the defaults are the paper's.

    Parameters
    ----------
    dim : int or dict
        Dimensions per label type: one number for all, or a dict with one for each. 128 as in the
        paper.
    margin : float or dict
        Margin of the ranking loss. The paper tries 1, 5, 10 and 20; over its graphs, 1 falls least
        behind the best of these.
    epochs : int
        Passes over all nodes, 200 as in the paper.
    batch_size : int
        Nodes per step of Adam, 64 as in the paper. If the graph is smaller, there is one batch.
    learning_rate : float
        Step size of Adam, 0.001 as in the paper.
    schedule : {"constant", "linear"}
        Whether the step size stays constant, as in the paper, or falls with each epoch.
    label_types : list of str, optional
        Label types to learn from, for example ``["word"]``. None: all that the method reads; for
        the closed form, ids only where there is nothing else.
    max_neighbors : int, optional
        Maximum number of neighbors used for a node (the paper's kappa), drawn afresh at each visit.
        None: all of them.
    n_negatives : int or "auto"
        Number of negatives, the other nodes (u) that each node (v) is compared with per visit; 1 as
        in the paper. ``"auto"``: 2 where ids are the only labels, else 1.
    negatives : str
        How negatives are drawn: ``"uniform"``, every other node with the same chance (the paper);
        ``"degree"``, in proportion to degree^0.75; ``"in_batch"``, the next nodes of the batch;
        ``"shared"``, the same uniform ones for the whole batch; ``"auto"``, by degree where ids are
        the only labels, else uniform.
    neighborhood : str
        Which nodes reconstruct a node: its ``"neighbors"`` (the paper), the ends of short random
        ``"walks"``, or ``"edges"``, each neighbor alone in a visit of its own.
    parts : Parts or dict, optional
        Other label embeddings (f), aggregators (g, g~), distances (d), losses or representations
        (r); see `Parts`. None: EP-B's.
    pretrained : dict, optional
        Vectors to start from, per label type: a word2vec or GloVe text file, gensim KeyedVectors, a
        dict, or (names, array). Labels without one start as usual.
    engine : str
        What computes the vectors: ``"fused"``, ``"torch"``, or ``"auto"``, the first of these that
        can. With parameters, ``"fused(storage='disk', partitions=8)"`` keeps tables on disk, a pair
        of partitions of the nodes in memory at a time; ``"torch(device='cuda')"`` chooses a device.
    n_threads : int, optional
        Number of threads. None: as many as speed it up. The result is the same, to the byte, for
        any number.
    random_state : int, optional
        Seed of all random draws; None takes a new one each time.
    verbose : bool
        Show a progress bar when the output is a terminal.
    """

    dim: int | Mapping[str, int] = 128
    margin: float | Mapping[str, float] = 1.0
    epochs: int = 200
    batch_size: int = 64
    learning_rate: float = 1e-3
    schedule: Schedule = "constant"
    label_types: Sequence[str] | None = None
    max_neighbors: int | None = None
    n_negatives: int | str = 1
    negatives: str = "uniform"
    neighborhood: str = "neighbors"
    parts: Parts | Mapping[str, Any] | None = None
    pretrained: Mapping[str, Any] | None = None
    engine: str = "auto"
    n_threads: int | None = None
    random_state: int | None = 0
    verbose: bool = True


# What `EmbeddingPropagation.fast` sets. Where it comes from: docs/decisions.
FAST: Mapping[str, Any] = {
    "margin": 2.0,
    "epochs": 120,
    "learning_rate": 5e-3,
    "schedule": "linear",
    "max_neighbors": 20,
    "n_negatives": "auto",
    "negatives": "auto",
}


def fast_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that we recommend for EP-B; those that are given take precedence.

    >>> fast_settings({"epochs": 200, "neighborhood": "walks"})["epochs"]
    200
    """
    settings = dict(FAST) | dict(given)
    if given.get("neighborhood", "neighbors") != "neighbors" and "max_neighbors" not in given:
        del settings["max_neighbors"]  # meant for one kind of neighborhood
    return settings


@dataclass(eq=False, repr=False)
class ClosedFormParameters:
    """Settings of the closed form.

    Parameters
    ----------
    dim : int or dict
        Dimensions per label type: one number for all, or a dict with one for each.
    regularization : float or dict, optional
        How strongly dimensions are kept from relying on a few rare labels, in units of the mean
        degree (ids) or of the mean weight of a label. None: 0.3 for ids, 5 for labels.
    restart : float
        Weight of a node's own labels in its PageRank average.
    label_types : list of str, optional
        Label types to learn from, for example ``["word"]``. None: all sets of labels except ids;
        ids if there is nothing else.
    random_state : int, optional
        Seed of the solver's first guess; None takes a new one each time.
    verbose : bool
        Show what is being solved when the output is a terminal.
    """

    dim: int | Mapping[str, int] = 128
    regularization: float | Mapping[str, float] | None = None
    restart: float = 0.15
    label_types: Sequence[str] | None = None
    random_state: int | None = 0
    verbose: bool = True


Parameters: TypeAlias = EPBParameters | ClosedFormParameters

# The methods by name; the one to try first comes first.
PARAMETERS: Mapping[str, type[Parameters]] = {
    "closed-form": ClosedFormParameters,
    "epb": EPBParameters,
}


def settings_of(parameters: Parameters) -> dict[str, Any]:
    """Return parameters as JSON can hold them, for a saved model.

    A user's own module becomes ``"custom Name"``; of pretrained vectors, only file names are kept.

    >>> settings_of(EPBParameters(parts={"distance": "cosine"}))["parts"]
    {'distance': 'cosine'}
    """
    values = {field.name: getattr(parameters, field.name) for field in fields(parameters)}
    if "pretrained" in values:
        given, paths = values["pretrained"] or {}, (str, os.PathLike)
        files = {name: os.fspath(one) for name, one in given.items() if isinstance(one, paths)}
        values["pretrained"] = files or None
    if "parts" in values:
        values["parts"] = Parts.of(values["parts"]).to_dict() or None
    return {name: _plain(value) for name, value in values.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(one) for one in value]
    if callable(value):
        return f"custom {type(value).__name__}"
    return value.tolist() if hasattr(value, "tolist") else value  # NumPy's
