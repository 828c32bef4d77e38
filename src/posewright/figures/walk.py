"""The picture of a walk: its path over the ground, footfalls, tilt, joint speeds and torques."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from posewright.controllers import is_page_walk
from posewright.documents import parse_document
from posewright.evaluation.walking.feet import foot_trajectories, lifting_phase
from posewright.evaluation.walking.report import WalkResult, evaluate_walk
from posewright.evaluation.walking.travel import cycle_velocities
from posewright.evaluation.walking.walk import Walk, command_spans
from posewright.figures.field import frame_from_above
from posewright.figures.gait.content import COLOURS as FOOT_COLOURS
from posewright.figures.gait.content import name_and_changes
from posewright.figures.style import (
    FAINT,
    GREY,
    INK,
    SERIES,
    WRONG,
    canvas,
    colours_of,
    create_mosaic,
    label_figure,
    styled,
)
from posewright.gaits import chain, se2_exp
from posewright.gaits.reading import SUFFIX, parse_gait
from posewright.kinematics import legs_by_foot
from posewright.recordings import Recording
from posewright.recordings.falls import true_intervals
from posewright.robots import Robot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from posewright.figures.style import Canvas

SETTLING = "#9aa5ad"
FORWARD, LEFT, TURN, ROLL, _, PITCH = SERIES
"""Colours of curves; none is a foot's."""

PALE_BAR = "#8fb8d4"
DARK_BAR = "#1b5e8a"
"""Colours of adjacent bars."""

BAR_WIDTH = 0.4
"""Of the two bars of a joint; joints are 1 apart."""

ARROW_EVERY_S = 1.0

CYCLES = 4
"""Number of cycles whose footfalls are drawn."""

_PANELS = [
    ["path", "path", "footfalls", "footfalls"],
    ["path", "path", "heights", "heights"],
    ["rates", "turns", "tilt", "tilt"],
    ["speeds", "speeds", "torques", "torques"],
]
_MIN_RATE_RANGE = 0.02
"""Least range of the axes of velocities [m/s, rad/s]."""


@styled("drawing a walk")
def draw_walk(walk: WalkResult | Recording, *, figure: Canvas | None = None) -> Figure:
    """Draw a walk of a gait.

    Args:
        walk: the recording, or its evaluation.
        figure: a figure, or a part of one, to draw into; default a new one. Its layout is `constrained`.

    Raises:
        InputError: the recording is not of a walk of a gait.
    """
    result = evaluate_walk(walk) if isinstance(walk, Recording) else walk
    walk_figure = canvas(figure, (13.0, 9.6), dpi=130, layout="constrained")
    axes = create_mosaic(walk_figure, _PANELS, height_ratios=(1.25, 1.0, 1.0, 1.05))
    draw_path(axes["path"], result.walk)
    draw_footfalls(axes["footfalls"], result)
    draw_heights(axes["heights"], result.walk)
    velocities = {"forward": FORWARD, "to the left": LEFT}
    draw_rates(
        axes["rates"], result.walk, colours=velocities, title="velocity of each cycle; dotted: commanded"
    )
    draw_rates(axes["turns"], result.walk, colours={"turn": TURN}, title="turning left")
    axes["rates"].set_ylabel("[m/s]")
    axes["turns"].set_ylabel("[rad/s]")
    draw_tilt(axes["tilt"], result)
    axes["tilt"].sharex(axes["rates"])
    loads = result.report.loads.joints
    joints = [load.joint for load in loads]
    shares = {
        "commanded": [load.commanded_speed_ratio for load in loads],
        "measured": [load.measured_speed_ratio for load in loads],
    }
    draw_bars(axes["speeds"], joints, shares)
    max_speed_share = result.report.loads.max_joint_speed_ratio
    axes["speeds"].set_title(
        f"greatest speed of each joint, as a share of what it can do: {max_speed_share:.3f} at most"
    )
    torques = {
        "greatest": [load.max_torque_ratio for load in loads],
        "root mean square": [load.rms_torque_ratio for load in loads],
    }
    draw_bars(axes["torques"], joints, torques)
    cost = result.report.energy.cost_of_transport
    transport = "" if cost is None else f"; cost of transport {cost:.2f}"
    axes["torques"].set_title(f"torque of each joint, as a share of its stall torque{transport}")
    title = _title(result)
    walk_figure.suptitle(title, x=0.01, ha="left", fontsize=10, parse_math=False)
    return label_figure(walk_figure, title)


