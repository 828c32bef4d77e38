"""The robot: its card."""

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
from posewright.errors import UnknownNameError
from posewright.robots.coupling import CoupledLimit, Coupling
from posewright.robots.geometry import HeadGeometry, LegGeometry
from posewright.robots.joint import AS_ITS_JOINTS, Joint, MirrorPair
from posewright.robots.lights import Led
from posewright.robots.motion_rules import MotionRules
from posewright.robots.sensors import SensorSpec
from posewright.robots.servo import Servo, ServoModel, ServoScale

_Value = TypeVar("_Value")

_MAPPINGS = (
    "poses", "up_through", "groups", "numberings", "namings", "designs", "sources", "servo_models",
    "link_masses_kg",
)  # fmt: skip
"""Fields that are mappings; nobody can write to them, as a robot is shared by all who ask for it."""


def frozen(value: object) -> object:
    """Return a read-only copy of a mapping and of the mappings in it; other values as they are."""
    if not isinstance(value, Mapping):
        return value
    return MappingProxyType({key: frozen(element) for key, element in value.items()})


def thawed(value: object) -> object:
    """Return a `frozen` mapping as plain dictionaries, which can be pickled and copied."""
    if not isinstance(value, Mapping):
        return value
    return {key: thawed(element) for key, element in value.items()}


