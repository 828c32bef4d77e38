"""Types of arrays, the same in every room."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Indices = NDArray[np.intp]

Array = NDArray[Any]
"""Of floats, flags or whole numbers: which, whoever has it knows by its name."""
