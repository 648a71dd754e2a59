from embedprop.paper.differences import published
from embedprop.paper.report import HIGHER, LOWER, report
from embedprop.paper.units import (
    CITATIONS,
    CLOSED_FORM,
    NAMES,
    READING_OF,
    STRUCTURE,
    TABLE3_METHODS,
    TABLE4_METHODS,
    TABLE5_METHODS,
)

# Rows without a number of their own in the paper.
OURS = {*READING_OF, CLOSED_FORM}


def record(micro, run=0, **other):
    base = {"experiment": "table3", "dataset": "ppi", "method": "epb", "setting": "10"}
    return base | {"run": run, "micro": micro, "macro": 0.14} | other


def row(text, heading, name):
    block = text.split(heading)[1].split("##")[0]
    return next(line for line in block.splitlines() if line.startswith(f"| {name} "))


def test_every_published_number_has_a_place_in_the_tables():
    for table, methods, shares in (
        ("table3", TABLE3_METHODS, (10, 50, 90)),
        ("table4", TABLE4_METHODS, (20, 40)),
    ):
        columns = {f"{dataset} {share}" for dataset in STRUCTURE for share in shares}
        for block in published(table).values():
            assert set(block) == set(methods) - OURS
            assert all(set(cells) == columns for cells in block.values())
    for part, block in published("table5").items():
        assert set(block) == set(TABLE5_METHODS[part]) - OURS
        assert all(set(cells) == set(CITATIONS) for cells in block.values())


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
    assert READING_OF.keys() <= NAMES.keys()
    short = record(0.25, dataset="blogcatalog", method="line-3m", setting="20")
    text = report([short | {"experiment": "table4"}])
    assert f"25.00 ± 0.00 {HIGHER} (1) / 19.15" in row(text, "Table 4, micro F1", NAMES["line-3m"])
    assert "**LINE (3 million samples, fitted)**: blogcatalog 20 micro 25.00 for 19.15" in text
