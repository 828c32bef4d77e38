"""The page of a gait: feet from the side and from above, phases, joints and their speeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from posewright.figures.gait import cycle, feet
from posewright.figures.gait.biped_page import BipedContent, draw_biped_page
from posewright.figures.gait.content import COLOURS, SHORT_FOOT_NAMES, FootPath, GaitContent
from posewright.figures.gait.head import (
    COLUMN_GAP_IN,
    COLUMN_WIDTH_IN,
    LEFT_MARGIN_IN,
    PAGE_SIZE_IN,
    subtitle,
    write_head,
    write_heading,
)
from posewright.figures.style import GREY, INK, axes_at, canvas, label_figure, styled
from posewright.gaits import (
    FEET,
    BipedGait,
    Gait,
    ParametricGait,
    VelocityCommand,
    bound_text,
    greatest_speed_m_s,
    greatest_turn_rad_s,
    require_quadruped,
    robot_of_gait,
)
from posewright.robots import Robot

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure

    from posewright.figures.style import Canvas

# Measures of the page [in], from its upper left corner.
SIDE_TOP_IN = 1.6
SIDE_HEIGHT_IN = 1.12
SIDE_STEP_IN = 1.5
ABOVE_TOP_IN = 4.84
ABOVE_HEIGHT_IN = 2.32
JOINTS_TOP_IN = 7.86
JOINT_HEIGHT_IN = 0.6
JOINT_STEP_IN = 0.83
SPEED_HEIGHT_IN = 0.8
GAUGE_WIDTH_IN = 0.09
GAUGE_GAP_IN = 0.1
GAUGE_TEXT_WIDTH_IN = 0.22

FASTER_THAN_ANY_M_S = 1e3
"""A speed that every gait clips to its greatest [m/s]."""


@styled("drawing a gait")
def draw_gait(
    gait: ParametricGait,
    robot: Robot | str | None = None,
    *,
    command: VelocityCommand | None = None,
    figure: Canvas | None = None,
) -> Figure:
    """Draw a steady cycle of a gait, without simulation.

    Args:
        gait: the gait to be drawn.
        robot: the robot that walks, or its name; default the gait's own.
        command: the velocity; default half the greatest speed, forward.
        figure: a figure, or a part of one, to draw into; default a new page.

    Raises:
        InputError: a command out of the gait's range, or an inconsistent gait.
        UnknownNameError: there is no such robot.
        UnreachableError: a foot cannot reach its place.
    """
    walking_robot = robot_of_gait(gait, robot)
    drawn_command = half_speed_command(gait, walking_robot) if command is None else command
    if isinstance(gait, BipedGait):
        return draw_biped_page(BipedContent(gait, walking_robot, drawn_command), figure)
    return draw_gait_page(GaitContent(require_quadruped(gait), walking_robot, drawn_command), figure)


def half_speed_command(gait: Gait, robot: Robot) -> VelocityCommand:
    """Return the command of half the greatest speed, forward."""
    greatest = gait.generator(robot).clip_command(VelocityCommand(forward_m_s=FASTER_THAN_ANY_M_S))
    return VelocityCommand(forward_m_s=0.5 * greatest.forward_m_s)


def draw_gait_page(content: GaitContent, into: Canvas | None = None) -> Figure:
    """Draw the page of a gait."""
    figure = canvas(into, PAGE_SIZE_IN, dpi=150)
    write_head(
        figure,
        content,
        times=times_line(content),
        legend_handles=_legend_handles(),
    )
    _draw_side_views(figure, content)
    _draw_above_and_phases(figure, content)
    for column, foot in enumerate(displayed_legs(content)):
        _draw_leg(
            figure,
            content,
            path=content.feet[foot],
            left=LEFT_MARGIN_IN + column * (COLUMN_WIDTH_IN + COLUMN_GAP_IN),
        )
    return label_figure(figure, f"gait {content.gait.name}: {subtitle(content)}")


def displayed_legs(content: GaitContent) -> tuple[str, str]:
    """Return rear and front foot of the left side, or of the right one if its joints are faster."""
    max_speeds = {"left": 0.0, "right": 0.0}
    for foot in FEET:
        side = foot.partition("_")[0]
        indices = list(content.feet[foot].leg.indices)
        max_speeds[side] = max(max_speeds[side], float(content.speeds[:, indices].max()))
    is_right_faster = max_speeds["right"] > max_speeds["left"] * (1.0 + 1e-6)  # not by a rounding error
    side = "right" if is_right_faster else "left"
    return f"{side}_rear", f"{side}_front"


def times_line(content: GaitContent) -> str:
    """Return the times of a cycle and the greatest command."""
    timing = content.timing
    parameters = content.gait.parameters
    return (
        f"a cycle takes {timing.period_s:.3f} s ({timing.n_frames} frames): {timing.ground_s:.3f} s down, "
        f"{timing.air_s:.3f} s in the air; at most {bound_text(greatest_speed_m_s(parameters, timing))} m/s "
        f"and {bound_text(greatest_turn_rad_s(parameters, timing), 2)} rad/s"
    )


def _legend_handles() -> list[Artist]:
    """Return the legend's entries."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    return [
        Line2D([], [], color=GREY, lw=1.5, label="path of the foot"),
        Line2D([], [], color=GREY, lw=0.9, ls=feet.PLANNED_STYLE, label="as designed"),
        Line2D([], [], color=GREY, ls="", marker="o", ms=4.0, label="waypoint: foot down"),
        Line2D([], [], color=GREY, ls="", marker="o", ms=4.0, mfc="white", label="foot up"),
        Line2D([], [], color=GREY, ls="", marker="D", ms=3.2, mfc="#c8ced3", label="as another lifts"),
        Line2D([], [], ls="", marker="+", ms=9, mew=1.3, color=INK, label="place at rest"),
        Patch(color=cycle.BAND, label="time in the air"),
    ]


