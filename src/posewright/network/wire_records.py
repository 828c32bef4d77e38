"""Encodes the records of requests and answers as plain data with arrays, and reads them with full checks."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from posewright.arenas import Arena
from posewright.bodies import (
    BodySpec,
    BodyState,
    Contacts,
    DomainParameters,
    Fault,
    GroundTruth,
    JointCommands,
    JointStates,
    Reading,
)
from posewright.documents import Node, read_record
from posewright.errors import BodyError, InputError
from posewright.recordings import sensor_card
from posewright.robots import Robot, SensorSpec, parse_sensor

MAX_PARTS = 8
MAX_SENSORS = 64
MAX_SHAPES = 500
MAX_BOXES = 64
"""Most boxes of an arena; compiling a model takes long with more, a minute with 480."""

MAX_ROWS = 4096
MAX_SEED = 2**63
_MAX_COORDINATE_M = 1000.0
_MAX_NAME = 100
_POSE_VALUES = 7
"""A position x, y, z and a quaternion."""

_FOOTPRINT_SHAPE = (4, 3)
"""Four corners x, y, z."""

_FLOATS = np.dtype(np.float64)
_FLAGS = np.dtype(np.bool_)
_INTEGERS = np.dtype(np.int64)

T = TypeVar("T")
S = TypeVar("S", bound=np.generic)


def fingerprint(robot: Robot) -> str:
    """Return the SHA-256, in hex, of a robot's document and model; two robots may have the same name."""
    digest = hashlib.sha256(robot.text.encode())
    if robot.model_path is not None:
        digest.update(robot.model_path.read_bytes())
    return digest.hexdigest()


def encode_part(part: BodySpec) -> dict[str, object]:
    """Return a part of a plant as plain data, with the name and fingerprint of its robot."""
    return {
        "name": part.name,
        "robot": part.robot.name,
        "fingerprint": fingerprint(part.robot),
        "start_pose": part.start_pose,
        "start": list(part.start),
        "sensors": {sensor.name: sensor_card(sensor) for sensor in part.sensors},
        "seed": part.seed,
        "domain": part.domain.to_dict(),
        "record_contacts": part.record_contacts,
    }


def read_part(node: Node, robot_by_name: Callable[[str], Robot]) -> BodySpec:
    """Return the part of a plant.

    Args:
        node: a part as `encode_part` returns it.
        robot_by_name: returns the robot with a name.

    Raises:
        InputError: a value is invalid, or the robot here is a different one of that name.
    """
    keys = (
        "name",
        "robot",
        "fingerprint",
        "start_pose",
        "start",
        "sensors",
        "seed",
        "domain",
        "record_contacts",
    )
    entries = _entries(node, *keys)
    robot = robot_by_name(entries["robot"].text())
    if entries["fingerprint"].text() != fingerprint(robot):
        raise InputError(
            f"{robot.name} is another robot here: its description or its model differs",
            hint="use the same version of Posewright and the same description on both sides",
        )
    pose = _array(entries["start_pose"], _FLOATS, (len(robot.joint_names),))
    if not np.isfinite(pose).all():
        entries["start_pose"].fail("not a finite angle", hint="write one finite angle per joint [rad]")
    start = [
        entry.number(low=-_MAX_COORDINATE_M, high=_MAX_COORDINATE_M) for entry in entries["start"].items()
    ]
    if len(start) != 3:
        entries["start"].fail("expected x, y and yaw")
    x_m, y_m, yaw_rad = start
    return BodySpec(
        read_name(entries["name"]),
        robot,
        pose,
        start=(x_m, y_m, yaw_rad),
        sensors=_read_sensors(entries["sensors"]),
        seed=entries["seed"].integer(low=0, high=MAX_SEED),
        domain=read_record(entries["domain"], DomainParameters, degrees=False),
        record_contacts=entries["record_contacts"].boolean(),
    )


