"""EP against TransE, CBoW and LLE, each computed by code that shares nothing with ours."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy.optimize import nnls
from sklearn.base import clone
from sklearn.manifold import trustworthiness
from sklearn.manifold._locally_linear import barycenter_kneighbors_graph
from torch import Tensor
from torch.nn.functional import logsigmoid

from embedprop import EmbeddingPropagation, Graph
from embedprop.errors import UnknownComponentError
from embedprop.kernels.epb.batch import Draws
from embedprop.methods.epb.draws import Drawer
from embedprop.methods.epb.task import TrainingPlan

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ["special-cases", "relations", "extending"]
EPOCHS = 10


@cache
def names_of(page: str) -> dict[str, Any]:
    """What the code blocks of a page of the docs define, run one after the other."""
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        torch.set_num_threads(1)
        exec(compile(code, f"{page}.md", "exec"), names)
    assert "EmbeddingPropagation" in names
    return names


@pytest.mark.parametrize("page", PAGES)
def test_the_code_of_the_docs_runs(page: str) -> None:
    names_of(page)


def batches_of(model: EmbeddingPropagation, graph: Graph, epochs: int) -> Iterator[list[Draws]]:
    """Who was visited, who spoke and who was the negative, per epoch: chance, and nothing else."""
    size = model.batch_size
    drawer = Drawer(graph, model.instance_, TrainingPlan(seed=model.seed_, batch_size=size))
    for epoch in range(epochs):
        order = drawer.order(epoch)
        yield [drawer.draw(epoch, order[low : low + size]) for low in range(0, len(order), size)]


def start_of(model: EmbeddingPropagation, graph: Graph) -> EmbeddingPropagation:
    return clone(model).set_params(epochs=0).fit(graph)


def learn(
    model: EmbeddingPropagation,
    graph: Graph,
    tables: list[Tensor],
    loss_of: Callable[[Draws], Tensor],
) -> list[float]:
    """Move `tables` by Adam over what the model saw; return the mean loss of each epoch."""
    optimizer = torch.optim.Adam(tables, lr=model.learning_rate)
    history = []
    for batches in batches_of(model, graph, model.epochs):
        losses = []
        for draws in batches:
            loss = loss_of(draws)
            optimizer.zero_grad()
            torch.autograd.backward(loss)
            optimizer.step()
            losses.append(loss.item())
        history.append(sum(losses) / sum(len(draws.nodes) for draws in batches))
    return history


def leaf(array: NDArray[np.float32]) -> Tensor:
    return torch.tensor(array, requires_grad=True)


def knowledge_graph() -> tuple[list[tuple[str, str, str]], Graph]:
    rng = np.random.default_rng(0)
    drawn = rng.integers([20, 3, 20], size=(60, 3)).tolist()
    triples = sorted({(f"e{h}", f"r{r}", f"e{t}") for h, r, t in drawn if h != t})
    edges, relations = [(h, t) for h, _, t in triples], [r for _, r, _ in triples]
    graph = Graph.from_edges(edges, relations=relations, directed=True)
    return triples, graph.with_inverses()


@pytest.mark.parametrize("engine", ["fused", "torch"])
@pytest.mark.parametrize(
    "kappa_1", [{"neighborhood": "edges"}, {"max_neighbors": 1}], ids=["edges", "one_neighbor"]
)
def test_it_is_transe(engine: str, kappa_1: dict[str, Any]) -> None:
    (triples, graph), margin = knowledge_graph(), 2.0
    graph = graph.with_inverses()
    model = EmbeddingPropagation(
        label_types=["node"], margin=margin, dim=8, batch_size=16,
        epochs=EPOCHS, learning_rate=0.01, engine=engine, n_threads=1, verbose=False, **kappa_1,
    ).fit(graph)  # fmt: skip
    start = start_of(model, graph)
    entities, relations = leaf(start.node_embeddings_), leaf(start.relation_embeddings_["node"])
    seen: list[tuple[int, int, int]] = []

    def loss_of(draws: Draws) -> Tensor:
        head, relation = draws.neighbor_ids[draws.starts], draws.neighbor_relations[draws.starts]
        tail, corrupted = draws.nodes, draws.negatives[:, 0]
        assert (draws.ends == draws.starts + 1).all()
        assert (corrupted != tail).all()
        seen.extend(zip(head.tolist(), relation.tolist(), tail.tolist(), strict=True))
        h, t, other = (entities[ids.astype(int)] for ids in (head, tail, corrupted))
        r = relations[relation.astype(int)]
        near, far = (h + r - t).norm(dim=1), (h + r - other).norm(dim=1)
        losses: Tensor = (margin + near - far).clamp_min(0)
        return losses.sum()

    history = learn(model, graph, [entities, relations], loss_of)
    np.testing.assert_allclose(model.node_embeddings_, entities.detach(), atol=1e-5)
    np.testing.assert_allclose(model.relation_embeddings_["node"], relations.detach(), atol=1e-5)
    np.testing.assert_allclose(model.loss_history_["node"], history, atol=1e-5)
    assert np.abs(model.node_embeddings_ - start.node_embeddings_).max() > 0.05
    # What was visited are the triples and their inverses; over edges, each once per epoch.
    names, kinds = model.nodes_, model.relations_ or ()
    visited = [(names[h], kinds[r], names[t]) for h, r, t in seen]
    both = {*triples, *((t, ("inverse", r), h) for h, r, t in triples)}
    assert set(visited) <= both
    if "neighborhood" in kappa_1:
        assert set(visited[: len(both)]) == both
        assert len(visited) == EPOCHS * len(both)


def test_its_score_is_that_of_transe() -> None:
    model = names_of("special-cases")["transe"]
    r = model.relation_embeddings_["node"][model.relations_.index("borders")]
    apart = np.linalg.norm(model["france"] + r - model["italy"])
    assert model.score_edge("france", "italy", "borders") == pytest.approx(-apart, abs=1e-5)


@pytest.mark.parametrize("n_tables", [1, 2])
def test_it_is_cbow(n_tables: int) -> None:
    page = names_of("special-cases")
    text, window = page["text"], page["window"]
    model = page["cbow" if n_tables == 1 else "word2vec"]
    graph = page["chain" if n_tables == 1 else "two_tables"]
    places, labels = list(model.nodes_), list(model.labels_["word"])
    vectors = leaf(start_of(model, graph).label_embeddings_["word"])

    def row(table: str, place: int) -> int:
        return labels.index(text[place] if n_tables == 1 else (table, text[place]))

    def place_of(node: int) -> int:
        if n_tables == 1:
            return int(places[node])
        table, place = places[node]
        assert table == "word"  # never a word of the table of contexts
        return int(place)

    def loss_of(draws: Draws) -> Tensor:
        total = vectors.new_zeros(())
        for node, negatives in zip(draws.nodes, draws.negatives, strict=True):
            at = place_of(node)
            around = [*range(max(0, at - window), at), *range(at + 1, at + window + 1)]
            context = [row("context", place) for place in around if place < len(text)]
            c = vectors[context].mean(dim=0)
            total = total - logsigmoid(c @ vectors[row("word", at)])
            for other in negatives:
                total = total - logsigmoid(-c @ vectors[row("word", place_of(other))])
        return total

    history = learn(model, graph, [vectors], loss_of)
    np.testing.assert_allclose(model.label_embeddings_["word"], vectors.detach(), atol=1e-5)
    np.testing.assert_allclose(model.loss_history_["word"], history, atol=1e-5)
    assert model.loss_history_["word"][-1] < 0.99 * model.loss_history_["word"][0]


def weights_of(graph: Graph, per_edge: NDArray[np.float32]) -> NDArray[np.float64]:
    """The weights of edges as a matrix: who hears, who speaks."""
    table = np.zeros((graph.n_nodes, graph.n_nodes))
    listeners = np.repeat(np.arange(graph.n_nodes), graph.neighbors.sizes)
    table[listeners, graph.neighbors.ids] = per_edge
    return table


def parts_of(model: Any, label_type: str = "node") -> Any:
    return model.modules_[label_type]


def test_learned_weights_of_either_sign_are_those_of_lle() -> None:
    page = names_of("special-cases")
    points, model = page["points"], page["affine"]
    expected = barycenter_kneighbors_graph(points, 4, reg=1e-9).toarray()
    weights = weights_of(page["affinity"], parts_of(model).g_tilde.weights.detach().numpy())
    is_edge = expected != 0
    weights += is_edge * (1 - weights.sum(axis=1, keepdims=True)) / 4
    np.testing.assert_allclose(weights, expected, atol=0.01)
    assert expected.min() < -0.9
    h, h_tilde = np.split(model.node_embeddings_, 2, axis=1)
    np.testing.assert_array_equal(h, points)  # fixed, as it was asked for
    np.testing.assert_allclose(h_tilde, expected @ points, atol=0.02)


def least_error_of_positive_weights(points: NDArray[np.float32], graph: Graph) -> float:
    """Sum over the points of the least |x - weights @ neighbors|^2, weights >= 0 of sum 1."""
    total, heavy = 0.0, 1e3  # the sum is one more equation, that weighs much
    for point in range(graph.n_nodes):
        neighbors = graph.neighbors.of(point)
        differences = (points[neighbors] - points[point]).T
        system = np.vstack([differences, np.full(len(neighbors), heavy)])
        weights, _ = nnls(system, np.append(np.zeros(len(differences)), heavy))
        total += float(((differences @ (weights / weights.sum())) ** 2).sum())
    return total


def test_positive_weights_come_near_the_best_ones() -> None:
    page = names_of("special-cases")
    ring, graph = page["ring"], page["ring_graph"]
    least = least_error_of_positive_weights(ring, graph)
    h, h_tilde = np.split(page["positive"].node_embeddings_, 2, axis=1)
    error = float(((h_tilde - h) ** 2).sum())
    uniform = weights_of(graph, np.full(graph.neighbors.n_values, 1 / 8, np.float32))
    of_mean = float(((uniform @ ring - ring) ** 2).sum())
    assert least <= error < 2 * least
    assert error < of_mean / 30
    assert [round(least, 3), round(of_mean, 2)] == [0.037, 2.33]  # as the page says
    weights = parts_of(page["positive"]).g_tilde.log_factors.exp()
    assert weights.max() > 2 * weights.min()  # they are no longer those of the start


def test_gradients_lead_to_the_embedding_of_scikit_learn() -> None:
    page = names_of("special-cases")
    found, lle, table = page["ep"].node_embeddings_, page["lle"], page["table"]
    own, theirs = (np.linalg.qr(vectors)[0] for vectors in (found, lle.embedding_))
    cosines = np.linalg.svd(own.T @ theirs, compute_uv=False)
    assert cosines.min() > 0.9999
    error = ((table @ own - own) ** 2).sum()
    assert error == pytest.approx(lle.reconstruction_error_, rel=1e-3)
    kept = trustworthiness(page["ring"], found, n_neighbors=5)
    assert kept >= trustworthiness(page["ring"], lle.embedding_, n_neighbors=5) - 0.005
    start = start_of(page["ep"], page["ring_graph"]).node_embeddings_
    assert trustworthiness(page["ring"], start, n_neighbors=5) < 0.7


def test_the_page_on_relations_tells_what_happens() -> None:
    page = names_of("relations")
    model, result = page["model"], page["result"]
    assert model.predict_tails("p0", "reads", k=3)[0][0] == "Ulm News"
    found = [node for node, _ in model.predict_heads("reads", "Ulm News", k=5)]
    assert {town for head, _, town in page["lives"] if head in found} == {"Ulm"}
    newcomer = model.transform_node(["Ulm"], relations=[("inverse", "lives in")])
    apart = np.linalg.norm(model.node_embeddings_ - newcomer, axis=1)
    assert model.nodes_[apart.argmin()] in [h for h, _, town in page["lives"] if town == "Ulm"]
    assert [result.mrr, result.hits_1, result.mean_rank] == pytest.approx([0.9, 0.8, 1.2], abs=0.15)
    said = (DOCS / "relations.md").read_text(encoding="utf-8")
    assert result.protocol in re.sub(r"\n#\s*", " ", said)


def test_the_shell_of_the_page_on_relations_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from embedprop.cli.main import main

    monkeypatch.chdir(tmp_path)
    page = names_of("relations")
    rows = [f"{h},{t},{r}" for h, r, t in [*page["lives"], *page["reads"]]]
    Path("edges.csv").write_text("\n".join(["source,target,relation", *rows]) + "\n")
    said = (DOCS / "relations.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```bash\n(.*?)```", said, re.DOTALL)
    for line in block.strip().splitlines():
        quick = ["--epochs", "2", "--n-threads", "1"] if " fit " in line else []
        assert main(shlex.split(line)[1:] + quick) == 0, capfd.readouterr().err
    assert "tail" in capfd.readouterr().out


def test_the_page_on_own_parts_tells_what_happens(tmp_path: Path) -> None:
    page = names_of("extending")
    model, graph = page["model"], page["graph"]
    own = page["Waves"](1, 8)
    before = own.line.weight.detach().clone()
    fitted = clone(model).set_params(parts__label_embedding={"age": own})
    vectors = fitted.fit_transform(graph)
    assert torch.equal(own.line.weight, before)  # the model trains a copy
    assert not torch.equal(parts_of(fitted, "age").f.line.weight, before)
    fitted.save(tmp_path / "model")
    np.testing.assert_array_equal(
        EmbeddingPropagation.load(tmp_path / "model").node_embeddings_, vectors
    )
    assert np.isfinite(fitted.score_edge("ann", "bob"))
    with pytest.raises(UnknownComponentError, match="squared_hinge"):
        EmbeddingPropagation(parts={"loss": "squared_hinge"}).fit(graph)
    assert page["hinged"].instance_.label_types["likes"].loss == "custom SquaredHingeLoss"
