"""Ctrl-C during fit: the model holds what was learned so far."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from embedprop import EmbeddingPropagation, Graph
from embedprop.methods.method import Stopped

SMALL = {"dim": 4, "n_threads": 1}


def press() -> None:
    signal.raise_signal(signal.SIGINT)


@pytest.fixture
def when_epoch(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, Callable[[], None]], None]:
    """A function that lets something happen during an epoch, which is counted from 0."""

    def arrange(wanted: int, happen: Callable[[], None]) -> None:
        @contextmanager
        def reporting(*_: object) -> Iterator[Callable[..., None]]:
            def report(done: float, *_: object) -> None:
                if wanted < done <= wanted + 1:
                    happen()

            yield report

        monkeypatch.setattr("embedprop.estimators.progress_bar", reporting)

    return arrange


def test_one_press_stops_and_leaves_a_usable_model(
    star_with_words: Graph, when_epoch: Callable[..., None]
) -> None:
    when_epoch(3, press)
    model = EmbeddingPropagation(epochs=1000, **SMALL)
    with pytest.raises(
        KeyboardInterrupt,
        match=r"Stopped after [34] of 1000 epochs; the model holds what",
    ):
        model.fit(star_with_words)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert all(3 <= len(losses) <= 4 for losses in model.loss_history_.values())
    assert np.isfinite(model.node_embeddings_).all()
    assert len(model.similar("hub", k=3)) == 3
    assert model.transform_node(["hub"]).any()


def test_what_was_learned_is_what_so_many_epochs_teach(
    path: Graph, when_epoch: Callable[..., None]
) -> None:
    when_epoch(3, press)
    stopped = EmbeddingPropagation(epochs=1000, **SMALL)
    with pytest.raises(KeyboardInterrupt):
        stopped.fit(path)
    when_epoch(-1, press)
    full = EmbeddingPropagation(epochs=4, **SMALL).fit(path)
    np.testing.assert_array_equal(stopped.node_embeddings_, full.node_embeddings_)


def test_an_epoch_that_was_finished_is_in_the_history(
    path: Graph, when_epoch: Callable[..., None]
) -> None:
    when_epoch(3, press)  # so small a graph reports at the end of each epoch only
    model = EmbeddingPropagation(epochs=1000, **SMALL)
    with pytest.raises(KeyboardInterrupt, match="Stopped after 4 of 1000"):
        model.fit(path)
    assert len(model.loss_history_["node"]) == 4


def test_learning_can_go_on_after_a_stop(path: Graph, when_epoch: Callable[..., None]) -> None:
    when_epoch(3, press)
    model = EmbeddingPropagation(epochs=1000, **SMALL)
    with pytest.raises(KeyboardInterrupt):
        model.fit(path)
    before = len(model.loss_history_["node"])
    when_epoch(-1, press)
    model.set_params(epochs=2).partial_fit(path)
    assert len(model.loss_history_["node"]) == before + 2


def test_the_exception_holds_the_model_too(path: Graph, when_epoch: Callable[..., None]) -> None:
    when_epoch(1, press)
    model = EmbeddingPropagation(epochs=1000, **SMALL)
    with pytest.raises(Stopped) as caught:
        model.fit(path)
    assert caught.value.model is model.model_
    assert caught.value.model.learning.loss_history == model.loss_history_


def test_a_second_press_while_finishing_keeps_the_model_and_warns(
    star_with_words: Graph, when_epoch: Callable[..., None], caplog: pytest.LogCaptureFixture
) -> None:
    def press_twice() -> None:
        press()
        press()

    when_epoch(3, press_twice)
    model = EmbeddingPropagation(epochs=1000, **SMALL)
    with pytest.raises(KeyboardInterrupt, match="Stopped after 4 of 1000 epochs"):
        model.fit(star_with_words)
    assert "Ctrl-C once more loses it and stops at once." in caplog.text
    assert len(model.similar("hub", k=3)) == 3
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_third_press_interrupts_at_once_and_keeps_nothing(
    star_with_words: Graph, when_epoch: Callable[..., None]
) -> None:
    def press_three_times() -> None:
        press()
        press()
        press()
        raise AssertionError("the third press must interrupt here")

    when_epoch(3, press_three_times)
    model = EmbeddingPropagation(epochs=1000, **SMALL)
    with pytest.raises(KeyboardInterrupt) as caught:
        model.fit(star_with_words)
    assert not isinstance(caught.value, Stopped)
    assert not hasattr(model, "model_")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupted_second_fit_that_keeps_nothing_leaves_the_old_model(
    star_with_words: Graph, when_epoch: Callable[..., None]
) -> None:
    model = EmbeddingPropagation(epochs=2, **SMALL).fit(star_with_words)
    before = model.model_
    when_epoch(0, lambda: [press() for _ in range(3)])  # type: ignore[arg-type,return-value]
    with pytest.raises(KeyboardInterrupt):
        model.fit(star_with_words)
    assert model.model_ is before


def test_a_signal_from_outside_stops_a_long_run_soon(star_with_words: Graph) -> None:
    model = EmbeddingPropagation(epochs=10**7, **SMALL)
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt, match="Stopped after"):
            model.fit(star_with_words)
    finally:
        timer.cancel()
    assert 0 < len(model.loss_history_["node"]) < 10**7


def test_a_model_can_be_fitted_in_another_thread(star_with_words: Graph) -> None:
    model = EmbeddingPropagation(epochs=2, **SMALL)
    thread = threading.Thread(target=model.fit, args=(star_with_words,))
    thread.start()
    thread.join()
    expected = EmbeddingPropagation(epochs=2, **SMALL).fit_transform(star_with_words)
    np.testing.assert_array_equal(model.node_embeddings_, expected)
