import pytest

from embedprop.paper.report import (
    HIGHER,
    LOWER,
    UNEXPLAINED,
    Cell,
    differences,
    published,
    reason,
    report,
)
from embedprop.paper.rows import ROWS
from embedprop.paper.units import EXPERIMENTS, TABLES

READINGS = {method for method, row in ROWS.items() if row.reading_of not in ("", method)}
# Rows without a number of their own in the paper.
OURS = {*READINGS, "closed-form"}


def record(micro, run=0, **other):
    base = {"experiment": "table3", "dataset": "ppi", "method": "epb", "setting": "10"}
    return base | {"run": run, "micro": micro, "macro": 0.14} | other


def row(text, heading, name):
    block = text.split(heading)[1].split("##")[0]
    return next(line for line in block.splitlines() if line.startswith(f"| {name} "))


def test_every_published_number_has_a_place_in_the_tables():
    for table in ("table3", "table4"):
        (part,) = TABLES[table]
        columns = {f"{name} {share}" for name in part.datasets for share in part.settings}
        for block in published(table).values():
            assert set(block) == set(part.methods) - OURS
            assert all(set(cells) == columns for cells in block.values())
    parts = {part.settings[0]: part for part in TABLES["table5"]}
    for name, block in published("table5").items():
        assert set(block) == set(parts[name].methods) - OURS
        assert all(set(cells) == set(parts[name].datasets) for cells in block.values())


def test_a_cell_shows_our_mean_beside_the_published_one():
    text = report([record(0.17, 0), record(0.19, 1)])
    assert "18.00 ± 1.00 (2) / 17.82" in row(text, "Table 3, micro F1", "EP-B")


def test_a_difference_of_more_than_a_published_deviation_is_marked():
    assert LOWER in row(report([record(0.16)]), "Table 3, micro F1", "EP-B")
    assert HIGHER in row(report([record(0.20)]), "Table 3, micro F1", "EP-B")
    close = row(report([record(0.18)]), "Table 3, micro F1", "EP-B")
    assert LOWER not in close
    assert HIGHER not in close


def test_cells_without_results_show_the_published_number_alone():
    assert "· / 35.05" in row(report([record(0.17)]), "Table 3, micro F1", "EP-B")


def test_tables_without_any_result_are_left_out():
    assert "## " not in report([])
    text = report([record(0.17)])
    assert "## Table 3" in text
    assert "Table 4" not in text
    assert "Table 5" not in text


def test_a_reading_stands_beside_the_published_number_of_its_method():
    assert {row.reading_of for row in ROWS.values()} <= {"", *ROWS}
    short = record(0.25, dataset="blogcatalog", method="line-3m", setting="20")
    text = report([short | {"experiment": "table4"}])
    name = ROWS["line-3m"].name
    assert f"25.00 ± 0.00 {HIGHER} (1) / 19.15" in row(text, "Table 4, micro F1", name)
    assert "**LINE (3 million samples, fitted)**: blogcatalog 20 micro 25.00 for 19.15" in text


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
        assert remark["method"] in ROWS
        assert remark["text"].endswith(".")


def test_the_report_lists_what_is_lower():
    record = {"experiment": "table3", "dataset": "ppi", "method": "epb", "setting": "10", "run": 0}
    text = report([record | {"micro": 0.10, "macro": 0.14, "commit": "abc", "machine": "m"}])
    assert "ppi 10 micro 10.00 for 17.82" in text
    assert "commits: abc" in text
