"""The eigensolvers, compared with a dense decomposition in double precision."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from scipy.linalg import eigh
from tests.methods.closed_form.made import assert_same_up_to_signs, random_start

from embedprop.methods.closed_form import spectrum
from embedprop.methods.closed_form.spectrum import Metric, Spectrum, largest

N, K = 70, 7


@pytest.fixture(params=["dense", "Lanczos"])
def solver(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "Lanczos":
        monkeypatch.setattr(spectrum, "_SMALL", 0)
    return str(request.param)


def symmetric(seed: int = 0) -> np.ndarray:
    """Eigenvalues of both signs, the negative ones larger."""
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.standard_normal((N, N)))[0]
    values = np.linspace(-1.5, 1, N) ** 3
    return basis * values @ basis.T


def positive(seed: int = 1) -> np.ndarray:
    factor = np.random.default_rng(seed).standard_normal((N, N)) / np.sqrt(N)
    return factor @ factor.T + 0.5 * np.eye(N)


def metric_of(b: np.ndarray) -> Metric:
    return Metric(
        lambda x: (b @ x).astype(np.float32), lambda y: np.linalg.solve(b, y).astype(np.float32)
    )


def found(
    m: np.ndarray, k: int = K, both_ends: bool = False, b: np.ndarray | None = None
) -> Spectrum:
    return largest(
        lambda x: (m @ x).astype(np.float32),
        len(m),
        k,
        random_start(len(m)),
        both_ends=both_ends,
        metric=None if b is None else metric_of(b),
    )


@pytest.mark.usefixtures("solver")
class TestLargest:
    @pytest.mark.parametrize("both_ends", [False, True])
    @pytest.mark.parametrize("general", [False, True])
    def test_it_gives_the_largest_eigenpairs(self, both_ends: bool, general: bool) -> None:
        m, b = symmetric(), positive() if general else None
        values, vectors = eigh(m, b)
        order = np.argsort(-np.abs(values) if both_ends else -values)[:K]
        result = found(m, both_ends=both_ends, b=b)
        np.testing.assert_allclose(result.values, values[order], rtol=1e-3)
        assert_same_up_to_signs(result.vectors, vectors[:, order], accuracy=2e-2)
        assert (values[order] < 0).any() == both_ends

    def test_the_largest_entry_of_each_vector_is_positive(self) -> None:
        vectors = found(symmetric()).vectors
        rows = np.abs(vectors).argmax(axis=0)
        assert (vectors[rows, np.arange(K)] > 0).all()

    @pytest.mark.parametrize("general", [False, True])
    def test_the_residual_is_what_is_left_of_the_equation(self, general: bool) -> None:
        m, b = symmetric(), positive() if general else np.eye(N)
        result = found(m, k=20, b=b if general else None)
        right = b @ result.vectors * result.values
        wrong = np.linalg.norm(m @ result.vectors - right, axis=0).max()
        expected = wrong / np.linalg.norm(right, axis=0).max()
        assert result.residual == pytest.approx(expected, rel=0.1, abs=1e-6)
        assert result.residual < 5e-3

    def test_the_same_start_gives_the_same_bytes(self) -> None:
        one, two = (found(symmetric()) for _ in range(2))
        assert one.vectors.tobytes() == two.vectors.tobytes()
        assert one.values.tobytes() == two.values.tobytes()


def test_no_more_pairs_are_given_than_there_are() -> None:
    result = found(symmetric(), k=3 * N)
    assert result.vectors.shape == (N, N)
    assert result.values.shape == (N,)


def test_products_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spectrum, "_SMALL", 0)
    m, counts, n_calls = symmetric(), [], 0

    def product(x: np.ndarray) -> np.ndarray:
        nonlocal n_calls
        n_calls += 1
        return (m @ x).astype(np.float32)

    largest(product, N, K, random_start(N), both_ends=False, count_passes=counts.append)
    assert counts == list(range(1, len(counts) + 1))
    assert n_calls == len(counts) + 1  # the last one is for the residual


@pytest.mark.parametrize("both_ends", [False, True])
def test_a_solver_that_stops_early_gives_what_it_has_and_warns(
    both_ends: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(spectrum, "_SMALL", 0)
    monkeypatch.setattr(spectrum, "_MAX_RESTARTS", 1)
    n = 400
    path = np.diag(np.ones(n - 1), 1) / 2
    path += path.T
    result = found(path, k=60, both_ends=both_ends)
    n_found = len(result.values)
    assert 0 < n_found < 60
    assert result.vectors.shape == (n, n_found)
    exact = np.linalg.eigvalsh(path)
    assert np.abs(exact[:, None] - result.values).min(axis=0).max() < 1e-2
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert f"with {n_found} of 60 dimensions; the others are zeros. A smaller dim" in caplog.text
