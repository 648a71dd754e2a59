from __future__ import annotations

import logging
import threading
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import pytest
from tests import toy_graphs

from embedprop import EmbeddingPropagation, Graph
from embedprop.training import threads
from embedprop.training.threads import ThreadChoice, run_together

AVAILABLE = numba.config.NUMBA_NUM_THREADS


def chosen(choice: ThreadChoice, n_runs: int) -> list[int]:
    numbers = []
    for _ in range(n_runs):
        with choice.run(1.0) as n_threads:
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


class TestRunningTogether:
    def test_all_are_called_until_they_are_done(self) -> None:
        calls = {0: 0, 1: 0, 2: 0}

        def go_on(thread: int) -> bool:
            calls[thread] += 1
            return calls[thread] > thread

        run_together(go_on, 3)
        assert calls == {0: 1, 1: 2, 2: 3}

    def test_one_thread_is_this_one(self) -> None:
        seen = []
        run_together(lambda _: seen.append(threading.current_thread()) or True, 1)
        assert seen == [threading.current_thread()]

    @pytest.mark.parametrize("broken", [0, 1])
    def test_an_error_in_one_ends_those_who_wait_for_it(self, broken: int) -> None:
        def go_on(thread: int) -> bool:
            if thread == broken:
                raise RuntimeError("kernel failed")
            return False  # waits

        with pytest.raises(RuntimeError, match="kernel failed"):
            run_together(go_on, 2)
        assert not any("(work)" in thread.name for thread in threading.enumerate())

    def test_fits_in_several_threads_do_not_disturb_each_other(self) -> None:
        graph = toy_graphs.messy(60)
        alone = [fitted(graph, seed) for seed in range(4)]
        with ThreadPoolExecutor(4) as pool:
            side_by_side = list(pool.map(lambda seed: fitted(graph, seed), range(4)))
        for one, other in zip(alone, side_by_side, strict=True):
            np.testing.assert_array_equal(one, other)


def fitted(graph: Graph, seed: int) -> np.ndarray:
    model = EmbeddingPropagation(dim=64, epochs=3, random_state=seed, verbose=False)
    return model.fit(graph).node_embeddings_


def test_a_fused_fit_leaves_torchs_number_of_threads_alone() -> None:
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        EmbeddingPropagation(dim=4, epochs=1, verbose=False).fit(Graph.from_edges([(0, 1), (1, 2)]))
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)
