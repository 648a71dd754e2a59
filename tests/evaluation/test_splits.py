import numpy as np
import pytest

from embedprop.errors import InvalidParameterError
from embedprop.evaluation.splits import per_class_split, share_split

CLASSES = np.array([0] * 30 + [1] * 25 + [2] * 20 + [-1] * 5)


def test_each_class_gets_the_asked_number_of_training_nodes():
    split = per_class_split(CLASSES, seed=1, n_per_class=5, n_validation=20, n_test=30)
    assert np.bincount(CLASSES[split.train]).tolist() == [5, 5, 5]


def test_training_validation_and_test_nodes_do_not_overlap_and_all_have_a_class():
    split = per_class_split(CLASSES, seed=1, n_per_class=5, n_validation=20, n_test=30)
    together = np.concatenate([split.train, split.validation, split.test])
    assert len(np.unique(together)) == len(together) == 15 + 20 + 30
    assert (CLASSES[together] >= 0).all()


def test_a_seed_gives_the_same_split_and_another_seed_another():
    one, same, other = (per_class_split(CLASSES, seed, 5, 20, 30).test for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_a_class_with_too_few_nodes_is_named():
    with pytest.raises(InvalidParameterError, match="nodes of each class, got 20 of class 2"):
        per_class_split(CLASSES, seed=0, n_per_class=21, n_validation=1, n_test=1)


def test_too_few_nodes_for_validation_and_test_are_an_error():
    with pytest.raises(InvalidParameterError, match="got 60 nodes in all"):
        per_class_split(CLASSES, seed=0, n_per_class=5, n_validation=40, n_test=30)


def test_a_share_split_uses_every_node_once():
    nodes = np.array([3, 5, 7, 9, 11, 13, 15, 17, 19, 21])
    split = share_split(nodes, 0.2, seed=0)
    assert len(split.train) == 2
    assert sorted([*split.train, *split.test]) == nodes.tolist()


@pytest.mark.parametrize("share", [0.0, 1.0, 0.01])
def test_a_share_that_leaves_nothing_is_an_error(share):
    with pytest.raises(InvalidParameterError, match="leaves no node to train on, or none"):
        share_split(np.arange(10), share, seed=0)
