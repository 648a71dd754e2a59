"""Files become a graph."""
