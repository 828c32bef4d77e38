"""The commands of `posewright`, by the panels of its help; and the names that commands had before.

This module imports nothing of the workbench: `posewright --help` and a shell's completion read it alone.
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
    """A command: the module `posewright.cli.<name>` has a function `register(app)` that adds it.

    Attributes:
        name: what is typed.
        panel: where it stands in help.
        about: the sentence that stands beside it there.
    """

    name: str
    panel: str
    about: str


COMMANDS = (
    Command("motion", DESIGN, "Motion files: begin, inspect, convert, check, draw, film, play, view."),
    Command("gait", DESIGN, "Walks from a velocity command: list, sample, draw, simulate, measure."),
    Command("tune", DESIGN, "Search for the parameters of a gait that walk best in simulation."),
    Command("chart", DESIGN, "State machines (charts): prove, run, test, compare, draw, convert."),
    Command("studio", DESIGN, "Open the studio in the browser: drag joints and keyframes under gravity."),
    Command("run", RUN, "Run a trial or a contest: robot, behaviour, field, referee, judge."),
    Command("replay", RUN, "Replay a recording: picture, film, live window, score."),
    Command("judge", RUN, "Judge a recording by the rules of its contest."),
    Command("rank", RUN, "Judge recordings of one contest and order them by its rules."),
    Command("evaluate", RUN, "Measure a recording: speed, falls, load of the joints."),
    Command("score", RUN, "Compute points with a contest's own formula."),
    Command("inspect", RUN, "Check a robot against the limits of its contest."),
    Command("contest", RUN, "Contests, and a whole day of them: played, ranked, shown."),
    Command("robots", CATALOGUE, "The robots there are: list, show, import, export."),
    Command("arena", CATALOGUE, "Fields: list, show, draw, import from other programs, export."),
    Command("aibo", SOFTWARE, "Sony AIBO: memory sticks, motion archives, OPEN-R programs."),
    Command("basic", SOFTWARE, "RoboNova-1: RoboBASIC programs run, checked, formatted, made into motions."),
    Command("robi", SOFTWARE, "Robi 2: programs run, watched, listed, assembled, patched."),
    Command("bus", HARDWARE, "Servos on a robot's bus (Dynamixel protocol 1.0: AX-12, AX-S1)."),
    Command("board", HARDWARE, "Microcontroller boards: generate C, build, verify and flash it."),
    Command("serve", HARDWARE, "Offer a robot, simulated or real, over a network: Zenoh, YARP."),
)
"""In the order of help."""

_BY_NAME = {command.name: command for command in COMMANDS}


def is_command(name: str) -> bool:
    """Tell whether `posewright NAME` is a command."""
    return name in _BY_NAME


def command_named(name: str) -> Command:
    """Return the command of that name, which must be there."""
    return _BY_NAME[name]


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
"""Commands by the words they had before version 0.1 was released, one or two."""


def new_name(words: Sequence[str]) -> tuple[str, str] | None:
    """Return the old name that a command line begins with, and the new one; None if it has no old name."""
    for length in (2, 1):
        old = " ".join(words[:length])
        if old in RENAMED:
            return old, RENAMED[old]
    return None
