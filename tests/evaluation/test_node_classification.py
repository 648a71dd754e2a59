import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from embedprop.errors import UnknownComponentError
from embedprop.evaluation.node_classification import (
    accuracy_chosen_on_validation,
    f1,
    f1_given_counts,
    most_likely,
    one_vs_rest_path,
    score_path,
    with_constant,
)
from embedprop.evaluation.splits import Split, per_class_split, share_split

RNG = np.random.default_rng(0)


def test_the_best_classes_are_taken_as_many_as_given():
    scores = np.array([[0.1, 0.9, 0.5], [0.3, 0.2, 0.1]])
    predicted = most_likely(scores, np.array([2, 1]))
    assert predicted.tolist() == [[False, True, True], [True, False, False]]


def test_f1_equals_a_hand_computation():
    wanted = np.array([[1, 0], [1, 0], [0, 1]], bool)
    predicted = np.array([[1, 0], [0, 1], [0, 1]], bool)
    # Class 0: 1 right, 1 missed: 2/3. Class 1: 1 right, 1 wrong: 2/3. Micro: 2 right of 3.
    assert f1(predicted, wanted) == pytest.approx((2 / 3, 2 / 3))


@pytest.mark.parametrize("solver", ["batched", "liblinear"])
def test_scores_are_those_of_one_liblinear_classifier_per_class(solver):
    vectors = RNG.standard_normal((60, 5))
    targets = RNG.random((60, 4)) < [0.1, 0.4, 0.5, 0.9]
    c_values = (0.01, 0.5, 10.0)
    paths = score_path(vectors, targets, vectors[:7], c_values, solver)
    for c, scores in zip(c_values, paths, strict=True):
        for column in range(4):
            exact = LogisticRegression(C=c, solver="liblinear", tol=1e-8)
            expected = exact.fit(vectors, targets[:, column]).decision_function(vectors[:7])
            np.testing.assert_allclose(scores[:, column], expected, rtol=1e-2, atol=1e-2)


def test_batched_classifiers_predict_what_liblinear_predicts():
    vectors = RNG.standard_normal((300, 20))
    targets = vectors @ RNG.standard_normal((20, 6)) + RNG.standard_normal((300, 6)) > 1
    one, other = (
        [
            f1(most_likely(scores, targets[150:].sum(axis=1)), targets[150:])
            for scores in score_path(vectors[:150], targets[:150], vectors[150:], solver=solver)
        ]
        for solver in ("batched", "liblinear")
    )
    np.testing.assert_allclose(one, other, atol=0.005)


def test_the_minimum_is_reached_to_high_accuracy_when_asked_for():
    vectors = RNG.standard_normal((80, 6))
    targets = RNG.random((80, 2)) < 0.3
    (weights,) = one_vs_rest_path(vectors, targets, [5.0], tolerance=1e-10)
    x, signs = with_constant(vectors), np.where(targets, 1.0, -1.0)
    gradient = weights - 5.0 * x.T @ (signs / (1 + np.exp(signs * (x @ weights))))
    assert np.abs(gradient).max() < 1e-7


@pytest.mark.parametrize("solver", ["batched", "liblinear"])
def test_a_class_without_training_nodes_is_never_preferred(solver):
    targets = np.array([[1, 0, 1], [0, 0, 1], [1, 0, 1], [0, 0, 1]], bool)
    (scores,) = score_path(np.eye(4), targets, np.eye(4), [1.0], solver)
    assert (scores[:, 1] == -np.inf).all()
    assert (scores[:, 2] == np.inf).all()


def test_an_unknown_solver_is_named():
    with pytest.raises(UnknownComponentError, match="solver='sgd' is not known"):
        next(score_path(np.eye(2), np.eye(2, dtype=bool), np.eye(2), [1.0], "sgd"))


def separable(n_classes=3, n_per_class=60):
    """Points around corners that are far apart, and useless ones."""
    classes = np.repeat(np.arange(n_classes), n_per_class)
    good = 4 * np.eye(n_classes)[classes] + 0.3 * RNG.standard_normal((len(classes), n_classes))
    return classes, good, RNG.standard_normal(good.shape)


def test_the_vectors_that_are_better_on_validation_nodes_are_chosen():
    classes, good, useless = separable()
    split = per_class_split(classes, 0, n_per_class=5, n_validation=50, n_test=50)
    best = accuracy_chosen_on_validation([useless, good], classes, split)
    assert best["candidate"] == 1
    assert best["test"] > 0.95


def test_test_nodes_do_not_influence_the_choice():
    classes, good, useless = separable()
    split = per_class_split(classes, 0, n_per_class=5, n_validation=50, n_test=50)
    spoiled = classes.copy()
    spoiled[split.test] = (spoiled[split.test] + 1) % 3
    best = accuracy_chosen_on_validation([useless, good], spoiled, split)
    assert best["candidate"] == 1
    assert best["test"] < 0.05


def test_multi_label_f1_is_high_for_separable_vectors_and_low_for_useless_ones():
    classes, good, useless = separable()
    targets = classes[:, None] == np.arange(3)
    split = share_split(np.arange(len(classes)), 0.3, seed=0)
    assert f1_given_counts(good, targets, split)["micro"] > 0.95
    assert f1_given_counts(useless, targets, split)["micro"] < 0.6


def test_the_regularization_is_chosen_on_training_nodes_alone():
    classes, good, _ = separable()
    targets = classes[:, None] == np.arange(3)
    split = share_split(np.arange(len(classes)), 0.3, seed=0)
    spoiled = targets.copy()
    spoiled[split.test] = np.roll(spoiled[split.test], 1, axis=1)
    one = f1_given_counts(good, targets, split)
    other = f1_given_counts(good, spoiled, Split(split.train, split.validation, split.test))
    assert one["c_micro"] == other["c_micro"]
    assert other["micro"] < 0.05
