"""One mini-batch of EP-B after the other."""
