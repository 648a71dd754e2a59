"""Random draws by counters, walks, and edges within a part of a graph."""
