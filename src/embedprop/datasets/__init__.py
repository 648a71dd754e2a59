"""Data sets on disk → Graph and targets."""

from embedprop.datasets.folder import Dataset, load_dataset

__all__ = ["Dataset", "load_dataset"]
