"""For tests of compiling itself, which is not done with NUMBA_DISABLE_JIT=1."""

import numba
import pytest

needs_compiling = pytest.mark.skipif(
    bool(numba.config.DISABLE_JIT), reason="kernels are plain Python here"
)
