import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def kill_saves(how: str, folder: Path) -> list[str]:
    program = subprocess.run(
        [sys.executable, "-m", "tests.files.folder.kill_saves", how, str(folder)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert program.returncode == 0, program.stderr
    outcomes: list[str] = json.loads(program.stdout)
    return outcomes


def test_a_save_killed_at_any_step_leaves_the_old_model_or_the_new_one(tmp_path: Path) -> None:
    killed = kill_saves("steps", tmp_path / "model")
    first_new = killed.index("new")
    # The switch happens at one step, and steps lie on both sides of it.
    assert killed == ["old"] * first_new + ["new"] * (len(killed) - first_new)
    assert first_new > 20


def test_a_save_ended_by_sigkill_leaves_the_old_model_or_the_new_one(tmp_path: Path) -> None:
    assert set(kill_saves("times", tmp_path / "model")) <= {"old", "new"}
