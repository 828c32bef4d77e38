"""Types of NumPy arrays that all packages use."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Indices = NDArray[np.intp]

Array = NDArray[Any]
"""An array of floats, flags or integers, where the type depends on a name known at run time only."""
