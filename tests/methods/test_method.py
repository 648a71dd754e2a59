"""How much memory there is: that of the container, if it has less than the machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from embedprop.methods import method

GB = 10**9


@pytest.mark.parametrize(
    ("own", "limits", "expected"),
    [
        ("0::/a/b", {"memory.max": "max"}, None),
        ("0::/a/b", {"memory.max": 3 * GB}, 3),
        ("0::/a/b", {"a/memory.max": 2 * GB, "a/b/memory.max": "max"}, 2),
        ("0::/a:b", {"a:b/memory.max": GB}, 1),
        ("5:cpu,memory:/c\n0::/", {"memory/c/memory.limit_in_bytes": GB}, 1),
        ("5:memory:/of/the/host", {"memory/memory.limit_in_bytes": GB}, 1),
        ("5:memory:/c", {"memory/c/memory.limit_in_bytes": 2**63 - 4096}, None),
        ("odd", {"memory.max": "odd"}, None),
        ("5:cpu:/c", {"c/memory.max": GB, "memory/c/memory.limit_in_bytes": GB}, None),
    ],
)
def test_memory_is_that_of_the_container(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    own: str,
    limits: dict[str, object],
    expected: int | None,
) -> None:
    machine = 4 * GB
    monkeypatch.setattr(method.os, "sysconf", {"SC_PAGE_SIZE": 1, "SC_PHYS_PAGES": machine}.get)
    groups = tmp_path / "groups"
    for name, limit in limits.items():
        (groups / name).parent.mkdir(parents=True, exist_ok=True)
        (groups / name).write_text(f"{limit}\n")
    (tmp_path / "own").write_text(f"{own}\n")
    monkeypatch.setattr(method, "_CGROUPS", groups)
    monkeypatch.setattr(method, "_OWN_CGROUPS", tmp_path / "own")
    assert method.physical_memory() == (machine if expected is None else expected * GB)
