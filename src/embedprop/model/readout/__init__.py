"""How a newcomer gets its vector: one protocol, three readouts."""
