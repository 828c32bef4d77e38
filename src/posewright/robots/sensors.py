"""Specifications of a robot's sensors: channels, pose, range and resolution.

A sensor has readings in one or more channels. Most sensors have one channel with the sensor's name; an IMU
has three. Directions are in the mount's frame, x forward, y left, z up: yaw is positive to the left, and
pitch, about +y, is positive downwards (REP-103).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, TypeAlias

import numpy as np

from posewright.arrays import Floats
from posewright.documents import Bounds, FieldReader, Node, read_record

MAX_OFFSET_M = 10.0
"""Greatest coordinate of a position on a small robot [m]."""

Vector = tuple[float, float, float]


def parse_vector(node: Node) -> Vector:
    """Read `[x, y, z]` in metres."""
    entries = node.items()
    if len(entries) != 3:
        node.fail(f"expected three numbers, found {len(entries)}", hint="[x, y, z] in metres")
    x, y, z = (entry.number(low=-MAX_OFFSET_M, high=MAX_OFFSET_M) for entry in entries)
    return x, y, z


Position = Annotated[Vector, FieldReader(parse_vector)]
"""A position in the mount's frame [m]."""

Positive = Annotated[float, Bounds(0.001)]
HalfTurn = Annotated[float, Bounds(-180.0, 180.0)]
Pitch = Annotated[float, Bounds(-90.0, 90.0)]

MAX_BEAMS = 4096
"""More than any scanner of a small robot has."""

Beams = Annotated[int, Bounds(1, MAX_BEAMS)]
Pixels = Annotated[int, Bounds(1, 8192)]
Side = Annotated[
    int, Bounds(1, 128)
]  # two of the largest fit into the readings of a robot that a recording accepts


COUNT = "1"
"""The unit of a reading that is a plain number."""


@dataclass(frozen=True)
class Channel:
    """A channel of a sensor.

    Attributes:
        name: key of the reading in a body's state, such as `imu.orientation`.
        unit: `m`, `rad`, `rad/s`, `m/s^2`, `ticks`, `1` for a plain number, or empty for true and false.
        shape: the shape of a reading.
    """

    name: str
    unit: str
    shape: tuple[int, ...] = ()


@dataclass(frozen=True)
class RangeSensor:
    """Measures the distance to the nearest object inside a narrow fan of beams.

    Attributes:
        mount: site or body of the model it is fixed to.
        max_range_m: farthest distance; also the reading if nothing is hit [m].
        min_range_m: nearest distance; also the reading of any nearer object [m].
        position_m: the position in the mount's frame [m].
        yaw_deg: direction of the fan's middle, positive to the left [deg].
        pitch_deg: the same, positive downwards [deg].
        fan_deg: opening of the fan [deg].
    """

    kind: ClassVar[str] = "range"
    name: str
    mount: str
    max_range_m: Positive
    position_m: Position = field(default=(0.0, 0.0, 0.0), repr=False)
    yaw_deg: HalfTurn = 0.0
    pitch_deg: Pitch = 0.0
    fan_deg: Annotated[float, Bounds(0.0, 180.0)] = field(default=0.0, repr=False)
    beams: Beams = field(default=1, repr=False)
    min_range_m: Annotated[float, Bounds(0.0)] = field(default=0.0, repr=False)

    @property
    def channels(self) -> tuple[Channel, ...]:
        """The nearest distance."""
        return (Channel(self.name, "m"),)

    @property
    def bearings_rad(self) -> Floats:
        """Direction of every beam, `(beams,)` [rad], right to left."""
        half = self.fan_deg / 2.0 if self.beams > 1 else 0.0
        return np.radians(np.linspace(self.yaw_deg - half, self.yaw_deg + half, self.beams))


@dataclass(frozen=True)
class RangeScan:
    """Measures the distance along each of many beams.

    Attributes:
        max_range_m: farthest distance; also the reading if nothing is hit [m].
        start_deg: direction of the first beam, positive to the left [deg].
        step_deg: angle from one beam to the next, positive to the left [deg].
        position_m: the position in the mount's frame [m].
        pitch_deg: tilt of all beams, positive downwards [deg].
    """

    kind: ClassVar[str] = "range_scan"
    name: str
    mount: str
    max_range_m: Positive
    start_deg: Annotated[float, Bounds(-360.0, 360.0)]
    step_deg: HalfTurn
    beams: Beams
    position_m: Position = field(default=(0.0, 0.0, 0.0), repr=False)
    pitch_deg: Pitch = field(default=0.0, repr=False)

    @property
    def channels(self) -> tuple[Channel, ...]:
        """The distance of every beam."""
        return (Channel(self.name, "m", (self.beams,)),)

    @property
    def bearings_rad(self) -> Floats:
        """Direction of every beam, `(beams,)` [rad], in the order of the readings."""
        beams = np.arange(self.beams, dtype=np.float64)
        return np.radians(self.start_deg + self.step_deg * beams)


