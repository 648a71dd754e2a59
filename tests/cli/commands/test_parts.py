"""`embedprop parts`."""

from __future__ import annotations

from tests.cli.conftest import QUICK, Shell

from embedprop.instance.catalog import REGISTRIES, describe_part


def test_every_part_is_listed_by_kind_with_its_parameters_and_its_line(shell: Shell) -> None:
    answer = shell("parts")
    assert (answer.code, answer.err) == (0, "")
    lines = answer.out.splitlines()
    assert [line for line in lines if not line.startswith(" ")] == list(REGISTRIES)
    shown = " ".join(answer.out.split())
    for kind, registry in REGISTRIES.items():
        for name in registry:
            info = describe_part(kind, name)
            given = ", ".join(f"{key}={value!r}" for key, value in info.parameters.items())
            assert f"  {name}({given})" in lines if given else f"  {name}" in lines
            assert info.description in shown
    assert max(map(len, lines)) <= 100


def test_what_is_listed_can_be_given_back(shell: Shell) -> None:
    lines = shell("parts").out.splitlines()
    assert "  logistic(margin=1.0)" in lines[lines.index("loss") :]
    command = ["fit", "edges.csv", "--loss", "logistic(margin=1.0)", "--out", "m", *QUICK]
    assert shell(*command).code == 0
