import subprocess
import sys

import pytest

import embedprop

HEAVY = ["matplotlib", "numba", "numpy", "pandas", "polars", "pyarrow", "scipy", "sklearn", "torch"]


def test_importing_the_package_imports_no_heavy_library() -> None:
    code = f"import sys, embedprop; print([name for name in {HEAVY} if name in sys.modules])"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"


@pytest.mark.parametrize("name", embedprop.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(embedprop, name) is not None
    assert name in dir(embedprop)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'embedprop' has no attribute 'Grpah'"):
        _ = embedprop.Grpah
