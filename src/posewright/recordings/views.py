"""What only viewers read: frames, the scene, footprints, and sensors in the words that viewers know.

Frames and footprints come at most `VIEW_HZ` times a second; viewers draw what lies between.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from posewright.arrays import Array, Floats
from posewright.documents.plain import PlainMapping
from posewright.recordings import messages
from posewright.recordings.cdr import stamps, to_ns
from posewright.recordings.exact_json import to_json
from posewright.recordings.messages import FIELD
from posewright.recordings.recording import Decisions, Recording
from posewright.recordings.scene import (
    BASE,
    link_frame,
    link_rotations,
    scene,
    standing,
    turning,
)
from posewright.recordings.topics import Topic
from posewright.robots import beam_slopes
from posewright.rotation import quaternions_of_roll_pitch_yaw

VIEW_HZ = 16.0
LIDAR_HZ = 4.0
"""Of a flash lidar, pictures and points come at most so often: they are large, and every reading is kept."""
_TO_XYZW = [1, 2, 3, 0]
_NOWHERE = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
_IMU = ("orientation", "angular_velocity", "acceleration")


def view_topics(recording: Recording) -> Iterator[Topic]:
    """Yield what `topics.exact_topics` does not, said once more for the eye."""
    rate_hz = recording.header.rate_hz
    rows = slice(None, None, max(1, round(rate_hz / VIEW_HZ)) if math.isfinite(rate_hz) else 1)
    times_ns, at_start = to_ns(recording.times[rows]), np.zeros(1, dtype=np.uint64)
    yield Topic("/scene", messages.SCENE, at_start, [to_json(scene(recording)).encode()])
    still = _standing_frames(recording)
    if still.parents:
        yield Topic("/tf_static", messages.TF_MESSAGE, at_start, still.packed(at_start))
    yield Topic("/tf", messages.TF_MESSAGE, times_ns, _moving_frames(recording, rows).packed(times_ns))
    for name, record in recording.robots.items():
        for foot, foot_name in enumerate(record.header.feet):
            points = record.footprints[rows, foot].astype(np.float32)
            packed = messages.polygon(4).pack(len(points), stamp=stamps(times_ns), points=points)
            yield Topic(f"/{name}/footprint/{foot_name}", messages.POLYGON_STAMPED, times_ns, packed)
        yield from _sensors(name, record.header.sensors, record.decisions)


class _Frames:
    """Frames that viewers look at, each in its parent's."""

    def __init__(self) -> None:
        self.parents: dict[str, str] = {}
        self._fixed: dict[str, Sequence[float]] = {}
        self._values: dict[str, Array] = {}

    def add(self, child: str, parent: str, position: Sequence[float] | Floats, rotations: Floats) -> None:
        """Add a frame at `(3,)`, or one place each time, `(n, 3)` [m]; rotations `(n, 4)` (w x y z)."""
        if child in self.parents:
            return
        i = len(self.parents)
        self.parents[child] = parent
        self._values[f"rotation_{i}"] = rotations[:, _TO_XYZW]
        if np.ndim(position) == 2:
            self._values[f"position_{i}"] = np.asarray(position)
        else:
            self._fixed[child] = list(position)

    def packed(self, times_ns: NDArray[np.uint64]) -> NDArray[np.uint8]:
        """Return a message of all frames for each time."""
        stamp = {f"stamp_{i}": stamps(times_ns) for i in range(len(self.parents))}
        layout = messages.transforms(self.parents, self._fixed)
        return layout.pack(len(times_ns), **stamp, **self._values)


def _moving_frames(recording: Recording, rows: slice) -> _Frames:
    frames = _Frames()
    for i, poses in enumerate(np.moveaxis(recording.boxes[rows], 1, 0), 1):
        frames.add(f"box_{i}", FIELD, poses[:, :3], poses[:, 3:])
    for name, record in recording.robots.items():
        header = record.header
        poses = record.base[rows]
        poses = np.where(np.isfinite(poses).all(axis=1, keepdims=True), poses, _NOWHERE)
        frames.add(f"{name}/{BASE}", FIELD, poses[:, :3], poses[:, 3:])
        rotations = link_rotations(header, np.nan_to_num(record.positions[rows]))
        for i, link in enumerate(turning(header)):
            child, parent = (link_frame(name, header, link[key]) for key in ("name", "parent"))
            frames.add(child, parent, link["position"], rotations[:, i])
    return frames


def _standing_frames(recording: Recording) -> _Frames:
    """Return where links without a joint are, and sensors on their robots' bases."""
    frames = _Frames()
    for name, header in recording.header.robots.items():
        for link in standing(header):
            child, parent = (link_frame(name, header, link[key]) for key in ("name", "parent"))
            frames.add(child, parent, link["position"], np.array([link["rotation"]], dtype=np.float64))
        for sensor, card in header.sensors.items():
            if "base_pose" in card:
                pose = np.array([card["base_pose"]], dtype=np.float64)
                frames.add(_sensor_frame(name, sensor), f"{name}/{BASE}", pose[0, :3].tolist(), pose[:, 3:])
    return frames


