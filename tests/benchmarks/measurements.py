"""Records as the benchmark of whole jobs writes them."""

from __future__ import annotations

from typing import Any

from benchmarks.peers.methods import METHODS


def measurement(graph: str, method: str, cpu: float, micro: float, **others: Any) -> dict[str, Any]:
    figures = {"micro": micro, "macro": micro / 2, "micro_scaled": micro, "macro_scaled": micro / 2}
    spreads = {f"{name}_sd": 0.5 for name in figures}
    runs = {f"{name}_runs": [value] for name, value in figures.items()}
    start = {
        "benchmark": "peers",
        "graph": graph,
        "method": method,
        "settings": dict(METHODS[method].settings),
        "seed": 0,
        "train_share": 0.1,
        "cpu_seconds": cpu,
        "peak_rss_mb": 100.0,
        "version": "some 1.0",
        "machine": "a machine, 2 cores, load 0.1",
        "commit": "abc",
        "date": "2000-01-01",
    }
    return start | figures | spreads | runs | others


THREE = [
    measurement("ppi", "closed-form", 0.5, 18.0),
    measurement("ppi", "epb", 4.0, 19.0),
    measurement("ppi", "deepwalk", 30.0, 18.5),
]