def _read_sensors(node: Node) -> tuple[SensorSpec, ...]:
    """Return the sensors of a part; raise a DocumentError if there are too many or one is invalid."""
    descriptions = node.fields()
    if len(descriptions) > MAX_SENSORS:
        node.fail(f"{len(descriptions)} sensors", hint=f"at most {MAX_SENSORS}")
    sensors = []
    for name, description in descriptions.items():
        entries = description.fields(required=("name",))
        values = {key: entry.value for key, entry in entries.items() if key != "name"}
        sensor_name = read_name(Node(name, trail=description.trail))
        sensors.append(parse_sensor(sensor_name, Node(values, trail=description.trail)))
    return tuple(sensors)


def read_arena(node: Node) -> Arena | None:
    """Return the arena that `Arena.to_dict` encoded; None for a bare floor."""
    if node.value is None:
        return None
    keys = ("shapes", "boxes", "box_kinds", "spots", "colours")
    entries = node.fields(required=keys)
    for key in keys:
        items = entries[key].value
        limit = MAX_BOXES if key == "boxes" else MAX_SHAPES
        if isinstance(items, list | dict) and len(items) > limit:
            node.fail(f"{len(items)} {key}", hint=f"at most {limit}")
    for shape in entries["shapes"].items():
        read_name(shape.fields(required=("name",))["name"])
    with node.locate_errors():
        return Arena.from_dict(node.value)


def read_name(node: Node) -> str:
    """Return the name of a client, robot or shape: 1 to 100 printable characters."""
    name = node.text()
    if not name or len(name) > _MAX_NAME or not name.isprintable():
        node.fail("not a name", hint=f"write 1 to {_MAX_NAME} printable characters")
    return name


def encode_commands(commands: JointCommands) -> dict[str, object]:
    """Return commands as plain data, without the controller's decision."""
    lights = None if commands.lights is None else {name: list(rgb) for name, rgb in commands.lights.items()}
    return {
        "angles": commands.angles,
        "free": commands.free,
        "stiffness": commands.stiffness,
        "lights": lights,
    }


def read_commands(node: Node, robot: Robot) -> JointCommands:
    """Return the commands for a robot; raise a `DocumentError` if they are invalid."""
    entries = _entries(node, "angles", "free", "stiffness", "lights")
    n_joints = len(robot.joint_names)
    angles = _array(entries["angles"], _FLOATS, (-1, n_joints))
    free = _optional(entries["free"], lambda entry: _array(entry, _FLAGS, (n_joints,)))
    stiffness = _optional(entries["stiffness"], lambda entry: _array(entry, _FLOATS, (n_joints,)))
    if not 1 <= len(angles) <= MAX_ROWS:
        entries["angles"].fail(f"{len(angles)} rows", hint=f"send 1 to {MAX_ROWS}")
    is_free = np.False_ if free is None else free
    if not (np.isfinite(angles) | is_free).all():
        entries["angles"].fail("not a finite angle", hint="only joints without torque may have NaN")
    if stiffness is not None and not (np.isfinite(stiffness) & (stiffness >= 0.0)).all():
        entries["stiffness"].fail("not a stiffness", hint="write finite values of 0 N m/rad or more")
    return JointCommands(angles, free, stiffness, lights=_optional(entries["lights"], _read_lights))


def _read_lights(node: Node) -> dict[str, tuple[float, float, float]]:
    """Return red, green and blue, each 0 to 1, by name of the light."""
    lights = {}
    for name, entry in node.fields().items():
        colour = [part.number(low=0.0, high=1.0) for part in entry.items()]
        if len(colour) != 3:
            entry.fail("expected red, green and blue")
        red, green, blue = colour
        lights[name] = (red, green, blue)
    return lights


def read_states(node: Node, n_joints: int) -> JointStates:
    """Return joint states from `plain_with_arrays`; raise a `DocumentError` if they are invalid."""
    entries = _entries(node, "times", "positions", "efforts", "truth", "faults")
    times = _array(entries["times"], _FLOATS, (-1,))
    shape = (len(times), n_joints)
    return JointStates(
        times,
        positions=_array(entries["positions"], _FLOATS, shape),
        efforts=_array(entries["efforts"], _FLOATS, shape),
        truth=_optional(entries["truth"], lambda entry: _read_truth(entry, len(times))),
        faults=tuple(read_record(entry, Fault) for entry in entries["faults"].items()),
    )


