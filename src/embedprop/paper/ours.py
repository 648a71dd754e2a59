"""Our own rows of the tables and figures: the estimator of each, made in one place."""

from __future__ import annotations

from typing import Any

from embedprop.estimators import ClosedForm, EmbeddingPropagation
from embedprop.model.newcomers import Source
from embedprop.paper.units import BOTH, CLOSED_FORM, DEGREE

Estimator = ClosedForm | EmbeddingPropagation

# The paper's EP-B draws one u uniformly; a variant draws five by degree. The paper says that d is
# the Euclidean distance; its numbers on graphs without attributes agree with the square of it.
OURS: dict[str, dict[str, Any]] = {
    "epb": {},
    "epb-squared": {"parts": {"distance": "squared_euclidean"}},
    BOTH: {},
    DEGREE: {"negatives": "degree", "n_negatives": 5},
    CLOSED_FORM: {},
}
# Where a new node's vector comes from, if not from its neighbors' labels as in the paper.
NEW_NODES_FROM: dict[str, Source] = {BOTH: "both", CLOSED_FORM: "both"}
# The margins that are tried, on nodes that are not tested; the closed form has none.
MARGINS = (1.0, 5.0, 10.0, 20.0)


def estimator(method: str, margin: float = 0.0, **settings: Any) -> Estimator:
    """Return the estimator of a row with some `settings`; margin 0: the default, or none."""
    if method == CLOSED_FORM:
        return ClosedForm(verbose=False, **settings)
    own = OURS[method] | ({"margin": margin} if margin else {})
    # Units run side by side, so each has one thread.
    return EmbeddingPropagation(n_threads=1, verbose=False, **own, **settings)
