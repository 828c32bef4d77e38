"""Read a robot's card: robot.yaml.

Every block of numbers says where they come from, `source: key` or `source: [key, key]`; the keys are spelled
out once, under `sources:`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from posewright.documents import Node, is_file, is_folder, parse_document, read_text
from posewright.robots.card import Robot
from posewright.robots.coupling import parse_coupled_limits
from posewright.robots.geometry import parse_head, parse_legs
from posewright.robots.joint import (
    Joint,
    parse_designs,
    parse_groups,
    parse_joint,
    parse_mirror_pairs,
    parse_naming,
    parse_numbering,
    per_joint,
)
from posewright.robots.lights import parse_leds
from posewright.robots.motion_rules import MotionRules, parse_motion_rules
from posewright.robots.sensors import Encoder, FootContact, SensorSpec, parse_sensor
from posewright.robots.servo import Servo, ServoModel, check_reach, parse_servo, parse_servo_model

CARD = "robot.yaml"
"""Name of the card in a robot's folder."""

REQUIRED = ("robot", "maker", "title", "sources", "frame", "joints", "servo_models", "servos")
OPTIONAL = (
    "model", "coupled_limits", "numberings", "namings", "groups", "designs", "mirror_pairs", "poses", "feet",
    "legs", "head", "links", "sensors", "leds", "motion_rules",
)  # fmt: skip

HEAVIEST_KG = 100.0
"""No part of a small robot weighs more."""

ROUNDING_RAD = 1e-9
"""Degrees in a card are radians inside, to so much."""


def read_robot(path: Path | str) -> Robot:
    """Read a robot's card.

    Args:
        path: the card, or the folder that holds it as `robot.yaml`.

    Raises:
        DocumentError: the card cannot be read or contradicts itself; the message says at which line.
        UnknownNameError: the card names a joint, source, key, ... that there is none of.
    """
    path = Path(path)
    if is_folder(path):
        path = path / CARD
    text = read_text(path)
    root = parse_document(text, path)
    fields = root.fields(required=REQUIRED, optional=OPTIONAL)
    check_sources(root)
    joints = _joints(fields["joints"])
    names = tuple(joint.name for joint in joints)
    models = {name: parse_servo_model(name, node) for name, node in _named(fields, "servo_models")}
    servos = _servos(fields["servos"], joints, models, fields["joints"])
    feet = _feet(fields.get("feet"))
    poses = {name: parse_pose(node, joints, servos) for name, node in _named(fields, "poses")}
    groups = parse_groups(_named(fields, "groups"), names)
    sensors = _sensors(_named(fields, "sensors"), feet, names)
    coupled, rules = fields.get("coupled_limits"), fields.get("motion_rules")
    frame = fields["frame"].fields(required=("period_s",), optional=("source",))
    return Robot(
        name=_short_name(fields["robot"]),
        maker=fields["maker"].text(),
        title=fields["title"].text(),
        joints=joints,
        servos=servos,
        feet=feet,
        poses=poses,
        up_through=_up_through(_named(fields, "poses"), poses),
        groups=groups,
        mirror_pairs=parse_mirror_pairs(fields["mirror_pairs"], names) if "mirror_pairs" in fields else (),
        numberings={name: parse_numbering(node, names) for name, node in _named(fields, "numberings")},
        sensors=sensors,
        frame_period_s=frame["period_s"].number(low=0.0001, high=1.0),
        coupled_limits=parse_coupled_limits(coupled, names) if coupled else (),
        namings={
            name: parse_naming(node, names, (sensor.name for sensor in sensors))
            for name, node in _named(fields, "namings")
        },
        designs=parse_designs(fields["designs"], names, groups) if "designs" in fields else {},
        leds=parse_leds(fields["leds"]) if "leds" in fields else (),
        motion_rules=parse_motion_rules(rules, names, poses, sensors) if rules else MotionRules(),
        sources={key: node.text() for key, node in _named(fields, "sources")},
        servo_models=models,
        legs=parse_legs(fields["legs"], names, feet) if "legs" in fields else (),
        head=parse_head(fields["head"], names, sensors) if "head" in fields else None,
        model_path=_model_path(fields.get("model"), path),
        folder=path.parent,
        link_masses_kg=_link_masses(fields["links"]) if "links" in fields else {},
        text=text,
    )


def _named(fields: Mapping[str, Node], key: str) -> Sequence[tuple[str, Node]]:
    """Return the entries of the block `key`, none where it is left out."""
    return list(fields[key].fields().items()) if key in fields else []


def _short_name(node: Node) -> str:
    name = node.text()
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        node.fail(f"{name!r} is not a short name", hint="small letters, digits and _, as in robotis_bioloid")
    return name


def _joints(node: Node) -> tuple[Joint, ...]:
    joints = tuple(parse_joint(name, entry) for name, entry in node.fields().items())
    if not joints:
        node.fail("a robot has at least one joint")
    return joints


