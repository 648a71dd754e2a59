"""One file for each command, of its name."""
