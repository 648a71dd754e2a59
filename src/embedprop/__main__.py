"""`python -m embedprop`: the command line."""

from embedprop.cli.main import main

main()