@dataclass(frozen=True)
class Robot:
    """What is known of one robot. Arrays over joints are in the order of `joint_names`.

    Attributes:
        feet: names of the feet in the model.
        poses: joint angles by joint [rad], by name of pose.
        up_through: the pose through which the robot gets up from another, by the name of that.
        numberings: joint names by ID, by name of numbering.
        frame_period_s: time between two commands to its servos [s].
        namings: names of joints and sensors by somebody's name for them, by name of the scheme.
        designs: joints in order, by the label that Sony's motion files have for them.
        sources: what the keys of `source:` in the card stand for.
        legs: its legs of three joints, in the order of their feet; empty where the card does not say.
        head: where neck, head and camera lie; None where the card does not say.
        link_masses_kg: what its links weigh, by body of the model [kg]; empty where the card does not say.
        text: the card itself, for a recording to carry.
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
    head: HeadGeometry | None = None
    model_path: Path | None = None
    folder: Path | None = None
    link_masses_kg: Mapping[str, float] = field(default_factory=dict)
    text: str = field(default="", repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in _MAPPINGS:
            object.__setattr__(self, name, frozen(getattr(self, name)))

    def __hash__(self) -> int:
        return hash((self.name, self.joints))

    def __repr__(self) -> str:
        return f"Robot({self.name!r}, {len(self.joints)} joints)"

    def _repr_html_(self) -> str:
        """Return a table of its joints, for a notebook."""
        columns = ("joint", "lower [deg]", "upper [deg]", "servo")
        rows = (
            (
                joint.name,
                *(f"{math.degrees(end):g}" for end in (joint.lower_rad, joint.upper_rad)),
                servo.model,
            )
            for joint, servo in zip(self.joints, self.servos, strict=True)
        )
        return html_table(f"{self.name}: {self.title}", columns, rows)

    def __getstate__(self) -> dict[str, object]:
        """Return what a copy in another process is made of: a read-only mapping does not travel as such."""
        state = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        return {**state, **{name: thawed(state[name]) for name in _MAPPINGS}}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self.__post_init__()

    @property
    def mass_kg(self) -> float | None:
        """What it weighs, all links together [kg]; None where the card does not say."""
        return math.fsum(self.link_masses_kg.values()) if self.link_masses_kg else None

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """Names of all joints; this order is the order of every array over joints."""
        return tuple(joint.name for joint in self.joints)

    @cached_property
    def _places(self) -> Mapping[str, int]:
        return {name: place for place, name in enumerate(self.joint_names)}

    def index(self, joint: str) -> int:
        """Return the place of a joint in `joint_names`, or raise UnknownNameError."""
        return _known("joint", joint, self._places)

    def joint(self, name: str) -> Joint:
        """Return the joint of that name, or raise UnknownNameError."""
        return self.joints[self.index(name)]

    def servo(self, joint: str) -> Servo:
        """Return the servo that moves `joint`, or raise UnknownNameError."""
        return self.servos[self.index(joint)]

    def sensor(self, name: str) -> SensorSpec:
        """Return the sensor of that name, or raise UnknownNameError."""
        return _known("sensor", name, {sensor.name: sensor for sensor in self.sensors})

    def led(self, name: str) -> Led:
        """Return the light of that name, or raise UnknownNameError."""
        return _known("LED", name, {led.name: led for led in self.leds})

    def group(self, name: str) -> tuple[str, ...]:
        """Return the joints of a group, or raise UnknownNameError."""
        return _known("group", name, self.groups)

    def numbering(self, name: str) -> Mapping[int, str]:
        """Return joint names by ID in somebody's numbering, or raise UnknownNameError."""
        return _known("numbering", name, self.numberings)

    def ids(self, numbering: str) -> Mapping[str, int]:
        """Return IDs by joint name in somebody's numbering, or raise UnknownNameError."""
        return {joint: number for number, joint in self.numbering(numbering).items()}

    def naming(self, scheme: str) -> Mapping[str, str]:
        """Return joint names by what a scheme calls them, or raise UnknownNameError."""
        if scheme not in self.namings and scheme in AS_ITS_JOINTS:
            return {name: name for name in self.joint_names}
        return _known("naming", scheme, self.namings)

    def names_in(self, scheme: str) -> Mapping[str, str]:
        """Return what a scheme calls the joints, by joint name, or raise UnknownNameError."""
        return {joint: name for name, joint in self.naming(scheme).items()}

    def design(self, label: str) -> tuple[str, ...]:
        """Return the joints that a motion file with that design label moves, or raise UnknownNameError."""
        return _known("design", label, self.designs)

    def pose(self, name: str) -> Floats:
        """Return the angles of a named pose, `(n_joints,)` [rad], or raise UnknownNameError."""
        pose = _known("pose", name, self.poses)
        return np.array([pose[joint] for joint in self.joint_names], dtype=np.float64)

    @cached_property
    def limits(self) -> tuple[Floats, Floats]:
        """Lower and upper limits, `(n_joints,)` each [rad], not to be written to."""
        return (
            _fixed([joint.lower_rad for joint in self.joints]),
            _fixed([joint.upper_rad for joint in self.joints]),
        )

    @cached_property
    def hardware_limits(self) -> tuple[Floats, Floats]:
        """Lower and upper stops of the mechanism, `(n_joints,)` each [rad], not to be written to."""
        return (
            _fixed([joint.hardware_lower_rad for joint in self.joints]),
            _fixed([joint.hardware_upper_rad for joint in self.joints]),
        )

    @cached_property
    def coupling(self) -> Coupling:
        """Its coupled limits, ready to be looked up for many poses at once."""
        return Coupling(self.coupled_limits, self.joint_names)

    @cached_property
    def max_speeds(self) -> Floats:
        """Speeds without load, `(n_joints,)` [rad/s], not to be written to."""
        return _fixed([servo.no_load_speed_rad_s for servo in self.servos])

    @cached_property
    def _scale(self) -> ServoScale:
        """How ticks and angles relate, of all servos."""
        return ServoScale(
            _fixed([servo.centre_deg for servo in self.servos]),
            _fixed([servo.direction for servo in self.servos]),
            _fixed([servo.tick_deg for servo in self.servos]),
        )

    def to_ticks(self, angles: Floats) -> Floats:
        """Return the servos' ticks, not rounded, for joint angles `(..., n_joints)` [rad]."""
        return self._scale.to_ticks(angles)

    def from_ticks(self, ticks: Floats) -> Floats:
        """Return joint angles [rad] for the servos' ticks `(..., n_joints)`."""
        return self._scale.from_ticks(ticks)

    @cached_property
    def _mirrored(self) -> tuple[Indices, Floats]:
        """Where each mirrored joint takes its angle from, and with which sign."""
        source = np.arange(len(self.joints))
        sign = np.ones(len(self.joints))
        for pair in self.mirror_pairs:
            left, right = self.index(pair.left), self.index(pair.right)
            source[left], source[right] = right, left
            sign[[left, right]] = pair.sign
        return source, sign

    def mirror(self, angles: Floats) -> Floats:
        """Return the pose as a mirror shows it, left and right changed, `(..., n_joints)` [rad]."""
        source, sign = self._mirrored
        mirrored: Floats = angles[..., source] * sign
        return mirrored


def _known(what: str, name: str, known: Mapping[str, _Value]) -> _Value:
    if name not in known:
        raise UnknownNameError.among(what, name, known)
    return known[name]


def _fixed(numbers: list[float]) -> Floats:
    """Return an array that nobody can write to: a robot is shared by all who ask for it."""
    array = np.array(numbers, dtype=np.float64)
    array.setflags(write=False)
    return array


def html_table(
    title: str, columns: Iterable[str], rows: Iterable[Iterable[str]], *, opened: bool = False
) -> str:
    """Return a table that opens below its title; all text is escaped."""
    lines = [_row("th", columns), *(_row("td", row) for row in rows)]
    table = f"<table>{''.join(lines)}</table>"
    return f"<details{' open' * opened}><summary>{escape(title)}</summary>{table}</details>"


def _row(tag: str, cells: Iterable[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"
