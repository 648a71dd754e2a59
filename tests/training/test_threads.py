from __future__ import annotations

import logging
import os
import sys

import numba
import pytest

from embedprop import EmbeddingPropagation, Graph
from embedprop.training import threads
from embedprop.training.threads import ThreadChoice, launch_threads

AVAILABLE = numba.config.NUMBA_NUM_THREADS


def chosen(choice: ThreadChoice, n_runs: int) -> list[int]:
    numbers = []
    for _ in range(n_runs):
        with choice.run(1.0) as n_threads:
            assert numba.get_num_threads() == n_threads
            numbers.append(n_threads)
    return numbers


def test_a_given_number_is_kept() -> None:
    assert set(chosen(ThreadChoice(1), 70)) == {1}


def test_more_threads_than_there_are_is_clamped_with_a_notice(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.INFO, logger="embedprop"):
        choice = ThreadChoice(AVAILABLE + 3)
    assert choice.most == AVAILABLE
    assert set(chosen(choice, 3)) == {AVAILABLE}
    assert f"n_threads={AVAILABLE + 3} is more than the {AVAILABLE}" in caplog.text


def test_as_many_as_there_are_needs_no_notice(caplog: pytest.LogCaptureFixture) -> None:
    ThreadChoice(AVAILABLE)
    ThreadChoice(None)
    assert not caplog.records


def test_the_number_outside_stays_as_it_was_even_after_an_error() -> None:
    before = numba.get_num_threads()
    choice = ThreadChoice(1)
    chosen(choice, 2)
    assert numba.get_num_threads() == before
    with pytest.raises(RuntimeError, match="kernel failed"), choice.run(1.0):
        raise RuntimeError("kernel failed")
    assert numba.get_num_threads() == before


@pytest.mark.skipif(AVAILABLE < 2, reason="one thread leaves no choice")
@pytest.mark.parametrize("faster", [1, AVAILABLE])
def test_none_goes_on_with_the_faster_number(monkeypatch: pytest.MonkeyPatch, faster: int) -> None:
    choice, clock = ThreadChoice(None), [0.0]
    monkeypatch.setattr(threads, "perf_counter", lambda: clock[0])
    numbers = []
    for _ in range(30):
        with choice.run(1.0) as n_threads:
            clock[0] += 1.0 if n_threads == faster else 2.0
            numbers.append(n_threads)
    assert set(numbers[:4]) == {1, AVAILABLE}
    assert set(numbers[4:]) == {faster}


@pytest.mark.skipif(AVAILABLE < 2, reason="one thread leaves no choice")
def test_none_tries_again_when_the_machine_may_have_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    choice, clock, fast = ThreadChoice(None), [0.0], [1]
    monkeypatch.setattr(threads, "perf_counter", lambda: clock[0])
    numbers = []
    for _ in range(130):
        with choice.run(1.0) as n_threads:
            clock[0] += 1.0 if n_threads == fast[0] else 2.0
            numbers.append(n_threads)
        if len(numbers) == 30:
            fast[0] = AVAILABLE
    assert numbers[40] == 1
    assert numbers[-1] == AVAILABLE


class TestLaunching:
    @pytest.fixture
    def environment_at_launch(self, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, str]]:
        seen: list[dict[str, str]] = []
        monkeypatch.setattr(
            "numba.np.ufunc.parallel._launch_threads", lambda: seen.append(dict(os.environ))
        )
        for name in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY"):
            monkeypatch.delenv(name, raising=False)
        return seen

    def test_threads_start_with_patience_and_the_environment_stays(
        self, environment_at_launch: list[dict[str, str]]
    ) -> None:
        before = dict(os.environ)
        launch_threads()
        assert [seen["GOMP_SPINCOUNT"] for seen in environment_at_launch] == ["10000"]
        assert dict(os.environ) == before

    @pytest.mark.parametrize("name", ["GOMP_SPINCOUNT", "OMP_WAIT_POLICY"])
    def test_what_the_user_has_decided_stands(
        self,
        environment_at_launch: list[dict[str, str]],
        monkeypatch: pytest.MonkeyPatch,
        name: str,
    ) -> None:
        monkeypatch.setenv(name, "7")
        launch_threads()
        assert environment_at_launch == []
        assert os.environ[name] == "7"

    def test_a_numba_without_that_function_does_no_harm(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setitem(sys.modules, "numba.np.ufunc.parallel", None)
        launch_threads()
        assert "GOMP_SPINCOUNT" not in os.environ


def test_a_fused_fit_leaves_torchs_number_of_threads_alone() -> None:
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        EmbeddingPropagation(dim=4, epochs=1, verbose=False).fit(Graph.from_edges([(0, 1), (1, 2)]))
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)
