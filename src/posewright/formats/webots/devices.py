"""Which joints the devices of a Webots world are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from posewright.robots import Robot, robot, robot_names
from posewright.robots.unlisted import unlisted_robot

NAMING = "webots"
"""Name of the naming on a robot's card."""

LOCATORS = "open_r"
"""Name of the naming by Sony's locators, which Webots' own AIBOs have, too."""

UNLISTED = "webots_robot"
"""What a robot is called that no card knows."""


def joints_of(card: Robot) -> Mapping[str, str]:
    """Return the robot's joints by everything that a device may be called."""
    plain = {joint: joint for joint in card.joint_names}
    return {**plain, **card.namings.get(LOCATORS, {}), **card.naming(NAMING)}


def nearly(devices: Sequence[str]) -> str:
    """Return which robot that ships has some of the devices and lacks others, in words; empty for none."""
    known = {card.name: joints_of(card) for card in map(robot, robot_names())}
    missing = {name: [device for device in devices if device not in known[name]] for name in known}
    name = min(missing, key=lambda name: len(missing[name]))
    if len(missing[name]) in (0, len(devices)):
        return ""
    return f"{name} would have all devices but {', '.join(missing[name])}; ask for it to have it read so"


def robot_for(devices: Sequence[str]) -> Robot:
    """Return the robot that ships and has all these devices; else one made up of them.

    Of several it is the one with the fewest other joints, and of these the one that can be simulated.
    """
    fitting = [card for card in map(robot, robot_names()) if set(devices) <= set(joints_of(card))]
    if not fitting:
        title = f"a robot of Webots without a card, {len(devices)} devices"
        return unlisted_robot(UNLISTED, devices, title=title, scheme=NAMING)
    return min(fitting, key=lambda card: (len(card.joint_names), card.model_path is None))
