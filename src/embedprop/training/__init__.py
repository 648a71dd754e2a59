"""How parameters move: draws, mini-batches and the engines that compute them."""
