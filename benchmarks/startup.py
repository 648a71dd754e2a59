"""How long `import embedprop` and `embedprop --help` take: kernels and heavy libraries load later.

    python benchmarks/startup.py [--repeats 9] [--out FILE]

Wall seconds of a process of its own, the median of several, interpreter included.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path

from embedprop.evaluation.provenance import publish

COMMANDS = {
    "import_seconds": ["-c", "import embedprop"],
    "help_seconds": ["-m", "embedprop", "--help"],
}


def main() -> None:
    """Print the medians."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    record: dict[str, object] = {"benchmark": "startup"}
    for name, words in COMMANDS.items():
        seconds = [run([sys.executable, *words]) for _ in range(options.repeats)]
        record[name] = round(statistics.median(seconds), 3)
    publish(record, options.out)


def run(command: list[str]) -> float:
    """Return the wall seconds of a command."""
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
