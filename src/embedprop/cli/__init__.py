"""The command line: each command parses, calls and prints; the work is done elsewhere."""