def _draw_side_views(figure: Canvas, content: GaitContent) -> None:
    """Draw the path of each foot from the side."""
    view = feet.side_view(content, SIDE_HEIGHT_IN / COLUMN_WIDTH_IN)
    direction = "from behind" if view.is_from_behind else "from the right"
    write_heading(
        figure, SIDE_TOP_IN, f"The feet {direction}: height over {view.axis_label}, from its place at rest"
    )
    for index, foot in enumerate(feet.sides_in_order(view.horizontal_axis)):
        row, column = divmod(index, 2)
        left = LEFT_MARGIN_IN + column * (COLUMN_WIDTH_IN + COLUMN_GAP_IN)
        axes = axes_at(
            figure,
            PAGE_SIZE_IN,
            left,
            top=SIDE_TOP_IN + row * SIDE_STEP_IN,
            width=COLUMN_WIDTH_IN,
            height=SIDE_HEIGHT_IN,
        )
        path = content.feet[foot]
        feet.draw_side(axes, path, view)
        name = f"{SHORT_FOOT_NAMES[foot]}  {foot.replace('_', ' ')}"
        axes.set_title(name, fontsize=7.5, loc="left", pad=2, color=COLOURS[foot])
        axes.set_title(feet.side_title(path), fontsize=6.5, loc="right", pad=2, color=GREY)


def _draw_above_and_phases(figure: Canvas, content: GaitContent) -> None:
    """Draw the feet from above, and beside it the times when they are on the ground."""
    dotted_note = " (dotted: path of the feet)" if feet.has_compensation(content) else ""
    write_heading(figure, ABOVE_TOP_IN, f"From above [mm]: a cycle{dotted_note}")
    above = axes_at(
        figure, PAGE_SIZE_IN, LEFT_MARGIN_IN, ABOVE_TOP_IN, width=COLUMN_WIDTH_IN, height=ABOVE_HEIGHT_IN
    )
    feet.draw_above(above, content)
    feet.set_equal_scale([above])
    left = LEFT_MARGIN_IN + COLUMN_WIDTH_IN + COLUMN_GAP_IN
    write_heading(figure, ABOVE_TOP_IN, text="Which feet are down", left=left)
    phases = axes_at(
        figure,
        PAGE_SIZE_IN,
        left,
        top=ABOVE_TOP_IN + 0.12,
        width=COLUMN_WIDTH_IN,
        height=ABOVE_HEIGHT_IN - 0.12,
    )
    cycle.draw_phases(phases, content)
    phases.set_xlabel("time [s]", fontsize=7, labelpad=1.5)


def _draw_leg(figure: Canvas, content: GaitContent, path: FootPath, left: float) -> None:
    """Draw the joints of a leg, one below the other, and their speeds at the bottom."""
    name = path.leg.name.replace("_", " ")
    write_heading(
        figure,
        JOINTS_TOP_IN,
        text=f"Joints of the {name} [deg], their ranges beside",
        left=left,
        colour=COLOURS[path.foot],
    )
    joints = tuple(joint for foot in displayed_legs(content) for joint in content.feet[foot].leg.joints)
    span = cycle.common_span_deg(content, joints)
    width = COLUMN_WIDTH_IN - GAUGE_WIDTH_IN - GAUGE_GAP_IN - GAUGE_TEXT_WIDTH_IN
    for row, joint in enumerate(path.leg.joints):
        top = JOINTS_TOP_IN + row * JOINT_STEP_IN
        axes = axes_at(figure, PAGE_SIZE_IN, left, top, width, JOINT_HEIGHT_IN)
        cycle.draw_joint(axes, content, path, joint, span_deg=span)
        axes.tick_params(labelbottom=False)
        gauge = axes_at(
            figure,
            PAGE_SIZE_IN,
            left=left + width + GAUGE_GAP_IN,
            top=top,
            width=GAUGE_WIDTH_IN,
            height=JOINT_HEIGHT_IN,
        )
        cycle.draw_gauge(gauge, content, path, joint)
    top = JOINTS_TOP_IN + len(path.leg.joints) * JOINT_STEP_IN
    speeds = axes_at(figure, PAGE_SIZE_IN, left, top, width, SPEED_HEIGHT_IN)
    cycle.draw_speeds(speeds, content, path)
    speeds.set_xlabel("time [s]", fontsize=7, labelpad=1.5)
