"""Ways to compute EP-B: fused kernels, or torch."""
