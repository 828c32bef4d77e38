"""Topics for viewers only: frames, the scene, footprints, and sensors as standard ROS messages.

They have at most `VIEW_HZ` frames and footprints per second; viewers interpolate between them.
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
    build_scene,
    fixed_links,
    link_frame,
    link_rotations,
    movable_links,
)
from posewright.recordings.topics import Topic
from posewright.robots import beam_slopes
from posewright.rotation import quaternions_of_roll_pitch_yaw

VIEW_HZ = 16.0
"""Greatest rate of frames and footprints [Hz]."""

LIDAR_HZ = 4.0
"""Greatest rate of a flash lidar's images and point clouds [Hz], which are large."""

_TIME_TOLERANCE_S = 1e-6
_XYZW_FROM_WXYZ = [1, 2, 3, 0]
_IDENTITY_POSE = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)


def view_topics(recording: Recording) -> Iterator[Topic]:
    """Yield the topics for viewers, which repeat content of `topics.exact_topics` in standard messages."""
    rate_hz = recording.header.rate_hz
    row_step = max(1, round(rate_hz / VIEW_HZ)) if math.isfinite(rate_hz) else 1
    rows = slice(None, None, row_step)
    times_ns = to_ns(recording.times[rows])
    start_ns = np.zeros(1, dtype=np.uint64)
    yield Topic(
        "/scene",
        schema=messages.SCENE,
        times_ns=start_ns,
        messages=[to_json(build_scene(recording)).encode()],
    )
    fixed_frames = _fixed_frames(recording)
    if fixed_frames.parents:
        yield Topic(
            "/tf_static", schema=messages.TF_MESSAGE, times_ns=start_ns, messages=fixed_frames.pack(start_ns)
        )
    yield Topic("/tf", messages.TF_MESSAGE, times_ns, messages=_moving_frames(recording, rows).pack(times_ns))
    for name, record in recording.robots.items():
        for foot, foot_name in enumerate(record.header.feet):
            points = record.footprints[rows, foot].astype(np.float32)
            packed = messages.polygon(n_corners=4).pack(len(points), stamp=stamps(times_ns), points=points)
            yield Topic(f"/{name}/footprint/{foot_name}", messages.POLYGON_STAMPED, times_ns, messages=packed)
        yield from _sensor_topics(name, record.header.sensors, record.decisions)


class _Frames:
    """Coordinate frames for viewers, each with its pose in a parent frame.

    Attributes:
        parents: the parent of each frame.
    """

    def __init__(self) -> None:
        self.parents: dict[str, str] = {}
        self._fixed_positions: dict[str, Sequence[float]] = {}
        self._values: dict[str, Array] = {}

    def add(self, child: str, parent: str, position: Sequence[float] | Floats, rotations: Floats) -> None:
        """Add a frame, unless one of that name was added before.

        Args:
            child: name of the frame.
            parent: name of its parent.
            position: `(3,)` if it never moves in its parent, else `(n, 3)` [m].
            rotations: `(n, 4)` (w x y z).
        """
        if child in self.parents:
            return
        i = len(self.parents)
        self.parents[child] = parent
        self._values[f"rotation_{i}"] = rotations[:, _XYZW_FROM_WXYZ]
        if np.ndim(position) == 2:
            self._values[f"position_{i}"] = np.asarray(position)
        else:
            self._fixed_positions[child] = list(position)

    def pack(self, times_ns: NDArray[np.uint64]) -> NDArray[np.uint8]:
        """Return a message of all frames for each time `(n,)` [ns], `(n, size)` bytes."""
        values = dict(self._values)
        for i in range(len(self.parents)):
            values[f"stamp_{i}"] = stamps(times_ns)
        layout = messages.transforms(self.parents, self._fixed_positions)
        return layout.pack_fields(len(times_ns), values)


