from __future__ import annotations

import pytest
import torch

from embedprop.framework.image_embeddings import CNNEmbedding


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
