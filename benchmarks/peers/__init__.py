"""Whole jobs of learning node vectors, against what people would use instead."""
