import logging

import numpy as np
import pytest

from embedprop.errors import InvalidParameterError, UnknownNodeError
from embedprop.evaluation.node_classification import f1_given_counts
from embedprop.evaluation.protocols import (
    MULTI_LABEL,
    Protocol,
    evaluate_vectors,
    likely_classes,
    measure_probabilities,
    measure_vectors,
    summarized,
)
from embedprop.evaluation.splits import Split
from embedprop.evaluation.targets import Targets, targets_of

NONE = np.empty(0, np.int64)


def corners(n_per_class=8, n_classes=2):
    """Vectors that tell the classes without doubt."""
    classes = np.repeat(np.arange(n_classes), n_per_class)
    values = classes[:, None] == np.arange(n_classes)
    return 5 * np.eye(n_classes)[classes], Targets(values, tuple("abc"[:n_classes]))


def multi_label(seed=0, n_nodes=90):
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((n_nodes, 6))
    values = vectors @ rng.standard_normal((6, 3)) + rng.standard_normal((n_nodes, 3)) > 0.3
    values[~values.any(axis=1), 0] = True
    return vectors, Targets(values, ("x", "y", "z"))


def test_targets_are_those_of_the_pairs_and_nodes_without_a_class_take_no_part():
    targets = targets_of([("a", "x"), ("c", "y"), ("a", "x")], ["a", "b", "c"], "c.csv")
    assert targets.nodes.tolist() == [0, 2]
    assert targets.classes.tolist() == [0, -1, 1]
    assert not targets.is_multi_label


def test_an_unknown_node_is_named_with_its_file_or_left_out(caplog):
    pairs = [("a", "x"), ("ghost", "z"), ("b", "y")]
    with pytest.raises(UnknownNodeError, match=r"c\.csv: node 'ghost'.*--unknown-nodes ignore"):
        targets_of(pairs, ["a", "b"], "c.csv")
    with caplog.at_level(logging.INFO, logger="embedprop"):
        targets = targets_of(pairs, ["a", "b"], "c.csv", unknown_nodes="ignore")
    assert targets.class_names == ("x", "y")
    assert "ignored rows of unknown nodes: 1" in caplog.text


def test_one_class_is_nothing_to_tell_apart():
    with pytest.raises(InvalidParameterError, match="2 classes among the known nodes, got 1"):
        targets_of([("a", "x"), ("b", "x")], ["a", "b"])
    with pytest.raises(InvalidParameterError, match="unknown_nodes='add'"):
        targets_of([], ["a"], unknown_nodes="add")


def test_separate_classes_have_accuracy_one_and_shuffled_ones_do_not():
    vectors, targets = corners()
    protocols = [Protocol(train_share=0.5, n_runs=3), Protocol(n_per_class=3, n_runs=2)]
    records = evaluate_vectors(vectors, targets, protocols)
    assert [(one["metric"], one["protocol"]) for one in records] == [
        ("accuracy", "train 50 %, 3 runs"),
        ("accuracy", "train 3 per class, 2 runs"),
    ]
    assert all(one["mean"] == 1.0 and one["sd"] == 0.0 for one in records)
    noise = np.random.default_rng(0).standard_normal(vectors.shape)
    assert evaluate_vectors(noise, targets, protocols)[0]["mean"] < 0.9


def test_likely_classes_are_all_above_the_threshold_and_at_least_the_best():
    scores = np.array([[0.6, 0.7, 0.1], [0.2, 0.3, 0.1]])
    assert likely_classes(scores, 0.5).tolist() == [[True, True, False], [False, True, False]]


