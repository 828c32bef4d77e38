"""Reader of robots' cards, `robot.yaml`.

Every block of numbers states its source, `source: key` or `source: [key, key]`. The texts of the keys are
under `sources:`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from posewright.documents import Node, is_file, is_folder, parse_document, read_text
from posewright.robots.biped import parse_biped
from posewright.robots.card import Robot
from posewright.robots.coupling import parse_coupled_limits
from posewright.robots.geometry import parse_head, parse_legs
from posewright.robots.joint import (
    Joint,
    nodes_by_joint,
    parse_designs,
    parse_groups,
    parse_joint,
    parse_mirror_pairs,
    parse_naming,
    parse_numbering,
)
from posewright.robots.lights import parse_leds
from posewright.robots.motion_rules import MotionRules, parse_motion_rules
from posewright.robots.sensors import Encoder, FootContact, SensorSpec, parse_sensor
from posewright.robots.servo import (
    Servo,
    ServoModel,
    parse_servo,
    parse_servo_model,
    require_reachable_limits,
)

CARD = "robot.yaml"
"""Name of the card in a robot's folder."""

_REQUIRED_KEYS = ("robot", "maker", "title", "sources", "frame", "joints", "servo_models", "servos")
_OPTIONAL_KEYS = (
    "model", "coupled_limits", "numberings", "namings", "groups", "designs", "mirror_pairs", "poses", "feet",
    "legs", "biped", "head", "links", "sensors", "leds", "motion_rules",
)  # fmt: skip

MAX_LINK_MASS_KG = 100.0
"""Greatest mass of a link of a small robot [kg]."""

ROUNDING_RAD = 1e-9
"""Tolerance for rounding in the conversion from degrees [rad]."""


def read_robot(path: Path | str) -> Robot:
    """Read a robot's card.

    Args:
        path: the path of the card, or of its folder if the card is named `robot.yaml`.

    Raises:
        DocumentError: the card cannot be read or contradicts itself; the message has the line.
        UnknownNameError: the card refers to an unknown joint, source, key, ...
    """
    path = Path(path)
    if is_folder(path):
        path = path / CARD
    return parse_robot(read_text(path), path)


def parse_robot(text: str, path: Path | None = None) -> Robot:
    """Return the robot of a card's text.

    Args:
        text: the card.
        path: its file, for messages and the robot's model; without it, the robot has no folder and no model.

    Raises:
        DocumentError, UnknownNameError: as `read_robot`.
    """
    root = parse_document(text, path)
    fields = root.fields(required=_REQUIRED_KEYS, optional=_OPTIONAL_KEYS)
    require_known_sources(root)
    joints = _parse_joints(fields["joints"])
    names = tuple(joint.name for joint in joints)
    models = {name: parse_servo_model(name, node) for name, node in _entries(fields, "servo_models")}
    servos = _parse_servos(fields["servos"], joints, models, limits=fields["joints"])
    feet = _parse_feet(fields.get("feet"))
    poses = {name: parse_pose(node, joints, servos) for name, node in _entries(fields, "poses")}
    groups = parse_groups(_entries(fields, "groups"), names)
    sensors = _parse_sensors(_entries(fields, "sensors"), feet, names)
    coupled_limits = fields.get("coupled_limits")
    motion_rules = fields.get("motion_rules")
    frame = fields["frame"].fields(required=("period_s",), optional=("source",))
    return Robot(
        name=_parse_short_name(fields["robot"]),
        maker=fields["maker"].text(),
        title=fields["title"].text(),
        joints=joints,
        servos=servos,
        feet=feet,
        poses=poses,
        up_through=_parse_up_through(_entries(fields, "poses"), poses),
        groups=groups,
        mirror_pairs=parse_mirror_pairs(fields["mirror_pairs"], names) if "mirror_pairs" in fields else (),
        numberings={name: parse_numbering(node, names) for name, node in _entries(fields, "numberings")},
        sensors=sensors,
        frame_period_s=frame["period_s"].number(low=0.0001, high=1.0),
        coupled_limits=parse_coupled_limits(coupled_limits, names) if coupled_limits else (),
        namings={
            name: parse_naming(node, names, (sensor.name for sensor in sensors))
            for name, node in _entries(fields, "namings")
        },
        designs=parse_designs(fields["designs"], names, groups) if "designs" in fields else {},
        leds=parse_leds(fields["leds"]) if "leds" in fields else (),
        motion_rules=(
            parse_motion_rules(motion_rules, names, poses, sensors) if motion_rules else MotionRules()
        ),
        sources={key: node.text() for key, node in _entries(fields, "sources")},
        servo_models=models,
        legs=parse_legs(fields["legs"], names, feet) if "legs" in fields else (),
        biped=parse_biped(fields["biped"], names, feet) if "biped" in fields else None,
        head=parse_head(fields["head"], names, sensors) if "head" in fields else None,
        model_path=None if path is None else _parse_model_path(fields.get("model"), path),
        folder=None if path is None else path.parent,
        link_masses_kg=_parse_link_masses(fields["links"]) if "links" in fields else {},
        text=text,
    )


def _entries(fields: Mapping[str, Node], key: str) -> Sequence[tuple[str, Node]]:
    """Return the entries of a block by its key; empty without the block."""
    return list(fields[key].fields().items()) if key in fields else []


def _parse_short_name(node: Node) -> str:
    name = node.text()
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        node.fail(
            f"{name!r} is not a short name", hint="lower-case letters, digits and _, such as robotis_bioloid"
        )
    return name


def _parse_joints(node: Node) -> tuple[Joint, ...]:
    joints = tuple(parse_joint(name, entry) for name, entry in node.fields().items())
    if not joints:
        node.fail("a robot has at least one joint")
    return joints


