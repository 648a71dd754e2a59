"""Pairs, frames and the objects of other libraries become a graph."""
