from __future__ import annotations

import numpy as np

from embedprop.demo.picture import ROOM, WIDTH, examples, map_positions


def test_the_map_keeps_clusters_together() -> None:
    rng = np.random.default_rng(0)
    cluster = np.arange(60) % 2
    vectors = (rng.normal(size=(60, 8)) + 20 * cluster[:, None]).astype(np.float32)
    positions = map_positions(vectors)
    centers = np.stack([positions[cluster == c].mean(axis=0) for c in (0, 1)])
    distances = np.linalg.norm(positions[:, None] - centers, axis=2)
    np.testing.assert_array_equal(distances.argmin(axis=1), cluster)


def test_an_example_of_each_class_stands_near_it_on_free_ground() -> None:
    rng = np.random.default_rng(0)
    targets = np.arange(100) % 2
    centers = np.array([[0.4, 0.5], [1.4, 0.5]])
    points = centers[targets] + rng.uniform(-0.1, 0.1, size=(100, 2))
    found = examples(points, targets)
    assert set(found) == {0, 1}
    for target, (member, place) in found.items():
        assert targets[member] == target
        assert np.linalg.norm(points - place, axis=1).min() >= ROOM
        assert np.linalg.norm(centers - place, axis=1).argmin() == target
        assert ((place >= 0) & (place <= (WIDTH, 1))).all()
