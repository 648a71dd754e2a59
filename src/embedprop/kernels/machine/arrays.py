"""Types of kernel arguments, for the reader and for mypy; Numba looks at the arrays themselves."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

# float32 in use, float64 in tests.
Floats: TypeAlias = NDArray[Any]
# ids int32, pointers int64.
Ints: TypeAlias = NDArray[Any]
Float: TypeAlias = Any
Key: TypeAlias = np.uint64
# The type of an index in the innermost loops: what has no sign, Numba does not test for being
# negative, which takes a third off the time to list a batch. Never add a signed number to one.
Index = np.uint64

# Columns that are computed with at once, and whose squared differences are summed at once; the
# width of a part is a multiple.
BLOCK = 16
# The width of a part where two threads share the usual 128 columns: told to the compiler, it needs
# no loop over them.
USUAL_WIDTH = 64
