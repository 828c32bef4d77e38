"""What the inputs of a chart are read from at one tick."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from posewright.arrays import Floats
from posewright.behaviours.scan import Beams, Scan
from posewright.bodies import BodyState, Reading
from posewright.charts import Value
from posewright.errors import BodyError


@dataclass(slots=True, eq=False)
class Senses:
    """One tick's view of the world and of the robot's own doing.

    Attributes:
        state: what the body says of itself.
        since_start_s: time since the first tick [s].
        playing: the motion the player is playing; None while the robot stands still.
        outputs: what the chart's outputs held before this tick.
        chance: a number drawn for this tick, 0 up to 1.
    """

    state: BodyState
    since_start_s: float = 0.0
    playing: str | None = None
    outputs: Mapping[str, Value] = field(default_factory=dict)
    chance: float = 0.0
    _scans: dict[str, Scan] = field(default_factory=dict)

    def reading(self, channel: str) -> Reading:
        """Return what a sensor's channel reads.

        Raises:
            BodyError: the body has no such channel.
        """
        try:
            return self.state.sensors[channel]
        except KeyError:
            known = ", ".join(sorted(self.state.sensors)) or "none"
            raise BodyError(f"the body reads no {channel!r}", hint=f"it reads {known}") from None

    def number(self, channel: str, index: int | None = None) -> float:
        """Return what a channel reads as a number; `index` picks one of several."""
        reading = self.reading(channel)
        if index is None:
            return float(reading)
        return float(np.asarray(reading)[index])

    def scan(self, channel: str, beams: Beams, max_range_m: float) -> Scan:
        """Return what a scanner reads; several inputs share it."""
        if channel not in self._scans:
            ranges: Floats = np.asarray(self.reading(channel), dtype=np.float64)
            if ranges.shape != beams.angles.shape:
                raise BodyError(
                    f"{channel} reads {ranges.shape} values", hint=f"it has {len(beams.angles)} beams"
                )
            self._scans[channel] = Scan(beams, ranges, max_range_m)
        return self._scans[channel]
