from __future__ import annotations

import logging
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numba
import numpy as np
import pytest
from tests import toy_graphs

from embedprop import EmbeddingPropagation, Graph
from embedprop.methods.epb.engines import threads
from embedprop.methods.epb.engines.fused_state import FusedState
from embedprop.methods.epb.engines.threads import Crew, ThreadChoice

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
    assert f"n_threads={AVAILABLE + 3}: expected at most {AVAILABLE}, the number" in caplog.text


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

        with Crew() as crew:
            crew.run(go_on, 3)
        assert calls == {0: 1, 1: 2, 2: 3}

    def test_one_thread_is_this_one(self) -> None:
        seen = []
        with Crew() as crew:
            crew.run(lambda _: seen.append(threading.current_thread()) or True, 1)
        assert seen == [threading.current_thread()]

    def test_helpers_stay_from_run_to_run_and_go_in_the_end(self) -> None:
        before, seen = threading.active_count(), set[threading.Thread]()
        all_three = threading.Barrier(3)

        def go_on(_: int) -> bool:
            all_three.wait(timeout=30)
            seen.add(threading.current_thread())
            return True

        with Crew() as crew:
            for _ in range(20):
                crew.run(go_on, 3)
        assert len(seen) == 3
        assert threading.active_count() == before

    @pytest.mark.parametrize("broken", [0, 1])
    def test_an_error_in_one_ends_those_who_wait_for_it(self, broken: int) -> None:
        def go_on(thread: int) -> bool:
            if thread == broken:
                raise RuntimeError("kernel failed")
            return False  # waits

        assert str(error_of(go_on, 2)) == "kernel failed"

    def test_a_thread_that_cannot_start_ends_those_who_wait_for_it(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        start, started = threading.Thread.start, []

        def start_one(thread: threading.Thread) -> None:
            if "embedprop" in thread.name:
                started.append(thread)
                if len(started) == 2:
                    raise RuntimeError("can't start new thread")
            start(thread)

        monkeypatch.setattr(threading.Thread, "start", start_one)
        assert str(error_of(lambda _: False, 3)) == "can't start new thread"

    def test_an_interrupt_while_waiting_for_the_others_is_told_when_they_are_done(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        interrupted = []

        class Queue(queue.SimpleQueue):
            def get(self) -> Any:
                if threading.current_thread().name != "embedprop" and not interrupted:
                    interrupted.append(True)
                    raise KeyboardInterrupt
                return super().get()

        done = []

        def go_on(thread: int) -> bool:
            time.sleep(0.2 * thread)
            done.append(thread)
            return True

        monkeypatch.setattr(threads, "SimpleQueue", Queue)
        assert isinstance(error_of(go_on, 2), KeyboardInterrupt)
        assert done == [0, 1]

    @pytest.mark.skipif(AVAILABLE < 2, reason="needs two threads")
    def test_fits_in_several_threads_do_not_disturb_each_other(self) -> None:
        graph = toy_graphs.messy(60)
        with ThreadPoolExecutor(4) as pool:
            side_by_side = list(pool.map(lambda seed: fitted(graph, seed), range(4)))
        for seed, one in enumerate(side_by_side):
            np.testing.assert_array_equal(one, fitted(graph, seed))


def error_of(go_on: Callable[[int], bool], n_threads: int) -> BaseException:
    """What running together raises; fails if it does not end, or leaves a thread behind."""
    found: list[BaseException] = []
    before = threading.active_count()

    def run() -> None:
        try:
            with Crew() as crew:
                crew.run(go_on, n_threads)
        except BaseException as error:
            found.append(error)

    runner = threading.Thread(target=run, daemon=True)
    runner.start()
    runner.join(timeout=30)
    assert not runner.is_alive()
    assert threading.active_count() == before
    return found[0]


def fitted(graph: Graph, seed: int, n_threads: int = 2) -> np.ndarray:
    model = EmbeddingPropagation(
        dim=128, epochs=2, batch_size=8, random_state=seed, n_threads=n_threads, verbose=False
    )
    return model.fit(graph).node_embeddings_


@pytest.mark.parametrize("n_available", [2, 4])
def test_who_waits_too_long_goes_on_where_it_was(
    monkeypatch: pytest.MonkeyPatch, n_available: int
) -> None:
    graph, rng = many_words(), np.random.default_rng(0)
    expected, n_waits = fitted(graph, 0, 1), 0

    def by_turns(_: Crew, go_on: Callable[[int], bool], n_threads: int) -> None:
        """One thread for all: each call but the last to come to a meeting runs out of patience."""
        nonlocal n_waits
        waiting = list(range(n_threads))
        while waiting:
            chosen = rng.choice(waiting)
            if go_on(chosen):
                waiting.remove(chosen)
            else:
                n_waits += 1

    monkeypatch.setattr(threads, "available_threads", lambda: n_available)
    monkeypatch.setattr(Crew, "run", by_turns)
    np.testing.assert_array_equal(fitted(graph, 0, n_available), expected)
    n_batches = 2 * 2 * 8  # two epochs of two label types
    assert n_waits > n_batches


def many_words() -> Graph:
    """Each node has two words of 200: a batch reads few of them."""
    words = {i: [f"w{i}", f"w{60 + 2 * i}"] for i in range(60)}
    edges = [(i, (i + step) % 60) for i in range(60) for step in (1, 7)]
    return Graph.from_edges(edges, labels={"word": words})


@pytest.mark.parametrize("graph", [toy_graphs.messy(60, n_relations=2), many_words()])
def test_nothing_is_left_in_lists_after_every_run(
    monkeypatch: pytest.MonkeyPatch, graph: Graph
) -> None:
    run, seen = FusedState.run, []

    def checked(state: FusedState, *arguments: Any) -> float:
        loss = run(state, *arguments)
        workspace, *of_shared = state.memory
        spaces = [workspace, *of_shared[1:]]  # between them: the labels of each node
        senders = [workspace.to_rows, *(space.to_nodes for space in of_shared[1:])]
        free = all((space.slot == -1).all() for space in spaces)
        seen.append(free and not any(one.ends.any() for one in senders))
        return loss

    monkeypatch.setattr(FusedState, "run", checked)
    fitted(graph, 0)
    assert len(seen) == 2 * (1 + 2)  # of two label types: once to compile, and two epochs
    assert all(seen)


def test_a_fit_goes_on_when_the_main_thread_has_ended() -> None:
    code = """
import threading, time
from embedprop import EmbeddingPropagation, Graph
graph = Graph.from_edges([(i, i + 1) for i in range(300)])
model = EmbeddingPropagation(dim=128, epochs=200, n_threads=2, verbose=False)
def work():
    model.fit(graph)
    print("fitted", threading.main_thread().is_alive())
threading.Thread(target=work).start()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.stdout.split() == ["fitted", "False"], done.stderr


def test_a_fused_fit_leaves_torchs_number_of_threads_alone() -> None:
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        EmbeddingPropagation(dim=4, epochs=1, verbose=False).fit(Graph.from_edges([(0, 1), (1, 2)]))
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)
