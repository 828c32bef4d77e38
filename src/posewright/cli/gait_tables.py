"""What `posewright gait run` and `gait compare` show to people."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from posewright import evaluation, runs
from posewright.display import Lines, Styled, Table, table

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


def walk_lines(result: evaluation.WalkResult, whose: str) -> Lines:
    """Yield the figures of one walk."""
    report = result.report
    yield _figures(result, whose)
    yield _feet(report)
    for fall in result.walk.falls:
        yield Styled(f"falls {fall.side} at {fall.time_s:.2f} s; the figures are up to there", BROKEN)
    yield f"fastest joint {report.loads.fastest_joint}, hardest {report.loads.hardest_joint}"
    for one in report.loads.corrections:
        yield f"safety: {one.guard} of {one.joint}, {_held_back(one)}, first at {one.time_s:.2f} s"
    if not result.domain.is_nominal:
        yield f"body: {result.domain}"
    yield from _last_lines(result.welded, result.simulated_s, result.wall_s, result.real_time_factor)


def _held_back(one: evaluation.Correction) -> str:
    """Return what safety held back; a speed is counted from what it had let through a frame before."""
    if one.guard == "joint limit":
        return f"{math.degrees(one.value):.1f} deg asked, {math.degrees(one.limit):.1f} deg let through"
    return f"{one.value:.2f} rad/s needed to keep up with what is asked, {one.limit:.2f} let through"


def _figures(result: evaluation.WalkResult, whose: str) -> Table:
    report = result.report
    measured = f"{report.travel.measured_s:.1f} s after {result.walk.terms.settle_s:.1f} s"
    title = f"{result.gait} on {result.robot.name}, {whose}, {measured}"
    rows = [
        (figure.words, _cell(figure, figure.of(report)), figure.unit, _beside(figure, report))
        for figure in evaluation.FIGURES
    ]
    return _table(title, ("figure", "measured", "unit", "asked or limit"), rows)


def _beside(figure: evaluation.Figure, report: evaluation.GaitReport) -> str:
    """Return what stands beside a figure: what was asked for and how far it is from that, or its limit."""
    if figure.name == "duty":
        return f"{report.feet.planned_duty * figure.scale:.0f} planned"
    if figure.commanded is None:
        return _limit(figure)
    asked = float(report.figures[figure.commanded])
    value = figure.of(report)
    off = f" ({value / asked - 1.0:+.0%})" if value is not None and asked else ""
    return f"{figure.text(asked)} asked{off}"


def _limit(figure: evaluation.Figure) -> str:
    if figure.limit is None:
        return ""
    if figure.limit == 0.0 and figure.worse is evaluation.Worse.GREATER:
        return "none"
    return f"at {'least' if figure.worse is evaluation.Worse.SMALLER else 'most'} {figure.limit:g}"


def _feet(report: evaluation.GaitReport) -> Table:
    rows = []
    for foot in report.feet.feet:
        lengths = (foot.slip_m, foot.highest_m, foot.lowest_swing_m, foot.mid_swing_m)
        shares = (foot.duty, foot.planned_duty)
        told = ["-" if length is None else f"{length * MM:.1f}" for length in lengths]
        told += ["-" if share is None else f"{share:.0%}".rstrip("%") for share in shares]
        rows.append((foot.foot.removesuffix("_paw").replace("_", " "), *told))
    return _table("", _FEET_HEADS, rows)


def many_lines(many: runs.ManyReport) -> Lines:
    """Yield how a gait fares on many bodies: worst and median, and each body in a row."""
    yield _many_figures(many)
    rows = (
        (body.seed, *(_no_cells() if body.report is None else _cells(body.report))) for body in many.bodies
    )
    yield _table("", ("seed", *_columns()), rows)
    for body in many.bodies:
        for what in _mishaps(body):
            yield Styled(f"seed {body.seed} {what}: {body.domain}", BROKEN)
    simulated = math.fsum(body.simulated_s for body in many.bodies)
    yield from _last_lines(many.welded, simulated, many.wall_s, many.real_time_factor)


def _many_figures(many: runs.ManyReport) -> Table:
    worst, median = many.worst, many.median
    failed = f", {len(many.failed)} failed" if many.failed else ""
    title = (
        f"{many.gait.name} on {many.robot.name}: {many.upright} of {len(many.bodies)} bodies upright{failed}"
    )
    rows = []
    for figure in evaluation.FIGURES:
        asked = None if figure.commanded is None else many.commanded(figure.commanded)
        beside = _limit(figure) if asked is None else f"{figure.text(asked)} asked"
        middle = figure.text(median[figure.name])
        rows.append((figure.words, _cell(figure, worst[figure.name]), middle, figure.unit, beside))
    return _table(title, ("figure", "worst", "median", "unit", "asked or limit"), rows)


def _mishaps(body: runs.WalkedBody) -> list[str]:
    if body.report is None:
        return [f"failed, {(body.failure or '').rstrip('.')}"]
    return [f"falls {fall.side} at {fall.time_s:.2f} s" for fall in body.report.falls]


def compare_table(results: Sequence[evaluation.WalkResult], whose: str) -> Table:
    """Return one row a gait."""
    first = results[0].report.travel
    asked = (first.commanded_forward_m_s, first.commanded_left_m_s, first.commanded_turn_rad_s)
    command = "forward {:g} m/s, left {:g} m/s, turn {:g} rad/s".format(*asked)
    title = f"{command}, {whose}, {results[0].walk.terms.seconds:g} s"
    rows = ((result.gait, *_cells(result.report)) for result in results)
    return _table(title, ("gait", *_columns()), rows)


def _compared() -> list[evaluation.Figure]:
    return [figure for figure in evaluation.FIGURES if figure.name in COMPARED]


def _columns() -> list[str]:
    return [f"{_HEADS.get(figure.name, figure.words)}\n{figure.unit}" for figure in _compared()]


def _cells(report: evaluation.GaitReport) -> list[Styled]:
    return [_cell(figure, figure.of(report)) for figure in _compared()]


def _cell(figure: evaluation.Figure, value: float | None) -> Styled:
    return Styled(figure.text(value), "" if figure.is_kept(value) else BROKEN)


def _no_cells() -> list[Styled]:
    """Return the cells of a body without figures: that it failed stands where its falls would."""
    return [Styled("failed", BROKEN) if one.name == evaluation.FALLS else Styled("-") for one in _compared()]


def _table(title: str, columns: Sequence[str], rows: Iterable[Iterable[object]]) -> Table:
    return table(columns, rows, title=title, text_columns=(columns[0], "unit", "asked or limit"))


def _last_lines(
    held: Sequence[str], simulated_s: float, wall_s: float, factor: float | None
) -> Iterator[str]:
    if held:
        yield f"held still, as next to nothing hangs on them: {', '.join(held)}"
    pace = f" in {wall_s:.1f} s ({factor:.0f} x real time)" if factor else ""
    yield f"{simulated_s:.1f} s simulated{pace}"
