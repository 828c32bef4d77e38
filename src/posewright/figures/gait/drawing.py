"""A gait as a picture: where its feet go, which are down when, and what that asks of the joints."""

from __future__ import annotations

from pathlib import Path

from posewright.figures.gait.content import GaitContent
from posewright.figures.gait.file import save_drawing
from posewright.figures.gait.page import gait_page
from posewright.gaits import Gait, VelocityCommand, greatest_speed_m_s, timing_of
from posewright.robots import Robot


def draw_gait(gait: Gait, robot: Robot, command: VelocityCommand | None, path: str | Path) -> None:
    """Draw a steady cycle of a gait into a picture file. Nothing is simulated.

    Args:
        gait: what is walked.
        robot: who walks.
        command: what is asked for; None for half the greatest speed, ahead.
        path: ends in .png, .svg or .pdf.

    Raises:
        InputError: another ending, a command out of the gait's range, or a gait that does not go together.
        UnreachableError: a foot cannot stand on its equilibrium point.
        MissingExtraError: matplotlib is not installed.
        OutputError: the file cannot be written.
    """
    content = GaitContent(gait, robot, half_speed(gait, robot) if command is None else command)
    save_drawing(lambda: gait_page(content), path)


def half_speed(gait: Gait, robot: Robot) -> VelocityCommand:
    """Return the command that asks for half the greatest speed, ahead.

    Raises:
        InputError: the times of the gait do not go together.
    """
    timing = timing_of(gait.parameters, robot.frame_period_s)
    return VelocityCommand(forward_m_s=0.5 * greatest_speed_m_s(gait.parameters, timing))
