import pytest

from embedprop.errors import UnknownComponentError
from embedprop.paper.units import EXPERIMENTS, Unit, units


def test_no_unit_comes_twice():
    found = units(EXPERIMENTS)
    assert len(set(found)) == len(found)


def test_a_record_finds_its_unit_again():
    unit = Unit("table3", "ppi", "epb", "10", 7)
    assert Unit.of(unit.to_dict() | {"micro": 0.2}) == unit


def test_a_quick_run_has_few_units_of_small_graphs():
    found = units(EXPERIMENTS, quick=True)
    assert {unit.dataset for unit in found} == {"ppi", "cora"}
    assert max(unit.run for unit in found) == 1


def test_first_runs_come_first_so_that_early_reports_have_every_cell():
    runs = [unit.run for unit in units(["table4"])]
    assert runs == sorted(runs)


def test_an_unknown_experiment_is_named():
    with pytest.raises(UnknownComponentError, match=r"experiment='table9'.*'table3'"):
        units(["table9"])
