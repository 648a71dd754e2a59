from __future__ import annotations

import pytest
import torch

from embedprop.framework.text_embeddings import GRUEmbedding, TransformerEmbedding
from embedprop.instance.catalog import LABEL_EMBEDDINGS

both = pytest.mark.parametrize("name", ["gru", "transformer"])


@both
def test_padding_changes_nothing(name: str) -> None:
    f = LABEL_EMBEDDINGS[name]((5,), 6).eval()
    texts = torch.tensor([[1, 2, 3], [4, 0, 0]])
    padded = torch.nn.functional.pad(texts, (0, 7))
    torch.testing.assert_close(f(padded), f(texts))
    with_longer = torch.cat([padded, torch.randint(1, 6, (1, 10))])
    torch.testing.assert_close(f(with_longer)[:2], f(texts))


@both
def test_the_order_of_the_words_matters(name: str) -> None:
    f = LABEL_EMBEDDINGS[name]((5,), 6).eval()
    there, back = f(torch.tensor([[1, 2, 3], [3, 2, 1]]))
    assert (there - back).abs().max() > 1e-3


@both
@pytest.mark.parametrize("length", [0, 1, 5])
def test_empty_texts_have_one_finite_vector(name: str, length: int) -> None:
    f = LABEL_EMBEDDINGS[name]((5,), 6)
    vectors = f(torch.zeros(3, length, dtype=torch.int64))
    assert torch.isfinite(vectors).all()
    torch.testing.assert_close(vectors, vectors[:1].expand(3, 6))
    vectors.sum().backward()
    assert all(torch.isfinite(p.grad).all() for p in f.parameters() if p.grad is not None)


@both
def test_an_empty_text_among_others_leaves_them_as_they_are(name: str) -> None:
    f = LABEL_EMBEDDINGS[name]((5,), 6).eval()
    text = torch.tensor([[2, 5, 1]])
    both_ = f(torch.cat([text, torch.zeros_like(text)]))
    torch.testing.assert_close(both_[:1], f(text))
    torch.testing.assert_close(both_[1:], f(torch.zeros_like(text)))


@both
def test_the_padding_has_no_gradient(name: str) -> None:
    f = LABEL_EMBEDDINGS[name]((5,), 6)
    f(torch.tensor([[1, 2, 0], [0, 0, 0]])).square().sum().backward()
    grad = f.tokens.weight.grad
    assert grad[0].abs().max() == 0
    assert (grad[1:3].abs().amax(dim=1) > 0).all()
    assert grad[3:].abs().max() == 0


@both
def test_texts_without_any_known_word_can_be_learned_from(name: str) -> None:
    assert LABEL_EMBEDDINGS[name]((0,), 6)(torch.zeros(2, 3, dtype=torch.int64)).shape == (2, 6)


@pytest.mark.parametrize(("dim", "heads"), [(1, 1), (5, 4), (6, 4), (7, 3), (8, 1)])
def test_a_transformer_needs_no_dim_that_its_heads_divide(dim: int, heads: int) -> None:
    f = TransformerEmbedding((5,), dim, heads=heads, layers=2)
    assert f(torch.tensor([[1, 2, 3], [4, 0, 0]])).shape == (2, dim)


def test_the_layers_of_a_transformer_start_different() -> None:
    first, second = TransformerEmbedding((5,), 4, layers=2).layers
    assert not torch.equal(first.linear1.weight, second.linear1.weight)


def test_a_gru_has_the_state_that_was_asked_for() -> None:
    assert GRUEmbedding((5,), 4).gru.hidden_size == 4
    f = GRUEmbedding((5,), 4, hidden=7)
    assert f.gru.hidden_size == 7
    assert f(torch.tensor([[1]])).shape == (1, 4)


def test_the_vector_of_a_text_is_the_mean_of_the_states_mapped() -> None:
    f = GRUEmbedding((5,), 4)
    states, _ = f.gru(f.tokens(torch.tensor([[3, 1]])))
    torch.testing.assert_close(f(torch.tensor([[3, 1, 0]]))[0], f.linear(states[0].mean(dim=0)))


@both
def test_it_learns_which_of_two_words_comes_first(name: str) -> None:
    torch.manual_seed(1)
    texts = torch.randint(3, 8, (60, 6))
    places = torch.stack([torch.randperm(6)[:2].sort().values for _ in range(60)])
    first_is_1 = torch.arange(60) % 2
    texts[torch.arange(60), places[:, 0]] = 2 - first_is_1
    texts[torch.arange(60), places[:, 1]] = 1 + first_is_1
    f = LABEL_EMBEDDINGS[name]((7,), 16)
    optimizer = torch.optim.Adam(f.parameters(), 0.01)
    for _ in range(80):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(f(texts)[:, :2], first_is_1).backward()
        optimizer.step()
    assert (f(texts)[:, :2].argmax(dim=1) == first_is_1).float().mean() > 0.95
