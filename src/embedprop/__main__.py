"""`python -m embedprop`: the command line."""

import sys

from embedprop.cli.main import main

sys.exit(main())
