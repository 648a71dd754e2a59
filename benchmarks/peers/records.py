"""The record of measurements: what is there already, and what counts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

KIND = "peers"

Record = Mapping[str, Any]
Key = tuple[str, str, int, float, str]


def key_of(record: Record) -> Key:
    """Return what a measurement is of; neither machine nor commit nor date belong to it."""
    settings = json.dumps(record["settings"], sort_keys=True)
    return (record["graph"], record["method"], record["seed"], record["train_share"], settings)


def missing(records: Iterable[Record], wanted: Sequence[Record], again: bool) -> list[Record]:
    """Return those of `wanted` that no record has; all of them if they are to be done again."""
    known = set() if again else {key_of(one) for one in records if one["benchmark"] == KIND}
    return [one for one in wanted if key_of(one) not in known]


def latest(records: Iterable[Record]) -> list[Record]:
    """Return the last record of each graph, method, seed and share, in order of appearance.

    Where a method's settings have changed, what was measured with the old ones is left out.
    """
    found: dict[Key, Record] = {}
    settings: dict[tuple[str, str], str] = {}
    for one in records:
        if one["benchmark"] == KIND:
            key = key_of(one)
            found.pop(key, None)
            found[key] = one
            settings[key[0], key[1]] = key[4]
    return [one for key, one in found.items() if settings[key[0], key[1]] == key[4]]