@dataclass(frozen=True)
class FlashLidar:
    """Measures the distance along each beam of a grid at the same time: a camera for distances.

    As in a camera, the beams hit a plane ahead at equal spacings. They are in rows from top to bottom, each
    from left to right.

    Attributes:
        max_range_m: farthest distance; also the reading if nothing is hit [m].
        horizontal_fov_deg: opening between the beams on the left and on the right [deg].
        vertical_fov_deg: opening between the highest and the lowest beams [deg].
        yaw_deg: direction of the middle, positive to the left [deg].
        pitch_deg: the same, positive downwards [deg].
    """

    kind: ClassVar[str] = "flash_lidar"
    name: str
    mount: str
    max_range_m: Positive
    horizontal_fov_deg: Annotated[float, Bounds(0.1, 170.0)]
    vertical_fov_deg: Annotated[float, Bounds(0.1, 170.0)]
    columns: Side = 64
    rows: Side = 48
    position_m: Position = field(default=(0.0, 0.0, 0.0), repr=False)
    yaw_deg: HalfTurn = 0.0
    pitch_deg: Pitch = 0.0

    @property
    def beams(self) -> int:
        """Number of beams."""
        return self.rows * self.columns

    @property
    def channels(self) -> tuple[Channel, ...]:
        """The distance of every beam."""
        return (Channel(self.name, "m", (self.beams,)),)

    @property
    def slopes(self) -> tuple[Floats, Floats]:
        """Slopes of the beams to the left and upwards per metre ahead, `(columns,)` and `(rows,)`."""
        left = beam_slopes(self.columns, self.horizontal_fov_deg)
        up = beam_slopes(self.rows, self.vertical_fov_deg)
        return left, up


def beam_slopes(count: int, fov_deg: float) -> Floats:
    """Return the sideways slopes of a flash lidar's beams per metre ahead, `(count,)`, falling.

    They are those of the columns to the left, from left to right, or of the rows upwards, from top to bottom.
    """
    edge = math.tan(math.radians(fov_deg) / 2.0) if count > 1 else 0.0
    return np.linspace(edge, -edge, count)


@dataclass(frozen=True)
class Encoder:
    """Measures a joint's angle in whole ticks of its servo."""

    kind: ClassVar[str] = "encoder"
    name: str
    joint: str

    @property
    def channels(self) -> tuple[Channel, ...]:
        """The servo's position."""
        return (Channel(self.name, "ticks"),)


@dataclass(frozen=True)
class Imu:
    """Measures orientation (roll, pitch, yaw), angular velocity and acceleration of its mount."""

    kind: ClassVar[str] = "imu"
    name: str
    mount: str

    @property
    def channels(self) -> tuple[Channel, ...]:
        """Orientation, angular velocity and acceleration, three numbers each."""
        return (
            Channel(f"{self.name}.orientation", "rad", (3,)),
            Channel(f"{self.name}.angular_velocity", "rad/s", (3,)),
            Channel(f"{self.name}.acceleration", "m/s^2", (3,)),
        )


@dataclass(frozen=True)
class Compass:
    """Measures the heading of its mount: 0 along the field's +x, positive to the left."""

    kind: ClassVar[str] = "compass"
    name: str
    mount: str

    @property
    def channels(self) -> tuple[Channel, ...]:
        """The heading."""
        return (Channel(self.name, "rad"),)


@dataclass(frozen=True)
class Accelerometer:
    """Measures the acceleration of its mount along the mount's axes: +9.81 upwards at rest.

    Attributes:
        range_m_s2: greatest absolute reading, at which it saturates [m/s^2].
    """

    kind: ClassVar[str] = "accelerometer"
    name: str
    mount: str
    range_m_s2: Positive

    @property
    def channels(self) -> tuple[Channel, ...]:
        """The acceleration forward, left and up."""
        return (Channel(self.name, "m/s^2", (3,)),)


@dataclass(frozen=True)
class FootContact:
    """Detects whether a foot touches the floor."""

    kind: ClassVar[str] = "foot_contact"
    name: str
    foot: str

    @property
    def channels(self) -> tuple[Channel, ...]:
        """Whether the foot touches the floor."""
        return (Channel(self.name, unit=""),)


