"""The methods that the paper compares with, each with its published settings, on any graph.

Importing this package imports neither torch nor gensim; a method imports what it needs when it
runs.
"""

from embedprop.baselines.gcn import GCN, InductiveGCN
from embedprop.baselines.line import LINE
from embedprop.baselines.node2vec import PUBLISHED_PQ, DeepWalk, DeepWalkBagOfWords, Node2Vec
from embedprop.baselines.planetoid import PlanetoidI, PlanetoidT
from embedprop.baselines.registry import (
    BASELINES,
    Classifier,
    Embedder,
    is_classifier,
    mean_of_neighbors,
)
from embedprop.baselines.votes import Majority, WeightedVote
from embedprop.baselines.words import BagOfWords

__all__ = [
    "BASELINES",
    "GCN",
    "LINE",
    "PUBLISHED_PQ",
    "BagOfWords",
    "Classifier",
    "DeepWalk",
    "DeepWalkBagOfWords",
    "Embedder",
    "InductiveGCN",
    "Majority",
    "Node2Vec",
    "PlanetoidI",
    "PlanetoidT",
    "WeightedVote",
    "is_classifier",
    "mean_of_neighbors",
]