def _sensor_frame(robot: str, sensor: str) -> str:
    return f"{robot}/sensors/{sensor}"


def compressed_images(
    robot: str, camera: str, times_ns: NDArray[np.uint64], pictures: Sequence[bytes]
) -> Topic:
    """Return the topic of JPEG pictures that a robot's camera took at times `(n,)` [ns]."""
    packed = []
    for at, picture in zip(times_ns, pictures, strict=True):
        raw, values = messages.compressed_image(_sensor_frame(robot, camera), len(picture)).blank()
        values["stamp"][:] = stamps(np.array([at]))
        values["data"][:] = np.frombuffer(picture, dtype=np.uint8)
        packed.append(bytes(raw))
    name = f"/{robot}/image/{camera}/compressed"
    return Topic(name, messages.COMPRESSED_IMAGE, times_ns, packed)


def _sensors(name: str, cards: Mapping[str, PlainMapping], decisions: Decisions) -> Iterator[Topic]:
    times_ns = to_ns(decisions.times)
    n, stamp = len(decisions), stamps(times_ns)
    for channel, values in decisions.sensors.items():
        card, frame = cards.get(channel, {}), _sensor_frame(name, channel)
        kind, read = card.get("kind"), values.astype(np.float32)
        if kind == "range_scan":
            packed = messages.laser_scan(frame, card, values.shape[1]).pack(n, stamp=stamp, ranges=read)
            yield Topic(f"/{name}/scan/{channel}", messages.LASER_SCAN, times_ns, packed)
        elif kind == "range" and values.shape[1] == 1:
            packed = messages.single_range(frame, card).pack(n, stamp=stamp, range=read[:, 0])
            yield Topic(f"/{name}/range/{channel}", messages.RANGE, times_ns, packed)
        elif kind == "flash_lidar":
            yield from _flash_lidar(name, channel, card, decisions)
        elif channel.endswith(".orientation"):
            yield from _imu(name, channel.removesuffix(".orientation"), decisions, times_ns)


def _flash_lidar(name: str, sensor: str, card: PlainMapping, decisions: Decisions) -> Iterator[Topic]:
    """Yield what a flash lidar saw, as a picture of depths and as points; nothing met is no number."""
    rows, columns, distances = card.get("rows", 0), card.get("columns", 0), decisions.sensors[sensor]
    if distances.shape[1] != rows * columns:
        return
    seen = _spaced(decisions.times, 1.0 / LIDAR_HZ)
    times_ns, frame, distances = to_ns(decisions.times[seen]), _sensor_frame(name, sensor), distances[seen]
    n, stamp = len(distances), stamps(times_ns)
    left = beam_slopes(columns, float(card.get("horizontal_fov_deg", 0.0))).astype(np.float32)
    up = beam_slopes(rows, float(card.get("vertical_fov_deg", 0.0))).astype(np.float32)[:, None]
    ahead = distances.reshape(n, rows, columns).astype(np.float32) / np.sqrt(1.0 + left**2 + up**2)
    ahead[(distances >= float(card.get("max_range_m", math.inf))).reshape(ahead.shape)] = np.nan
    packed = messages.depth_image(frame, rows, columns).pack(n, stamp=stamp, data=ahead)
    yield Topic(f"/{name}/depth/{sensor}", messages.IMAGE, times_ns, packed)
    points = np.stack([ahead, ahead * left, ahead * up], axis=-1)
    packed = messages.point_cloud(frame, rows, columns).pack(n, stamp=stamp, data=points)
    yield Topic(f"/{name}/points/{sensor}", messages.POINT_CLOUD, times_ns, packed)


def _spaced(times: Floats, period_s: float) -> list[int]:
    """Return which of rising times to keep, so that each comes at least so long after the one before."""
    kept: list[int] = []
    for place, time_s in enumerate(times.tolist()):
        if not kept or time_s >= times[kept[-1]] + period_s - 1e-6:
            kept.append(place)
    return kept


def _imu(name: str, sensor: str, decisions: Decisions, times_ns: NDArray[np.uint64]) -> Iterator[Topic]:
    parts = [decisions.sensors.get(f"{sensor}.{part}") for part in _IMU]
    angles, velocity, acceleration = parts
    if angles is None or velocity is None or acceleration is None:
        return
    if {part.shape for part in (angles, velocity, acceleration)} != {(len(times_ns), 3)}:
        return
    packed = messages.imu(_sensor_frame(name, sensor)).pack(
        len(times_ns),
        stamp=stamps(times_ns),
        orientation=quaternions_of_roll_pitch_yaw(angles)[:, _TO_XYZW],
        angular_velocity=velocity,
        acceleration=acceleration,
    )
    yield Topic(f"/{name}/imu/{sensor}", messages.IMU, times_ns, packed)
