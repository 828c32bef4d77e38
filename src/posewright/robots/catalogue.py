"""The robots by name: those that ship, one folder each under `catalogue/`, and those of other packages.

Adding a robot here is adding a folder. Another package adds one by an entry point of the group
`posewright.robots`: its name is the robot's, its value the package in whose folder `robot.yaml` lies, with
the robot's model, motions, gaits and behaviours beside it as here.

    [project.entry-points."posewright.robots"]
    my_robot = "my_package.my_robot"

They are looked for when a name is first asked for, and nothing of `my_package.my_robot` is run. A robot that
ships keeps its name.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

from posewright.documents import is_path
from posewright.errors import InputError, UnknownNameError
from posewright.robots.card import Robot
from posewright.robots.joint import FULL_TURN_DEG, Joint
from posewright.robots.reading import CARD, read_robot
from posewright.robots.servo import RAD_PER_URAD, Servo

FOLDER = Path(__file__).with_name("catalogue")
"""Where the folders of the robots that ship lie, in a checkout as in an installed package."""

GROUP = "posewright.robots"
"""The group of entry points by which other packages offer robots."""


@cache
def robot_names() -> tuple[str, ...]:
    """Return the names of all robots, those that ship and those of other packages, in alphabetical order."""
    return tuple(sorted({*_shipped(), *(name for name, package in _packages().items() if _card_in(package))}))


def robot(name: str | Path | Robot) -> Robot:
    """Return a robot that ships, one of another package, or one's own.

    Args:
        name: a robot, which is returned as it is; a name of `robot_names()`; or the path of a card
            (`my_robot/robot.yaml`) or its folder (`./my_robot`). A robot with a name
            is read once; one's own is read anew each time.

    Raises:
        UnknownNameError: there is no robot of that name.
        InputError: another package offers it, but does not hold it.
        DocumentError: a card cannot be read.
    """
    if isinstance(name, Robot):
        return name
    if is_path(name):
        return read_robot(name)
    folder = robot_folder(str(name))
    card = _read_once(folder)
    if card.name != name:
        raise InputError(
            f"the robot that is offered as {name} is {card.name} on its card", hint=f"see {folder / CARD}"
        )
    return card


@cache
def robot_folder(name: str) -> Path:
    """Return the folder of a robot of `robot_names()`, with its card, motions, gaits and behaviours."""
    if name in _shipped():
        return FOLDER / name
    if name not in _packages():
        raise UnknownNameError.among("robot", name, robot_names())
    package = _packages()[name]
    folder = _card_in(package)
    if folder is not None:
        return folder
    raise InputError(
        f"robot {name} is said to be in the package {package}, which holds no {CARD}",
        hint=f"its entry point of the group {GROUP} is wrong: mend or uninstall the package it came with",
    )


@cache
def _card_in(package: str) -> Path | None:
    """Return the folder of a package that holds a card; None where there is none, or no such package."""
    try:
        spec = find_spec(package)
    except (ImportError, ValueError):
        return None
    folders = map(Path, (spec.submodule_search_locations or ()) if spec else ())
    return next((folder for folder in folders if (folder / CARD).is_file()), None)


def ships(card: Robot) -> bool:
    """Tell whether a card is one that ships, rather than one's own, whatever it is called."""
    return card.folder == FOLDER / card.name


_read_once = cache(read_robot)


@cache
def _shipped() -> frozenset[str]:
    return frozenset(card.parent.name for card in FOLDER.glob(f"*/{CARD}"))


@cache
def _packages() -> dict[str, str]:
    """Return which package holds a robot, by the robot's name."""
    return {entry.name: entry.value for entry in entry_points(group=GROUP)}


MODEL = "unlisted"
"""Name of the nominal servo. Its numbers are of nobody: 1 N m and 1 N m/rad, and no speed is too fast."""


def unlisted_robot(
    name: str,
    joint_names: Sequence[str],
    *,
    title: str | None = None,
    scheme: str | None = None,
    design: str | None = None,
    frame_period_s: float = 0.008,
) -> Robot:
    """Return an ad-hoc card: joints that may turn once round either way, nominal servos, no model, no poses.

    Raises:
        InputError: there is no joint, or one stands there twice.
    """
    joints = tuple(joint_names)
    if not joints or len(set(joints)) != len(joints):
        raise InputError(f"{name} needs joints, each once", hint=f"there are {', '.join(joints) or 'none'}")
    turn = math.radians(FULL_TURN_DEG)
    return Robot(
        name=name,
        maker="unknown",
        title=title or f"{name}, a robot without a card",
        joints=tuple(Joint(joint, -turn, turn, (-turn, turn)) for joint in joints),
        servos=tuple(_servo(joint) for joint in joints),
        feet=(),
        poses={},
        groups={},
        mirror_pairs=(),
        numberings={},
        sensors=(),
        frame_period_s=frame_period_s,
        namings={scheme: {joint: joint for joint in joints}} if scheme else {},
        designs={design: joints} if design else {},
    )


def _servo(joint: str) -> Servo:
    last = int(math.radians(FULL_TURN_DEG) / RAD_PER_URAD)
    return Servo(
        joint=joint,
        id=None,
        model=MODEL,
        centre_deg=0.0,
        direction=1,
        no_load_speed_rad_s=math.inf,
        stall_torque_nm=1.0,
        compliance_slope=None,
        ticks=2 * last + 1,
        range_deg=2.0 * FULL_TURN_DEG,
        first_tick=-last,
        tick_urad=1.0,
        stiffness_nm_rad=1.0,
    )
