"""Numba kernels: arrays in, arrays out; they import nothing of embedprop and trust their caller."""
