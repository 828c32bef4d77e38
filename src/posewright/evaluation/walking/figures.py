"""The figures of a walk that tables show: names, units, limits, and which of two values is worse."""

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
    """Which of two values of a figure is worse."""

    GREATER = "greater"
    SMALLER = "smaller"
    FARTHER = "farther from the command"


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of a report, with its presentation.

    Attributes:
        name: the name of its field in the report.
        label: the label in tables.
        unit: the unit in tables.
        scale: factor from the field's unit to the table's.
        digits: after the decimal point.
        worse: which of two values is worse.
        commanded: name of the field with the commanded value.
        limit: beyond which the figure is unacceptable, in the field's unit.
    """

    name: str
    label: str
    unit: str = ""
    scale: float = 1.0
    digits: int = 2
    worse: Worse = Worse.GREATER
    commanded: str | None = None
    limit: float | None = None

    def value_in(self, report: GaitReport) -> float | None:
        """Return the figure's value in a report."""
        value: float | None = report.figures[self.name]
        return value

    def text(self, value: float | None) -> str:
        """Return a value as text in the table's unit."""
        return "-" if value is None else f"{value * self.scale:z.{self.digits}f}"

    def is_within_limit(self, value: float | None) -> bool:
        """Return whether a value is within the limit; True without a value or a limit."""
        if value is None or self.limit is None:
            return True
        return value >= self.limit if self.worse is Worse.SMALLER else value <= self.limit

    def worst(self, reports: Sequence[GaitReport]) -> float | None:
        """Return the worst value in several reports; None if none has a value."""
        badness_and_value = []
        for report in reports:
            value = self.value_in(report)
            if value is not None:
                badness_and_value.append((self._badness(value, report), value))
        if not badness_and_value:
            return None
        _, worst_value = max(badness_and_value)
        return worst_value

    def median(self, reports: Sequence[GaitReport]) -> float | None:
        """Return the median of the values in several reports; None if none has a value."""
        values = [value for report in reports if (value := self.value_in(report)) is not None]
        return float(median(values)) if values else None

    def _badness(self, value: float, report: GaitReport) -> float:
        """Return a number that is greater the worse the value is."""
        if self.commanded is not None:
            return abs(value - float(report.figures[self.commanded]))
        return -value if self.worse is Worse.SMALLER else value


def _speed(name: str, label: str, commanded: str, unit: str) -> Figure:
    return Figure(name, label, unit, digits=3, worse=Worse.FARTHER, commanded=commanded)


FALLS = "falls"
"""The figure whose column says that the simulation of a body failed."""

FIGURES: tuple[Figure, ...] = (
    _speed("speed_m_s", label="forward", commanded="commanded_forward_m_s", unit="m/s"),
    _speed("left_m_s", label="left", commanded="commanded_left_m_s", unit="m/s"),
    _speed("turn_rad_s", label="turn", commanded="commanded_turn_rad_s", unit="rad/s"),
    Figure(FALLS, "falls", digits=0, limit=0.0),
    Figure("max_tilt_deg", "greatest tilt", "deg", digits=1),
    Figure("mean_tilt_deg", "mean tilt", "deg", digits=1),
    Figure("bounce_m", label="bounce", unit="mm", scale=1000.0, digits=1),
    Figure("max_joint_speed_ratio", "joint speed / the card's", digits=3, limit=1.0),
    Figure("commanded_speed_ratio", "  commanded", digits=3, limit=1.0),
    Figure("measured_speed_ratio", "  measured", digits=3, limit=1.0),
    Figure("max_torque_ratio", "torque / stall torque", digits=2, limit=1.0),
    Figure("rms_torque_ratio", "  root mean square", digits=2),
    Figure("limit_margin_deg", "room to the joints' limits", "deg", digits=1, worse=Worse.SMALLER, limit=0.0),
    Figure("coupled_margin_deg", "room to coupled limits", "deg", digits=1, worse=Worse.SMALLER, limit=0.0),
    Figure("interventions", "safety corrections", digits=0, limit=0.0),
    Figure("slip_m", label="slip of all feet", unit="mm", scale=1000.0, digits=0),
    Figure("slip_per_m", label="slip per metre", unit="mm/m", scale=1000.0, digits=0),
    Figure(
        "foot_clearance_m",
        label="least lift of a foot",
        unit="mm",
        scale=1000.0,
        digits=1,
        worse=Worse.SMALLER,
    ),
    Figure(
        "mid_swing_clearance_m",
        label="least height in mid-swing",
        unit="mm",
        scale=1000.0,
        digits=1,
        worse=Worse.SMALLER,
    ),
    Figure("lowest_knee_m", label="lowest knee", unit="mm", scale=1000.0, digits=1, worse=Worse.SMALLER),
    Figure("duty", label="feet on the ground", unit="%", scale=100.0, digits=0),
    Figure("cost_of_transport", "cost of transport", digits=2),
    Figure("mean_power_w", "mean power", "W", digits=2),
)
"""In the order of their rows."""


