"""What came of a trial."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from posewright.contests import Result
from posewright.recordings import Recording


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What came of a trial.

    Attributes:
        trace: what happened.
        result: the judge's, from the trace alone.
        remarks: what should be known besides, such as a layout that breaks the rules.
        wall_s: how long the trial took, without reading documents; 0 where no clock was handed in [s].
    """

    trace: Recording
    result: Result
    wall_s: float
    remarks: tuple[str, ...] = ()

    @property
    def simulated_s(self) -> float:
        """How long the trial was [s]."""
        return self.trace.duration_s

    @property
    def real_time_factor(self) -> float:
        """Simulated time over wall time."""
        return self.simulated_s / self.wall_s if self.wall_s > 0.0 else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the trace as plain data, fit for JSON."""
        header = self.trace.header
        robot = next(iter(header.robots.values()))
        return {
            **self.result.to_dict(),
            "robot": robot.robot,
            "behaviour": robot.controller.removeprefix("behaviour "),
            "layout": header.layout,
            "boxes": [list(box) for box in header.boxes],
            "seed": header.seed,
            "remarks": list(self.remarks),
            "simulated_s": self.simulated_s,
            "wall_s": self.wall_s or None,
            "real_time_factor": self.real_time_factor or None,
            "trace_digest": self.trace.digest(),
        }
