"""A robot's sensors: what each one measures and where it sits.

A sensor's readings come by channel: most sensors have one, named as the sensor; an IMU has three.
Angles look along the mount's frame: x forward, y left, z up; yaw is positive to the left and pitch,
about +y, positive downwards (REP-103).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, TypeAlias

import numpy as np

from posewright.arrays import Floats
from posewright.documents import Bounds, FieldReader, Node, read_record

FARTHEST_M = 10.0
"""No part of a small robot is farther from another."""

Vector = tuple[float, float, float]


def parse_vector(node: Node) -> Vector:
    """Read `[x, y, z]` in metres, or raise DocumentError."""
    entries = node.items()
    if len(entries) != 3:
        node.fail(f"expected three numbers, found {len(entries)}", hint="[x, y, z] in metres")
    x, y, z = (entry.number(low=-FARTHEST_M, high=FARTHEST_M) for entry in entries)
    return x, y, z


Position = Annotated[Vector, FieldReader(parse_vector)]
"""A place in the mount's frame [m]."""

Positive = Annotated[float, Bounds(0.001)]
HalfTurn = Annotated[float, Bounds(-180.0, 180.0)]
Pitch = Annotated[float, Bounds(-90.0, 90.0)]
MOST_BEAMS = 4096
"""More than any scanner a small robot could carry."""

Beams = Annotated[int, Bounds(1, MOST_BEAMS)]
Pixels = Annotated[int, Bounds(1, 8192)]
Side = Annotated[int, Bounds(1, 128)]  # two of the largest still fit into what a robot may read at a time


COUNT = "1"
"""The unit of a reading that is a plain number."""


@dataclass(frozen=True)
class Channel:
    """One reading of a sensor.

    Attributes:
        name: key of the reading in a body's state, `imu.orientation`.
        unit: `m`, `rad`, `rad/s`, `m/s^2`, `ticks`, `1` for a plain number, or empty for true and false.
    """

    name: str
    unit: str
    shape: tuple[int, ...] = ()


@dataclass(frozen=True)
class RangeSensor:
    """Measures the distance to the nearest thing inside a narrow fan of beams.

    Attributes:
        mount: site or body of the model it is fixed to.
        max_range_m: farthest distance; also the reading where nothing is hit [m].
        min_range_m: nearest distance; also the reading of anything nearer [m].
        position_m: place in the mount's frame [m].
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
    """Measures the distance along every one of many beams.

    Attributes:
        max_range_m: farthest distance; also the reading where nothing is hit [m].
        start_deg: direction of the first beam, positive to the left [deg].
        step_deg: angle from one beam to the next, positive to the left [deg].
        position_m: place in the mount's frame [m].
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
    """Measures the distance along every one of a grid of beams, all at once: a camera of distances.

    As in a camera, the beams' ends lie evenly on a plane ahead. They are in rows from the top down, each from
    left to right.

    Attributes:
        max_range_m: farthest distance; also the reading where nothing is hit [m].
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
        """How many there are."""
        return self.rows * self.columns

    @property
    def channels(self) -> tuple[Channel, ...]:
        """The distance of every beam."""
        return (Channel(self.name, "m", (self.beams,)),)

    @property
    def slopes(self) -> tuple[Floats, Floats]:
        """How far to the left and up beams go for every metre ahead, `(columns,)` and `(rows,)`."""
        return beam_slopes(self.columns, self.horizontal_fov_deg), beam_slopes(
            self.rows, self.vertical_fov_deg
        )


def beam_slopes(count: int, fov_deg: float) -> Floats:
    """Return how far to the side the beams of a flash lidar go for every metre ahead, `(count,)`.

    They come from left to right, or from the top down.
    """
    edge = math.tan(math.radians(fov_deg) / 2.0) if count > 1 else 0.0
    return np.linspace(edge, -edge, count)


@dataclass(frozen=True)
class Encoder:
    """Measures a joint's angle as its servo tells it: in whole ticks of the servo."""

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
    """Measures where its mount looks: 0 along the field's +x, positive to the left."""

    kind: ClassVar[str] = "compass"
    name: str
    mount: str

    @property
    def channels(self) -> tuple[Channel, ...]:
        """The heading."""
        return (Channel(self.name, "rad"),)


@dataclass(frozen=True)
class Accelerometer:
    """Measures the acceleration of its mount, along the mount's axes: +9.81 upwards where it is at rest.

    Attributes:
        range_m_s2: farthest reading either way, where it saturates [m/s^2].
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
    """Tells whether a foot touches the floor."""

    kind: ClassVar[str] = "foot_contact"
    name: str
    foot: str

    @property
    def channels(self) -> tuple[Channel, ...]:
        """True while the foot touches."""
        return (Channel(self.name, ""),)


@dataclass(frozen=True)
class FloorSensor:
    """Measures how bright the floor is straight below it: 0 black, 1 white.

    Attributes:
        mount: site or body of the model it is fixed to.
        position_m: place in the mount's frame [m].
        reach_m: from higher up, or upside down, it sees no floor and reads 0 [m].
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
    """Tells whether a hand presses it; a simulated body has nobody to press it, so it gives no reading."""

    kind: ClassVar[str] = "touch_switch"
    channels: ClassVar[tuple[Channel, ...]] = ()
    name: str
    place: str


@dataclass(frozen=True)
class AnalogTouch:
    """Measures how hard a hand presses, in units of its own; like a switch, it gives no reading.

    Attributes:
        on_above: above this it counts as pressed.
        off_below: below this it counts as let go.
    """

    kind: ClassVar[str] = "analog_touch"
    channels: ClassVar[tuple[Channel, ...]] = ()
    name: str
    place: str
    on_above: Annotated[float, Bounds(0.0)]
    off_below: Annotated[float, Bounds(0.0)]


@dataclass(frozen=True)
class VibrationSensor:
    """Tells that the robot was knocked; nobody knocks a simulated body, so it gives no reading."""

    kind: ClassVar[str] = "vibration"
    channels: ClassVar[tuple[Channel, ...]] = ()
    name: str
    place: str


@dataclass(frozen=True)
class Camera:
    """Takes pictures; it has no readings a chart could use.

    Attributes:
        mount: site or body of the model it is fixed to; it looks along +x.
        frame_rate_hz: pictures a second, where known [Hz].
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
    """A camera whose pictures are searched for codes; tells which of its texts the one in the middle says.

    Attributes:
        mount: site or body of the model it is fixed to.
        texts: what it knows; a reading of 1 is the first of them, 0 none.
        pitch_deg: tilt of its line of sight, positive downwards [deg].
        rate_hz: pictures a second; in between a reading stays [Hz].
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
        """Which text it reads."""
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
    """Read one entry of a `sensors:` block, as robot cards and behaviours carry it."""
    fields = node.fields(required=("kind",))
    kind = KINDS[fields["kind"].choice("kind of sensor", KINDS)]
    sensor: SensorSpec = read_record(node, kind, extra_keys=("kind", "source"), name=name)
    if isinstance(sensor, RangeSensor) and "min_range_m" in fields:
        fields["min_range_m"].number(low=0.0, high=sensor.max_range_m)
    if isinstance(sensor, AnalogTouch):
        fields["off_below"].number(low=0.0, high=sensor.on_above)
    return sensor
