"""Something that happened once: a start, a touch, a fall, a displaced box, a stop."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from posewright.errors import InputError
from posewright.recordings.plain import plain


@dataclass(frozen=True)
class Event:
    """One thing that happened.

    Attributes:
        time_s: when [s].
        kind: what, e.g. `touch`.
        data: the particulars, plain values; an array handed in becomes a list.

    Raises:
        InputError: the time is not finite, or `data` holds what cannot be written down.
    """

    time_s: float
    kind: str
    data: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "time_s", float(self.time_s))
        object.__setattr__(self, "data", plain(self.data))
        if not math.isfinite(self.time_s):
            raise InputError(f"an event {self.kind!r} at {self.time_s} s", hint="a finite time")