def _servos(
    node: Node, joints: Sequence[Joint], models: Mapping[str, ServoModel], limits: Node
) -> tuple[Servo, ...]:
    names = [joint.name for joint in joints]
    found: dict[str, Servo] = {}
    owners: dict[int, str] = {}
    for name, entry in node.fields(optional=names).items():
        servo = parse_servo(name, entry, models)
        if servo.id in owners:
            entry.fail(f"ID {servo.id} is already that of {owners[servo.id]}", hint="a bus needs each once")
        if servo.id is not None:
            owners[servo.id] = name
        found[name] = servo
    if missing := [name for name in names if name not in found]:
        node.fail(f"no servo moves {', '.join(missing)}", hint="every joint has one")
    places = limits.fields()
    for joint in joints:
        check_reach(found[joint.name], joint.lower_rad, joint.upper_rad, places[joint.name])
    return tuple(found[name] for name in names)


def _link_masses(node: Node) -> dict[str, float]:
    """Read `{masses_kg: {trunk: 0.58, ...}, source: ...}`."""
    masses = node.fields(required=("masses_kg",), optional=("source",))["masses_kg"].fields()
    return {name: entry.number(low=0.0, high=HEAVIEST_KG) for name, entry in masses.items()}


def _feet(node: Node | None) -> tuple[str, ...]:
    feet = tuple(entry.text() for entry in node.items()) if node else ()
    if node and len(feet) != len(set(feet)):
        node.fail("a foot stands here twice")
    return feet


def _sensors(
    entries: Sequence[tuple[str, Node]], feet: Collection[str], joints: Collection[str]
) -> tuple[SensorSpec, ...]:
    sensors = []
    for name, node in entries:
        sensor = parse_sensor(name, node)
        if isinstance(sensor, FootContact):
            node.fields()["foot"].choice("foot", feet)
        if isinstance(sensor, Encoder):
            node.fields()["joint"].choice("joint", joints)
        sensors.append(sensor)
    return tuple(sensors)


def _model_path(node: Node | None, card: Path) -> Path | None:
    if node is None:
        return None
    path = card.parent / node.text()
    if not is_file(path):
        node.fail(f"there is no file {node.text()}", hint="the model's path is relative to the card")
    return path


def parse_pose(node: Node, joints: Sequence[Joint], servos: Sequence[Servo]) -> dict[str, float]:
    """Read `{ticks: [...], source: ...}` or `{deg: [...], source: ...}` into angles by joint [rad].

    Ticks are the servos' own positions; degrees are joint angles. Both come one a joint.
    """
    fields = node.fields(optional=("ticks", "deg", "up_through", "source"))
    if ("ticks" in fields) == ("deg" in fields):
        node.fail("expected either 'ticks' or 'deg'", hint="servo positions, or joint angles in degrees")
    unit = "ticks" if "ticks" in fields else "deg"
    entries = per_joint(fields[unit], [joint.name for joint in joints])
    pose = {}
    for joint, servo, entry in zip(joints, servos, entries, strict=True):
        if unit == "ticks":  # half a tick beyond a limit is the limit, rounded
            ticks = entry.integer(low=servo.first_tick, high=servo.last_tick)
            angle, slack_rad = servo.from_ticks(float(ticks)), max(servo.tick_rad / 2.0, ROUNDING_RAD)
        else:
            angle, slack_rad = math.radians(entry.number()), ROUNDING_RAD
        _check_limits(joint, angle, slack_rad, entry)
        pose[joint.name] = angle
    return pose


def _up_through(entries: Sequence[tuple[str, Node]], poses: Collection[str]) -> dict[str, str]:
    """Read which poses lead through another one to standing: `sit: {..., up_through: sleep}`."""
    told = {name: node.fields().get("up_through") for name, node in entries}
    through = {name: node.choice("pose", set(poses) - {name}) for name, node in told.items() if node}
    for name, node in told.items():
        if node and through[name] in through:
            node.fail(f"{through[name]} leads through another pose itself", hint="one pose on the way")
    return through


def _check_limits(joint: Joint, angle: float, slack_rad: float, node: Node) -> None:
    if not joint.allows(angle, slack_rad=slack_rad):
        lower, upper = math.degrees(joint.lower_rad), math.degrees(joint.upper_rad)
        node.fail(
            f"{joint.name} would stand at {math.degrees(angle):.1f} degrees",
            hint=f"its limits are {lower:g}..{upper:g}",
        )


def check_sources(root: Node) -> None:
    """Refuse a card whose `source:` names a key that `sources:` does not spell out."""
    known = root.fields()["sources"].fields()
    for node in _blocks(root):
        if "source" in node.value:
            said = node.fields()["source"]
            for entry in said.items() if isinstance(said.value, list) else [said]:
                entry.choice("source", known)


def _blocks(node: Node) -> Iterator[Node]:
    """Yield every mapping below `node`, itself first."""
    if isinstance(node.value, dict):
        yield node
        for child in node.fields().values():
            yield from _blocks(child)
    elif isinstance(node.value, list):
        for child in node.items():
            yield from _blocks(child)
