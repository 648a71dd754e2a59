"""The rows of the tables and figures: methods, ours and others, and other readings of them."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from embedprop.estimators import ClosedForm, EmbeddingPropagation
from embedprop.model.newcomers import Source

Estimator = ClosedForm | EmbeddingPropagation

# The margins that are tried, on nodes that are not tested.
MARGINS = (1.0, 5.0, 10.0, 20.0)
# The two readings of EP-B's distance, then variants and other methods.
EPB = ("epb", "epb-squared")
DISTANCES = {"epb": "d", "epb-squared": "d squared"}
# EP-B, but the words of a removed node count for its own vector, too: the mean of h and h~.
BOTH = "epb-both"
# EP-B with five u for each v, drawn by degree.
DEGREE = "epb-degree"
CLOSED_FORM = "closed-form"
# LINE on a graph densified to 100 neighbors, and with 3 million samples per order. Why these: see
# `published/remarks.toml`.
DENSE_LINE, SHORT_LINE = "line-dense-100", "line-3m"
# GCN-I where a test node's own citations are removed, but citations of it stay.
CITED_GCN_I = "gcn-i-cited"


class Row(NamedTuple):
    """What the report calls a method, how it is made, and what it is another reading of.

    A reading is compared with the published numbers of its method.
    """

    name: str
    reading_of: str = ""
    settings: Mapping[str, Any] = MappingProxyType({})
    estimator: Any = None  # the class of one of ours; None: a baseline
    margins: tuple[float, ...] = (0.0,)  # 0: it has none
    new_nodes_from: Source = "reconstruction"  # the neighbors' labels, as in the paper


def _epb(name: str, source: Source = "reconstruction", **settings: Any) -> Row:
    # Units run side by side, so each has one thread.
    own = {"n_threads": 1, **settings}
    return Row(f"EP-B ({name})", "epb", own, EmbeddingPropagation, MARGINS, source)


# The paper's EP-B draws one u uniformly; a variant draws five by degree. The paper says that d is
# the Euclidean distance; its numbers on graphs without attributes agree with the square of it.
ROWS: Mapping[str, Row] = {
    "epb": _epb("1 u, uniform"),
    "epb-squared": _epb("1 u, uniform; d squared", parts={"distance": "squared_euclidean"}),
    BOTH: _epb("1 u, uniform; h and h~", "both"),
    DEGREE: _epb("5 u, by degree", negatives="degree", n_negatives=5),
    CLOSED_FORM: Row("closed form (ours)", estimator=ClosedForm, new_nodes_from="both"),
    "deepwalk": Row("DeepWalk"),
    "node2vec": Row("node2vec"),
    "line": Row("LINE"),
    DENSE_LINE: Row("LINE (densified to 100 neighbors, fitted)", "line", {"densify_to": 100}),
    SHORT_LINE: Row("LINE (3 million samples, fitted)", "line", {"n_samples": 3_000_000}),
    "wvrn": Row("wvRN"),
    "majority": Row("Majority"),
    "dw-bow": Row("DW+BoW"),
    "planetoid-t": Row("Planetoid-T"),
    "planetoid-i": Row("Planetoid-I"),
    "gcn": Row("GCN"),
    "gcn-i": Row("GCN-I"),
    CITED_GCN_I: Row("GCN-I (without citations by test nodes)", "gcn-i"),
    "bow": Row("BoW"),
}


def base_method(method: str) -> str:
    """Return the method that this is a reading of: itself, if it has no other reading.

    >>> base_method("epb-squared"), base_method("gcn")
    ('epb', 'gcn')
    """
    return ROWS[method].reading_of or method


def estimator(method: str, margin: float = 0.0, **settings: Any) -> Estimator:
    """Return our estimator of a row with some `settings`; margin 0: the default, or none."""
    row, given = ROWS[method], settings | ({"margin": margin} if margin else {})
    made: Estimator = row.estimator(verbose=False, **row.settings, **given)
    return made
