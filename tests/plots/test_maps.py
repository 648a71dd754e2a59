from __future__ import annotations

from pathlib import Path

import numpy as np

from embedprop.plots.maps import ROOM, Map, Points, draw_maps, examples, tsne


def test_the_map_keeps_clusters_together() -> None:
    rng = np.random.default_rng(0)
    cluster = np.arange(60) % 2
    vectors = (rng.normal(size=(60, 8)) + 20 * cluster[:, None]).astype(np.float32)
    positions = tsne(vectors)
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
        assert ((place >= 0) & (place <= (points[:, 0].max(), 1))).all()


def test_maps_of_the_same_vectors_are_the_same_bytes_and_no_folder_is_needed(
    tmp_path: Path,
) -> None:
    rng = np.random.default_rng(0)
    classes = np.arange(30) % 3
    points = Points(classes, "abc", is_new=classes == 2, images=rng.random((30, 8, 8)))
    maps = [Map(rng.normal(size=(30, 4)).astype(np.float32), "a title")]
    paths = [tmp_path / "new" / f"{name}.png" for name in "ab"]
    for path in paths:
        draw_maps(path, maps, points, "title", "text")
    assert paths[0].read_bytes().startswith(b"\x89PNG")
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert len(list(paths[0].parent.iterdir())) == 2
