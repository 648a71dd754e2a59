"""Which parts of a registry are the package's own: examples of the docs may register others."""

from __future__ import annotations

from embedprop.instance.registry import Registry


def names_of(registry: Registry) -> set[str]:
    return {name for name in registry if registry[name].__module__.startswith("embedprop.")}
