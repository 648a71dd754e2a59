"""The kinds of parts that are torch modules, each a registry of names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from embedprop.instance.registry import Registry

if TYPE_CHECKING:
    from embedprop.framework.aggregators import Aggregator
    from embedprop.framework.distances import Distance
    from embedprop.framework.label_embeddings import LabelEmbedding
    from embedprop.framework.losses import Loss

LABEL_EMBEDDINGS: Registry[type[LabelEmbedding]] = Registry("label_embedding")
AGGREGATORS: Registry[type[Aggregator]] = Registry("aggregator")
DISTANCES: Registry[type[Distance]] = Registry("distance")
LOSSES: Registry[type[Loss]] = Registry("loss")
