"""Where a chart stands between two ticks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from posewright.charts.datatypes import Value


@dataclass(frozen=True, slots=True)
class ChartState:
    """The state a chart is in, what its outputs hold, and for how long.

    Attributes:
        state: the state's name.
        outputs: every output's value.
        since: ticks for which the state has been active, the one of its entry included; 0 before the first.
    """

    state: str
    outputs: Mapping[str, Value]
    since: int