MM_PER_M = 1000.0
ALARM_STYLE = "bold red"
REFERENCE_COLUMN = "commanded or limit"

COMPARED_FIGURES = (
    *("speed_m_s", "left_m_s", "turn_rad_s", "falls", "max_tilt_deg", "max_joint_speed_ratio"),
    *("max_torque_ratio", "slip_per_m", "foot_clearance_m", "cost_of_transport"),
)
"""Names of the figures with a column in tables that compare gaits or bodies."""

_FOOT_COLUMNS = (
    "foot",
    "slip\nmm",
    "highest\nmm",
    "least lift\nmm",
    "mid-swing\nmm",
    "down\n%",
    "planned\n%",
)

_SHORT_LABELS = {
    "max_tilt_deg": "tilt",
    "max_joint_speed_ratio": "joint speed",
    "max_torque_ratio": "torque",
    "slip_per_m": "slip",
    "foot_clearance_m": "least lift",
    "cost_of_transport": "cost",
}


def walk_lines(result: WalkResult, body: str) -> Lines:
    """Yield the figures of one walk as tables and lines.

    Args:
        result: the result of the walk.
        body: description of the body, for the title.
    """
    report = result.report
    yield _figure_rows(result, body)
    yield _foot_rows(report)
    for fall in result.walk.falls:
        yield Styled(f"falls {fall.side} at {fall.time_s:.2f} s; the figures are up to there", ALARM_STYLE)
    yield f"fastest joint {report.loads.fastest_joint}, hardest {report.loads.hardest_joint}"
    for correction in report.loads.corrections:
        text = correction_text(correction)
        yield f"safety: {correction.guard} of {correction.joint}, {text}, first at {correction.time_s:.2f} s"
    if not result.domain.is_nominal:
        yield f"body: {result.domain}"
    yield from simulation_lines(result.welded, result.simulated_s, result.wall_s, result.real_time_factor)


def correction_text(correction: Correction) -> str:
    """Describe a correction by the safety filter; a speed is relative to its command one frame before."""
    value = correction.value
    limit = correction.limit
    if correction.guard == "joint limit":
        return f"{math.degrees(value):.1f} deg requested, limited to {math.degrees(limit):.1f} deg"
    return f"{value:.2f} rad/s needed to follow the request, limited to {limit:.2f} rad/s"


def _figure_rows(result: WalkResult, body: str) -> Table:
    """Return the table of all figures of a walk."""
    report = result.report
    measured = f"{report.travel.measured_s:.1f} s after {result.walk.settings.settle_s:.1f} s"
    title = f"{result.gait} on {result.robot.name}, {body}, {measured}"
    rows = [
        (
            figure.label,
            figure_cell(figure, figure.value_in(report)),
            figure.unit,
            _reference_text(figure, report),
        )
        for figure in FIGURES
    ]
    return figure_table(title, ("figure", "measured", "unit", REFERENCE_COLUMN), rows)


