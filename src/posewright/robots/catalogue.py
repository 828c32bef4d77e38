"""The robots that ship: one folder each under `catalogue/`. Adding a robot is adding a folder."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from posewright.errors import UnknownNameError
from posewright.robots.card import Robot
from posewright.robots.reading import CARD, read_robot

FOLDER = Path(__file__).with_name("catalogue")
"""Where the robots' folders lie, in a checkout as in an installed package."""


@cache
def robot_names() -> tuple[str, ...]:
    """Return the names of all robots that ship, in alphabetical order."""
    return tuple(sorted(card.parent.name for card in FOLDER.glob(f"*/{CARD}")))


def robot(name: str | Path) -> Robot:
    """Return a robot that ships, or one's own.

    Args:
        name: a name of `robot_names()`, or the path of a card (`my_robot/robot.yaml`) or its folder
            (`./my_robot`). A robot that ships is read once; one's own is read anew each time.

    Raises:
        UnknownNameError: no robot of that name ships.
        DocumentError: one's own card cannot be read.
    """
    if is_path(name):
        return read_robot(name)
    if name not in robot_names():
        raise UnknownNameError.among("robot", name, robot_names())
    return _shipped(str(name))


def is_path(name: str | Path) -> bool:
    """Tell whether a robot is asked for by the path of its card, rather than by a name."""
    text = str(name)
    return isinstance(name, Path) or "/" in text or "\\" in text or text.endswith((".yaml", ".yml"))


def ships(card: Robot) -> bool:
    """Tell whether a card is one that ships, rather than one's own, whatever it is called."""
    return card.folder == FOLDER / card.name


@cache
def _shipped(name: str) -> Robot:
    return read_robot(FOLDER / name / CARD)