def _moving_frames(recording: Recording, rows: slice) -> _Frames:
    """Return the coordinate frames of boxes, bases and links with a joint, in each of some rows."""
    frames = _Frames()
    for box_index, box_poses in enumerate(np.moveaxis(recording.boxes[rows], 1, 0)):
        frames.add(f"box_{box_index + 1}", FIELD, position=box_poses[:, :3], rotations=box_poses[:, 3:])
    for name, record in recording.robots.items():
        header = record.header
        is_base_known = np.isfinite(record.base[rows]).all(axis=1, keepdims=True)
        base_poses = np.where(is_base_known, record.base[rows], _IDENTITY_POSE)
        frames.add(f"{name}/{BASE}", FIELD, position=base_poses[:, :3], rotations=base_poses[:, 3:])
        rotations = link_rotations(header, np.nan_to_num(record.positions[rows]))
        for link_index, link in enumerate(movable_links(header)):
            child = link_frame(name, header, link["name"])
            parent = link_frame(name, header, link["parent"])
            frames.add(child, parent, link["position"], rotations[:, link_index])
    return frames


def _fixed_frames(recording: Recording) -> _Frames:
    """Return the frames of links without a joint and of sensors with a pose in the base's frame."""
    frames = _Frames()
    for name, header in recording.header.robots.items():
        for link in fixed_links(header):
            child = link_frame(name, header, link["name"])
            parent = link_frame(name, header, link["parent"])
            frames.add(child, parent, link["position"], np.array([link["rotation"]], dtype=np.float64))
        for sensor, sensor_card in header.sensors.items():
            if "base_pose" in sensor_card:
                pose = np.array([sensor_card["base_pose"]], dtype=np.float64)
                frames.add(_sensor_frame(name, sensor), f"{name}/{BASE}", pose[0, :3].tolist(), pose[:, 3:])
    return frames


def _sensor_frame(robot: str, sensor: str) -> str:
    return f"{robot}/sensors/{sensor}"


def compressed_images(
    robot: str, camera: str, times_ns: NDArray[np.uint64], images: Sequence[bytes]
) -> Topic:
    """Return the topic of a robot's camera with its JPEG images, taken at times `(n,)` [ns]."""
    packed = []
    for time_ns, image in zip(times_ns, images, strict=True):
        raw, values = messages.compressed_image(_sensor_frame(robot, camera), len(image)).blank()
        values["stamp"][:] = stamps(np.array([time_ns]))
        values["data"][:] = np.frombuffer(image, dtype=np.uint8)
        packed.append(bytes(raw))
    name = f"/{robot}/image/{camera}/compressed"
    return Topic(name, messages.COMPRESSED_IMAGE, times_ns, messages=packed)


def _sensor_topics(
    robot: str, sensor_cards: Mapping[str, PlainMapping], decisions: Decisions
) -> Iterator[Topic]:
    """Yield the topics of sensors that have a standard ROS message: ranges, lidars and IMUs."""
    times_ns = to_ns(decisions.times)
    n_decisions = len(decisions)
    stamp = stamps(times_ns)
    for channel, values in decisions.sensors.items():
        sensor_card = sensor_cards.get(channel, {})
        kind = sensor_card.get("kind")
        frame = _sensor_frame(robot, channel)
        ranges = values.astype(np.float32)
        if kind == "range_scan":
            packed = messages.laser_scan(frame, sensor_card, values.shape[1]).pack(
                n_decisions, stamp=stamp, ranges=ranges
            )
            yield Topic(f"/{robot}/scan/{channel}", messages.LASER_SCAN, times_ns, messages=packed)
        elif kind == "range" and values.shape[1] == 1:
            packed = messages.single_range(frame, sensor_card).pack(
                n_decisions, stamp=stamp, range=ranges[:, 0]
            )
            yield Topic(f"/{robot}/range/{channel}", messages.RANGE, times_ns, messages=packed)
        elif kind == "flash_lidar":
            yield from _flash_lidar_topics(robot, channel, sensor_card, decisions)
        elif channel.endswith(".orientation"):
            yield from _imu_topic(robot, channel.removesuffix(".orientation"), decisions, times_ns)


