"""What requests and answers are about, as plain data with arrays in it, and strictly back."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from posewright.arenas import Arena
from posewright.bodies import (
    BodyState,
    Contacts,
    DomainParameters,
    Fault,
    GroundTruth,
    JointCommands,
    JointStates,
    Part,
    Reading,
)
from posewright.documents import Node, read_record
from posewright.documents.plain import to_plain
from posewright.errors import BodyError, InputError
from posewright.recordings import sensor_card
from posewright.robots import Robot, SensorSpec, parse_sensor

MAX_PARTS = 8
MAX_SENSORS = 64
MAX_SHAPES, MAX_BOXES = 500, 64
"""Of an arena: a model of more takes long to compile, one of 480 boxes a minute."""

MAX_ROWS = 4096
MAX_SEED = 2**63
_FAR_M = 1000.0
_MAX_NAME = 100

_FLOATS, _FLAGS, _WHOLE = np.dtype(np.float64), np.dtype(np.bool_), np.dtype(np.int64)
T = TypeVar("T")


def fingerprint(robot: Robot) -> str:
    """Return the SHA-256, in hex, of a robot's card and model: those of one name may differ."""
    digest = hashlib.sha256(robot.text.encode())
    if robot.model_path is not None:
        digest.update(robot.model_path.read_bytes())
    return digest.hexdigest()


def tell_part(part: Part) -> dict[str, Any]:
    """Return a part of a plant; of its robot the name, and by what it is known to be the same."""
    return {
        "name": part.name,
        "robot": part.robot.name,
        "fingerprint": fingerprint(part.robot),
        "start_pose": part.start_pose,
        "start": list(part.start),
        "sensors": {sensor.name: sensor_card(sensor) for sensor in part.sensors},
        "seed": part.seed,
        "domain": to_plain(part.domain),
    }


def read_part(node: Node, robot_of: Callable[[str], Robot]) -> Part:
    """Return the part; raise an `InputError` where it makes no sense, or is of another robot of that name."""
    told = _entries(node, "name", "robot", "fingerprint", "start_pose", "start", "sensors", "seed", "domain")
    robot = robot_of(told["robot"].text())
    if told["fingerprint"].text() != fingerprint(robot):
        raise InputError(
            f"{robot.name} is another robot here: its card or its model differs",
            hint="the same version of Posewright, and the same card, on both sides",
        )
    pose = _array(told["start_pose"], _FLOATS, (len(robot.joint_names),))
    if not np.isfinite(pose).all():
        told["start_pose"].fail("not a finite angle")
    start = [entry.number(low=-_FAR_M, high=_FAR_M) for entry in told["start"].items()]
    if len(start) != 3:
        told["start"].fail("expected x, y and yaw")
    return Part(
        read_name(told["name"]),
        robot,
        pose,
        (start[0], start[1], start[2]),
        _sensors(told["sensors"]),
        told["seed"].integer(low=0, high=MAX_SEED),
        read_record(told["domain"], DomainParameters, degrees=False),
    )


def _sensors(node: Node) -> tuple[SensorSpec, ...]:
    cards = node.fields()
    if len(cards) > MAX_SENSORS:
        node.fail(f"{len(cards)} sensors", hint=f"at most {MAX_SENSORS}")
    return tuple(_sensor(name, card) for name, card in cards.items())


def _sensor(name: str, node: Node) -> SensorSpec:
    card = {key: entry.value for key, entry in node.fields(required=("name",)).items() if key != "name"}
    return parse_sensor(read_name(Node(name, trail=node.trail)), Node(card, trail=node.trail))


def read_arena(node: Node) -> Arena | None:
    """Return the arena that `Arena.to_dict` told; None for a bare floor."""
    if node.value is None:
        return None
    told = node.fields(required=("shapes", "boxes", "box_kinds", "spots", "colours"))
    for what in ("shapes", "boxes", "box_kinds", "spots", "colours"):
        many, most = told[what].value, MAX_BOXES if what == "boxes" else MAX_SHAPES
        if isinstance(many, list | dict) and len(many) > most:
            node.fail(f"{len(many)} {what}", hint=f"at most {most}")
    for shape in told["shapes"].items():
        read_name(shape.fields(required=("name",))["name"])
    with node.located():
        return Arena.from_dict(node.value)


def read_name(node: Node) -> str:
    """Return a name somebody goes by; it may hold anything that is seen."""
    name = node.text()
    if not name or len(name) > _MAX_NAME or not name.isprintable():
        node.fail("not a name", hint=f"1 to {_MAX_NAME} characters that can be seen")
    return name


def tell_commands(commands: JointCommands) -> dict[str, Any]:
    """Return commands; what made the controller give them stays with it."""
    lights = None if commands.lights is None else {name: list(rgb) for name, rgb in commands.lights.items()}
    return {
        "angles": commands.angles,
        "free": commands.free,
        "stiffness": commands.stiffness,
        "lights": lights,
    }


