"""What embedprop learns from: nodes, their neighbors and their labels."""

from embedprop.graph.graph import Graph
from embedprop.graph.multisets import Multisets
from embedprop.graph.vocabulary import Vocabulary

__all__ = ["Graph", "Multisets", "Vocabulary"]
