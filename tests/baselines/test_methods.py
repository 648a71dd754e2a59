"""What single methods promise beside the contract."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array
from tests import toy_graphs
from tests.baselines.methods import quick

from embedprop import Graph
from embedprop.baselines import PUBLISHED_PQ, BagOfWords, DeepWalk, Node2Vec, line
from embedprop.baselines.gcn import message_edges
from embedprop.baselines.line import densified
from embedprop.baselines.planetoid_contexts import Pairs, class_contexts, graph_contexts
from embedprop.baselines.planetoid_model import ContextLoss, Lookup, descend
from embedprop.baselines.walking import WalkGraph
from embedprop.errors import InvalidParameterError, UnknownComponentError
from embedprop.kernels.line import alias_table, train_edges
from embedprop.methods.random_streams import RandomStreams


def test_words_may_be_counted_or_weighted(star_with_words: Graph) -> None:
    binary = BagOfWords().fit_transform(star_with_words)
    assert binary.tolist() == [[1, 1, 0], [1, 0, 0], [0, 1, 1], [0, 0, 0], [0, 0, 1]]
    weighted = BagOfWords(words="weighted").fit_transform(star_with_words)
    assert weighted.tolist() == [[1, 3, 0], [1, 0, 0], [0, 2, 0.5], [0, 0, 0], [0, 0, 2]]
    with pytest.raises(UnknownComponentError, match="words='tfidf' is not known"):
        BagOfWords(words="tfidf").fit_transform(star_with_words)


def test_an_unknown_label_type_is_named(star_with_words: Graph) -> None:
    with pytest.raises(InvalidParameterError, match="'wrod' is not a label type of kind set"):
        BagOfWords(label_types=["wrod"]).fit_transform(star_with_words)


def test_deepwalk_is_node2vec_with_p_and_q_of_one() -> None:
    graph = toy_graphs.messy()
    settings = {"dim": 4, "walk_length": 10, "random_state": 3}
    np.testing.assert_array_equal(
        DeepWalk(**settings).fit_transform(graph), Node2Vec(**settings).fit_transform(graph)
    )
    other = Node2Vec(**settings, p=0.1, q=5).fit_transform(graph)
    assert not np.array_equal(other, Node2Vec(**settings).fit_transform(graph))


def test_published_p_and_q_are_those_of_the_paper() -> None:
    assert PUBLISHED_PQ == {"blogcatalog": (0.25, 0.25), "ppi": (4, 1), "pos": (4, 0.5)}


def test_skip_gram_does_not_depend_on_the_number_of_threads() -> None:
    graph = toy_graphs.messy()
    one, two = (quick("deepwalk", n_threads=n).fit_transform(graph) for n in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_dw_bow_is_deepwalk_beside_the_words() -> None:
    graph = toy_graphs.messy()
    both = quick("dw-bow").fit_transform(graph)
    walked = DeepWalk(dim=8, walk_length=20, window=3, epochs=5, n_threads=1).fit_transform(graph)
    np.testing.assert_array_equal(
        both, np.concatenate([walked, BagOfWords().fit_transform(graph)], axis=1)
    )


def test_both_halves_of_line_have_length_one() -> None:
    vectors = quick("line").fit_transform(toy_graphs.messy())
    lengths = np.linalg.norm(vectors.reshape(22, 2, 4), axis=2)
    np.testing.assert_allclose(lengths, 1, rtol=1e-5)


@pytest.mark.parametrize("dim", [0, 7])
def test_line_needs_an_even_dim(dim: int) -> None:
    with pytest.raises(InvalidParameterError, match=f"dim={dim}: expected an even number"):
        quick("line", dim=dim).fit_transform(toy_graphs.path())


@pytest.mark.parametrize("order", [1, 2])
def test_one_step_of_line_is_gradient_ascent(order: int) -> None:
    rng = np.random.default_rng(0)
    start = rng.normal(0, 1, (3, 4)).astype(np.float32)
    context = start if order == 1 else rng.normal(0, 1, (3, 4)).astype(np.float32)
    edge = np.array([[0, 1]], np.int32)
    only_node_2 = alias_table(np.array([0.0, 0.0, 1.0]))
    found, found_context = start.copy(), context.copy()
    if order == 1:
        found_context = found
    train_edges(
        found, found_context, edge, *alias_table(np.ones(1)), *only_node_2, 1, 2, 0.1, np.uint64(0)
    )
    source = torch.tensor(start[0], requires_grad=True)
    positive = torch.tensor(context[1], requires_grad=True)
    negative = torch.tensor(context[2], requires_grad=True)
    gain = torch.nn.functional.logsigmoid(source @ positive)
    (slope,) = torch.autograd.grad(gain, [positive])
    np.testing.assert_allclose(found_context[1], context[1] + 0.1 * slope.numpy(), rtol=1e-4)
    # The negative is drawn twice, and has moved when it comes again.
    moved, error = (
        negative.detach(),
        torch.autograd.grad(torch.nn.functional.logsigmoid(source @ positive), [source])[0],
    )
    for _ in range(2):
        share = torch.sigmoid(source.detach() @ moved)
        error = error - share * moved
        moved = moved - 0.1 * share * source.detach()
    np.testing.assert_allclose(found_context[2], moved.numpy(), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(
        found[0], start[0] + 0.1 * error.detach().numpy(), rtol=1e-4, atol=1e-6
    )


def test_line_may_add_edges_to_neighbors_of_neighbors_and_to_oneself() -> None:
    # a - b with weight 3, b - c with 1, and c -> a with 1, in this direction alone.
    weights = np.array([[0, 3, 0], [3, 0, 1], [1, 1, 0]], np.float64)
    by_way = [
        [3 * 3 / 4, 0, 3 * 1 / 4],
        [1 * 1 / 2, 3 * 3 / 3 + 1 * 1 / 2, 0],
        [1 * 3 / 4, 1 * 3 / 3, 1 * 1 / 4],
    ]
    to_oneself = np.diag([3 + 4, 4 + 4, 2 + 1]) / 10
    dense = weights + by_way + to_oneself
    np.testing.assert_allclose(densified(csr_array(weights), 3).toarray(), dense)
    # Of at most two each, the smallest goes; a node with more stays as it is.
    np.testing.assert_allclose(
        densified(csr_array(weights), 2).toarray(),
        [[2.95, 3, 0], [3.5, 4.3, 0], [1.75, 2, 0]],
    )
    only_one = densified(csr_array(weights), 1).toarray()
    np.testing.assert_allclose(only_one, [[0, 3, 0], [3, 0, 1], [1, 1, 0]])


@pytest.mark.parametrize("together", [3, 1000])
def test_a_densified_row_does_not_depend_on_what_is_computed_together(
    monkeypatch: pytest.MonkeyPatch, together: int
) -> None:
    graph = np.random.default_rng(0).random((20, 20)) * (
        np.random.default_rng(1).random((20, 20)) < 0.2
    )
    out = graph.sum(axis=1, keepdims=True)
    expected = graph + graph @ (graph / np.where(out > 0, out, 1))
    expected += np.diag(out[:, 0] + graph.sum(axis=0)) / 10
    few = np.count_nonzero(graph, axis=1) <= 5
    smallest = np.sort(expected, axis=1)[:, -5]
    expected = np.where(few[:, None], expected * (expected >= smallest[:, None]), graph)
    monkeypatch.setattr(line, "_ROWS_AT_A_TIME", together)
    np.testing.assert_allclose(densified(csr_array(graph), 5).toarray(), expected)


def test_line_learns_from_the_densified_graph(path: Graph) -> None:
    plain, dense = (quick("line", densify_to=number).fit_transform(path) for number in (None, 4))
    assert not np.allclose(plain, dense)
    with pytest.raises(InvalidParameterError, match="densify_to=0: expected None, or"):
        quick("line", densify_to=0).fit_transform(path)


def test_messages_between_known_and_hidden_nodes_go_one_way(path: Graph) -> None:
    hidden = np.array([1, 2])
    known_speak = message_edges(path, hidden)[0].T.tolist()
    assert sorted(known_speak) == [[0, 1], [1, 2], [2, 1], [3, 2], [3, 4], [4, 3]]
    assert message_edges(path, np.array([], np.int64))[0].shape == (2, 8)


def test_gcn_i_without_hidden_nodes_is_gcn() -> None:
    graph = toy_graphs.messy()
    targets = csr_array(np.arange(22)[:, None] % 2 == [0, 1])
    one, other = (
        quick(name).fit_predict(graph, targets, np.arange(9)) for name in ("gcn", "gcn-i")
    )
    np.testing.assert_array_equal(one, other)


def test_gcn_stops_when_the_validation_loss_rises() -> None:
    graph = toy_graphs.messy()
    # Nothing can be learned: the classes are drawn at random.
    classes = np.random.default_rng(0).integers(2, size=22)
    targets = csr_array(classes[:, None] == [0, 1])
    settings = {"learning_rate": 0.1, "patience": 3, "l2": 0.0}
    train, validation = np.arange(11), np.arange(11, 22)

    def confidence(epochs: int, chosen: np.ndarray) -> float:
        method = quick("gcn", epochs=epochs, **settings)
        return float(method.fit_predict(graph, targets, train, chosen)[train].max(axis=1).mean())

    assert confidence(200, validation) < confidence(200, validation[:0]) - 0.05


def test_torch_is_left_as_it_was() -> None:
    torch.manual_seed(5)
    expected = torch.rand(2)
    torch.manual_seed(5)
    threads = torch.get_num_threads()
    graph = toy_graphs.messy()
    targets = csr_array(np.arange(22)[:, None] % 2 == [0, 1])
    for name in ("gcn", "planetoid-t"):
        quick(name).fit_predict(graph, targets, np.arange(9))
    assert torch.get_num_threads() == threads
    assert torch.equal(torch.rand(2), expected)


@pytest.mark.parametrize("n_negatives", [0, 2])
def test_the_context_loss_is_the_sum_over_all_pairs(n_negatives: int) -> None:
    rng = np.random.default_rng(1)
    encoder = Lookup(csr_array((6, 1), dtype=np.float32), 3, rng)
    loss = ContextLoss(encoder, 6, n_negatives, rng)
    for parameter in loss.parameters:
        parameter.data += torch.from_numpy(rng.normal(size=parameter.shape).astype(np.float32))
    nodes, contexts = np.array([0, 0, 4, 2]), np.array([1, 1, 5, 2])
    pairs = Pairs.of(nodes, contexts, rng.integers(6, size=(4, n_negatives)))
    total = torch.zeros(())
    for node, context, sign in zip(pairs.nodes, pairs.contexts, pairs.signs, strict=True):
        vector = encoder.context_parameters[0][int(node)]
        if n_negatives:
            agreement = vector @ loss.own[0][int(context)]
            total = total - torch.log(torch.sigmoid(float(sign) * agreement))
        else:
            chances = (loss.own[0] @ vector + loss.own[1]).softmax(dim=0)
            total = total - torch.log(chances[int(context)])
    torch.testing.assert_close(loss(pairs), total)
    before = loss(pairs).detach()
    descend(loss(pairs), loss.parameters, 0.01)
    assert loss(pairs).detach() < before


@pytest.mark.parametrize("name", ["planetoid-t", "planetoid-i"])
def test_planetoid_learns_with_negatives_too(name, two_cliques) -> None:
    clique = np.array([two_cliques.clique_of[v] == "b" for v in two_cliques.graph.nodes], int)
    targets = csr_array(clique[:, None] == [0, 1])
    train = np.array([np.flatnonzero(clique == c)[[2, 3]] for c in (0, 1)]).ravel()
    scores = quick(name, n_negatives=3).fit_predict(two_cliques.graph, targets, train)
    np.testing.assert_array_equal(scores.argmax(axis=1), clique)


@pytest.mark.parametrize("name", ["planetoid-t", "planetoid-i"])
def test_planetoid_with_one_class_has_no_class_contexts_and_knows_the_answer(name) -> None:
    graph = toy_graphs.messy()
    targets = csr_array(np.tile([True, False], (22, 1)))
    scores = quick(name, n_negatives=2).fit_predict(graph, targets, np.arange(5))
    assert (scores.argmax(axis=1) == 0).all()


def test_class_contexts_join_nodes_of_one_class_and_negatives_have_another() -> None:
    train = np.array([10, 11, 12, 13, 14])
    classes = np.eye(3)[[0, 0, 1, 1, 2]]
    classes[0, 2] = classes[4, 2] = 1  # node 10 has a second class
    pairs = next(class_contexts(train, classes, 200, 2, RandomStreams(0)))
    class_of = dict(zip(train.tolist(), [0, 0, 1, 1, 2], strict=True))
    assert (pairs.signs == 1).sum() == 200
    assert (pairs.signs == -1).sum() == 400
    for node, context, sign in zip(pairs.nodes, pairs.contexts, pairs.signs, strict=True):
        assert (class_of[int(node)] == class_of[int(context)]) == (sign == 1)
    assert set(pairs.nodes.tolist()) == set(pairs.contexts.tolist()) == set(train.tolist())


def test_graph_contexts_start_from_every_node_with_an_edge_once_a_round() -> None:
    graph = toy_graphs.messy(isolated=True)
    streams = RandomStreams(0)
    batches = graph_contexts(WalkGraph.of(graph), np.arange(25), 0, 3, 8, 0, streams)
    seen = np.concatenate([next(batches).nodes for _ in range(3)])
    assert sorted(seen.tolist()) == np.flatnonzero(graph.neighbors.sizes).tolist()


def test_planetoid_learns_from_words_alone_if_no_edge_can_be_walked() -> None:
    words = {v: ["x"] if v < 3 else ["y"] for v in range(6)}
    graph = Graph.from_edges([(0, 6), (3, 6)], labels={"word": words}, nodes=range(7))
    targets = csr_array(np.eye(2, dtype=bool)[[0, 0, 0, 1, 1, 1, 0]])
    train, hidden = np.array([0, 3]), np.array([6])  # all edges lead to the hidden node
    scores = quick("planetoid-i").fit_predict(graph, targets, train, hidden=hidden)
    assert scores.argmax(axis=1)[:6].tolist() == [0, 0, 0, 1, 1, 1]


def test_no_row_moves_further_than_allowed() -> None:
    table = torch.zeros((2, 2), requires_grad=True)
    bias = torch.zeros(2, requires_grad=True)
    loss = -(table * torch.tensor([[30.0, 40.0], [0.3, 0.4]])).sum() - (bias * 5).sum()
    descend(loss, [table, bias], 1.0, longest=1.0)
    torch.testing.assert_close(table.detach(), torch.tensor([[0.6, 0.8], [0.3, 0.4]]))
    torch.testing.assert_close(bias.detach(), torch.ones(2))
