import shutil
import subprocess
import sys
from pathlib import Path

import embedprop.kernels

PROGRAM = """
import numpy as np
from embedprop.kernels.epb.positions import measure
squares = np.zeros((1, 1, 1))
measure(squares, 0, 0, 0, np.zeros(16), np.full(16, 0.5))
print(squares.item())
"""


def test_an_edited_helper_is_never_answered_by_old_machine_code(tmp_path: Path) -> None:
    package = tmp_path / "embedprop"
    shutil.copytree(
        Path(embedprop.kernels.__file__).parents[1],
        package,
        ignore=shutil.ignore_patterns("__pycache__"),
    )

    def square() -> float:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        return float(done.stdout)

    assert square() == 4.0
    helper = package / "kernels" / "epb" / "segments.py"
    source = helper.read_text()
    assert "total_of(difference" in source
    helper.write_text(source.replace("total_of(difference", "2 * total_of(difference"))
    assert square() == 8.0
