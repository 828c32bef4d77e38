"""The robots by name: those that ship and those of other packages.

Robots that ship have a folder each under `catalogue/`. Another package adds a robot by an entry point of the
group `posewright.robots`. The entry point's name is the robot's; its value is the package whose folder has
the robot's `robot.yaml`, model, motions, gaits and behaviours.

    [project.entry-points."posewright.robots"]
    my_robot = "my_package.my_robot"

Entry points are searched when a robot is first needed, and no code of `my_package.my_robot` is executed. They
cannot replace robots that ship.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

from posewright.documents import is_path
from posewright.errors import MIN_FRAGMENT_LENGTH, InputError, UnknownNameError
from posewright.robots.card import Robot
from posewright.robots.joint import FULL_TURN_DEG, Joint
from posewright.robots.reading import CARD, read_robot
from posewright.robots.servo import RAD_PER_URAD, Servo

CATALOGUE_FOLDER = Path(__file__).with_name("catalogue")
"""The folder with the folders of the robots that ship."""

ENTRY_POINT_GROUP = "posewright.robots"
"""The group of entry points by which other packages add robots."""


@cache
def robot_names() -> tuple[str, ...]:
    """Return the names of all robots, those that ship and those of other packages, in alphabetical order."""
    other_names = (name for name, package in _packages().items() if _folder_with_card(package))
    return tuple(sorted({*_shipped_names(), *other_names}))


def robot(name: str | Path | Robot) -> Robot:
    """Return a robot by name or by the path of its card.

    Args:
        name: a name of `robot_names()`, which is read once; the path of a card (`my_robot/robot.yaml`) or its
            folder (`./my_robot`), which is read each time; or a robot, which is returned unchanged.

    Raises:
        UnknownNameError: there is no robot of that name.
        InputError: an entry point has the name, but its package has no such card.
        DocumentError: the card cannot be read.
    """
    if isinstance(name, Robot):
        return name
    if is_path(name):
        return read_robot(name)
    folder = robot_folder(str(name))
    card = _read_once(folder)
    if card.name != name:
        raise InputError(
            f"the card of the robot {name} has the name {card.name}",
            hint=f"give the entry point and {folder / CARD} the same name",
        )
    return card


@cache
def robot_folder(name: str) -> Path:
    """Return the folder of a robot of `robot_names()`, with its card, motions, gaits and behaviours.

    Raises:
        UnknownNameError: there is no robot of that name.
        InputError: an entry point has the name, but its package has no card.
    """
    if name in _shipped_names():
        return CATALOGUE_FOLDER / name
    if name not in _packages():
        raise UnknownNameError.among("robot", name, _robots_called(name) or robot_names())
    package = _packages()[name]
    folder = _folder_with_card(package)
    if folder is not None:
        return folder
    raise InputError(
        f"the package {package} of the robot {name} has no {CARD}",
        hint=f"correct its entry point in the group {ENTRY_POINT_GROUP}, or uninstall its package",
    )


def _robots_called(text: str) -> list[str]:
    """Return the names of the robots whose maker or title contains a text, such as `aibo`."""
    if len(text) < MIN_FRAGMENT_LENGTH:
        return []
    names: list[str] = []
    for name in robot_names():
        card = robot(name)
        if text.casefold() in f"{card.maker} {card.title}".casefold():
            names.append(name)
    return names


@cache
def _folder_with_card(package: str) -> Path | None:
    """Return the folder of a package that has a card; None without a card or without the package."""
    try:
        spec = find_spec(package)
    except (ImportError, ValueError):
        return None
    locations = spec.submodule_search_locations if spec is not None else None  # None for a plain module
    folders = map(Path, locations or ())
    return next((folder for folder in folders if (folder / CARD).is_file()), None)


def is_shipped(card: Robot) -> bool:
    """Return whether a card is one that ships, rather than a custom card of the same name."""
    return card.folder == CATALOGUE_FOLDER / card.name


def is_listed(card: Robot) -> bool:
    """Return whether a robot's name finds this card, rather than another one of the same name or none."""
    return card.name in robot_names() and card.folder == robot_folder(card.name)


def is_same_card(card: Robot, other: Robot) -> bool:
    """Return whether two cards have the same name, and are in the same folder or both in none."""
    folder = None if card.folder is None else card.folder.resolve()
    other_folder = None if other.folder is None else other.folder.resolve()
    return card.name == other.name and folder == other_folder


_read_once = cache(read_robot)


@cache
def _shipped_names() -> frozenset[str]:
    return frozenset(card.parent.name for card in CATALOGUE_FOLDER.glob(f"*/{CARD}"))


@cache
def _packages() -> dict[str, str]:
    """Return the packages of other robots by the robots' names."""
    return {entry.name: entry.value for entry in entry_points(group=ENTRY_POINT_GROUP)}


UNLISTED_MODEL = "unlisted"
"""Name of the servo model of ad-hoc cards: 1 N m, 1 N m/rad, and no speed limit."""


def unlisted_robot(
    name: str,
    joint_names: Sequence[str],
    *,
    title: str | None = None,
    scheme: str | None = None,
    design: str | None = None,
    frame_period_s: float = 0.008,
) -> Robot:
    """Return an ad-hoc card, with joints limited to a whole turn each way and without model and poses.

    Args:
        name: the name of the robot.
        joint_names: the joint names in order.
        title: name in words.
        scheme: name of a naming scheme with the names of the joints.
        design: label in Sony's motion files for all joints.
        frame_period_s: time between two commands [s].

    Raises:
        InputError: there is no joint, or two have the same name.
    """
    joints = tuple(joint_names)
    if not joints or len(set(joints)) != len(joints):
        raise InputError(
            f"the joints of {name} are {', '.join(joints) or 'missing'}",
            hint="at least one joint, and each once",
        )
    turn_rad = math.radians(FULL_TURN_DEG)
    return Robot(
        name=name,
        maker="unknown",
        title=title or f"{name}, a robot without a card",
        joints=tuple(
            Joint(joint, lower_rad=-turn_rad, upper_rad=turn_rad, hardware_rad=(-turn_rad, turn_rad))
            for joint in joints
        ),
        servos=tuple(_unlisted_servo(joint) for joint in joints),
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


def _unlisted_servo(joint: str) -> Servo:
    """Return the servo of a joint of an ad-hoc card."""
    last_tick = int(math.radians(FULL_TURN_DEG) / RAD_PER_URAD)
    return Servo(
        joint=joint,
        id=None,
        model=UNLISTED_MODEL,
        centre_deg=0.0,
        direction=1,
        no_load_speed_rad_s=math.inf,
        stall_torque_nm=1.0,
        compliance_slope=None,
        ticks=2 * last_tick + 1,
        range_deg=2.0 * FULL_TURN_DEG,
        first_tick=-last_tick,
        tick_urad=1.0,
        stiffness_nm_rad=1.0,
    )
