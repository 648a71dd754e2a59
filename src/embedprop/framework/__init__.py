"""The paper, one file per symbol: f, g and g~, d, the loss. Differentiable, by torch."""
