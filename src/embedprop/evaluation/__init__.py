"""How good vectors are: linear classifiers on them, with the protocols of the paper."""
