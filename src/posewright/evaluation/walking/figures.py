"""The figures of a report that are worth comparing: their names, units, and which way is worse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from statistics import median

from posewright.evaluation.walking.report import GaitReport


class Worse(Enum):
    """Which of two values of a figure is the worse one."""

    GREATER = "greater"
    SMALLER = "smaller"
    FARTHER = "farther from what was commanded"


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of a report: the name of its field, what people call it, and the unit they read it in.

    `commanded` is the field that says what was commanded, `limit` what it should not be worse than.
    """

    name: str
    words: str
    unit: str = ""
    scale: float = 1.0
    digits: int = 2
    worse: Worse = Worse.GREATER
    commanded: str | None = None
    limit: float | None = None

    def of(self, report: GaitReport) -> float | None:
        """Return the figure's value in a report."""
        value: float | None = report.figures[self.name]
        return value

    def text(self, value: float | None) -> str:
        """Return a value as people read it."""
        return "-" if value is None else f"{value * self.scale:z.{self.digits}f}"

    def is_kept(self, value: float | None) -> bool:
        """Tell whether a value is within the limit, if there is one."""
        if value is None or self.limit is None:
            return True
        return value >= self.limit if self.worse is Worse.SMALLER else value <= self.limit

    def worst(self, reports: Sequence[GaitReport]) -> float | None:
        """Return the worst value in several reports; None where none has one."""
        known = [
            (self._badness(value, report), value)
            for report in reports
            if (value := self.of(report)) is not None
        ]
        return max(known)[1] if known else None

    def median(self, reports: Sequence[GaitReport]) -> float | None:
        """Return the median of several reports; None where none has a value."""
        known = [value for report in reports if (value := self.of(report)) is not None]
        return float(median(known)) if known else None

    def _badness(self, value: float, report: GaitReport) -> float:
        if self.commanded is not None:
            return abs(value - float(report.figures[self.commanded]))
        return -value if self.worse is Worse.SMALLER else value


def _speed(name: str, words: str, commanded: str, unit: str) -> Figure:
    return Figure(name, words, unit, digits=3, worse=Worse.FARTHER, commanded=commanded)


FALLS = "falls"
"""The one figure that a body has on which the simulation failed, too."""

FIGURES: tuple[Figure, ...] = (
    _speed("speed_m_s", "forward", "commanded_forward_m_s", "m/s"),
    _speed("left_m_s", "left", "commanded_left_m_s", "m/s"),
    _speed("turn_rad_s", "turn", "commanded_turn_rad_s", "rad/s"),
    Figure(FALLS, "falls", digits=0, limit=0.0),
    Figure("max_tilt_deg", "greatest tilt", "deg", digits=1),
    Figure("mean_tilt_deg", "mean tilt", "deg", digits=1),
    Figure("bounce_m", "bounce", "mm", 1000.0, digits=1),
    Figure("max_joint_speed_ratio", "joint speed / the card's", digits=3, limit=1.0),
    Figure("commanded_speed_ratio", "  commanded", digits=3, limit=1.0),
    Figure("measured_speed_ratio", "  measured", digits=3, limit=1.0),
    Figure("max_torque_ratio", "torque / stall torque", digits=2, limit=1.0),
    Figure("rms_torque_ratio", "  root mean square", digits=2),
    Figure("limit_margin_deg", "room to the joints' limits", "deg", digits=1, worse=Worse.SMALLER, limit=0.0),
    Figure("coupled_margin_deg", "room to coupled limits", "deg", digits=1, worse=Worse.SMALLER, limit=0.0),
    Figure("interventions", "held back by safety", digits=0, limit=0.0),
    Figure("slip_m", "slip of all feet", "mm", 1000.0, digits=0),
    Figure("slip_per_m", "slip per metre", "mm/m", 1000.0, digits=0),
    Figure("foot_clearance_m", "least lift of a foot", "mm", 1000.0, digits=1, worse=Worse.SMALLER),
    Figure("mid_swing_clearance_m", "least height in mid-swing", "mm", 1000.0, digits=1, worse=Worse.SMALLER),
    Figure("lowest_knee_m", "lowest knee", "mm", 1000.0, digits=1, worse=Worse.SMALLER),
    Figure("duty", "feet on the ground", "%", 100.0, digits=0),
    Figure("cost_of_transport", "cost of transport", digits=2),
    Figure("mean_power_w", "mean power", "W", digits=2),
)
"""In the order of a table."""
