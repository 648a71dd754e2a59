"""What the README shows must run."""

import re
import shlex
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


def test_the_python_examples_of_the_readme_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for code in blocks("python"):
        exec(compile(code, "README.md", "exec"), names)
    assert names["vectors"].shape == (6, 2)
    assert names["fast"].node_embeddings_.shape == (6, 32)
    assert (tmp_path / "model" / "manifest.json").exists()


def test_the_shell_examples_of_the_readme_run(tmp_path, monkeypatch, capfd):
    from embedprop.cli.main import main

    monkeypatch.chdir(tmp_path)
    Path("edges.csv").write_text("source,target\nsome-node,b\nb,c\nc,some-node\nc,d\n")
    Path("words.csv").write_text("node,label\nsome-node,tea\nb,tea\nd,jam\n")
    Path("new_edges.csv").write_text("source,target\nnewcomer,b\nnewcomer,c\n")
    commands = [block for block in blocks("bash") if "embedprop fit" in block]
    for line in "".join(commands).strip().splitlines():
        assert main(shlex.split(line)[1:]) == 0, capfd.readouterr().err
    assert Path("new.parquet").exists()
    assert Path("epb/manifest.json").exists()
    assert Path("fast/manifest.json").exists()


def test_the_readme_has_exactly_two_set_up_commands():
    commands = [block.strip() for block in blocks("bash") if block.startswith("pip install")]
    assert commands[0] == "pip install . && embedprop demo"
    assert len(commands) == 2
