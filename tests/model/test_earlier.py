"""Settings of models that earlier versions saved, in today's words."""

from __future__ import annotations

from typing import Any

import pytest

from embedprop.files.folder.load import StoredModel
from embedprop.instance.epb import EPBInstance, TypeInstance
from embedprop.model.earlier import as_version_2


def upgraded(instance: dict[str, Any], params: dict[str, Any], **more: Any) -> dict[str, Any]:
    settings = {"instance": instance, "params": params, "seed": 0, "loss_history": {}} | more
    return as_version_2(StoredModel(settings, {}, {}))


def test_a_model_from_before_the_closed_form_is_epb() -> None:
    types = {"node": {"dim": 4, "margin": 1.0}}
    found = upgraded(
        {"name": "epb", "label_types": types, "n_negatives": 1, "negatives": "uniform",
         "neighborhood": "neighbors", "max_neighbors": None},
        {"instance": "epb", "dim": 4, "margin": 1.0, "engine": "auto"},
    )  # fmt: skip
    assert (found["method"], found["readout"], found["residuals"]) == ("epb", "means", {})
    assert EPBInstance.from_dict(found["instance"]) == EPBInstance({"node": TypeInstance(4)})
    assert found["parameters"] == {"dim": 4, "margin": 1.0, "engine": "auto", "parts": None}


def test_settings_of_today_stay_as_they_are() -> None:
    settings = {"readout": "means", "method": "epb", "instance": {}}
    assert as_version_2(StoredModel(settings, {}, {})) == settings


@pytest.mark.parametrize(
    ("old", "engine"),
    [
        ({}, "auto"),
        ({"engine": "fused"}, "fused"),
        ({"storage": "disk"}, "fused(storage='disk')"),
        ({"storage": "disk(partitions=8)"}, "fused(storage='disk', partitions=8)"),
        ({"engine": "torch", "device": "cpu"}, "torch(device='cpu')"),
        ({"engine": "torch", "device": "auto", "storage": "auto"}, "torch"),
    ],
)
def test_engine_storage_and_device_are_one_text(old: dict[str, str], engine: str) -> None:
    instance = {"name": "epb", "label_types": {"node": {"dim": 4, "margin": 1.0}}}
    assert upgraded(instance, {"instance": "epb"} | old)["parameters"]["engine"] == engine
