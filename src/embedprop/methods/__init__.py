"""How vectors are found: a folder for each instance, and one protocol."""