def test_both_kinds_of_f1_equal_a_hand_computation():
    # Two test nodes. Given: node 0 has 1 class and gets y (wrong), node 1 has 2 and gets x, y.
    # Predicted: node 0 gets x and y (both above 1/2), node 1 gets x alone (the best).
    wanted = np.array([[1, 0], [1, 1]], bool)
    probabilities = np.array([[0.6, 0.7], [0.4, 0.3]])
    split = Split(NONE, NONE, np.arange(2))
    found = measure_probabilities(probabilities, Targets(wanted, ("x", "y")), split)
    # Given: right x 1, y 1; predicted x 1, y 2; wanted x 2, y 1. Micro 2*2/6, each class 2/3.
    assert found["micro-F1 given"] == pytest.approx(2 / 3)
    assert found["macro-F1 given"] == pytest.approx(2 / 3)
    # Predicted: right x 2, y 0; predicted x 2, y 1; wanted x 2, y 1. Micro 4/6, x 1, y 0.
    assert found["micro-F1 predicted"] == pytest.approx(2 / 3)
    assert found["macro-F1 predicted"] == pytest.approx(1 / 2)
    logarithms = measure_probabilities(np.log(probabilities), Targets(wanted, ("x", "y")), split)
    assert logarithms == found


def test_f1_with_counts_given_is_that_of_the_papers_protocol():
    vectors, targets = multi_label()
    split = Protocol(train_share=0.5).splits(targets)[0]
    found, paper = (
        measure_vectors(vectors, targets, split),
        f1_given_counts(vectors, targets.values, split),
    )
    assert tuple(found) == MULTI_LABEL
    assert found["micro-F1 given"] == paper["micro"]
    assert found["macro-F1 given"] == paper["macro"]
    assert 0.5 < found["micro-F1 predicted"] < found["micro-F1 given"]


def test_classes_of_test_nodes_do_not_change_the_predictions():
    vectors, targets = multi_label()
    split = Protocol(train_share=0.5).splits(targets)[0]
    flipped = targets.values.copy()
    flipped[split.test] = ~flipped[split.test]
    one = measure_vectors(vectors, targets, split)["micro-F1 predicted"]
    other = measure_vectors(vectors, Targets(flipped, targets.class_names), split)
    # What was right is wrong now: the same predictions cannot be good for both.
    assert other["micro-F1 predicted"] < 0.5 < one


def test_runs_differ_and_follow_from_the_seed():
    _, targets = corners()
    one, other = Protocol(train_share=0.5, n_runs=2).splits(targets)
    (again,) = Protocol(train_share=0.5, n_runs=1, random_state=1).splits(targets)
    assert one.train.tolist() != other.train.tolist()
    assert again.train.tolist() == other.train.tolist()


def test_the_summary_has_mean_and_sample_deviation():
    two = summarized(Protocol(train_share=0.5, n_runs=2), [{"accuracy": 0.5}, {"accuracy": 0.7}])
    assert two[0]["mean"] == pytest.approx(0.6)
    assert two[0]["sd"] == pytest.approx(0.02**0.5)
    one = summarized(Protocol(train_share=0.5, n_runs=1), [{"accuracy": 0.5}])
    assert one[0]["sd"] is None


@pytest.mark.parametrize(
    ("protocol", "message"),
    [
        ({}, "either"),
        ({"train_share": 0.1, "n_per_class": 2}, "either"),
        ({"train_share": 1.0}, "between 0 and 1"),
        ({"n_per_class": 0}, "must be positive"),
        ({"train_share": 0.5, "n_runs": 0}, "n_runs"),
        (
            {"n_per_class": 9},
            "Expected at least 9 nodes of each class to train on, got 8 of class 'a'",
        ),
        ({"n_per_class": 8}, "leave no node to test"),
        ({"n_per_class": 1}, "2 of 16 nodes would train"),
        ({"train_share": 0.01}, "leaves no node to train"),
    ],
)
def test_a_protocol_that_cannot_be_followed_is_refused(protocol, message):
    _, targets = corners()
    with pytest.raises(InvalidParameterError, match=message):
        Protocol(**protocol).splits(targets)


def test_nodes_with_several_classes_are_not_drawn_per_class():
    _, targets = multi_label()
    with pytest.raises(InvalidParameterError, match="several classes"):
        Protocol(n_per_class=3).splits(targets)
