"""What every f must do; a new one is tested by being registered."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from tests.registered import names_of
from torch import Tensor
from torch.func import functional_call

from embedprop.errors import InvalidParameterError
from embedprop.framework.label_embeddings import (
    LIMIT,
    CNNEmbedding,
    LabelEmbedding,
    LinearEmbedding,
    LookupEmbedding,
    MLPEmbedding,
    Standardization,
)
from embedprop.instance.catalog import LABEL_EMBEDDINGS, describe_part

DIM = 6
SHAPES = {"set": (5,), "numeric": (3,), "image": (2, 8, 8), "text": (7,)}
CASES = [(name, kind) for name in LABEL_EMBEDDINGS for kind in LABEL_EMBEDDINGS[name].kinds]
every_f = pytest.mark.parametrize(("name", "kind"), CASES)


def contents_of(kind: str, shape: tuple[int, ...] | None = None, n: int = 9) -> Tensor:
    rng, shape = np.random.default_rng(n), shape or SHAPES[kind]
    if kind == "set":
        return torch.arange(n) % shape[0]
    if kind == "text":
        ids = rng.integers(1, shape[0] + 1, size=(n, 6))
        lengths = np.arange(n)[:, None] % 7  # none, one, ...
        return torch.from_numpy(np.where(np.arange(6) < lengths, ids, 0))
    return torch.from_numpy(rng.normal(3, 2, size=(n, *shape)).astype(np.float32))


def made(name: str, kind: str, **parameters: object) -> LabelEmbedding:
    f = LABEL_EMBEDDINGS[name](SHAPES[kind], DIM, **parameters)
    f.adapt(contents_of(kind))
    return f


def test_every_f_of_the_sources_is_tested_here() -> None:
    assert {name for name, _ in CASES} == names_of(LABEL_EMBEDDINGS)
    assert {kind for _, kind in CASES} == set(SHAPES)


@every_f
def test_every_label_has_one_finite_vector(name: str, kind: str) -> None:
    vectors = made(name, kind)(contents_of(kind))
    assert vectors.shape == (9, DIM)
    assert vectors.dtype == torch.float32
    assert torch.isfinite(vectors).all()
    assert vectors.std(dim=0).min() > 0  # of different labels, different vectors


@every_f
def test_no_labels_have_no_vectors(name: str, kind: str) -> None:
    f = LABEL_EMBEDDINGS[name](SHAPES[kind], DIM)
    none = contents_of(kind)[:0]
    f.adapt(none)
    assert f(none).shape == (0, DIM)
    assert torch.isfinite(f(contents_of(kind))).all()


@every_f
def test_the_gradient_reaches_every_parameter(name: str, kind: str) -> None:
    f = made(name, kind)
    f(contents_of(kind)).square().sum().backward()
    for parameter, value in f.named_parameters():
        assert value.grad is not None, parameter
        assert torch.isfinite(value.grad).all(), parameter
        assert value.grad.abs().max() > 0, parameter
        assert not value.grad.is_sparse, parameter


@every_f
def test_gradients_equal_finite_differences(name: str, kind: str) -> None:
    shape = {"set": (3,), "numeric": (2,), "image": (1, 4, 3), "text": (3,)}[kind]
    few = {"mlp": {"hidden": 5}, "cnn": {"channels": 2}, "transformer": {"heads": 2}}
    f = LABEL_EMBEDDINGS[name](shape, 2, **few.get(name, {})).double()
    contents = contents_of(kind, shape, n=4)
    contents = contents.double() if contents.is_floating_point() else contents
    f.adapt(contents)
    names = [parameter for parameter, _ in f.named_parameters()]
    values = [value.detach().clone().requires_grad_() for value in f.parameters()]

    def vectors(*given: Tensor) -> Tensor:
        result: Tensor = functional_call(f, dict(zip(names, given, strict=True)), (contents,))
        return result

    assert torch.autograd.gradcheck(vectors, values)
    # Had the call not used the given values, both sides would be 0 and equal.
    grads = torch.autograd.grad(vectors(*values).square().sum(), values)
    assert all(grad.abs().max() > 0 for grad in grads)


@every_f
def test_a_saved_state_makes_exactly_the_same_f(name: str, kind: str, tmp_path) -> None:
    f, contents = made(name, kind), contents_of(kind)
    save_file(f.state_dict(), tmp_path / "f.safetensors")
    torch.manual_seed(4)
    other = LABEL_EMBEDDINGS[name](SHAPES[kind], DIM)
    assert not torch.equal(other(contents), f(contents))
    other.load_state_dict(load_file(tmp_path / "f.safetensors"), strict=True)
    assert torch.equal(other(contents), f(contents))


@every_f
def test_a_label_alone_has_the_vector_that_it_has_among_others(name: str, kind: str) -> None:
    f, contents = made(name, kind).eval(), contents_of(kind)
    with torch.no_grad():
        together = f(contents)
        alone = torch.cat([f(contents[row : row + 1]) for row in range(len(contents))])
    torch.testing.assert_close(alone, together, rtol=1e-5, atol=1e-6)


@every_f
def test_the_same_seed_makes_the_same_f_and_adapting_changes_no_parameter(
    name: str, kind: str
) -> None:
    states = []
    for adapted in (False, True):
        torch.manual_seed(8)
        f = LABEL_EMBEDDINGS[name](SHAPES[kind], DIM)
        if adapted:
            f.adapt(contents_of(kind))
        states.append(dict(f.named_parameters()))
    assert states[0].keys() == states[1].keys()
    assert all(torch.equal(states[0][key], states[1][key]) for key in states[0])


@every_f
def test_adapting_again_forgets_the_labels_before(name: str, kind: str) -> None:
    many = contents_of(kind)
    few = many[:1].expand_as(many).clone()
    few[-1] = many[-1]  # two values are left in a column: other statistics, fewer bins
    f = LABEL_EMBEDDINGS[name](SHAPES[kind], DIM)
    f.adapt(few)
    expected = f(many)
    f.adapt(many)
    f.adapt(few)
    assert torch.equal(f(many), expected)


@pytest.mark.parametrize("n", [1, 2, 49])
@pytest.mark.parametrize(("name", "kind"), [c for c in CASES if c[1] in ("numeric", "image")])
@pytest.mark.parametrize("value", ["constant", "two values", "huge", "tiny", "nearly constant"])
def test_awkward_numbers_have_finite_vectors(name: str, kind: str, value: str, n: int) -> None:
    shape = (n, *SHAPES[kind])
    rng = np.random.default_rng(0)
    numbers = {
        "constant": np.full(shape, 0.1),
        "two values": rng.integers(2, size=shape),
        "huge": rng.choice([-3.4e38, 3.4e38], size=shape),
        "tiny": rng.choice([0.0, 1e-45], size=shape),
        "nearly constant": 1e6 + rng.choice([0.0, 0.0625], size=shape),
    }[value]
    contents = torch.from_numpy(numbers.astype(np.float32))
    f = LABEL_EMBEDDINGS[name](SHAPES[kind], DIM)
    f.adapt(contents)
    assert not any(buffer.isnan().any() for buffer in f.buffers())
    for seen in (contents, *(torch.full_like(contents, x) for x in (-3.4e38, 0.0, 1e9, 3.4e38))):
        vectors = f(seen)
        assert torch.isfinite(vectors).all()
        f.zero_grad()
        vectors.sum().backward()
        assert all(torch.isfinite(p.grad).all() for p in f.parameters() if p.grad is not None)


@every_f
def test_contents_of_another_shape_or_type_are_refused(name: str, kind: str) -> None:
    f, contents = made(name, kind), contents_of(kind)
    other_type = contents.long() if contents.is_floating_point() else contents.float()
    wrong = [contents[..., None], other_type]
    if kind in ("numeric", "image"):
        wrong.append(contents[..., :-1])
    for each in wrong:
        with pytest.raises(InvalidParameterError, match=rf"label_embedding='{name}' expects "):
            f(each)


@every_f
@pytest.mark.parametrize("dim", [0, -1, 2.5, True, "8"])
def test_a_dim_that_is_no_count_is_refused(name: str, kind: str, dim: object) -> None:
    with pytest.raises(InvalidParameterError, match=r"dim=.*: expected"):
        LABEL_EMBEDDINGS[name](SHAPES[kind], dim)  # type: ignore[arg-type]


@every_f
def test_a_shape_of_another_kind_is_refused(name: str, kind: str) -> None:
    with pytest.raises(InvalidParameterError, match=f"reads labels of kind .*{kind}"):
        LABEL_EMBEDDINGS[name]((3, 4), DIM)
    with pytest.raises(InvalidParameterError, match=": expected a whole number of at least"):
        LABEL_EMBEDDINGS[name]((*SHAPES[kind][:-1], -1), DIM)


@pytest.mark.parametrize("name", list(LABEL_EMBEDDINGS))
def test_every_parameter_of_its_own_is_a_checked_count(name: str) -> None:
    part, kind = LABEL_EMBEDDINGS[name], LABEL_EMBEDDINGS[name].kinds[0]
    own = [p for p in inspect.signature(part).parameters.values() if p.kind is p.KEYWORD_ONLY]
    assert {p.name: p.default for p in own} == describe_part("label_embedding", name).parameters
    for parameter in own:
        for bad in (0, 1.5, "x", True):
            with pytest.raises(InvalidParameterError, match=f"^{parameter.name}={bad!r}: expected"):
                part(SHAPES[kind], DIM, **{parameter.name: bad})


def test_the_image_of_another_size_is_told_with_both_sizes() -> None:
    with pytest.raises(
        InvalidParameterError,
        match=r"'cnn' expects floats of shape \[n, 2, 8, 8\], got torch.float32 of shape "
        r"\[1, 2, 9, 8\]",
    ):
        made("cnn", "image")(torch.zeros(1, 2, 9, 8))


def test_the_lookup_table_starts_within_glorots_limit() -> None:
    f = LookupEmbedding((400,), 200)
    limit = (6 / 600) ** 0.5
    assert f.table.abs().max() <= limit
    assert f.table.abs().max() > 0.99 * limit
    assert torch.equal(f(torch.tensor([7, 0, 7])), f.table[[7, 0, 7]])


def test_standardized_columns_have_mean_0_and_variance_1() -> None:
    standardization = Standardization((2,))
    standardization.adapt(torch.tensor([[1.0, 10.0], [3.0, 30.0]]))
    assert standardization.mean.tolist() == [2, 20]
    assert standardization.std.tolist() == [1, 10]
    assert standardization(torch.tensor([[3.0, 10.0]])).tolist() == [[1, -1]]


def test_a_constant_column_is_only_shifted() -> None:
    standardization = Standardization((1,))
    standardization.adapt(torch.full((7, 1), 0.1))
    same, other = standardization(torch.tensor([[0.1], [2.1]])).flatten().tolist()
    assert same == 0
    assert other == pytest.approx(2)


def test_the_pixels_of_an_image_share_their_mean_and_deviation() -> None:
    standardization = Standardization((1, 1, 2))
    standardization.adapt(torch.tensor([[[[0.0, 0.0]]], [[[0.0, 4.0]]]]))
    assert standardization.mean.tolist() == [1]
    assert standardization.std.tolist() == [pytest.approx(3**0.5)]


def test_statistics_do_not_depend_on_how_many_rows_are_taken_at_a_time(monkeypatch) -> None:
    rows = torch.randn(1000, 3) * 5 + 1e4
    whole, pieces = Standardization((3,)), Standardization((3,))
    whole.adapt(rows)
    monkeypatch.setattr("embedprop.framework.label_embeddings._NUMBERS", 21)
    pieces.adapt(rows)
    torch.testing.assert_close(pieces.mean, whole.mean)
    torch.testing.assert_close(pieces.std, whole.std)
    torch.testing.assert_close(whole.std, rows.double().std(dim=0, correction=0).float())


def test_no_number_is_cut_unless_it_is_far_from_all_training_labels() -> None:
    standardization = Standardization((1,))
    rows = torch.zeros(10_000, 1)
    rows[0] = 1.0  # sqrt(n - 1) deviations from the mean: as far as a label can be
    standardization.adapt(rows)
    assert standardization(rows)[0].item() == pytest.approx(9999**0.5, rel=1e-3)
    assert standardization(torch.tensor([[-3e38], [3e38]])).tolist() == [[-LIMIT], [LIMIT]]


def test_linear_is_a_matrix_times_the_standardized_numbers() -> None:
    f = LinearEmbedding((2,), 3)
    f.adapt(torch.tensor([[0.0, 5.0], [2.0, 7.0]]))
    expected = f.linear.weight @ torch.tensor([1.0, -1.0]) + f.linear.bias
    torch.testing.assert_close(f(torch.tensor([[2.0, 5.0]]))[0], expected)


def test_an_mlp_has_the_layers_that_were_asked_for() -> None:
    shapes = [tuple(p.shape) for p in MLPEmbedding((3,), 2, hidden=5, layers=2).parameters()]
    assert shapes == [(5, 3), (5,), (5, 5), (5,), (2, 5), (2,)]
    f = MLPEmbedding((1,), 1, hidden=8)
    a, b, c = f(torch.tensor([[-3.0], [0.0], [3.0]]))
    assert not torch.allclose(a + c, 2 * b)  # it bends


def test_a_class_of_the_users_own_is_named_by_its_name() -> None:
    class Mine(LabelEmbedding):
        kinds = ("numeric",)

    with pytest.raises(InvalidParameterError, match="label_embedding='Mine' expects floats"):
        Mine((2,), 3)(torch.zeros(1, 3))
    with pytest.raises(NotImplementedError):
        Mine((2,), 3)(torch.zeros(1, 2))


@pytest.mark.parametrize(
    "shape", [(1, 1, 1), (3, 1, 5), (1, 2, 2), (1, 8, 8), (3, 9, 7), (1, 28, 28), (3, 64, 33)]
)
def test_images_of_every_size_have_vectors(shape: tuple[int, ...]) -> None:
    f = CNNEmbedding(shape, 5)
    images = torch.rand(3, *shape)
    f.adapt(images)
    vectors = f(images)
    assert vectors.shape == (3, 5)
    assert torch.isfinite(vectors).all()
    assert (vectors[0] - vectors[1]).abs().max() > 0


def test_the_last_layer_does_not_grow_with_the_image() -> None:
    sizes = {side: CNNEmbedding((1, side, side), 8).linear.in_features for side in (8, 64, 512)}
    assert sizes == {8: 32 * 2 * 2, 64: 64 * 4 * 4, 512: 64 * 4 * 4}


def test_it_sees_where_something_is() -> None:
    images = torch.zeros(2, 1, 8, 8)
    images[0, 0, :4, :4] = images[1, 0, 4:, 4:] = 1.0
    f = CNNEmbedding((1, 8, 8), 4)
    f.adapt(images)
    a, b = f(images)
    assert (a - b).norm() > 0.1 * a.norm()


def test_it_does_not_depend_on_the_unit_of_the_pixels() -> None:
    images = torch.rand(4, 1, 8, 8)
    f = CNNEmbedding((1, 8, 8), 4)
    f.adapt(images)
    small = f(images)
    f.adapt(images * 255 + 3)
    torch.testing.assert_close(f(images * 255 + 3), small, rtol=1e-4, atol=1e-4)


def test_it_learns_to_tell_stripes_from_checks() -> None:
    torch.manual_seed(0)
    rows = torch.arange(8)
    stripes, checks = rows[:, None] % 2 + 0 * rows, (rows[:, None] + rows) % 2
    images = torch.stack([stripes, checks] * 20).float()[:, None]
    images += 0.3 * torch.randn(images.shape)
    is_check = torch.arange(40) % 2
    f = CNNEmbedding((1, 8, 8), 2, channels=4)
    f.adapt(images)
    optimizer = torch.optim.Adam(f.parameters(), 0.01)
    for _ in range(60):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(f(images[:30]), is_check[:30]).backward()
        optimizer.step()
    assert (f(images[30:]).argmax(dim=1) == is_check[30:]).all()
