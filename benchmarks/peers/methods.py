"""The methods that are compared: which worker learns, in which environment, with which settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

DIM = 128


@dataclass(frozen=True)
class Method:
    """One point per graph in the picture."""

    title: str
    worker: str  # workers/NAME.py
    settings: Mapping[str, Any]
    environment: str | None = None  # requirements/NAME.txt; None: the Python that runs this
    is_ours: bool = False
    judged: bool = False  # whether ours is to need ten times less
    seeds_matter: bool = field(default=True, kw_only=True)
    converged: bool = field(default=True, kw_only=True)  # whether more epochs would add nothing

    def settings_with(self, seed: int) -> dict[str, Any]:
        """Return what the worker reads."""
        return {**self.settings, "seed": seed}


# The paper's, which are the defaults.
PAPER = {"dim": DIM, "margin": 1.0, "epochs": 200, "batch_size": 64, "learning_rate": 0.001}
# node2vec's authors' settings, for DeepWalk too; gensim's own where they name none.
WALKS = {"dim": DIM, "n_walks": 10, "walk_length": 80, "window": 10, "epochs": 1}
GENSIM = WALKS | {"n_negatives": 5, "learning_rate": 0.025}
# As the example that comes with PyTorch Geometric has it, which goes on for 100 epochs: they would
# not end within the limit of a job.
PYG = {
    "dim": DIM,
    "n_walks": 10,
    "walk_length": 20,
    "context_size": 10,
    "n_negatives": 1,
    "batch_size": 128,
    "learning_rate": 0.01,
}
# What is good after few epochs: best of 1 to 5 epochs at ten times that rate, found on PPI.
PYG_RATE = PYG | {"learning_rate": 0.1, "epochs": 3}
LINE = {"dim": DIM, "n_samples": 20_000_000, "n_negatives": 5, "learning_rate": 0.025}
SKNETWORK = "scikit-network"

METHODS = {
    "epb": Method("EP-B", "embedprop_ours", PAPER, is_ours=True),
    "epb-fast": Method("EP-B, fast", "embedprop_ours", {"preset": "fast"}, is_ours=True),
    "closed-form": Method(
        "EP, closed form",
        "embedprop_ours",
        {"method": "closed-form"},
        is_ours=True,
        seeds_matter=False,
    ),
    "deepwalk": Method("gensim DeepWalk", "gensim_deepwalk", GENSIM, "gensim", judged=True),
    "pecanpy": Method("PecanPy", "pecanpy_node2vec", WALKS, "pecanpy", judged=True),
    "line": Method("LINE", "embedprop_line", LINE, judged=True),
    "pyg-1": Method(
        "PyG Node2Vec, 1 epoch",
        "pyg_node2vec",
        PYG | {"epochs": 1},
        "pyg",
        judged=True,
        converged=False,
    ),
    "pyg-4": Method(
        "PyG Node2Vec, 4 epochs",
        "pyg_node2vec",
        PYG | {"epochs": 4},
        "pyg",
        judged=True,
        converged=False,
    ),
    "pyg-rate": Method(
        "PyG Node2Vec, rate 0.1, 3 epochs",
        "pyg_node2vec",
        PYG_RATE,
        "pyg",
        judged=True,
        converged=False,
    ),
    "prone": Method("ProNE", "nodevectors_prone", {"dim": DIM}, "nodevectors"),
    "cleora": Method("Cleora", "pycleora_cleora", {"dim": DIM, "n_iterations": 40}, "pycleora"),
    "spectral": Method(
        "Spectral",
        "sknetwork_embeddings",
        {"dim": DIM, "algorithm": "Spectral"},
        SKNETWORK,
        seeds_matter=False,
    ),
    "svd": Method(
        "SVD",
        "sknetwork_embeddings",
        {"dim": DIM, "algorithm": "SVD"},
        SKNETWORK,
        seeds_matter=False,
    ),
    "netmf": Method(
        "NetMF",
        "netmf",
        {"dim": DIM, "window": 10, "n_negatives": 1},
        SKNETWORK,
        seeds_matter=False,
    ),
}
