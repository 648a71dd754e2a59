"""The methods that the paper compares with, each with its published settings, on any graph.

Importing this package imports neither torch nor gensim; a method imports what it needs when it
runs.
"""

from embedprop.baselines.bow import BagOfWords
from embedprop.baselines.classifier import Classifier, is_classifier
from embedprop.baselines.deepwalk import DeepWalk
from embedprop.baselines.dw_bow import DeepWalkBagOfWords
from embedprop.baselines.gcn import GCN, InductiveGCN
from embedprop.baselines.inductive import mean_of_neighbors
from embedprop.baselines.line import LINE
from embedprop.baselines.majority import Majority
from embedprop.baselines.node2vec import PUBLISHED_PQ, Node2Vec
from embedprop.baselines.planetoid import PlanetoidI, PlanetoidT
from embedprop.baselines.registry import BASELINES, Embedder
from embedprop.baselines.wvrn import WeightedVote

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
