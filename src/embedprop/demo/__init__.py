"""A first look on real data that needs no download: scikit-learn's handwritten digits."""
