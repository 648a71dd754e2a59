import pytest

from embedprop.paper.differences import UNEXPLAINED, Cell, differences, published, reason
from embedprop.paper.report import report
from embedprop.paper.units import EXPERIMENTS, NAMES


def cell(method="epb", ours=30.0, published=32.0, deviation=1.0, table="table3", column="ppi 10"):
    return Cell(table, "micro", method, column, ours, published, deviation)


@pytest.mark.parametrize(
    ("method", "ours", "differs"),
    [
        ("epb", 31.1, False),
        ("epb", 30.9, True),
        ("epb", 40.0, False),  # better is no difference to explain
        ("line", 30.1, False),
        ("line", 29.9, True),
        ("line", 34.1, True),
    ],
)
def test_ours_may_be_one_deviation_lower_and_baselines_two_away(method, ours, differs):
    assert cell(method, ours).differs == differs


def test_every_cell_that_differs_is_listed_even_without_a_reason():
    text = differences([cell(), cell("gcn", column="ppi 50"), cell(ours=32.0)])
    assert text.count("\n- ") == 0
    assert "**EP-B (1 u, uniform)**: ppi 10 micro 30.00 for 32.00 (-2.0 sd)" in text
    assert UNEXPLAINED in text
    assert "GCN" not in text  # exactly two deviations


def test_a_remark_is_for_its_table_method_and_columns_alone():
    assert reason(cell(column="blogcatalog 10")) != UNEXPLAINED
    assert reason(cell(column="ppi 10")) == UNEXPLAINED
    assert reason(cell("majority", column="blogcatalog 10", table="table5")) == UNEXPLAINED


def test_remarks_name_known_tables_and_methods():
    for remark in published("remarks")["remark"]:
        assert remark["table"] in (*EXPERIMENTS, "any")
        assert remark["method"] in NAMES
        assert remark["text"].endswith(".")


def test_the_report_lists_what_is_lower():
    record = {"experiment": "table3", "dataset": "ppi", "method": "epb", "setting": "10", "run": 0}
    text = report([record | {"micro": 0.10, "macro": 0.14, "commit": "abc", "machine": "m"}])
    assert "ppi 10 micro 10.00 for 17.82" in text
    assert "commits: abc" in text
