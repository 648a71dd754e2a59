"""One label type as modules: from draws to losses, and back to other nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import multisets

from embedprop.errors import InvalidParameterError
from embedprop.framework.modules import Labels, Reader, TypeModule, distinct_of
from embedprop.graph.changes.texts import Tokens
from embedprop.graph.multisets import Multisets
from embedprop.graph.vocabulary import Vocabulary
from embedprop.instance.epb import TypeInstance
from embedprop.kernels.epb.batch import Draws

# Three nodes: {0, 1} with weights 1 and 3, {2}, and {3}, a dummy of weight 2.
SETS = Multisets.from_lists([[0, 1], [2], [3]], weights=[[1, 3], [1], [2]])
LABELS = Labels(SETS, 3, 4, None, (4,))
VECTORS = np.array([[1, 0], [0, 1], [2, 2], [-1, 1]], np.float32)


def module_of(labels: Labels = LABELS, n_relations: int = 0, **parts: Any) -> TypeModule:
    own = {part: one for part, one in parts.items() if callable(one)}
    written = {part: "custom it" if part in own else one for part, one in parts.items()}
    settings = TypeInstance(dim=2, margin=1.0, **written)
    module = TypeModule("word", settings, labels, 4, n_relations, own)
    with torch.no_grad():
        if labels.contents is None:
            module.f.table.copy_(torch.from_numpy(VECTORS))
    return module


def draws(relations: list[int] | None = None, negatives: Any = None) -> Draws:
    """Node 0 hears 1 and 2 with weights 1 and 0.5, node 1 hears 0 with weight 1."""
    return Draws(
        np.array([0, 1], np.int32),
        np.array([0, 2]),
        np.array([2, 3]),
        np.array([1, 2, 0, 2], np.int32),
        np.array([1, 0.5, 1, 9], np.float32),
        np.array([[2], [2]] if negatives is None else negatives, np.int32),
        np.array([] if relations is None else relations, np.int32),
        np.empty(0, np.int64),
    )


H = np.array([[0.25, 0.75], [2, 2], [-1, 1]])
# Node 0 hears label 2 (weight 1) and the dummy (2 * 0.5); node 1 hears labels 0 and 1.
H_TILDE = np.array([[0.5, 1.5], [0.25, 0.75]])


def test_h_and_its_reconstruction_are_means_by_label_and_edge_weights() -> None:
    module = module_of()
    loss, h_tilde, h = module(draws())
    np.testing.assert_allclose(h_tilde.detach(), H_TILDE)
    np.testing.assert_allclose(h.detach(), H[:2])
    np.testing.assert_allclose(module.embed(torch.arange(3)).detach(), H)
    np.testing.assert_allclose(module.reconstruct(draws()).detach(), H_TILDE)
    own = np.linalg.norm(H_TILDE - H[:2], axis=1)
    apart = np.linalg.norm(H_TILDE - H[2], axis=1)
    np.testing.assert_allclose(loss.detach(), np.maximum(0, 1 + own - apart), rtol=1e-6)


def test_a_relation_is_added_to_each_label_that_travels_over_it() -> None:
    module = module_of(n_relations=2)
    with torch.no_grad():
        module.relations.copy_(torch.tensor([[10.0, 0], [0, 100]]))
    h_tilde = module.reconstruct(draws(relations=[0, 1, 1, 0])).detach()
    np.testing.assert_allclose(h_tilde, H_TILDE + np.array([[5, 50], [0, 100]]))


@pytest.mark.parametrize("distance", ["euclidean", "cosine"])
def test_distances_to_many_negatives_are_the_same_one_by_one(distance: str) -> None:
    # All negatives are few different nodes: by one matrix. Without `between`: pair by pair.
    module = module_of(distance=distance)
    pairs = module_of(distance=lambda a, b: module.d(a, b))
    negatives = [[2, 1, 2], [0, 2, 0]]
    for one, other in zip(
        module(draws(None, negatives)), pairs(draws(None, negatives)), strict=True
    ):
        torch.testing.assert_close(one, other)


def test_numbers_go_through_f_and_dummies_have_vectors_of_their_own() -> None:
    sets = Multisets.from_lists([[0], [2], [1]])
    contents = np.array([[1.0], [4.0]], np.float32)
    labels = Labels(sets, 2, 3, contents, (1,))
    module = module_of(labels, kind="numeric", label_embedding=lambda x: x.repeat(1, 2) * 10)
    with torch.no_grad():
        module.dummies.copy_(torch.tensor([[7.0, 8.0]]))
    ids = torch.tensor([2, 0, 1, 2])
    assert module.label_vectors(ids).tolist() == [[7, 8], [10, 10], [40, 40], [7, 8]]
    assert module.label_vectors(ids[:1]).tolist() == [[7, 8]]
    assert module.label_vectors(ids[1:3]).tolist() == [[10, 10], [40, 40]]
    assert module.embed(torch.arange(3)).tolist() == [[10, 10], [7, 8], [40, 40]]


class TestLabelDropout:
    LABELS_OF_ONE = Labels(Multisets.from_lists([list(range(100)), [0], [1, 2]]), 100, 100, None,
                           (100,))  # fmt: skip

    def kept(self, module: TypeModule) -> list[int]:
        entries, owners = module._dropped(*module.reader(torch.arange(3)))
        assert (self.LABELS_OF_ONE.sets.ptr[owners] <= entries.numpy()).all()
        return torch.bincount(owners, minlength=3).tolist()

    def test_labels_are_left_out_by_chance_and_never_all_of_a_set(self) -> None:
        settings = TypeInstance(dim=2, margin=1.0, label_dropout=0.3)
        module = TypeModule("word", settings, self.LABELS_OF_ONE, 4, 0, {})
        many = [self.kept(module) for _ in range(200)]
        assert np.mean([sizes[0] for sizes in many]) == pytest.approx(70, abs=2)
        assert {sizes[1] for sizes in many} == {1}
        assert {sizes[2] for sizes in many} == {1, 2}

    def test_what_was_learned_is_read_whole(self) -> None:
        settings = TypeInstance(dim=2, margin=1.0, label_dropout=0.9)
        module = TypeModule("word", settings, self.LABELS_OF_ONE, 4, 0, {})
        assert self.kept(module.eval()) == [100, 1, 2]

    def test_a_node_that_hears_many_labels_hears_one_at_least(self) -> None:
        settings = TypeInstance(dim=2, margin=1.0, label_dropout=0.99)
        module = TypeModule("word", settings, LABELS, 4, 0, {})
        with torch.no_grad():
            module.f.table.copy_(torch.from_numpy(VECTORS))
        for _ in range(20):
            _, h_tilde, h = module(draws())
            assert (h_tilde != 0).any(dim=1).all()
            assert (h != 0).any(dim=1).all()


def test_reading_other_nodes_leaves_the_module_as_it_is() -> None:
    module = module_of(aggregator="weighted_mean")
    with torch.no_grad():
        module.g.log_factors.fill_(5.0)
        module.g.log_factors[0] = 0.0
    before = module.embed(torch.arange(3)).detach()
    sets = Multisets.from_lists([[1, 0]])
    other = module.reading(sets, VECTORS[:2])
    # What was learned for the entries of training says nothing about those of a new node.
    assert other.embed(torch.tensor([0])).tolist() == [[0.5, 0.5]]
    torch.testing.assert_close(module.embed(torch.arange(3)), before)


def test_what_is_saved_makes_the_same_module() -> None:
    module = module_of(aggregator="attention", reconstruction="weighted_mean", n_relations=2)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.normal_()
    state = module.saved_state()
    assert set(state) == {"dummies", "relations", "g.query", "g_tilde.log_factors"}
    other = module_of(aggregator="attention", reconstruction="weighted_mean", n_relations=2)
    other.load_saved_state(state)
    for key, value in other.saved_state().items():
        np.testing.assert_array_equal(value, state[key])
    with pytest.raises(ValueError, match=r"parameters \['g\.query'\] do not fit"):
        other.load_saved_state({key: one for key, one in state.items() if key != "g.query"})


def test_the_user_s_own_module_is_not_saved() -> None:
    module = module_of(aggregator=torch.nn.Linear(2, 2), reconstruction="weighted_mean")
    assert set(module.saved_state()) == {"dummies", "relations", "g_tilde.log_factors"}


@pytest.mark.parametrize(
    ("loss", "expected"),
    [("margin_ranking", 1.0), ("logistic", 1.0), ("logistic(margin=4)", 4.0)],
)
def test_a_loss_has_the_margin_of_its_label_type_unless_it_names_one(
    loss: str, expected: float
) -> None:
    assert module_of(loss=loss).loss.margin == expected


def test_words_keep_their_vectors_where_their_order_has_changed() -> None:
    def reading(*words: str) -> TypeModule:
        tokens = Tokens(Vocabulary.trusted(words))
        contents = np.array([[1, 2]])
        labels = Labels(Multisets.from_lists([[0]]), 1, 1, contents, (len(words),), tokens)
        return module_of(labels, kind="text", label_embedding="gru")

    old, new = reading("rose", "sea"), reading("sky", "sea", "rose")
    fresh = new.f.tokens.weight[1].clone()
    with torch.no_grad():
        new.go_on_from(old)
    torch.testing.assert_close(new.f.tokens.weight[[3, 2]], old.f.tokens.weight[[1, 2]])
    torch.testing.assert_close(new.f.tokens.weight[1], fresh)
    torch.testing.assert_close(new.f.gru.weight_hh_l0, old.f.gru.weight_hh_l0)


@given(multisets(max_sets=5), st.data())
def test_a_reader_lists_the_entries_of_nodes_in_order(sets: Multisets, data: Any) -> None:
    if not sets.n_sets:
        return
    nodes = data.draw(st.lists(st.integers(0, sets.n_sets - 1), max_size=6))
    reader = Reader(sets)
    entries, owners = reader(torch.tensor(nodes, dtype=torch.int64))
    expected = [(i, int(id_)) for i, node in enumerate(nodes) for id_ in sets.of(node)]
    assert list(zip(owners.tolist(), reader.ids[entries].tolist(), strict=True)) == expected


@given(st.lists(st.integers(0, 9), max_size=12))
def test_distinct_ids_and_the_place_of_each(ids: list[int]) -> None:
    distinct, place = distinct_of(torch.tensor(ids, dtype=torch.int64), 10)
    assert distinct.tolist() == sorted(set(ids))
    assert distinct[place].tolist() == ids


def test_a_wrong_shape_names_part_label_type_and_what_came() -> None:
    module = module_of(reconstruction=lambda m: m.vectors)
    with pytest.raises(InvalidParameterError) as caught:
        module(draws())
    assert str(caught.value) == (
        "reconstruction='custom it' of label type 'word' must return 2 vectors of dim 2, that is "
        "shape (2, 2), but returned (4, 2). Change the module's output, or dim=2."
    )
