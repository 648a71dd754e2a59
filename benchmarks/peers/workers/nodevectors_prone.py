"""ProNE, as nodevectors has it."""

from __future__ import annotations

from typing import Any

import numpy as np
from job import EdgeList, Settings, run
from nodevectors import ProNE
from numpy.typing import NDArray


def load(edges: EdgeList) -> Any:
    return edges.adjacency()


def embed(adjacency: Any, settings: Settings) -> NDArray[Any]:
    # Its randomized SVD draws from the global generator.
    np.random.seed(settings["seed"])  # noqa: NPY002
    return np.asarray(ProNE(settings["dim"], verbose=False).fit_transform(adjacency))


if __name__ == "__main__":
    run(load, embed, ("nodevectors",), {})