def _reference_text(figure: Figure, report: GaitReport) -> str:
    """Return what a figure is to be compared with, as text.

    It is the planned value for the duty factor; else the commanded value, with the relative error of the
    measured one; else the figure's limit.
    """
    if figure.name == "duty":
        return f"{report.feet.planned_duty * figure.scale:.0f} planned"
    if figure.commanded is None:
        return limit_text(figure)
    commanded_value = float(report.figures[figure.commanded])
    measured_value = figure.value_in(report)
    commanded_text = f"{figure.text(commanded_value)} commanded"
    if measured_value is None or commanded_value == 0.0:  # without a relative error
        return commanded_text
    return f"{commanded_text} ({measured_value / commanded_value - 1.0:+.0%})"


def limit_text(figure: Figure) -> str:
    """Return the limit of a figure in words; empty if it has none."""
    if figure.limit is None:
        return ""
    if figure.limit == 0.0 and figure.worse is Worse.GREATER:
        return "none"
    return f"at {'least' if figure.worse is Worse.SMALLER else 'most'} {figure.limit:g}"


def _foot_rows(report: GaitReport) -> Table:
    """Return the table of the figures of each foot."""
    rows = []
    for foot in report.feet.feet:
        lengths_m = (foot.slip_m, foot.highest_m, foot.lowest_swing_m, foot.mid_swing_m)
        shares = (foot.duty, foot.planned_duty)
        texts = ["-" if length is None else f"{length * MM_PER_M:.1f}" for length in lengths_m]
        texts += ["-" if share is None else f"{share:.0%}".rstrip("%") for share in shares]
        rows.append((foot.foot.removesuffix("_paw").replace("_", " "), *texts))
    return figure_table("", _FOOT_COLUMNS, rows)


def compare_table(results: Sequence[WalkResult], body: str) -> Table:
    """Return a table that compares walks of different gaits with the same command, one row each."""
    travel = results[0].report.travel
    command = (
        f"forward {travel.commanded_forward_m_s:g} m/s, left {travel.commanded_left_m_s:g} m/s, "
        f"turn {travel.commanded_turn_rad_s:g} rad/s"
    )
    title = f"{command}, {body}, {results[0].walk.settings.seconds:g} s"
    rows = ((result.gait, *compared_cells(result.report)) for result in results)
    return figure_table(title, ("gait", *compared_columns()), rows)


def _compared_figures() -> list[Figure]:
    return [figure for figure in FIGURES if figure.name in COMPARED_FIGURES]


def compared_columns() -> list[str]:
    """Return the column heads of the figures in tables that compare gaits or bodies."""
    return [
        f"{_SHORT_LABELS.get(figure.name, figure.label)}\n{figure.unit}" for figure in _compared_figures()
    ]


def compared_cells(report: GaitReport) -> list[Styled]:
    """Return the cells of a report below these heads."""
    return [figure_cell(figure, figure.value_in(report)) for figure in _compared_figures()]


def figure_cell(figure: Figure, value: float | None) -> Styled:
    """Return the cell of a value, in red beyond the limit of its figure."""
    return Styled(figure.text(value), "" if figure.is_within_limit(value) else ALARM_STYLE)


def missing_cells() -> list[Styled]:
    """Return the cells of a body without figures because its simulation failed."""
    return [
        Styled("failed", ALARM_STYLE) if figure.name == FALLS else Styled("-")
        for figure in _compared_figures()
    ]


def figure_table(title: str, columns: Sequence[str], rows: Iterable[Iterable[object]]) -> Table:
    """Return a table of figures, with its first column, units and references aligned as text."""
    return table(columns, rows, title=title, text_columns=(columns[0], "unit", REFERENCE_COLUMN))


def simulation_lines(
    fixed_joints: Sequence[str], simulated_s: float, wall_s: float, factor: float | None
) -> Iterator[str]:
    """Yield lines about fixed joints, and about simulated and wall time.

    Args:
        fixed_joints: names of the joints that the simulation has fixed.
        simulated_s: simulated time [s].
        wall_s: wall time [s].
        factor: simulated time divided by wall time; None if unknown.
    """
    if fixed_joints:
        yield f"fixed, as they move next to no mass: {', '.join(fixed_joints)}"
    pace = f" in {wall_s:.1f} s ({factor:.0f} x real time)" if factor else ""
    yield f"{simulated_s:.1f} s simulated{pace}"
