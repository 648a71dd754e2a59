"""The result depends on the seed, and on nothing else: threads, runs, other work."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest
from tests import toy_graphs
from tests.methods.epb.runs import Run, by_fused

from embedprop.instance.catalog import NEGATIVES
from embedprop.methods.epb.engines import fused as fused_engine
from embedprop.methods.epb.epochs import TrainingResult

IN_EIGHT_THREADS = """
from tests.methods.epb.engines.test_same_bytes import crowded_run, digest
for n_threads in (1, 2, 3, 8):
    print(digest(crowded_run().fused(n_threads=n_threads)))
"""


def digest(result: TrainingResult) -> str:
    tables = [*result.label_vectors.values(), *result.relation_vectors.values()]
    content = b"".join(vectors.tobytes() for vectors in tables)
    return hashlib.sha256(content + repr(dict(result.loss_history)).encode()).hexdigest()


def crowded_run(n_relations: int = 0, **options: object) -> Run:
    """Hubs and leaves, several negatives, and columns for three threads, the last with fewer."""
    graph = toy_graphs.messy(
        60, weighted_edges=True, weighted_labels=True, missing=True, n_relations=n_relations
    )
    settings = {"dim": 100, "n_negatives": 3, "max_neighbors": 5, "batch_size": 32, "epochs": 4}
    return Run.of(graph, **(settings | options))


@pytest.fixture(scope="module")
def one_thread() -> str:
    return digest(crowded_run().fused(n_threads=1))


@pytest.mark.parametrize("n_threads", [2, 8, None])
def test_the_number_of_threads_changes_no_byte(one_thread: str, n_threads: int | None) -> None:
    assert digest(crowded_run().fused(n_threads=n_threads)) == one_thread


@pytest.mark.parametrize("negatives", ["in_batch", "shared"])
@pytest.mark.parametrize(
    ("neighborhood", "n_relations"), [("neighbors", 5), ("edges", 5), ("walks", 0)]
)
def test_nor_does_it_with_other_neighborhoods_negatives_and_relations(
    neighborhood: str, n_relations: int, negatives: str
) -> None:
    run = crowded_run(
        n_relations,
        neighborhood=neighborhood,
        negatives=negatives,
        max_neighbors=None,
        epochs=1,
    )
    one, two = (digest(run.fused(n_threads=n)) for n in (1, 2))
    assert one == two


@pytest.mark.slow
def test_eight_real_threads_change_no_byte(one_thread: str) -> None:
    environment = os.environ | {
        "NUMBA_NUM_THREADS": "8",
        "PYTHONPATH": os.pathsep.join([".", *filter(None, sys.path)]),
    }
    result = subprocess.run(
        [sys.executable, "-c", IN_EIGHT_THREADS],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert result.stdout.split() == [one_thread] * 4


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(one_thread: str) -> None:
    assert digest(crowded_run().fused()) == one_thread
    assert digest(crowded_run(seed=1).fused()) != one_thread


def test_another_seed_of_the_draws_alone_changes_the_result() -> None:
    run = crowded_run()
    one, other = run.fused(), run.fused(seed=1)
    assert (one.label_vectors["word"] != other.label_vectors["word"]).any()


@pytest.mark.parametrize("negatives", list(NEGATIVES))
@pytest.mark.parametrize("work", [1, 70_000, 100_000])  # 1, 2 and 3 batches a run
def test_how_an_epoch_is_cut_into_runs_changes_no_byte(
    monkeypatch: pytest.MonkeyPatch, work: int, negatives: str
) -> None:
    run = crowded_run(batch_size=7, negatives=negatives)
    whole, n_reports = run.fused(), []
    monkeypatch.setattr(fused_engine, "_WORK_PER_STEP", work)
    cut = run.by(by_fused(), lambda *said: n_reports.append(said))
    assert len(n_reports) > run.plan.epochs
    for name, vectors in whole.label_vectors.items():
        np.testing.assert_array_equal(cut.label_vectors[name], vectors)
        np.testing.assert_allclose(cut.loss_history[name], whole.loss_history[name], rtol=1e-12)


def test_label_types_do_not_disturb_each_other() -> None:
    both = crowded_run().fused().label_vectors
    for name in ("node", "word"):
        alone = crowded_run(label_types=(name,)).fused().label_vectors[name]
        np.testing.assert_array_equal(alone, both[name])