@dataclass(frozen=True)
class FloorSensor:
    """Measures the brightness of the floor below it: 0 black, 1 white.

    Attributes:
        mount: site or body of the model it is fixed to.
        position_m: the position in the mount's frame [m].
        reach_m: greatest height above the floor; higher up, or upside down, the reading is 0 [m].
    """

    kind: ClassVar[str] = "floor_sensor"
    name: str
    mount: str
    position_m: Position = field(default=(0.0, 0.0, 0.0), repr=False)
    reach_m: Positive = field(default=0.08, repr=False)

    @property
    def channels(self) -> tuple[Channel, ...]:
        """The share of light that the floor reflects."""
        return (Channel(self.name, COUNT),)


@dataclass(frozen=True)
class TouchSwitch:
    """Detects the press of a hand. Simulated bodies have no reading of it."""

    kind: ClassVar[str] = "touch_switch"
    channels: ClassVar[tuple[Channel, ...]] = ()
    name: str
    place: str


@dataclass(frozen=True)
class AnalogTouch:
    """Measures the pressure of a hand, in its own units. Simulated bodies have no reading of it.

    Attributes:
        on_above: pressed above this value.
        off_below: released below this value.
    """

    kind: ClassVar[str] = "analog_touch"
    channels: ClassVar[tuple[Channel, ...]] = ()
    name: str
    place: str
    on_above: Annotated[float, Bounds(0.0)]
    off_below: Annotated[float, Bounds(0.0)]


@dataclass(frozen=True)
class VibrationSensor:
    """Detects a knock on the robot. Simulated bodies have no reading of it."""

    kind: ClassVar[str] = "vibration"
    channels: ClassVar[tuple[Channel, ...]] = ()
    name: str
    place: str


@dataclass(frozen=True)
class Camera:
    """Takes images. It has no channels.

    Attributes:
        mount: site or body of the model it is fixed to; it looks along +x.
        frame_rate_hz: images per second [Hz]; None if unknown.
    """

    kind: ClassVar[str] = "camera"
    channels: ClassVar[tuple[Channel, ...]] = ()
    name: str
    mount: str
    width: Pixels
    height: Pixels
    vertical_fov_deg: Annotated[float, Bounds(1.0, 179.0)] = 45.0
    frame_rate_hz: Annotated[float, Bounds(0.001, 10_000.0)] | None = None


@dataclass(frozen=True)
class CodeReader:
    """A camera that reads codes; the reading is the number of the text of the code nearest to the middle.

    Attributes:
        mount: site or body of the model it is fixed to.
        texts: the texts that it recognises, numbered from 1; a reading of 0 is none of them.
        pitch_deg: tilt of its line of sight, positive downwards [deg].
        rate_hz: images per second; the reading stays in between [Hz].
    """

    kind: ClassVar[str] = "code_reader"
    name: str
    mount: str
    texts: tuple[str, ...]
    width: Pixels = 640
    height: Pixels = 480
    vertical_fov_deg: Annotated[float, Bounds(1.0, 179.0)] = 45.0
    pitch_deg: Pitch = 0.0
    rate_hz: Annotated[float, Bounds(0.01, 100.0)] = 2.0

    @property
    def channels(self) -> tuple[Channel, ...]:
        """Number of the text."""
        return (Channel(self.name, COUNT),)


SensorSpec: TypeAlias = (
    RangeSensor
    | RangeScan
    | FlashLidar
    | Encoder
    | Imu
    | Compass
    | Accelerometer
    | FootContact
    | FloorSensor
    | TouchSwitch
    | AnalogTouch
    | VibrationSensor
    | Camera
    | CodeReader
)  # fmt: skip

KINDS: dict[str, type[SensorSpec]] = {
    kind.kind: kind
    for kind in (
        RangeSensor,
        RangeScan,
        FlashLidar,
        Encoder,
        Imu,
        Compass,
        Accelerometer,
        FootContact,
        FloorSensor,
        TouchSwitch,
        AnalogTouch,
        VibrationSensor,
        Camera,
        CodeReader,
    )
}  # fmt: skip


def parse_sensor(name: str, node: Node) -> SensorSpec:
    """Read an entry of the block `sensors:` of a card or a behaviour."""
    fields = node.fields(required=("kind",))
    kind = KINDS[fields["kind"].choice("kind of sensor", KINDS)]
    sensor: SensorSpec = read_record(node, kind, extra_keys=("kind", "source"), name=name)
    if isinstance(sensor, RangeSensor) and "min_range_m" in fields:
        fields["min_range_m"].number(low=0.0, high=sensor.max_range_m)
    if isinstance(sensor, AnalogTouch):
        fields["off_below"].number(low=0.0, high=sensor.on_above)
    return sensor