def _parse_servos(
    node: Node, joints: Sequence[Joint], models: Mapping[str, ServoModel], limits: Node
) -> tuple[Servo, ...]:
    """Read the servos in the order of the joints; `limits` is the node of the joints, for errors."""
    names = [joint.name for joint in joints]
    servos: dict[str, Servo] = {}
    owners: dict[int, str] = {}  # the joint of each servo ID
    for name, entry in node.fields(optional=names).items():
        servo = parse_servo(name, entry, models)
        if servo.id in owners:
            entry.fail(
                f"ID {servo.id} is already that of {owners[servo.id]}", hint="IDs on a bus must differ"
            )
        if servo.id is not None:
            owners[servo.id] = name
        servos[name] = servo
    missing = [name for name in names if name not in servos]
    if missing:
        node.fail(f"no servo moves {', '.join(missing)}", hint="one servo for each joint")
    joint_nodes = limits.fields()
    for joint in joints:
        require_reachable_limits(
            servos[joint.name], joint.lower_rad, joint.upper_rad, node=joint_nodes[joint.name]
        )
    return tuple(servos[name] for name in names)


def _parse_link_masses(node: Node) -> dict[str, float]:
    """Read `{masses_kg: {trunk: 0.58, ...}, source: ...}`."""
    masses = node.fields(required=("masses_kg",), optional=("source",))["masses_kg"].fields()
    return {name: entry.number(low=0.0, high=MAX_LINK_MASS_KG) for name, entry in masses.items()}


def _parse_feet(node: Node | None) -> tuple[str, ...]:
    feet = tuple(entry.text() for entry in node.items()) if node else ()
    if node and len(feet) != len(set(feet)):
        node.fail("a foot is listed twice", hint="each foot once")
    return feet


def _parse_sensors(
    entries: Sequence[tuple[str, Node]], feet: Collection[str], joints: Collection[str]
) -> tuple[SensorSpec, ...]:
    """Read the sensors; their feet and joints must exist."""
    sensors = []
    for name, node in entries:
        sensor = parse_sensor(name, node)
        if isinstance(sensor, FootContact):
            node.fields()["foot"].choice("foot", feet)
        if isinstance(sensor, Encoder):
            node.fields()["joint"].choice("joint", joints)
        sensors.append(sensor)
    return tuple(sensors)


def _parse_model_path(node: Node | None, card: Path) -> Path | None:
    if node is None:
        return None
    path = card.parent / node.text()
    if not is_file(path):
        node.fail(f"there is no file {node.text()}", hint="a path relative to the card")
    return path


def parse_pose(node: Node, joints: Sequence[Joint], servos: Sequence[Servo]) -> dict[str, float]:
    """Read `{ticks: [...], source: ...}` or `{deg: [...], source: ...}` into angles by joint [rad].

    Ticks are positions of the servos; degrees are joint angles. There is one for each joint.
    """
    fields = node.fields(optional=("ticks", "deg", "up_through", "source"))
    if ("ticks" in fields) == ("deg" in fields):
        node.fail("expected either 'ticks' or 'deg'", hint="servo positions, or joint angles in degrees")
    unit = "ticks" if "ticks" in fields else "deg"
    entries = nodes_by_joint(fields[unit], [joint.name for joint in joints])
    pose = {}
    for joint, servo, entry in zip(joints, servos, entries, strict=True):
        if unit == "ticks":
            ticks = entry.integer(low=servo.first_tick, high=servo.last_tick)
            angle_rad = servo.from_ticks(float(ticks))
            slack_rad = max(servo.tick_rad / 2.0, ROUNDING_RAD)  # a limit rounded to ticks is accepted
        else:
            angle_rad = math.radians(entry.number())
            slack_rad = ROUNDING_RAD
        _require_within_limits(joint, angle_rad, slack_rad, node=entry)
        pose[joint.name] = angle_rad
    return pose


def _parse_up_through(entries: Sequence[tuple[str, Node]], poses: Collection[str]) -> dict[str, str]:
    """Read the pose through which the robot gets up from another: `sit: {..., up_through: sleep}`."""
    nodes = {}  # of the keys up_through, by pose
    for name, pose_node in entries:
        node = pose_node.fields().get("up_through")
        if node:
            nodes[name] = node
    up_through = {name: node.choice("pose", set(poses) - {name}) for name, node in nodes.items()}
    for name, node in nodes.items():
        if up_through[name] in up_through:  # a robot gets up through one pose only
            node.fail(
                f"the pose {up_through[name]} has an up_through itself", hint="a pose without up_through"
            )
    return up_through


def _require_within_limits(joint: Joint, angle_rad: float, slack_rad: float, node: Node) -> None:
    if not joint.allows(angle_rad, slack_rad=slack_rad):
        node.fail(
            f"{joint.name} would be at {math.degrees(angle_rad):.1f} degrees",
            hint=f"its limits are {math.degrees(joint.lower_rad):g}..{math.degrees(joint.upper_rad):g}",
        )


def require_known_sources(root: Node) -> None:
    """Raise unless every key in a `source:` of the card is defined under `sources:`."""
    known_sources = root.fields()["sources"].fields()
    for node in _mappings_at_and_below(root):
        if "source" in node.value:
            source = node.fields()["source"]
            for entry in source.items() if isinstance(source.value, list) else [source]:
                entry.choice("source", known_sources)


def _mappings_at_and_below(node: Node) -> Iterator[Node]:
    """Yield a node and all nodes below it that are mappings."""
    if isinstance(node.value, dict):
        yield node
        for child in node.fields().values():
            yield from _mappings_at_and_below(child)
    elif isinstance(node.value, list):
        for child in node.items():
            yield from _mappings_at_and_below(child)
