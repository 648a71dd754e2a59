"""What is to be run: one unit is one method, on one data set, in one setting, once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from embedprop.instance.require import require_one_of
from embedprop.paper.rows import BOTH, CITED_GCN_I, CLOSED_FORM, DEGREE, DENSE_LINE, EPB, SHORT_LINE

STRUCTURE = ("blogcatalog", "pos", "ppi")
CITATIONS = ("cora", "citeseer", "pubmed")
SMALL = ("ppi", "cora")  # what a quick run takes
N_RUNS = 10
F1_METRICS = ("micro", "macro", "micro_predicted", "macro_predicted")


class Part(NamedTuple):
    """A part of a table: its rows, data sets and settings, and how often each is measured."""

    datasets: Sequence[str]
    settings: Sequence[str]
    methods: Sequence[str]
    n_runs: int = N_RUNS


_UNLABELED = (*EPB, DEGREE, CLOSED_FORM, "deepwalk")
_TABLE3 = (*_UNLABELED, "node2vec", "line", DENSE_LINE, "wvrn", "majority")
_TABLE4 = (*_UNLABELED, "line", SHORT_LINE, "wvrn", "majority")
_BASELINES = ("dw-bow", "planetoid-t", "gcn", "deepwalk", "bow")
_INDUCTIVE = ("dw-bow", "planetoid-i", "gcn-i", CITED_GCN_I, "bow")
# The settings of tables 3 and 4 are the shares of training or of removed nodes in percent.
TABLES: Mapping[str, Sequence[Part]] = {
    "table3": [Part(STRUCTURE, ("10", "50", "90"), _TABLE3)],
    "table4": [Part(STRUCTURE, ("20", "40"), _TABLE4)],
    "table5": [
        Part(CITATIONS, ("transductive",), (*EPB, CLOSED_FORM, *_BASELINES)),
        Part(CITATIONS, ("inductive",), (*EPB, BOTH, CLOSED_FORM, *_INDUCTIVE)),
        Part(CITATIONS, ("directed",), (*EPB, CLOSED_FORM, "deepwalk")),
        # Not in the paper: Planetoid's fixed split, and Pubmed's words with their TF-IDF weights.
        Part(CITATIONS, ("public",), ("epb", CLOSED_FORM, *_BASELINES), 1),
        Part(("pubmed",), ("tf-idf",), ("epb", CLOSED_FORM, "bow")),
    ],
}
EXPERIMENTS = tuple(TABLES)


class Unit(NamedTuple):
    """One result: `setting` is a share in percent (tables 3 and 4), or a part of table 5."""

    experiment: str
    dataset: str
    method: str
    setting: str
    run: int

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Unit:
        """Return the unit that a record belongs to."""
        return cls._make(map(record.get, cls._fields))

    def __str__(self) -> str:
        return f"{self.experiment} {self.dataset} {self.method} {self.setting} run {self.run}"

    def to_dict(self) -> dict[str, Any]:
        """Return the unit as the first fields of its record."""
        return self._asdict()


def protocol(unit: Unit) -> str:
    """Return how a unit is measured, in the words of the paper's section 5.

    >>> protocol(Unit("table4", "ppi", "epb", "20", 0))
    '20 % of the nodes removed and tested, T_r = 10 % of the others, C by 3-fold cross-validation'
    """
    if unit.experiment != "table5":
        removed = f"{unit.setting} % of the nodes removed and tested, T_r = 10 % of the others"
        share = f"T_r = {unit.setting} %" if unit.experiment == "table3" else removed
        return f"{share}, C by 3-fold cross-validation"
    if unit.setting == "public":
        return "Planetoid's split: 20 per class, 500 validation, 1000 test"
    more = {
        "inductive": ", test nodes removed before training",
        "directed": ", messages from the cited to the citing paper",
        CITED_GCN_I: ", citations by test nodes removed",
    }
    what = more.get(unit.method, more.get(unit.setting, ""))
    return f"20 per class, 1000 validation, 1000 test{what}"


def units(experiments: Sequence[str], quick: bool = False) -> list[Unit]:
    """Return the units of some experiments, those of run 0 first.

    >>> len(units(["table3"]))
    900
    >>> units(["table3"])[0]
    Unit(experiment='table3', dataset='blogcatalog', method='epb', setting='10', run=0)
    """
    n_runs = 2 if quick else N_RUNS
    found = [
        Unit(name, *cell, run)
        for name in experiments
        for part in TABLES[require_one_of("experiment", name, EXPERIMENTS)]
        for cell in product(part.datasets, part.methods, part.settings)
        for run in range(min(n_runs, part.n_runs))
        if not quick or cell[0] in SMALL
    ]
    return sorted(found, key=lambda unit: unit.run)
