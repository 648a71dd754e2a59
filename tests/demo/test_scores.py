from __future__ import annotations

import numpy as np

from embedprop.demo.scores import Score, few_examples_scores


def test_vectors_that_tell_the_classes_apart_score_full_marks_and_others_do_not() -> None:
    targets = np.arange(300) % 3
    perfect = np.eye(3)[targets] * 10
    assert few_examples_scores(perfect, targets, n_known=240) == (Score(1, 0), Score(1, 0))
    noise = np.random.default_rng(0).normal(size=(300, 3))
    known, new = few_examples_scores(noise, targets, n_known=240)
    assert abs(known.mean - 1 / 3) < 0.1
    assert abs(new.mean - 1 / 3) < 0.15


def test_new_digits_are_scored_apart_from_known_ones() -> None:
    targets = np.arange(300) % 3
    vectors = np.eye(3)[targets] * 10
    vectors[240:] = np.roll(vectors[240:], 1, axis=1)  # the new ones look like another class
    assert few_examples_scores(vectors, targets, n_known=240) == (Score(1, 0), Score(0, 0))


def test_a_score_is_shown_in_percent() -> None:
    assert str(Score(0.9561, 0.0104)) == "95.6 ± 1.0 %"