def read_commands(node: Node, robot: Robot) -> JointCommands:
    """Return commands that fit a robot; raise a `DocumentError` where they do not."""
    told = _entries(node, "angles", "free", "stiffness", "lights")
    n_joints = len(robot.joint_names)
    angles = _array(told["angles"], _FLOATS, (-1, n_joints))
    free = _maybe(told["free"], lambda one: _array(one, _FLAGS, (n_joints,)))
    stiffness = _maybe(told["stiffness"], lambda one: _array(one, _FLOATS, (n_joints,)))
    if not 1 <= len(angles) <= MAX_ROWS:
        told["angles"].fail(f"{len(angles)} rows", hint=f"1 to {MAX_ROWS}")
    if not (np.isfinite(angles) | (np.False_ if free is None else free)).all():
        told["angles"].fail("not a finite angle", hint="only a joint without torque may have none")
    if stiffness is not None and not (np.isfinite(stiffness) & (stiffness >= 0.0)).all():
        told["stiffness"].fail("not a stiffness", hint="0 N m/rad or more")
    return JointCommands(angles, free, stiffness, lights=_maybe(told["lights"], _lights))


def _lights(node: Node) -> dict[str, tuple[float, float, float]]:
    lights = {}
    for name, entry in node.fields().items():
        parts = [part.number(low=0.0, high=1.0) for part in entry.items()]
        if len(parts) != 3:
            entry.fail("expected red, green and blue")
        lights[name] = (parts[0], parts[1], parts[2])
    return lights


def read_states(node: Node, n_joints: int) -> JointStates:
    """Return the states that `plain_with_arrays` made this of; raise a `DocumentError` where it is none."""
    told = _entries(node, "times", "positions", "efforts", "truth", "faults")
    times = _array(told["times"], _FLOATS, (-1,))
    shape = (len(times), n_joints)
    return JointStates(
        times,
        _array(told["positions"], _FLOATS, shape),
        _array(told["efforts"], _FLOATS, shape),
        _maybe(told["truth"], lambda one: _truth(one, len(times))),
        tuple(read_record(entry, Fault) for entry in told["faults"].items()),
    )


def _truth(node: Node, n: int) -> GroundTruth:
    told = _entries(node, *(entry.name for entry in fields(GroundTruth)))
    truth = GroundTruth(
        base=_array(told["base"], _FLOATS, (n, 7)),
        footprints=_array(told["footprints"], _FLOATS, (n, -1, 4, 3)),
        foot_contacts=_array(told["foot_contacts"], _FLAGS, (n, -1)),
        boxes=_array(told["boxes"], _FLOATS, (n, -1, 7)),
        box_contacts=_array(told["box_contacts"], _FLAGS, (n, -1)),
        slips=_maybe(told["slips"], lambda one: _array(one, _FLOATS, (n, -1))),
        contacts=_maybe(told["contacts"], _read_contacts),
    )
    with _fitting(node):
        truth.check()
    return truth


def _read_contacts(node: Node) -> Contacts:
    told = _entries(node, *(entry.name for entry in fields(Contacts)))
    names = tuple(entry.text() for entry in told.pop("names").items())
    frames = _array(told["frames"], _WHOLE, (-1,))
    n = len(frames)
    pairs = _array(told["pairs"], _WHOLE, (n, 2))
    depths, forces, speeds = (_array(told[name], _FLOATS, (n,)) for name in ("depths", "forces", "speeds"))
    if n and not (pairs.min() >= 0 and pairs.max() < len(names) and frames.min() >= 0):
        node.fail("a contact of what is not named")
    return Contacts(names, frames.astype(np.intp), pairs.astype(np.intp), depths, forces, speeds)


def read_state(node: Node, n_joints: int) -> BodyState:
    """Return the state that `plain_with_arrays` made this of; raise a `DocumentError` where it is none."""
    told = _entries(node, "time_s", "positions", "efforts", "velocities", "sensors")
    return BodyState(
        told["time_s"].number(),
        _array(told["positions"], _FLOATS, (n_joints,)),
        _array(told["efforts"], _FLOATS, (n_joints,)),
        _maybe(told["velocities"], lambda one: _array(one, _FLOATS, (n_joints,))),
        {name: _reading(entry) for name, entry in told["sensors"].fields().items()},
    )


@contextmanager
def _fitting(node: Node) -> Iterator[None]:
    """Let shapes that do not fit each other be the fault of the message."""
    try:
        yield
    except BodyError as error:
        node.fail(error.message, hint=error.hint)


def _reading(node: Node) -> Reading:
    value = node.value
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, bool | float):  # a distance may be infinite
        return value
    return node.number()


def _entries(node: Node, *names: str) -> dict[str, Node]:
    return node.fields(required=names, optional=())


def _maybe(node: Node, read: Callable[[Node], T]) -> T | None:
    return None if node.value is None else read(node)


def _array(node: Node, kind: np.dtype[Any], shape: Sequence[int]) -> NDArray[Any]:
    """Return an array of that kind and shape; -1 stands for any length."""
    array = node.value
    if not isinstance(array, np.ndarray) or array.dtype != kind:
        node.fail(f"expected an array of {kind}")
    found: NDArray[Any] = array
    if found.ndim != len(shape) or any(n not in {-1, m} for n, m in zip(shape, found.shape, strict=True)):
        node.fail(f"an array of the shape {found.shape}", hint=f"{tuple(shape)} would fit")
    return found
