"""Every baseline with settings for tests: the same work as the published ones, but little of it."""

from __future__ import annotations

from typing import Any

from embedprop.baselines import BASELINES

QUICK: dict[str, dict[str, Any]] = {
    "majority": {},
    "wvrn": {},
    "bow": {},
    "deepwalk": {"dim": 8, "walk_length": 20, "window": 3, "epochs": 5, "learning_rate": 0.1},
    "node2vec": {"dim": 8, "walk_length": 20, "window": 3, "epochs": 5, "learning_rate": 0.1}
    | {"p": 0.5, "q": 2.0},
    "line": {"dim": 8, "n_samples": 60_000},
    "dw-bow": {"deepwalk": {"dim": 8, "walk_length": 20, "window": 3, "epochs": 5}},
    "gcn": {"epochs": 30},
    "gcn-i": {"epochs": 30},
    "planetoid-t": {"dim": 8, "n_steps": 60, "n_class_contexts": 20, "n_graph_contexts": 40},
    "planetoid-i": {"dim": 8, "n_steps": 200, "n_class_contexts": 20, "n_graph_contexts": 40}
    | {"context_rate": 0.01},
}
NEEDS_WORDS = ["bow", "dw-bow", "gcn", "gcn-i", "planetoid-t", "planetoid-i"]


def quick(name: str, seed: int = 0, **settings: Any) -> Any:
    return BASELINES[name](**QUICK[name] | {"random_state": seed, "n_threads": 1} | settings)