def _flash_lidar_topics(
    robot: str, sensor: str, sensor_card: PlainMapping, decisions: Decisions
) -> Iterator[Topic]:
    """Yield the depth images and point clouds of a flash lidar, which measures all beams of a grid at once.

    Both are NaN where a beam hit nothing. There are none if the readings do not fit the grid.

    Args:
        robot: the name of the robot.
        sensor: the name of the sensor.
        sensor_card: the card of the sensor, with the rows and columns of its grid.
        decisions: the decisions of the robot, with the readings.
    """
    rows = sensor_card.get("rows", 0)
    columns = sensor_card.get("columns", 0)
    if decisions.sensors[sensor].shape[1] != rows * columns:
        return
    selected_indices = _indices_with_spacing(decisions.times, 1.0 / LIDAR_HZ)
    times_ns = to_ns(decisions.times[selected_indices])
    distances = decisions.sensors[sensor][selected_indices]
    n_images = len(distances)
    stamp = stamps(times_ns)
    frame = _sensor_frame(robot, sensor)
    # a beam's direction is (1, left, up); the distance is along the beam, and `ahead` along the view axis
    left = beam_slopes(columns, float(sensor_card.get("horizontal_fov_deg", 0.0))).astype(np.float32)
    up = beam_slopes(rows, float(sensor_card.get("vertical_fov_deg", 0.0))).astype(np.float32)[:, None]
    ahead = distances.reshape(n_images, rows, columns).astype(np.float32) / np.sqrt(1.0 + left**2 + up**2)
    hits_nothing = distances >= float(sensor_card.get("max_range_m", math.inf))
    ahead[hits_nothing.reshape(ahead.shape)] = np.nan
    depth_messages = messages.depth_image(frame, rows, columns).pack(n_images, stamp=stamp, data=ahead)
    yield Topic(f"/{robot}/depth/{sensor}", messages.IMAGE, times_ns, messages=depth_messages)
    points = np.stack([ahead, ahead * left, ahead * up], axis=-1)
    cloud_messages = messages.point_cloud(frame, rows, columns).pack(n_images, stamp=stamp, data=points)
    yield Topic(f"/{robot}/points/{sensor}", messages.POINT_CLOUD, times_ns, messages=cloud_messages)


def _indices_with_spacing(times: Floats, period_s: float) -> list[int]:
    """Return indices of rising times `(n,)` [s]: the first, and each that is a period after the last one."""
    selected: list[int] = []
    for i, time_s in enumerate(times.tolist()):
        if not selected or time_s >= times[selected[-1]] + period_s - _TIME_TOLERANCE_S:
            selected.append(i)
    return selected


def _imu_topic(
    robot: str, sensor: str, decisions: Decisions, times_ns: NDArray[np.uint64]
) -> Iterator[Topic]:
    """Yield the topic of an IMU, unless one of its three channels is missing."""
    angles = decisions.sensors.get(f"{sensor}.orientation")
    velocity = decisions.sensors.get(f"{sensor}.angular_velocity")
    acceleration = decisions.sensors.get(f"{sensor}.acceleration")
    if angles is None or velocity is None or acceleration is None:
        return
    if {values.shape for values in (angles, velocity, acceleration)} != {(len(times_ns), 3)}:
        return
    packed = messages.imu(_sensor_frame(robot, sensor)).pack(
        len(times_ns),
        stamp=stamps(times_ns),
        orientation=quaternions_of_roll_pitch_yaw(angles)[:, _XYZW_FROM_WXYZ],
        angular_velocity=velocity,
        acceleration=acceleration,
    )
    yield Topic(f"/{robot}/imu/{sensor}", messages.IMU, times_ns, messages=packed)
