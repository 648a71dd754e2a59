"""The closed form: EP's equation with a constraint in place of negatives, solved at once."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Self, final

import numpy as np

from embedprop.graph import Graph
from embedprop.instance.closed_form import ClosedFormInstance
from embedprop.instance.parameters import ClosedFormParameters, settings_of
from embedprop.methods.closed_form.solve import SolvedType, Solver, needed_bytes
from embedprop.methods.method import Estimate, Report, chosen_types, not_used, silent
from embedprop.methods.random_streams import RandomStreams
from embedprop.model.model import Learning, Model
from embedprop.model.notices import Notice, log_notices
from embedprop.model.readout.eigen import EigenReadout
from embedprop.model.readout.readout import columns_of

logger = logging.getLogger(__name__)


@final
@dataclass(frozen=True, eq=False)
class ClosedFormMethod:
    """How the closed form is solved. settings: the parameters as a model keeps them."""

    name: ClassVar[str] = "closed-form"

    instance: ClosedFormInstance
    settings: Mapping[str, Any] = field(default_factory=dict)
    notices: Sequence[Notice] = ()

    @classmethod
    def of(cls, parameters: ClosedFormParameters, kinds: Mapping[str, str]) -> Self:
        """Return the method that the parameters describe for a graph with these label types."""
        wanted, notices = parameters.label_types, list[Notice]()
        chosen = chosen_types(kinds, wanted, cls.why_not)
        if wanted is None:
            notices += not_used(kinds, cls.why_not)
            if len(chosen) > 1 and chosen.pop("node", ""):
                text = "Not used: 'node' (beside labels that nodes share, ids do not help)."
                notices.append(Notice(text, is_warning=False))
        instance = ClosedFormInstance.of(parameters, chosen)
        return cls(instance, settings_of(parameters), notices)

    @staticmethod
    def why_not(kind: str) -> str | None:
        """Return None for sets of labels, ids among them."""
        if kind == "set":
            return None
        return "the closed form learns from sets of labels; EP-B reads other kinds as well"

    def check(self, graph: Graph) -> None:
        """Refuse nothing more: any graph has a solution."""
        del graph

    def estimate(self, graph: Graph) -> Estimate:
        """Return how much memory it takes to learn from a graph."""
        return Estimate(needed_bytes(graph, self.instance), self.instance.dims)

    def learn(self, graph: Graph, streams: RandomStreams, report: Report = silent) -> Model:
        """Return the model of the solution."""
        self.estimate(graph).require_memory()
        log_notices(self.notices)
        if graph.relations is not None:
            logger.warning("The closed form does not tell relations apart: all edges count alike.")
        if graph.directed:
            logger.info("The closed form takes edges both ways: it does not see their direction.")
        solver = Solver(graph, self.instance, streams)
        for name in solver.missing():
            solver.solve(name, partial(_tell, report, name))
        return self._model(graph, solver.solved, streams.seed)

    def _model(self, graph: Graph, solved: Mapping[str, SolvedType], seed: int) -> Model:
        """Return the model with the label types side by side."""
        instance = self.instance
        columns, types = columns_of(instance.dims), list(instance.label_types)
        ordered = [solved[name] for name in types]
        vectors = np.concatenate([one.vectors for one in ordered], axis=1)
        of_labels = {
            # The vectors of ids are those of their nodes.
            name: vectors[:, slice(*columns[name])] if (own := one.label_vectors) is None else own
            for name, one in zip(types, ordered, strict=True)
        }
        masses = np.concatenate([one.masses for one in ordered])
        factors = np.concatenate([one.factors for one in ordered])
        readout = EigenReadout(columns, vectors, masses, factors, of_labels, instance.restart)
        residuals = {name: solved[name].residual for name in types}
        return Model(
            instance=instance,
            nodes=graph.nodes,
            directed=graph.directed,
            vocabularies={name: graph.vocabulary(name) for name in types},
            label_vectors=of_labels,
            embedding=vectors,
            vectors=vectors,
            readout=readout,
            learning=Learning(self.settings, seed, {}, residuals),
        )


def _tell(report: Report, name: str, n_passes: int) -> None:
    passes = "1 message pass" if n_passes == 1 else f"{n_passes} message passes"
    report(n_passes, None, f"solving {name!r}: {passes}")
