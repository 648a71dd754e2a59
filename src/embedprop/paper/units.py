"""What is to be run: one unit is one method, on one data set, in one setting, once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from embedprop.errors import UnknownComponentError

STRUCTURE = ("blogcatalog", "pos", "ppi")
CITATIONS = ("cora", "citeseer", "pubmed")
SMALL = ("ppi", "cora")  # what a quick run takes
N_RUNS = 10
EXPERIMENTS = ("table3", "table4", "table5")

# The two readings of EP-B's distance, then variants and other methods.
EPB = ("epb", "epb-squared")
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
# Other readings or settings of a method: they are compared with its published numbers.
READING_OF = {
    "epb-squared": "epb",
    BOTH: "epb",
    DEGREE: "epb",
    DENSE_LINE: "line",
    SHORT_LINE: "line",
    CITED_GCN_I: "gcn-i",
}
# What the report calls each method.
NAMES = {
    "epb": "EP-B (1 u, uniform)",
    "epb-squared": "EP-B (1 u, uniform; d squared)",
    BOTH: "EP-B (1 u, uniform; h and h~)",
    DEGREE: "EP-B (5 u, by degree)",
    CLOSED_FORM: "closed form (ours)",
    "deepwalk": "DeepWalk",
    "node2vec": "node2vec",
    "line": "LINE",
    DENSE_LINE: "LINE (densified to 100 neighbors, fitted)",
    SHORT_LINE: "LINE (3 million samples, fitted)",
    "wvrn": "wvRN",
    "majority": "Majority",
    "dw-bow": "DW+BoW",
    "planetoid-t": "Planetoid-T",
    "planetoid-i": "Planetoid-I",
    "gcn": "GCN",
    "gcn-i": "GCN-I",
    CITED_GCN_I: "GCN-I (without citations by test nodes)",
    "bow": "BoW",
}
TABLE3_METHODS = (
    *EPB, DEGREE, CLOSED_FORM, "deepwalk", "node2vec", "line", DENSE_LINE, "wvrn", "majority",
)  # fmt: skip
TABLE4_METHODS = (*EPB, DEGREE, CLOSED_FORM, "deepwalk", "line", SHORT_LINE, "wvrn", "majority")
# Tables 3 and 4: the methods, and the shares of training or of removed nodes in percent.
SHARE_TABLES = {
    "table3": (TABLE3_METHODS, ("10", "50", "90")),
    "table4": (TABLE4_METHODS, ("20", "40")),
}
TABLE5_METHODS = {
    "transductive": (*EPB, CLOSED_FORM, "dw-bow", "planetoid-t", "gcn", "deepwalk", "bow"),
    "inductive": (*EPB, BOTH, CLOSED_FORM, "dw-bow", "planetoid-i", "gcn-i", CITED_GCN_I, "bow"),
    "directed": (*EPB, CLOSED_FORM, "deepwalk"),
    # Not in the paper: Planetoid's fixed split, and Pubmed's words with their TF-IDF weights.
    "public": ("epb", CLOSED_FORM, "dw-bow", "planetoid-t", "gcn", "deepwalk", "bow"),
    "tf-idf": ("epb", CLOSED_FORM, "bow"),
}
DATASETS_OF_PARTS = {"tf-idf": ("pubmed",)}
RUNS_OF_PARTS = {"public": 1}


@dataclass(frozen=True)
class Unit:
    """One result: `setting` is a share in percent (tables 3 and 4), or a part of table 5."""

    experiment: str
    dataset: str
    method: str
    setting: str
    run: int

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Unit:
        """Return the unit that a record belongs to."""
        found: list[Any] = [record.get(field.name) for field in fields(cls)]
        return cls(*found)

    def __str__(self) -> str:
        return f"{self.experiment} {self.dataset} {self.method} {self.setting} run {self.run}"

    def to_dict(self) -> dict[str, Any]:
        """Return the unit as the first fields of its record."""
        return asdict(self)


def base_method(method: str) -> str:
    """Return the method that this is a reading of: itself, if it has no other reading.

    >>> base_method("epb-squared"), base_method("gcn")
    ('epb', 'gcn')
    """
    return READING_OF.get(method, method)


def protocol(unit: Unit) -> str:
    """Return how a unit is measured, in the words of the paper's section 5.

    >>> protocol(Unit("table4", "ppi", "epb", "20", 0))
    '20 % of the nodes removed and tested, T_r = 10 % of the others, C by 3-fold cross-validation'
    """
    if unit.experiment == "table3":
        return f"T_r = {unit.setting} %, C by 3-fold cross-validation"
    if unit.experiment == "table4":
        removed = f"{unit.setting} % of the nodes removed and tested"
        return f"{removed}, T_r = 10 % of the others, C by 3-fold cross-validation"
    if unit.setting == "public":
        return "Planetoid's split: 20 per class, 500 validation, 1000 test"
    if unit.method == CITED_GCN_I:
        return "20 per class, 1000 validation, 1000 test, citations by test nodes removed"
    more = {
        "inductive": ", test nodes removed before training",
        "directed": ", messages from the cited to the citing paper",
    }
    return f"20 per class, 1000 validation, 1000 test{more.get(unit.setting, '')}"


def units(experiments: Sequence[str], quick: bool = False) -> list[Unit]:
    """Return the units of some experiments, those of run 0 first.

    >>> len(units(["table3"]))
    900
    >>> units(["table3"])[0]
    Unit(experiment='table3', dataset='blogcatalog', method='epb', setting='10', run=0)
    """
    require_known("experiment", experiments, EXPERIMENTS)
    n_runs = 2 if quick else N_RUNS
    found = [unit for experiment in experiments for unit in _all_units(experiment, n_runs)]
    if quick:
        found = [unit for unit in found if unit.dataset in SMALL]
    return sorted(found, key=lambda unit: unit.run)


def require_known(what: str, names: Iterable[str], known: Collection[str]) -> None:
    """Refuse a name that does not exist, with those that do."""
    for name in names:
        if name not in known:
            choices = ", ".join(map(repr, known))
            raise UnknownComponentError(f"{what}={name!r} is not known. Choose among: {choices}.")


def _all_units(experiment: str, n_runs: int) -> list[Unit]:
    if experiment == "table5":
        cells = [
            (dataset, method, part)
            for part, methods in TABLE5_METHODS.items()
            for dataset in DATASETS_OF_PARTS.get(part, CITATIONS)
            for method in methods
        ]
    else:
        methods, shares = SHARE_TABLES[experiment]
        cells = [(d, m, share) for d in STRUCTURE for m in methods for share in shares]
    return [
        Unit(experiment, *cell, run)
        for cell in cells
        for run in range(min(n_runs, RUNS_OF_PARTS.get(cell[2], n_runs)))
    ]
