"""Data sets: published files → the cache, and folders on disk → Graph and targets."""

from embedprop.datasets.folder import Dataset, load_dataset
from embedprop.datasets.get import get_dataset

__all__ = ["Dataset", "get_dataset", "load_dataset"]
