"""What all pages of gaits share: their measures, title, subtitle, legend and headings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from posewright.figures.gait.content import CycleContent, name_and_changes
from posewright.figures.style import GREY, INK, WRONG, write_row_legend

if TYPE_CHECKING:
    from matplotlib.artist import Artist

    from posewright.figures.style import Canvas

# Measures of a page [in], from its upper left corner; an A4 page.
WIDTH_IN = 8.27
HEIGHT_IN = 11.69
PAGE_SIZE_IN = (WIDTH_IN, HEIGHT_IN)
LEFT_MARGIN_IN = 0.55
COLUMN_WIDTH_IN = 3.4
COLUMN_GAP_IN = 0.65


def subtitle(content: CycleContent) -> str:
    """Return the robot's name and the command as text."""
    command = content.command
    parts = [
        f"{abs(value):.3g} {unit} {ahead if value > 0.0 else back}"
        for value, unit, ahead, back in (
            (command.forward_m_s, "m/s", "forward", "backwards"),
            (command.left_m_s, "m/s", "to the left", "to the right"),
            (command.turn_rad_s, "rad/s", "turning left", "turning right"),
        )
        if value
    ]
    return f"{content.robot.name}, {', '.join(parts) or 'stepping on the spot'}"


def fastest_line(content: CycleContent) -> str:
    """Return the joint with the greatest share of its speed limit, as text."""
    joint, share = content.fastest_joint_and_share
    name = joint.replace("_", " ")
    if share > 1.0:
        return f"too fast for the servos: the {name} would turn at {share:.2f} of its greatest speed"
    return f"no joint is too fast: the {name} turns at {share:.2f} of its greatest speed"


def write_head(
    figure: Canvas,
    content: CycleContent,
    *,
    times: str,
    legend_handles: list[Artist],
) -> None:
    """Write the title, subtitle and speeds of a page, and the legend.

    Args:
        figure: the page.
        content: the gait.
        times: the line with the times of a cycle.
        legend_handles: the entries of the legend.
    """
    left = LEFT_MARGIN_IN - 0.4
    _, max_speed_share = content.fastest_joint_and_share
    title = name_and_changes(content.gait, content.robot)
    name_size = 14 if title == content.gait.name else 10
    for below, text, size, weight, colour in (
        (0.20, title, name_size, "bold", "black"),
        (0.46, subtitle(content), 9, "normal", "black"),
        (0.65, times, 7.5, "normal", GREY),
        (0.80, fastest_line(content), 7.5, "normal", WRONG if max_speed_share > 1.0 else GREY),
    ):
        figure.text(
            left / WIDTH_IN,
            1.0 - below / HEIGHT_IN,
            text,
            va="top",
            parse_math=False,
            fontsize=size,
            weight=weight,
            color=colour,
        )
    write_row_legend(
        figure, handles=legend_handles, loc="upper left", anchor=(left / WIDTH_IN, 1.0 - 1.02 / HEIGHT_IN)
    )


def write_heading(
    figure: Canvas, top: float, text: str, left: float = LEFT_MARGIN_IN, colour: str = INK
) -> None:
    """Write a heading above a position on the page."""
    position = (left - 0.4) / WIDTH_IN, 1.0 - (top - 0.25) / HEIGHT_IN
    figure.text(*position, text, fontsize=8.5, weight="bold", color=colour, va="bottom")