def _title(result: WalkResult) -> str:
    """Return the title: measured and commanded speeds, falls, and the body."""
    travel = result.report.travel
    speeds = (travel.speed_m_s, travel.left_m_s, travel.turn_rad_s)
    labelled_speeds = zip(("forward", "left", "turn"), speeds, ("m/s", "m/s", "rad/s"), strict=True)
    velocity = ", ".join(
        f"{label} {'?' if value is None else format(value, '.3f')} {unit}"
        for label, value, unit in labelled_speeds
    )
    commanded = (travel.commanded_forward_m_s, travel.commanded_left_m_s, travel.commanded_turn_rad_s)
    command = " / ".join(f"{value:.3f}" for value in commanded)
    falls = result.report.falls
    ending = f"fell {falls[0].side} at {falls[0].time_s:.1f} s" if falls else "no fall"
    body = "nominal body"
    if not result.domain.is_nominal:
        body = textwrap.fill(f"body of seed {result.seed}: {result.domain}", width=150)
    document = result.recording.header.documents.get(f"{result.gait}{SUFFIX}", "")
    gait = result.gait
    if document and not is_page_walk(parse_document(document)):
        gait = name_and_changes(parse_gait(document, robot=result.robot)[0], result.robot)
    return f"{gait} on {result.robot.name}: {velocity} (commanded {command}); {ending}\n{body}"


# ---- feet and ground


def foot_colours(robot: Robot) -> dict[str, str]:
    """Return the colour of each foot; of four feet those in the picture of the gait."""
    if not robot.legs:
        return colours_of(robot.feet)
    return {foot: FOOT_COLOURS[name] for foot, name in zip(robot.feet, legs_by_foot(robot), strict=True)}


def foot_label(foot: str) -> str:
    """Return a foot's name as text: left front."""
    return foot.removesuffix("_paw").removesuffix("_foot").replace("_", " ")


def draw_path(axes: Axes, walk: Walk) -> None:
    """Draw the base's path from above, its heading each second, and the commanded path."""
    track = walk.trajectory
    begin = walk.first_measured_row
    positions = track.base[:, :2]
    axes.plot(*positions[: begin + 1].T, color=SETTLING, lw=1.4, label="path before it is measured")
    axes.plot(*positions[begin:].T, color=INK, lw=1.4, label="path of the base")
    _draw_commanded_path(axes, walk, begin)
    rows = np.arange(begin, len(positions), max(round(ARROW_EVERY_S / walk.frame_s), 1))
    headings = np.stack([np.cos(track.yaw[rows]), np.sin(track.yaw[rows])], axis=-1)
    axes.quiver(*positions[rows].T, *headings.T, color=INK, width=0.005, scale=22.0, zorder=4)
    axes.plot([], [], ls="", marker=r"$\rightarrow$", color=INK, ms=10, label="where it looks, each second")
    axes.plot(*positions[0], "o", color="black", ms=5, label="start")
    for fall in walk.falls:
        axes.plot(*positions[fall.row], "X", color=WRONG, ms=9, mec="white", label=f"falls {fall.side}")
    frame_from_above(axes)
    axes.set(xlabel="x [m]", ylabel="y [m], to the left", title="from above")
    axes.legend(loc="best", fontsize=7.5, frameon=False)
    axes.grid(alpha=0.3)


def _draw_commanded_path(axes: Axes, walk: Walk, begin: int) -> None:
    """Draw the commanded path, beginning with the robot's pose when the measurement began."""
    path = [np.array([*walk.trajectory.base[begin, :2], walk.trajectory.yaw[begin]])]
    for span in command_spans(walk.velocity_commands, walk.frame_s, begin, end=walk.last_row):
        for _ in range(span.start_row, span.stop_row):
            path.append(chain(path[-1], se2_exp(span.command.components(walk.frame_s))))
    axes.plot(*np.array(path)[:, :2].T, color="black", lw=0.9, ls="--", label="path that was commanded")


def _rows_of_drawn_footfalls(walk: Walk) -> tuple[int, int]:
    """Return the first and last row of the footfalls that are drawn: the last cycles before a fall."""
    last = max(walk.last_upright_row, 1)
    return max(last - CYCLES * walk.cycle.n_frames, 0), last