def _read_truth(node: Node, n_frames: int) -> GroundTruth:
    """Return the ground truth of `n_frames` frames; raise a DocumentError if a shape does not match."""
    entries = _entries(node, *(field.name for field in fields(GroundTruth)))
    truth = GroundTruth(
        base=_array(entries["base"], _FLOATS, (n_frames, _POSE_VALUES)),
        footprints=_array(entries["footprints"], _FLOATS, (n_frames, -1, *_FOOTPRINT_SHAPE)),
        foot_contacts=_array(entries["foot_contacts"], _FLAGS, (n_frames, -1)),
        boxes=_array(entries["boxes"], _FLOATS, (n_frames, -1, _POSE_VALUES)),
        box_contacts=_array(entries["box_contacts"], _FLAGS, (n_frames, -1)),
        slips=_optional(entries["slips"], lambda entry: _array(entry, _FLOATS, (n_frames, -1))),
        contacts=_optional(entries["contacts"], _read_contacts),
    )
    try:
        truth.require_shapes()
    except BodyError as error:  # shapes that do not match are an error of the message
        node.fail(error.message, hint=error.hint)
    return truth


def _read_contacts(node: Node) -> Contacts:
    """Return contacts; raise a DocumentError if an index is out of range."""
    entries = _entries(node, *(field.name for field in fields(Contacts)))
    names = tuple(entry.text() for entry in entries["names"].items())
    frames = _array(entries["frames"], _INTEGERS, (-1,))
    n_contacts = len(frames)
    pairs = _array(entries["pairs"], _INTEGERS, (n_contacts, 2))
    depths = _array(entries["depths"], _FLOATS, (n_contacts,))
    forces = _array(entries["forces"], _FLOATS, (n_contacts,))
    speeds = _array(entries["speeds"], _FLOATS, (n_contacts,))
    if n_contacts and not (pairs.min() >= 0 and pairs.max() < len(names) and frames.min() >= 0):
        node.fail("a contact has an invalid index", hint="`pairs` are indices of `names`")
    return Contacts(
        names,
        frames=frames.astype(np.intp),
        pairs=pairs.astype(np.intp),
        depths=depths,
        forces=forces,
        speeds=speeds,
    )


def read_state(node: Node, n_joints: int) -> BodyState:
    """Return a body's state from `plain_with_arrays`; raise a `DocumentError` if it is invalid."""
    entries = _entries(node, "time_s", "positions", "efforts", "velocities", "sensors")
    return BodyState(
        entries["time_s"].number(),
        positions=_array(entries["positions"], _FLOATS, (n_joints,)),
        efforts=_array(entries["efforts"], _FLOATS, (n_joints,)),
        velocities=_optional(entries["velocities"], lambda entry: _array(entry, _FLOATS, (n_joints,))),
        sensors={name: _read_reading(entry) for name, entry in entries["sensors"].fields().items()},
    )


def _read_reading(node: Node) -> Reading:
    """Return a sensor reading: an array, a flag, or a number, which may be infinite."""
    value = node.value
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, bool | float):  # a distance may be infinite
        return value
    return node.number()


def _entries(node: Node, *names: str) -> dict[str, Node]:
    return node.fields(required=names, optional=())


def _optional(node: Node, read: Callable[[Node], T]) -> T | None:
    return None if node.value is None else read(node)


def _array(node: Node, dtype: np.dtype[S], shape: Sequence[int]) -> NDArray[S]:
    """Return an array of a type and shape, where -1 stands for any length; raise DocumentError otherwise."""
    value = node.value
    if not isinstance(value, np.ndarray) or value.dtype != dtype:
        node.fail(f"expected an array of {dtype}")
    array: NDArray[S] = value
    fits = array.ndim == len(shape) and all(
        length in {-1, actual} for length, actual in zip(shape, array.shape, strict=True)
    )
    if not fits:
        node.fail(f"an array of the shape {array.shape}", hint=f"expected {tuple(shape)}, -1 for any length")
    return array
