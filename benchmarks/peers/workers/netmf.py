"""NetMF for small windows (Qiu et al., WSDM 2018), dense, on NumPy and SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from job import EdgeList, Settings, run
from numpy.typing import NDArray
from scipy.sparse import diags_array
from scipy.sparse.linalg import eigsh


def load(edges: EdgeList) -> Any:
    return edges.adjacency()


def embed(adjacency: Any, settings: Settings) -> NDArray[Any]:
    """Factorize log max(1, vol / (b T) * sum over r = 1..T of (D^-1 A)^r D^-1), T = window.

    A node without neighbors has zeros.
    """
    window, n_negatives = settings["window"], settings["n_negatives"]
    degrees = np.diff(adjacency.indptr).astype(np.float32)
    scale = diags_array(1 / np.sqrt(np.maximum(degrees, 1)))
    step = (scale @ adjacency.astype(np.float32) @ scale).tocsr()
    walks, diagonal = step.toarray(), np.diag_indices(len(degrees))
    for _ in range(window - 1):  # Horner: S becomes X (I + S)
        walks[diagonal] += 1
        walks = step @ walks
    walks *= degrees.sum() / (n_negatives * window) * scale.diagonal()[:, None]
    walks *= scale.diagonal()
    np.log(np.maximum(walks, 1, out=walks), out=walks)
    start = np.random.default_rng(settings["seed"]).random(len(degrees), dtype=np.float32)
    # The matrix is symmetric: its singular values are the absolute eigenvalues.
    values, vectors = eigsh(walks, settings["dim"], which="LM", v0=start)
    return np.asarray(vectors * np.sqrt(np.abs(values)))


if __name__ == "__main__":
    run(load, embed, ("scipy",), {})
