"""Names for the types of arrays: what a row or a number stands for."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

# A row per node or label, float32, C order.
Vectors: TypeAlias = NDArray[np.float32]
# One number per node, label or edge.
Weights: TypeAlias = NDArray[np.float32]
# Dense ids of nodes, labels or relations.
Ids: TypeAlias = NDArray[np.int32]
# Positions in an array.
Rows: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]