def draw_footfalls(axes: Axes, result: WalkResult) -> None:
    """Draw the ground phases of each foot as bars, and the planned ones as frames."""
    walk = result.walk
    feet = result.report.feet
    first, last = _rows_of_drawn_footfalls(walk)
    frame_s = walk.frame_s
    colours = foot_colours(walk.robot)
    for column, foot in enumerate(walk.robot.feet):
        ground_phases = true_intervals(walk.trajectory.foot_contacts[first:last, column])
        bars = [((begin + first) * frame_s, (end - begin) * frame_s) for begin, end in ground_phases]
        axes.broken_barh(bars, (column - 0.28, 0.56), color=colours[foot])
        planned_bars = _planned_ground_phases(walk, column, first, last)
        axes.broken_barh(planned_bars, (column - 0.42, 0.84), fc="none", ec=GREY, lw=1.0, ls="-")
    duties = [
        f"{foot_label(foot.foot)}, {'?' if foot.duty is None else f'{foot.duty:.0%}'} down"
        for foot in feet.feet
    ]
    axes.set(yticks=range(len(duties)), yticklabels=duties, xlabel="time [s]")
    axes.set_xlim(first * frame_s, last * frame_s)
    axes.set_title(
        f"feet on the ground: bars as it was, frames as the gait plans it ({feet.planned_duty:.0%})"
    )
    axes.invert_yaxis()


def _planned_ground_phases(walk: Walk, column: int, first: int, last: int) -> list[tuple[float, float]]:
    """Return beginning and duration of the planned ground phases of a foot [s].

    Args:
        walk: the walk.
        column: index of the foot.
        first: first row that is drawn.
        last: last row that is drawn; a phase before the first and after the last row is included.
    """
    cycle = walk.cycle
    first_cycle = np.floor(first * walk.frame_s / cycle.period_s) - 1.0
    cycle_numbers = np.arange(first_cycle, last * walk.frame_s / cycle.period_s + 1.0)
    begins = (lifting_phase(walk, column) + cycle_numbers) * cycle.period_s + cycle.air_share * cycle.period_s
    return [(begin, (1.0 - cycle.air_share) * cycle.period_s) for begin in begins.tolist()]


def draw_heights(axes: Axes, walk: Walk) -> None:
    """Draw the height of the lowest point of each foot."""
    first, last = _rows_of_drawn_footfalls(walk)
    colours = foot_colours(walk.robot)
    heights = 1000.0 * foot_trajectories(walk).heights
    rows = slice(first, last + 1)
    for column, foot in enumerate(walk.robot.feet):
        times = walk.trajectory.times[rows]
        axes.plot(times, heights[rows, column], color=colours[foot], lw=1.3, label=foot_label(foot))
    axes.axhline(0.0, color="black", lw=0.7)
    axes.set(xlabel="time [s]", ylabel="[mm]", xlim=(first * walk.frame_s, last * walk.frame_s))
    axes.set_title("lowest point of each foot above the ground")
    axes.legend(loc="upper right", ncols=4, fontsize=7, frameon=False)
    axes.set_ylim(top=axes.get_ylim()[1] * 1.25)
    axes.grid(alpha=0.3)


# ---- over time


def draw_rates(axes: Axes, walk: Walk, colours: Mapping[str, str], title: str) -> None:
    """Draw the mean velocity in each whole cycle as steps, in the base frame, and the commands dotted.

    Args:
        axes: the axes to draw into.
        walk: the walk to be drawn.
        colours: the colours by component: `forward`, `to the left`, `turn`.
        title: the title of the axes.
    """
    velocities = cycle_velocities(walk, begin=0, end=walk.last_upright_row)  # a row for each cycle
    end_s = float(walk.trajectory.times[-1])
    cycle_edges_s = np.arange(len(velocities) + 1) * walk.cycle.n_frames * walk.frame_s
    command_times = [timed_command.time_s for timed_command in walk.velocity_commands]
    commands = np.array(
        [tuple(timed_command.command.by_name.values()) for timed_command in walk.velocity_commands]
    )
    for component, colour in colours.items():
        column = ("forward", "to the left", "turn").index(component)
        if len(velocities):
            axes.stairs(velocities[:, column], cycle_edges_s, color=colour, lw=1.3, baseline=None)
        axes.plot([], [], color=colour, lw=1.3, label=component)
        commanded = [*commands[:, column], commands[-1, column]]  # the last one until the end
        axes.step([*command_times, end_s], commanded, where="post", color=colour, lw=1.0, ls=":")
    _mark_settling_and_falls(axes, walk)
    low, high = axes.get_ylim()
    missing_range = max(0.0, _MIN_RATE_RANGE - (high - low))
    legend_height = 0.25 * max(high - low, _MIN_RATE_RANGE)
    axes.set_ylim(low - missing_range / 2.0, high + missing_range / 2.0 + legend_height)
    axes.set(xlabel="time [s]", title=title, xlim=(0.0, end_s))
    if len(colours) > 1:
        axes.legend(loc="upper right", ncols=3, fontsize=7, frameon=False)
    axes.grid(alpha=0.3)


