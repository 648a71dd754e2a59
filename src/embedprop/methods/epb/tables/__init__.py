"""Where tables are while they are learned."""
