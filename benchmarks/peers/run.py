"""Whole jobs of learning node vectors: EP against its peers, in one run.

    export EMBEDPROP_DATA=...
    python benchmarks/peers/run.py [--graphs blogcatalog ppi pos] [--methods epb closed-form ...]
    python benchmarks/report.py        # the page and the picture

128 dimensions, one thread, graphs without weights and self-loops. Each peer has an environment of
its own, made on first use, and each job a process of its own. `cpu_seconds` is user and system
time of learning: walks are part of it; imports, reading the graph and compilation are not
(`process_cpu_seconds` has them all, and a small job before that to warm up). Quality: `quality.py`.
What the file has with the same settings is not measured again.
"""

import os
import sys
from pathlib import Path

if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when NumPy is imported
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from peers.command import main

    sys.exit(main())
