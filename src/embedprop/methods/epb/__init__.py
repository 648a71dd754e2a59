"""EP-B and the whole framework, by gradient."""
