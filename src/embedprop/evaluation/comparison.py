"""Several methods on one graph with the same splits: quality, CPU time and memory of each.

Each method runs in a process of its own, one after the other, so that time and memory are its own.
"""

import logging
import multiprocessing
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np

from embedprop.baselines import BASELINES, is_classifier
from embedprop.errors import (
    EmbedpropError,
    InvalidParameterError,
    UnknownComponentError,
    did_you_mean,
)
from embedprop.evaluation.protocols import (
    Protocol,
    measure_probabilities,
    measure_vectors,
    measured,
)
from embedprop.evaluation.provenance import forget_peak, peak_memory
from embedprop.evaluation.splits import Split
from embedprop.evaluation.targets import Targets
from embedprop.graph import Graph
from embedprop.instance.parameters import PARAMETERS

logger = logging.getLogger(__name__)

# With the settings that we recommend.
FAST = "epb-fast"
OWN_METHODS = (*PARAMETERS, FAST)

COST_NOTE = (
    "CPU s: learning the vectors, once for all splits, or training a method that classifies by "
    "itself, as the mean of its splits; loading its libraries is included, the logistic regression "
    "is not. Memory: the peak of a process that holds the graph and runs only this method."
)


@dataclass(frozen=True, eq=False)
class Task:
    """What each process gets: the data, and the splits of every protocol."""

    graph: Graph
    targets: Targets
    protocols: Sequence[Protocol]
    splits: Sequence[Sequence[Split]]
    verbose: bool


def check_methods(
    methods: Sequence[str], settings: Mapping[str, Mapping[str, Any]] | None = None
) -> None:
    """Refuse methods and settings that do not exist, before any work.

    >>> check_methods(["epb", "wvrn"], {"epb": {"epochs": 5}})
    """
    known = (*OWN_METHODS, *BASELINES)
    for i, method in enumerate(methods):
        if method not in known:
            raise UnknownComponentError(
                f"method={method!r} is not known. Choose among: {', '.join(known)}."
            )
        if method in methods[:i]:
            raise InvalidParameterError(f"The method {method!r} is given twice.")
    for method, chosen in (settings or {}).items():
        if method not in methods:
            raise InvalidParameterError(
                f"There is a setting for {method!r}, which is not compared."
            )
        if method in OWN_METHODS:
            names = list(_made(method, {}, 0).get_params())
        else:
            names = list(signature(BASELINES[method]).parameters)
        for name in chosen:
            if name not in names:
                raise InvalidParameterError(
                    f"The method {method!r} has no setting {name!r}. It has: {', '.join(names)}."
                    f"{did_you_mean(name, names)}"
                )


def compare(
    graph: Graph,
    targets: Targets,
    methods: Sequence[str],
    protocols: Sequence[Protocol],
    *,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    verbose: bool = True,
    report: Callable[[dict[str, Any]], None] | None = None,
) -> list[dict[str, Any]]:
    """Return a JSON-able record per method, in the order given.

    Parameters
    ----------
    graph, targets
        The data; rows of `targets` are in the order of ``graph.nodes``.
    methods
        ``"closed-form"``, ``"epb"``, ``"epb-fast"`` and names of baselines.
    protocols
        How nodes are split; every method gets the same splits. The seed of the first is that of
        the methods too; one that classifies takes seed + i in run i.
    settings
        Per method, parameters other than its defaults.
    verbose
        Whether a method may print warnings.
    report
        Called with each record once its method has run.

    Returns
    -------
    list of dict
        Each has ``method`` and either ``results``, ``cpu_seconds`` and ``peak_bytes``, or ``error``
        if the method could not run; the others run all the same.
    """
    check_methods(methods, settings)
    splits = [protocol.splits(targets) for protocol in protocols]
    task = Task(graph, targets, protocols, splits, verbose)
    records = []
    for method in methods:
        chosen = (settings or {}).get(method, {})
        record = {"method": method} | _in_own_process(method, chosen, task)
        records.append(record)
        if report is not None:
            report(record)
    return records


def _in_own_process(method: str, settings: Mapping[str, Any], task: Task) -> dict[str, Any]:
    # Spawned: a fork would count the memory of this process as its own.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        try:
            return pool.submit(run_method, method, settings, task).result()
        except BrokenProcessPool:
            return {"error": "the system ended its process: perhaps memory ran out"}
        except Exception as error:
            logger.debug("%s failed", method, exc_info=True)
            return {"error": f"{type(error).__name__}: {error}"}


def run_method(method: str, settings: Mapping[str, Any], task: Task) -> dict[str, Any]:
    """Return what one method gives, or why it cannot run; see `compare`."""
    if not task.verbose:
        # The process runs this method alone, so nothing else loses its log.
        logging.getLogger("embedprop").setLevel(logging.CRITICAL)
        warnings.simplefilter("ignore")
    forget_peak()
    try:
        if method not in OWN_METHODS and is_classifier(method):
            return _classified(method, settings, task)
        return _embedded(method, settings, task)
    except EmbedpropError as error:
        return {"error": str(error)}


def _embedded(method: str, settings: Mapping[str, Any], task: Task) -> dict[str, Any]:
    """Learn vectors once, and measure a linear classifier on them for every split."""
    start = time.process_time()
    vectors = _made(method, settings, task.protocols[0].random_state).fit_transform(task.graph)
    cost = _cost([time.process_time() - start])

    def measure(split: Split, _: int) -> dict[str, float]:
        return measure_vectors(vectors, task.targets, split)

    return cost | {"results": measured(task.protocols, task.splits, measure)}


def _classified(method: str, settings: Mapping[str, Any], task: Task) -> dict[str, Any]:
    """Train a method that classifies nodes itself, anew for every split."""
    from scipy.sparse import csr_array

    matrix = csr_array(task.targets.values)
    seconds: list[float] = []

    def measure(split: Split, run: int) -> dict[str, float]:
        start = time.process_time()
        classifier = _made(method, settings, task.protocols[0].random_state + run)
        scores = classifier.fit_predict(task.graph, matrix, split.train)
        seconds.append(time.process_time() - start)
        return measure_probabilities(np.asarray(scores, np.float64), task.targets, split)

    return {"results": measured(task.protocols, task.splits, measure)} | _cost(seconds)


def _cost(seconds: Sequence[float]) -> dict[str, Any]:
    return {"cpu_seconds": float(np.mean(seconds)), "peak_bytes": peak_memory()}


def _made(method: str, settings: Mapping[str, Any], seed: int) -> Any:
    """Return an estimator, or a baseline, with its settings."""
    if method not in OWN_METHODS:
        return BASELINES[method](**{"random_state": seed, **settings})
    from embedprop.estimators import ESTIMATORS, EmbeddingPropagation  # heavy, not for baselines

    make: Any = EmbeddingPropagation.fast if method == FAST else ESTIMATORS[method]
    parts = {name: one for name, one in settings.items() if name.startswith("parts__")}
    own = {name: one for name, one in settings.items() if name not in parts}
    return make(**{"random_state": seed, "verbose": False} | own).set_params(**parts)