def draw_tilt(axes: Axes, result: WalkResult) -> None:
    """Draw roll, pitch and the tilt of the base from the vertical."""
    track = result.walk.trajectory
    attitude = result.report.attitude
    roll, pitch = track.roll_pitch_deg
    for values, colour, label, width in (
        (track.tilt_deg, "black", "tilt from the vertical", 1.3),
        (roll, ROLL, "roll, + right", 0.9),
        (pitch, PITCH, "pitch, + forward", 0.9),
    ):
        axes.plot(track.times, values, color=colour, lw=width, label=label)
    _mark_settling_and_falls(axes, result.walk)
    axes.set(xlabel="time [s]", ylabel="[deg]")
    axes.set_title(
        f"base: tilt {attitude.max_tilt_deg:.1f} deg at most, {attitude.mean_tilt_deg:.1f} on average"
    )
    low, high = axes.get_ylim()
    axes.set_ylim(low, high + 0.25 * (high - low))  # room for the legend
    axes.legend(loc="upper right", ncols=3, fontsize=7, frameon=False)
    axes.grid(alpha=0.3)


def _mark_settling_and_falls(axes: Axes, walk: Walk) -> None:
    """Shade the time before the measurement began, and mark falls."""
    axes.axvspan(0.0, walk.settled_row * walk.frame_s, color="#e8ebee", lw=0, zorder=0)
    for fall in walk.falls:
        axes.axvline(fall.time_s, color=WRONG, lw=1.2)


# ---- joints relative to the limits of their servos


def draw_bars(axes: Axes, joints: Sequence[str], bars: Mapping[str, Sequence[float]]) -> None:
    """Draw two bars for each joint, with a line at 1; bars beyond it have a red border.

    Args:
        axes: the axes to draw into.
        joints: their names.
        bars: the values of the joints, by label.
    """
    bar_positions = np.arange(len(joints))
    for (label, values), shift, colour in zip(bars.items(), (-0.5, 0.5), (PALE_BAR, DARK_BAR), strict=True):
        bar_patches = axes.bar(
            bar_positions + shift * BAR_WIDTH, values, BAR_WIDTH, color=colour, label=label
        )
        for bar, value in zip(bar_patches, values, strict=True):
            if value > 1.0:
                bar.set(edgecolor=WRONG, linewidth=1.6)
    axes.axhline(1.0, color=WRONG, lw=1.0)
    _label_joints(axes, joints)
    axes.set_ylim(0.0, max(1.15, 1.2 * max(value for values in bars.values() for value in values)))
    axes.legend(loc="upper right", ncols=2, fontsize=7, frameon=False)


def _label_joints(axes: Axes, joints: Sequence[str]) -> None:
    """Write the joint below each pair of bars, and the leg below its joints."""
    name_parts = [joint.rpartition("_") for joint in joints]
    axes.set_xticks(range(len(joints)), [joint_in_leg for _, _, joint_in_leg in name_parts], fontsize=7)
    legs = [leg for leg, _, _ in name_parts]
    for leg in dict.fromkeys(legs):
        leg_indices = [i for i, name in enumerate(legs) if name == leg]
        axes.annotate(
            leg.replace("_", " "),
            (sum(leg_indices) / len(leg_indices), 0.0),
            (0, -22),
            "data",
            "offset points",
            annotation_clip=False,
            ha="center",
            va="top",
            fontsize=8,
        )
        if leg_indices[0]:
            axes.axvline(leg_indices[0] - 0.5, color=FAINT, lw=0.8, zorder=0)
    axes.tick_params(axis="x", length=0)
