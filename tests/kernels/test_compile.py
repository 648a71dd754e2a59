import shutil
import subprocess
import sys
from pathlib import Path

import embedprop.kernels

PROGRAM = """
import numpy as np
from embedprop.kernels.segments import sum_rows, split
from embedprop.kernels.epb import compare
h, message = np.zeros(2), np.zeros(2)
print(float(compare(h, np.array([3.0, 4.0]), 0.0, 7.0, message)))
"""


def test_an_edited_helper_is_never_answered_by_old_machine_code(tmp_path: Path) -> None:
    package = tmp_path / "embedprop"
    shutil.copytree(
        Path(embedprop.kernels.__file__).parents[1],
        package,
        ignore=shutil.ignore_patterns("__pycache__"),
    )

    def loss() -> float:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        return float(done.stdout)

    assert loss() == 2.0
    helper = package / "kernels" / "segments.py"
    source = helper.read_text()
    assert "return np.sqrt(total)" in source
    helper.write_text(source.replace("return np.sqrt(total)", "return 2 * np.sqrt(total)"))
    assert loss() == 0.0
