"""What the documents of all gaits have in common: entries, parameters, and which defaults are omitted."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict
from pathlib import Path

from posewright.documents import Node, flow_mapping, is_path
from posewright.gaits.explanation import Explanation
from posewright.gaits.feedback import OPEN_LOOP, FeedbackGains
from posewright.robots import Robot, robot, robot_names

Tree = Mapping[str, object]
"""A document as nested mappings of plain values."""


def robot_value(name: str, old_value: object, path: Path | None) -> str:
    """Return the robot's name, or the path of its card if the document at `path` has that path.

    Args:
        name: the robot's name.
        old_value: what the document has; None if it has none.
        path: the path of the document; None if there is none.
    """
    if isinstance(old_value, str) and is_path(old_value) and path is not None:
        return old_value if robot(path.parent / old_value).name == name else name
    return name


def read_gait_name(node: Node) -> str:
    """Return the name of a gait, or fail."""
    name = node.text()
    if not name.strip() or not name.isprintable() or "/" in name or "\\" in name:
        node.fail(f"{name!r} is not a valid name", hint="letters and digits, as in my_trot; no path")
    return name


def find_walking_robot(node: Node, requested_robot: Robot | None, path: Path | None) -> Robot:
    """Return the robot that a gait names; raise an error if it is not the one that is to walk.

    Args:
        node: the entry `robot:`, a name or the path of a card.
        requested_robot: the robot that is to walk; None for the one that the gait names.
        path: the gait's document, to whose folder the path of a card is relative.
    """
    name = node.text()
    if requested_robot is not None and name == requested_robot.name:
        return requested_robot
    if is_path(name):
        named_robot = robot((path.parent if path is not None else Path()) / name)
    else:
        named_robot = robot(node.choice("robot", robot_names()))
    if requested_robot is not None and named_robot.name != requested_robot.name:
        node.fail(
            f"this gait is for {named_robot.name}", hint=f"the robot that walks is {requested_robot.name}"
        )
    return requested_robot or named_robot


def read_pose(fields: Mapping[str, Node], walking_robot: Robot, default_pose: str) -> str:
    """Return the name of the pose of the joints outside the legs, or the default pose if the robot has it.

    Args:
        fields: the entries of the document.
        walking_robot: the robot that walks.
        default_pose: the pose of a document that names none.
    """
    if "pose" in fields:
        return fields["pose"].choice("pose", walking_robot.poses)
    if default_pose not in walking_robot.poses:
        fields["robot"].fail(
            f"{walking_robot.name} has no pose {default_pose!r}",
            hint=f"add `pose:`, one of {', '.join(walking_robot.poses)}",
        )
    return default_pose


def feedback_tree(gains: FeedbackGains, old_document: Tree) -> Tree:
    """Return the entry `feedback:` of a document: the gains that are not the default, or that it has."""
    old_entry = old_document.get("feedback")
    old_names = old_entry if isinstance(old_entry, Mapping) else {}
    defaults = asdict(OPEN_LOOP)
    is_written = {name: gain != defaults[name] or name in old_names for name, gain in asdict(gains).items()}
    entry = {name: gain for name, gain in asdict(gains).items() if is_written[name]}
    return flow_mapping(entry)


def read_value(node: Node, explanation: Explanation) -> float:
    """Return a number within the bounds of a parameter, or fail."""
    number = node.number()  # an error if it is too large for a float
    if explanation.is_whole:
        number = node.integer()
    if not explanation.low <= number <= explanation.high:
        node.fail(f"{number:g} is out of range", hint=f"the range is {explanation.range_text}")
    return number


def omit_defaults(
    document: Tree, defaults: Tree, old_document: Tree, *, hidden_keys: Collection[str]
) -> dict[str, object]:
    """Return a document without entries that it need not have.

    Over a document without them, entries are written only if they differ from their defaults. A new document
    has some of the defaults, so that its readers see what can be set.

    Args:
        document: the document with all entries.
        defaults: the values of entries that are missing.
        old_document: the document that is overwritten; empty if there is none.
        hidden_keys: the entries that a new document has only if they differ from their defaults.
    """
    omissible_keys = defaults if old_document else hidden_keys
    return {
        key: value
        for key, value in document.items()
        if key not in omissible_keys or key in old_document or value != defaults[key]
    }
