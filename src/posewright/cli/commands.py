"""The commands of `posewright`, by the panels of its help, and the names that commands had earlier.

This module imports nothing else of Posewright, so that `posewright --help` and shell completion start fast.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

DESIGN = "Design"
RUN = "Run and judge"
SOFTWARE = "Robots' own software"
HARDWARE = "Hardware"
CATALOGUE = "Robots and fields"


class Command(NamedTuple):
    """A command; the function `register(app)` of the module `posewright.cli.<name>` adds it.

    Attributes:
        name: the command as it is typed.
        panel: the panel of the help that lists it.
        summary: its sentence in that panel.
    """

    name: str
    panel: str
    summary: str


COMMANDS = (
    Command("motion", DESIGN, "Motion files: create, inspect, convert, check, draw, film, play, view."),
    Command("gait", DESIGN, "Gaits that follow a velocity command: list, sample, draw, simulate, measure."),
    Command("tune", DESIGN, "Search for the gait parameters that walk best in simulation."),
    Command("stress", DESIGN, "Map falls and speed over friction, mass, slope, pushes and more."),
    Command("chart", DESIGN, "State machines (charts): prove, run, test, compare, draw, convert."),
    Command(
        "studio", DESIGN, "Open the studio in the browser: pose the robot and edit keyframes under gravity."
    ),
    Command("run", RUN, "Run a trial or a contest: robot, behaviour, field, referee, judge."),
    Command("replay", RUN, "Replay a recording: picture, film, live window, score."),
    Command("judge", RUN, "Judge a recording by the rules of its contest."),
    Command("rank", RUN, "Judge several recordings of one contest and rank them."),
    Command("evaluate", RUN, "Measure a recording: speed, falls, joint loads."),
    Command("score", RUN, "Compute points with a contest's own formula."),
    Command("inspect", RUN, "Check a robot against the limits of its contest."),
    Command("contest", RUN, "Contests, and a whole contest day: run, rank, show on a web page."),
    Command("robots", CATALOGUE, "Robots: list, show, import, export."),
    Command("arena", CATALOGUE, "Fields: list, show, draw, import from other programs, export."),
    Command("aibo", SOFTWARE, "Sony AIBO: memory sticks, motion archives, OPEN-R programs."),
    Command(
        "basic", SOFTWARE, "RoboNova-1: run, check and format RoboBASIC programs, extract their motions."
    ),
    Command("robi", SOFTWARE, "Robi 2: run, watch, list, assemble and patch programs."),
    Command("bus", HARDWARE, "Servos on a robot's bus (Dynamixel protocol 1.0: AX-12, AX-S1)."),
    Command("board", HARDWARE, "Microcontroller boards: generate C, build, verify and flash it."),
    Command("serve", HARDWARE, "Serve a simulated or real robot over a network: Zenoh, YARP."),
)
"""All commands, in the order of the help."""

_COMMANDS_BY_NAME = {command.name: command for command in COMMANDS}


def is_command(name: str) -> bool:
    """Return whether `posewright NAME` is a command."""
    return name in _COMMANDS_BY_NAME


def find_command(name: str) -> Command:
    """Return the command of that name.

    Raises:
        KeyError: there is none.
    """
    return _COMMANDS_BY_NAME[name]


RENAMED = {
    "archive": "aibo archive",
    "monet": "aibo check",
    "monet check": "aibo check",
    "monet add": "aibo add",
    "sticks": "aibo show",
    "sticks show": "aibo show",
    "openr": "aibo run",
    "openr run": "aibo run",
    "openr list": "aibo programs",
    "generate": "board generate",
    "build": "board build",
    "verify": "board verify",
    "flash": "board flash",
}
"""New names of commands by the one or two words they had before version 0.1."""


def find_new_name(arguments: Sequence[str]) -> tuple[str, str] | None:
    """Return the old command at the start of a command line, and its new name; None if there is none."""
    for length in (2, 1):
        old_name = " ".join(arguments[:length])
        if old_name in RENAMED:
            return old_name, RENAMED[old_name]
    return None
