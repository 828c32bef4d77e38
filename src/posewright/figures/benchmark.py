"""The page of a walking benchmark: speeds, heading, loads, falls, pushes and floors."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from posewright.evaluation.walking.benchmark import (
    BenchmarkReport,
    Direction,
    Floor,
    FloorTest,
    PushPlace,
    SpeedTest,
    side_name,
)
from posewright.evaluation.walking.figures import MM_PER_M
from posewright.figures.style import (
    COLOURS,
    FAINT,
    GREY,
    INK,
    WRONG,
    canvas,
    create_mosaic,
    label_figure,
    styled,
)

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from posewright.figures.style import Canvas

_WIDTH_IN = 13.0
_ROW_HEIGHT_IN = 3.1
_HEAD_IN = 0.7
_TITLE_CHARACTERS = 150

_BAR_SHARE = 0.62
"""Width of a bar over the distance between two bars."""

_RING_GAP = 0.25
"""Least distance between two rings of the panel of pushes, over the greatest impulse."""

_RING_LABEL_RAD = math.radians(67.5)
"""Where the rings of the panel of pushes are labelled: between two sides [rad]."""

_LOADS = {"max_torque_ratio": "torque / stall torque", "max_joint_speed_ratio": "joint speed / the card's"}


@styled("drawing a walk report")
def draw_walk_report(report: BenchmarkReport, *, figure: Canvas | None = None) -> Figure:
    """Draw the results of a walking benchmark on one page.

    Args:
        report: the results.
        figure: a figure, or a part of one, to draw into; default a new one. Its layout is `constrained`.
    """
    takes_command = report.commanded_m_s is not None
    if takes_command:
        left_name = "left" if report.speeds_in(Direction.LEFT) else "forward"
        turn_name = "turn" if report.speeds_in(Direction.TURN) else left_name
        rows = [
            ["forward", "forward", left_name, turn_name],
            ["heading", "loads", "efficiency", "falls"],
            ["pushes", "survival", "plates", "slope"],
        ]
    else:
        rows = [["forward", "falls", "plates", "slope"], ["pushes", "pushes", "survival", "survival"]]
    page = canvas(figure, (_WIDTH_IN, _HEAD_IN + len(rows) * _ROW_HEIGHT_IN), dpi=130, layout="constrained")
    axes = create_mosaic(page, rows)
    for direction, name in (
        (Direction.FORWARD, "forward"),
        (Direction.LEFT, "left"),
        (Direction.TURN, "turn"),
    ):
        if name in axes:
            _draw_speeds(axes[name], report.speeds_in(direction), direction)
    if takes_command:
        forward_tests = [test for test in report.speeds_in(Direction.FORWARD) if test.commanded]
        _draw_heading(axes["heading"], forward_tests, report.seconds)
        _draw_loads(axes["loads"], forward_tests)
        _draw_efficiency(axes["efficiency"], forward_tests)
    _draw_falls(axes["falls"], report)
    _draw_pushes(axes["pushes"], report)
    _draw_survival(axes["survival"], report)
    for floor in Floor:
        _draw_floors(axes[floor.value], [test for test in report.floors if test.floor is floor], floor)
    title = f"{report.title}: {report.conditions}"
    page.suptitle(
        "\n".join([report.title, *textwrap.wrap(_summarise(report), _TITLE_CHARACTERS)]),
        x=0.01,
        ha="left",
        fontsize=10,
        parse_math=False,
    )
    page.legend(handles=_legend_handles(), loc="outside lower left", ncols=6, fontsize=7, frameon=False)
    return label_figure(page, f"walk report {title}")


def _summarise(report: BenchmarkReport) -> str:
    """Return the speed, the mass and the conditions of a report as text."""
    top = next(report.headlines())
    leg = "" if report.leg_length_m is None else f", legs of {report.leg_length_m:.3f} m"
    return f"{top.label} {top.value} ({top.note}); {report.mass_kg:.2f} kg{leg}; {report.conditions}"


def _legend_handles() -> list[Artist]:
    """Return the entries of the legend."""
    from matplotlib.lines import Line2D

    return [
        Line2D([], [], color=COLOURS[0], marker=".", linewidth=0.0, label="a random body"),
        Line2D([], [], color=WRONG, marker="x", markersize=4.0, linewidth=0.0, label="a fall"),
        Line2D([], [], color=COLOURS[0], linewidth=1.4, label="median of the upright random bodies"),
        Line2D([], [], color=INK, marker="D", mfc="none", markersize=4.5, linewidth=0.0, label="the model"),
        Line2D([], [], color=GREY, linewidth=0.8, linestyle="--", label="commanded"),
    ]


def _set_panel(axes: Axes, title: str, xlabel: str, ylabel: str) -> None:
    """Give a panel its title, labels, grid and two edges."""
    axes.set_title(title, loc="left", fontsize=8.5, color=INK, parse_math=False)
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    axes.grid(visible=True, alpha=0.25)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def _draw_speeds(axes: Axes, tests: Sequence[SpeedTest], direction: Direction) -> None:
    """Draw the measured over the commanded speeds of all bodies."""
    _draw_runs(axes, tests, direction.figure, with_falls=True)
    commands = [test.commanded for test in tests if test.commanded is not None]
    if not commands:
        _set_panel(axes, f"speed {tests[0].title}", "", "measured")
        axes.set_xticks([])
        axes.set_ylim(0.0, 1.15 * axes.get_ylim()[1])
        return
    _draw_medians(axes, tests, direction.figure)
    span = [min(0.0, *commands), max(0.0, *commands)]
    axes.plot(span, span, color=GREY, linewidth=0.8, linestyle="--")
    _set_panel(axes, tests[0].title, "commanded", "measured")


def _draw_runs(axes: Axes, tests: Sequence[SpeedTest], figure: str, *, with_falls: bool) -> None:
    """Draw a figure of each run over its command: dots of random bodies, a diamond of the nominal one."""
    for test in tests:
        commanded = test.commanded or 0.0
        for run in test.runs:
            value = run.figure(figure)
            if value is None:
                continue
            if run.is_upright and run.is_nominal:
                axes.plot(commanded, value, "D", color=INK, mfc="none", markersize=4.5, zorder=4)
            elif run.is_upright:
                axes.plot(commanded, value, ".", color=COLOURS[0], markersize=5.0, alpha=0.6)
            elif with_falls:
                axes.plot(commanded, value, "x", color=WRONG, markersize=4.0)


def _draw_medians(axes: Axes, tests: Sequence[SpeedTest], figure: str) -> None:
    """Draw the medians of a figure over the commands as a line."""
    medians = [test.median(figure) for test in tests]
    axes.plot(
        [test.commanded or 0.0 for test in tests],
        [math.nan if value is None else value for value in medians],
        color=COLOURS[0],
        linewidth=1.4,
    )


def _draw_heading(axes: Axes, tests: Sequence[SpeedTest], seconds: float) -> None:
    """Draw how far each body has turned without a command to turn."""
    _draw_runs(axes, tests, "heading_drift_deg", with_falls=False)
    axes.axhline(0.0, color=GREY, linewidth=0.8, linestyle="--")
    _set_panel(axes, f"heading off after {seconds:g} s [deg]", "commanded forward [m/s]", "to the left")


def _draw_loads(axes: Axes, tests: Sequence[SpeedTest]) -> None:
    """Draw greatest torque and joint speed as shares of what the servos can do."""
    commands = [test.commanded or 0.0 for test in tests]
    for (name, label), colour in zip(_LOADS.items(), (COLOURS[1], COLOURS[3]), strict=True):
        values = [test.median(name) for test in tests]
        axes.plot(
            commands,
            [math.nan if value is None else value for value in values],
            color=colour,
            marker=".",
            linewidth=1.4,
            label=label,
        )
    axes.axhline(1.0, color=WRONG, linewidth=1.0)
    axes.set_ylim(0.0, max(1.3, 1.2 * axes.get_ylim()[1]))
    axes.legend(loc="lower right", fontsize=7, frameon=False)
    _set_panel(axes, "loads of the hardest joints", "commanded forward [m/s]", "share of the limit")


def _draw_efficiency(axes: Axes, tests: Sequence[SpeedTest]) -> None:
    """Draw the cost of transport, and the slip a metre on an axis of its own."""
    commands = [test.commanded or 0.0 for test in tests]
    costs = [test.median("cost_of_transport") for test in tests]
    slips = [test.median("slip_per_m") for test in tests]
    _set_panel(axes, "efficiency", "commanded forward [m/s]", "cost of transport")
    axes.plot(
        commands,
        [math.nan if cost is None else cost for cost in costs],
        color=COLOURS[1],
        marker=".",
        linewidth=1.4,
    )
    axes.yaxis.label.set_color(COLOURS[1])
    axes.set_ylim(bottom=0.0)
    slip_axes = axes.twinx()
    slip_axes.plot(
        commands,
        [math.nan if slip is None else MM_PER_M * slip for slip in slips],
        color=COLOURS[3],
        marker=".",
        linewidth=1.4,
    )
    slip_axes.set_ylabel("slip of all feet [mm/m]", color=COLOURS[3])
    slip_axes.set_ylim(bottom=0.0)
    slip_axes.spines["top"].set_visible(False)


def _draw_falls(axes: Axes, report: BenchmarkReport) -> None:
    """Draw falls an hour as bars, with a line up to their upper bound."""
    for position, test in enumerate(report.falls):
        rate = test.falls_per_hour
        bound = test.most_falls_per_hour
        if rate is None or bound is None:
            continue
        axes.bar(position, rate, width=_BAR_SHARE, color=WRONG)
        axes.plot([position, position], [rate, bound], color=INK, linewidth=1.0)
        axes.plot(position, bound, "_", color=INK, markersize=9.0)
        label = f"{rate:.1f}\n{test.n_falls} in {test.hours:.2f} h"
        axes.annotate(
            label, (position, bound), (0, 3), textcoords="offset points", ha="center", va="bottom", fontsize=7
        )
    _set_panel(axes, "falls an hour; line: 95 % upper bound", "", "falls an hour")
    axes.grid(visible=False, axis="x")
    axes.set_xlim(-0.6, len(report.falls) - 0.4)
    axes.set_xticks(range(len(report.falls)), [test.title for test in report.falls])
    axes.set_ylim(0.0, max(1.3 * axes.get_ylim()[1], 1.0))


def _draw_pushes(axes: Axes, report: BenchmarkReport) -> None:
    """Draw the greatest impulse by the side from which it comes, ahead at the top, a line for each phase."""
    impulses = report.greatest_impulses
    sides = list(dict.fromkeys(place.side_deg for place in impulses))
    greatest = max(*impulses.values(), report.impulses_n_s[0])
    rings: list[float] = []
    for impulse in reversed(report.impulses_n_s):
        if impulse <= greatest and (not rings or rings[-1] - impulse >= _RING_GAP * greatest):
            rings.append(impulse)
    angles = [math.tau * i / 120 for i in range(121)]
    for ring in rings:
        axes.plot(
            [ring * math.cos(angle) for angle in angles],
            [ring * math.sin(angle) for angle in angles],
            color=FAINT,
            linewidth=0.8,
            zorder=0,
        )
        label_place = (ring * math.cos(_RING_LABEL_RAD), ring * math.sin(_RING_LABEL_RAD))
        axes.annotate(f"{ring:g}", label_place, color=GREY, fontsize=6.5, ha="center", va="center")
    phases = sorted({place.phase for place in impulses})
    for phase, colour in zip(phases, COLOURS, strict=False):
        # ahead is up in the picture, and the left is left
        corners = [
            (
                -impulses[PushPlace(side, phase)] * math.sin(math.radians(side)),
                impulses[PushPlace(side, phase)] * math.cos(math.radians(side)),
            )
            for side in [*sides, sides[0]]
        ]
        axes.plot(
            *zip(*corners, strict=True),
            color=colour,
            marker=".",
            linewidth=1.2,
            label=f"phase {phase:.2f}",
        )
    for side in sides:
        axes.annotate(
            side_name(side),
            (
                -1.2 * greatest * math.sin(math.radians(side)),
                1.2 * greatest * math.cos(math.radians(side)),
            ),
            fontsize=6.5,
            color=GREY,
            ha="center",
            va="center",
        )
    axes.set_title("greatest push survived [N s], by side", loc="left", fontsize=8.5, color=INK)
    axes.set_aspect("equal")
    axes.set(xlim=(-1.4 * greatest, 1.4 * greatest), ylim=(-1.3 * greatest, 1.3 * greatest))
    axes.axis("off")
    axes.legend(loc="lower left", bbox_to_anchor=(-0.08, -0.08), fontsize=6.5, frameon=False)


def _draw_survival(axes: Axes, report: BenchmarkReport) -> None:
    """Draw the share of pushes that are survived over their impulse."""
    impulses = report.impulses_n_s
    shares = [100.0 * report.survived_share(impulse) for impulse in impulses]
    axes.plot(impulses, shares, color=COLOURS[0], marker="o", markersize=3.5, linewidth=1.4)
    _set_panel(axes, "pushes of all sides and phases", "impulse [N s]", "survived [%]")
    axes.set_ylim(0.0, 105.0)
    axes.set_xlim(left=0.0)


def _draw_floors(axes: Axes, tests: Sequence[FloorTest], floor: Floor) -> None:
    """Draw the share of upright bodies on each floor of a kind."""
    shares = [100.0 * test.upright_share for test in tests]
    axes.bar(range(len(tests)), shares, width=_BAR_SHARE, color=COLOURS[0])
    for position, test in enumerate(tests):
        axes.annotate(
            f"{test.n_upright} of {len(test.runs)}",
            (position, shares[position]),
            (0, 2),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize=7,
        )
    _set_panel(axes, f"upright on {floor.value}", f"[{floor.unit}]", "upright [%]")
    axes.grid(visible=False, axis="x")
    axes.set_xlim(-0.6, len(tests) - 0.4)
    axes.set_xticks(range(len(tests)), [f"{test.value:g}" for test in tests])
    axes.set_ylim(0.0, 115.0)
