"""A graph becomes another graph."""
