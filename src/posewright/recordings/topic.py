"""A topic of a recording with all its messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posewright.recordings.schemas import Schema


@dataclass(frozen=True, eq=False)
class Topic:
    """All messages of one kind.

    Attributes:
        name: e.g. `/tf`.
        schema: how the messages are to be read.
        times_ns: simulated time of each message, `(n,)` [ns].
        messages: n encoded messages.
    """

    name: str
    schema: Schema
    times_ns: NDArray[np.uint64]
    messages: Sequence[bytes]
