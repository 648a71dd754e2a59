from __future__ import annotations

import pytest

from embedprop.errors import UnknownComponentError
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
