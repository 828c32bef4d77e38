"""The figures of a report that are worth comparing: their names, units, and which way is worse."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from statistics import median

from posewright.display import Lines, Styled, Table, table
from posewright.evaluation.walking.report import GaitReport, WalkResult
from posewright.evaluation.walking.walk import Correction


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


MM = 1000.0
BROKEN = "bold red"

COMPARED = (
    *("speed_m_s", "left_m_s", "turn_rad_s", "falls", "max_tilt_deg", "max_joint_speed_ratio"),
    *("max_torque_ratio", "slip_per_m", "foot_clearance_m", "cost_of_transport"),
)
"""The figures that have a column where gaits or bodies stand one below the other."""

_FEET_HEADS = ("foot", "slip\nmm", "highest\nmm", "least lift\nmm", "mid-swing\nmm", "down\n%", "planned\n%")

_HEADS = {
    "max_tilt_deg": "tilt",
    "max_joint_speed_ratio": "joint speed",
    "max_torque_ratio": "torque",
    "slip_per_m": "slip",
    "foot_clearance_m": "least lift",
    "cost_of_transport": "cost",
}


def walk_lines(result: WalkResult, body: str) -> Lines:
    """Yield the figures of one walk."""
    report = result.report
    yield _figures(result, body)
    yield _feet(report)
    for fall in result.walk.falls:
        yield Styled(f"falls {fall.side} at {fall.time_s:.2f} s; the figures are up to there", BROKEN)
    yield f"fastest joint {report.loads.fastest_joint}, hardest {report.loads.hardest_joint}"
    for correction in report.loads.corrections:
        text = held_back_text(correction)
        yield f"safety: {correction.guard} of {correction.joint}, {text}, first at {correction.time_s:.2f} s"
    if not result.domain.is_nominal:
        yield f"body: {result.domain}"
    yield from simulation_lines(result.welded, result.simulated_s, result.wall_s, result.real_time_factor)


def held_back_text(correction: Correction) -> str:
    """Return what safety held back; a speed is counted from what it had let through a frame before."""
    value = correction.value
    limit = correction.limit
    if correction.guard == "joint limit":
        return f"{math.degrees(value):.1f} deg asked, {math.degrees(limit):.1f} deg let through"
    return f"{value:.2f} rad/s needed to keep up with what is asked, {limit:.2f} let through"


def _figures(result: WalkResult, body: str) -> Table:
    report = result.report
    measured = f"{report.travel.measured_s:.1f} s after {result.walk.terms.settle_s:.1f} s"
    title = f"{result.gait} on {result.robot.name}, {body}, {measured}"
    rows = [
        (figure.words, figure_cell(figure, figure.of(report)), figure.unit, _beside(figure, report))
        for figure in FIGURES
    ]
    return figure_table(title, ("figure", "measured", "unit", "asked or limit"), rows)


def _beside(figure: Figure, report: GaitReport) -> str:
    """Return what stands beside a figure: what was asked for and how far it is from that, or its limit."""
    if figure.name == "duty":
        return f"{report.feet.planned_duty * figure.scale:.0f} planned"
    if figure.commanded is None:
        return limit_text(figure)
    asked = float(report.figures[figure.commanded])
    value = figure.of(report)
    off = f" ({value / asked - 1.0:+.0%})" if value is not None and asked else ""
    return f"{figure.text(asked)} asked{off}"


def limit_text(figure: Figure) -> str:
    """Return the limit of a figure in words; empty where it has none."""
    if figure.limit is None:
        return ""
    if figure.limit == 0.0 and figure.worse is Worse.GREATER:
        return "none"
    return f"at {'least' if figure.worse is Worse.SMALLER else 'most'} {figure.limit:g}"


def _feet(report: GaitReport) -> Table:
    rows = []
    for foot in report.feet.feet:
        lengths = (foot.slip_m, foot.highest_m, foot.lowest_swing_m, foot.mid_swing_m)
        shares = (foot.duty, foot.planned_duty)
        texts = ["-" if length is None else f"{length * MM:.1f}" for length in lengths]
        texts += ["-" if share is None else f"{share:.0%}".rstrip("%") for share in shares]
        rows.append((foot.foot.removesuffix("_paw").replace("_", " "), *texts))
    return figure_table("", _FEET_HEADS, rows)


def compare_table(results: Sequence[WalkResult], body: str) -> Table:
    """Return one row a gait."""
    first = results[0].report.travel
    asked = (first.commanded_forward_m_s, first.commanded_left_m_s, first.commanded_turn_rad_s)
    command = "forward {:g} m/s, left {:g} m/s, turn {:g} rad/s".format(*asked)
    title = f"{command}, {body}, {results[0].walk.terms.seconds:g} s"
    rows = ((result.gait, *compared_cells(result.report)) for result in results)
    return figure_table(title, ("gait", *compared_columns()), rows)


def _compared() -> list[Figure]:
    return [figure for figure in FIGURES if figure.name in COMPARED]


def compared_columns() -> list[str]:
    """Return the heads of the columns where gaits or bodies stand one below the other."""
    return [f"{_HEADS.get(figure.name, figure.words)}\n{figure.unit}" for figure in _compared()]


def compared_cells(report: GaitReport) -> list[Styled]:
    """Return a row below these heads."""
    return [figure_cell(figure, figure.of(report)) for figure in _compared()]


def figure_cell(figure: Figure, value: float | None) -> Styled:
    """Return a figure as it is shown, in red beyond its limit."""
    return Styled(figure.text(value), "" if figure.is_kept(value) else BROKEN)


def missing_cells() -> list[Styled]:
    """Return the cells of a body without figures: that it failed stands where its falls would."""
    return [Styled("failed", BROKEN) if figure.name == FALLS else Styled("-") for figure in _compared()]


def figure_table(title: str, columns: Sequence[str], rows: Iterable[Iterable[object]]) -> Table:
    """Return a table whose first column, units and limits are words."""
    return table(columns, rows, title=title, text_columns=(columns[0], "unit", "asked or limit"))


def simulation_lines(
    welded: Sequence[str], simulated_s: float, wall_s: float, factor: float | None
) -> Iterator[str]:
    """Yield which joints were held still, how long was simulated, and how fast."""
    if welded:
        yield f"held still, as next to nothing hangs on them: {', '.join(welded)}"
    pace = f" in {wall_s:.1f} s ({factor:.0f} x real time)" if factor else ""
    yield f"{simulated_s:.1f} s simulated{pace}"
