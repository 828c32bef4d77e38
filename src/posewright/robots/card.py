"""The card of a robot: its joints, servos, poses, sensors and geometry."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from html import escape
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

import numpy as np

from posewright.arrays import Floats, Indices
from posewright.errors import InputError, UnknownNameError
from posewright.robots.biped import BipedGeometry
from posewright.robots.coupling import CoupledLimit, Coupling
from posewright.robots.geometry import HeadGeometry, LegGeometry
from posewright.robots.joint import SCHEMES_WITH_JOINT_NAMES, Joint, MirrorPair
from posewright.robots.lights import Led
from posewright.robots.motion_rules import MotionRules
from posewright.robots.sensors import SensorSpec
from posewright.robots.servo import Servo, ServoModel, ServoScale

_Value = TypeVar("_Value")

_MAPPINGS = (
    "poses", "up_through", "groups", "numberings", "namings", "designs", "sources", "servo_models",
    "link_masses_kg",
)  # fmt: skip
"""Fields that are mappings. They are read-only because robots are cached and shared."""


def freeze(value: object) -> object:
    """Return a read-only copy of a mapping and of all mappings in it; return other values unchanged."""
    if not isinstance(value, Mapping):
        return value
    return MappingProxyType({key: freeze(element) for key, element in value.items()})


def thaw(value: object) -> object:
    """Return the result of `freeze` as plain dictionaries, which can be pickled and copied."""
    if not isinstance(value, Mapping):
        return value
    return {key: thaw(element) for key, element in value.items()}


@dataclass(frozen=True)
class Robot:
    """A robot as its card describes it. Arrays over joints are in the order of `joint_names`.

    Attributes:
        name: short name, such as `sony_ers7`.
        maker: its manufacturer.
        title: its name in words.
        joints: the joints in the order of the card.
        servos: the servos of the joints, in their order.
        feet: names of the feet in the model.
        poses: the poses by name, each with an angle for every joint [rad].
        groups: the groups of joints, by name.
        mirror_pairs: joints that are exchanged when a pose is mirrored.
        numberings: the numberings by name, each with joint names by ID.
        sensors: specifications.
        frame_period_s: time between two commands to its servos [s].
        coupled_limits: limits that depend on other joints.
        up_through: by the name of a pose, the pose through which the robot gets up from it.
        namings: by the name of a scheme, the names of joints and sensors by their names in the scheme.
        designs: joints in order, by the label in Sony's motion files.
        leds: its lights.
        motion_rules: thresholds for motions that differ from the general ones.
        sources: texts of the sources, by the keys in the card.
        servo_models: the servo models by name.
        legs: geometry, in the order of their feet; empty if the card has none.
        biped: geometry of two legs that mirror each other; None if the card has none.
        head: geometry of neck, head and camera; None if the card has none.
        model_path: the MuJoCo model; None without one.
        folder: the folder of the card; None for an ad-hoc card.
        link_masses_kg: masses by body of the model [kg]; empty if the card has none.
        text: the text of the card, for recordings.
    """

    name: str
    maker: str
    title: str
    joints: tuple[Joint, ...]
    servos: tuple[Servo, ...]
    feet: tuple[str, ...]
    poses: Mapping[str, Mapping[str, float]]
    groups: Mapping[str, tuple[str, ...]]
    mirror_pairs: tuple[MirrorPair, ...]
    numberings: Mapping[str, Mapping[int, str]]
    sensors: tuple[SensorSpec, ...]
    frame_period_s: float
    coupled_limits: tuple[CoupledLimit, ...] = ()
    up_through: Mapping[str, str] = field(default_factory=dict)
    namings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    designs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    leds: tuple[Led, ...] = ()
    motion_rules: MotionRules = field(default_factory=MotionRules)
    sources: Mapping[str, str] = field(default_factory=dict)
    servo_models: Mapping[str, ServoModel] = field(default_factory=dict)
    legs: tuple[LegGeometry, ...] = ()
    biped: BipedGeometry | None = None
    head: HeadGeometry | None = None
    model_path: Path | None = None
    folder: Path | None = None
    link_masses_kg: Mapping[str, float] = field(default_factory=dict)
    text: str = field(default="", repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in _MAPPINGS:
            object.__setattr__(self, name, freeze(getattr(self, name)))

    def __hash__(self) -> int:
        return hash((self.name, self.joints))

    def __repr__(self) -> str:
        return f"Robot({self.name!r}, {len(self.joints)} joints)"

    def _repr_html_(self) -> str:
        """Return a table of the joints, for a notebook."""
        columns = ("joint", "lower [deg]", "upper [deg]", "servo")
        rows = [
            (
                joint.name,
                f"{math.degrees(joint.lower_rad):g}",
                f"{math.degrees(joint.upper_rad):g}",
                servo.model,
            )
            for joint, servo in zip(self.joints, self.servos, strict=True)
        ]
        return html_table(f"{self.name}: {self.title}", columns, rows)

    def __getstate__(self) -> dict[str, object]:
        """Return the state for pickling, in which read-only mappings become dictionaries."""
        state = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        return {**state, **{name: thaw(state[name]) for name in _MAPPINGS}}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self.__post_init__()

    @property
    def mass_kg(self) -> float | None:
        """Total mass of the links [kg]; None if the card has no masses."""
        return math.fsum(self.link_masses_kg.values()) if self.link_masses_kg else None

    def require_biped(self) -> BipedGeometry:
        """Return the geometry of two legs, or raise InputError if the card has none."""
        if self.biped is None:
            raise InputError(
                f"the card of {self.name} does not describe two legs",
                hint="describe them in its block `biped:`",
            )
        return self.biped

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """Names of all joints, in the order of every array over joints."""
        return tuple(joint.name for joint in self.joints)

    @cached_property
    def _joint_indices(self) -> Mapping[str, int]:
        return {name: i for i, name in enumerate(self.joint_names)}

    def index(self, joint: str) -> int:
        """Return the index of a joint in `joint_names`, or raise UnknownNameError."""
        return _look_up("joint", joint, self._joint_indices)

    def joint(self, name: str) -> Joint:
        """Return the joint of that name, or raise UnknownNameError."""
        return self.joints[self.index(name)]

    def servo(self, joint: str) -> Servo:
        """Return the servo that moves `joint`, or raise UnknownNameError."""
        return self.servos[self.index(joint)]

    def sensor(self, name: str) -> SensorSpec:
        """Return the sensor of that name, or raise UnknownNameError."""
        return _look_up("sensor", name, {sensor.name: sensor for sensor in self.sensors})

    def led(self, name: str) -> Led:
        """Return the light of that name, or raise UnknownNameError."""
        return _look_up("LED", name, {led.name: led for led in self.leds})

    def group(self, name: str) -> tuple[str, ...]:
        """Return the joints of a group, or raise UnknownNameError."""
        return _look_up("group", name, self.groups)

    def numbering(self, name: str) -> Mapping[int, str]:
        """Return the joint names by ID in a numbering, or raise UnknownNameError."""
        return _look_up("numbering", name, self.numberings)

    def ids(self, numbering: str) -> Mapping[str, int]:
        """Return the IDs by joint name in a numbering, or raise UnknownNameError."""
        return {joint: number for number, joint in self.numbering(numbering).items()}

    def naming(self, scheme: str) -> Mapping[str, str]:
        """Return the names of joints and sensors by their names in a scheme, or raise UnknownNameError."""
        if scheme not in self.namings and scheme in SCHEMES_WITH_JOINT_NAMES:
            return {name: name for name in self.joint_names}
        return _look_up("naming", scheme, self.namings)

    def names_in(self, scheme: str) -> Mapping[str, str]:
        """Return the names in a scheme by the names of joints and sensors, or raise UnknownNameError."""
        return {joint: name for name, joint in self.naming(scheme).items()}

    def design(self, label: str) -> tuple[str, ...]:
        """Return the joints of motion files with a design label, or raise UnknownNameError."""
        return _look_up("design", label, self.designs)

    def pose(self, name: str) -> Floats:
        """Return the angles of a named pose, `(n_joints,)` [rad], or raise UnknownNameError."""
        pose = _look_up("pose", name, self.poses)
        return np.array([pose[joint] for joint in self.joint_names], dtype=np.float64)

    @cached_property
    def limits(self) -> tuple[Floats, Floats]:
        """Lower and upper limits, `(n_joints,)` each [rad], read-only."""
        return (
            _read_only([joint.lower_rad for joint in self.joints]),
            _read_only([joint.upper_rad for joint in self.joints]),
        )

    @cached_property
    def hardware_limits(self) -> tuple[Floats, Floats]:
        """Lower and upper stops of the mechanism, `(n_joints,)` each [rad], read-only."""
        return (
            _read_only([joint.hardware_lower_rad for joint in self.joints]),
            _read_only([joint.hardware_upper_rad for joint in self.joints]),
        )

    @cached_property
    def coupling(self) -> Coupling:
        """The coupled limits, prepared for looking up many poses at once."""
        return Coupling(self.coupled_limits, self.joint_names)

    @cached_property
    def max_speeds(self) -> Floats:
        """Speeds without load, `(n_joints,)` [rad/s], read-only."""
        return _read_only([servo.no_load_speed_rad_s for servo in self.servos])

    @cached_property
    def _scale(self) -> ServoScale:
        """The conversion between ticks and angles for all servos."""
        return ServoScale(
            _read_only([servo.centre_deg for servo in self.servos]),
            _read_only([servo.direction for servo in self.servos]),
            _read_only([servo.tick_deg for servo in self.servos]),
        )

    def to_ticks(self, angles: Floats) -> Floats:
        """Return the servos' ticks, not rounded, for joint angles `(..., n_joints)` [rad]."""
        return self._scale.to_ticks(angles)

    def from_ticks(self, ticks: Floats) -> Floats:
        """Return joint angles [rad] for the servos' ticks `(..., n_joints)`."""
        return self._scale.from_ticks(ticks)

    @cached_property
    def _mirror_sources(self) -> tuple[Indices, Floats]:
        """For each joint of a mirrored pose, the column of its angle in the original pose, and its sign."""
        columns = np.arange(len(self.joints))
        signs = np.ones(len(self.joints))
        for pair in self.mirror_pairs:
            left = self.index(pair.left)
            right = self.index(pair.right)
            columns[left] = right
            columns[right] = left
            signs[[left, right]] = pair.sign
        return columns, signs

    def mirror(self, angles: Floats) -> Floats:
        """Return mirrored poses, with left and right exchanged, `(..., n_joints)` [rad]."""
        columns, signs = self._mirror_sources
        mirrored: Floats = angles[..., columns] * signs
        return mirrored


def _look_up(kind: str, name: str, values: Mapping[str, _Value]) -> _Value:
    """Return the value of a name, or raise UnknownNameError; `kind` is a noun for the message."""
    if name not in values:
        raise UnknownNameError.among(kind, name, values)
    return values[name]


def _read_only(numbers: list[float]) -> Floats:
    """Return a read-only array, because robots are cached and shared."""
    array = np.array(numbers, dtype=np.float64)
    array.setflags(write=False)
    return array


def html_table(
    title: str, columns: Iterable[str], rows: Iterable[Iterable[str]], *, is_open: bool = False
) -> str:
    """Return an HTML table that unfolds below its title; `is_open` unfolds it at first. Texts are escaped."""
    lines = [_row("th", columns), *(_row("td", row) for row in rows)]
    table = f"<table>{''.join(lines)}</table>"
    return f"<details{' open' * is_open}><summary>{escape(title)}</summary>{table}</details>"


def _row(tag: str, cells: Iterable[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"
