from __future__ import annotations

from fractions import Fraction

import pytest

from embedprop.errors import InvalidParameterError, UnknownComponentError
from embedprop.instance.registry import Registry


@pytest.fixture
def colors() -> Registry[str]:
    registry = Registry[str]("color")
    registry.register("red")("#f00")
    registry.register("blue")("#00f")
    return registry


def test_a_part_is_found_by_its_name(colors: Registry[str]) -> None:
    assert colors["red"] == "#f00"
    assert list(colors) == ["red", "blue"]
    assert len(colors) == 2


@pytest.mark.parametrize("name", ["green", None, ["red"]])
def test_an_unknown_name_is_refused_with_the_known_ones(colors: Registry[str], name: str) -> None:
    with pytest.raises(UnknownComponentError) as caught:
        colors[name]
    assert str(caught.value) == f"color={name!r} is not known. Choose one of: 'red', 'blue'."
    assert name not in colors


def test_a_name_is_taken_once_only(colors: Registry[str]) -> None:
    with pytest.raises(ValueError, match=r"color 'red' is registered twice\."):
        colors.register("red")("#e00")
    assert colors["red"] == "#f00"


def test_registering_leaves_a_class_as_it_is() -> None:
    registry = Registry[type]("thing")

    @registry.register("plain")
    class Plain:
        pass

    assert registry["plain"] is Plain


class TestATable:
    """Parts that stand in a table are loaded on first use."""

    def test_a_part_is_loaded_when_it_is_asked_for(self) -> None:
        registry = Registry("fraction", {"exact": "fractions:Fraction"})
        assert registry.name_of(Fraction) is None
        assert list(registry) == ["exact"]
        assert registry["exact"] is Fraction
        assert registry.name_of(Fraction) == "exact"

    def test_a_name_of_the_table_cannot_be_taken(self) -> None:
        registry = Registry("fraction", {"exact": "fractions:Fraction"})
        with pytest.raises(ValueError, match=r"fraction 'exact' is registered twice\."):
            registry.register("exact")(int)

    @pytest.mark.parametrize("place", ["fractions:Faction", "no_such_module:One"])
    def test_what_cannot_be_loaded_is_named_with_its_place(self, place: str) -> None:
        registry = Registry("fraction", {"broken": place})
        assert "broken" in registry
        with pytest.raises(InvalidParameterError) as caught:
            registry["broken"]
        assert str(caught.value).startswith(f"fraction='broken' is registered as '{place}', which")

    def test_the_nearest_name_is_proposed(self) -> None:
        registry = Registry("fraction", {"exact": "fractions:Fraction"})
        with pytest.raises(UnknownComponentError, match=r" Did you mean 'exact'\?$"):
            registry["exat"]
