"""The world of a recording in the 3-D view: field, boxes, robots and laser beams.

It is drawn from the recording alone, so it can show robots that are not in the catalogue.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from posewright.arenas import Colour
from posewright.arrays import Floats
from posewright.contests import Mark, MarkKind
from posewright.figures.playback import Poses, poses_of_recording
from posewright.figures.style import channels_of, colours_of
from posewright.recordings import Recording, RobotHeader
from posewright.recordings.messages import FIELD
from posewright.recordings.scene import BASE, build_scene, link_frame, link_rotations, movable_links

if TYPE_CHECKING:
    from typing import Any  # data of a recording, which may be anything

    from viser import (
        CameraHandle,
        FrameHandle,
        InitialCameraConfig,
        SceneApi,
        SceneNodeHandle,
        ViserServer,
    )

ROOT = "/trial"


class BeamStyle(NamedTuple):
    """Colour and thickness [px] of a drawn beam."""

    colour: tuple[int, int, int]
    thickness_px: float


BEAM_STYLES = {"range": BeamStyle((214, 60, 40), 3.0), "range_scan": BeamStyle((232, 150, 40), 1.0)}
"""Style of beams by kind of sensor; other sensors have no beams."""

MARK_HEIGHT_M = 0.3
"""Height of marks above the floor [m]."""

MARK_COLOUR = (190, 40, 30)
"""Colour of marks."""

TINT_SHARE = 0.5
"""Share of a robot's own colours that is replaced by that of its role, where there are several."""

LABEL_S = 3.0
"""How long the text of a mark is shown [s], so that the texts of a place do not cover each other."""

MARK_TIME_TOLERANCE_S = 1e-3
"""A mark is shown so much before its time [s]: times that windows send are rounded."""

FIELD_SIZE_SHARE = 0.47
"""Size for the camera as a share of the field's diagonal: the field fills the picture."""

ROBOT_VIEW_SIZE_M = 0.5
"""Size for the camera of the surroundings of a robot [m]."""

_UNKNOWN_POSE = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
"""Base pose at which a robot is drawn while its pose is not known."""

_VIEW = np.array([-0.9, -1.3, 0.9])
"""Vector from the target to the camera, divided by the size of the target."""


class ShownMark(NamedTuple):
    """A mark in the 3-D view: its time [s], its ball, and its text."""

    time_s: float
    ball: SceneNodeHandle
    label: SceneNodeHandle


class Rays:
    """The beams of a range sensor or laser scanner, up to the points that they hit.

    Args:
        viser_scene: the scene to draw in.
        frame: path of the node that the sensor is mounted on.
        name: name of the beams' node in it.
        sensor: the sensor as the recording describes it: its kind, pose, beams and range.

    Attributes:
        lines: the beams' node.
    """

    def __init__(self, viser_scene: SceneApi, frame: str, name: str, sensor: Mapping[str, Any]) -> None:
        """Add the beams' node, with no length until `show` is called."""
        mount_pose = sensor.get("link_pose") or sensor["base_pose"]
        n_beams = int(sensor["beams"]) if sensor["kind"] == "range_scan" else 1
        bearings_deg = sensor.get("start_deg", 0.0) + sensor.get("step_deg", 0.0) * np.arange(n_beams)
        bearings = np.radians(bearings_deg)
        self._directions = np.stack([np.cos(bearings), np.sin(bearings), np.zeros(n_beams)], axis=1)
        self._max_range_m = float(sensor["max_range_m"])
        self._shown_distances: Floats | None = None
        colour, thickness_px = BEAM_STYLES[sensor["kind"]]
        self.lines = viser_scene.add_line_segments(
            f"{frame}/{name}",
            points=np.zeros((n_beams, 2, 3), dtype=np.float32),
            colors=colour,
            thickness=thickness_px,
            thickness_units="screen",
            position=tuple(mount_pose[:3]),
            wxyz=tuple(mount_pose[3:]),
        )

    def show(self, distances: Floats) -> None:
        """Draw the beams that hit something, by distances `(n_beams,)` [m]; the others get no length."""
        if self._shown_distances is not None and np.array_equal(
            distances, self._shown_distances, equal_nan=True
        ):
            return
        self._shown_distances = distances
        has_hit = np.isfinite(distances) & (distances < self._max_range_m)
        lengths = np.where(has_hit, distances, 0.0)
        # each beam is a line in the sensor's frame from the origin to the point that it hits
        hit_points = lengths[:, None] * self._directions
        self.lines.points = np.stack([np.zeros_like(hit_points), hit_points], axis=1).astype(np.float32)


class RobotNodes:
    """The nodes of a robot's links; each is a child of its parent link's node.

    Args:
        viser_scene: the scene to draw in.
        name: name of the robot in the recording.
        header: its links and sensors.

    Attributes:
        paths: path of the node of each frame of `recordings.scene`.
        base: node of the base.
        rays: beams by sensor.
    """

    def __init__(self, viser_scene: SceneApi, name: str, header: RobotHeader) -> None:
        """Add a node for each link, and the beams of its sensors."""
        self._header = header
        self.paths = {link_frame(name, header, link["name"]): "" for link in header.links}
        self.paths[f"{name}/{BASE}"] = f"{ROOT}/{name}"
        self.base = viser_scene.add_frame(f"{ROOT}/{name}", show_axes=False)
        nodes = {}
        for number, link in enumerate(header.links[1:], 1):
            path = f"{self.paths[link_frame(name, header, link['parent'])]}/{number}"
            self.paths[link_frame(name, header, link["name"])] = path
            nodes[link["name"]] = viser_scene.add_frame(
                path, show_axes=False, position=tuple(link["position"]), wxyz=tuple(link["rotation"])
            )
        self._moving_links = [nodes[link["name"]] for link in movable_links(header)]
        self.rays: dict[str, Rays] = {}
        for number, (sensor_name, sensor) in enumerate(header.sensors.items()):
            has_pose = "base_pose" in sensor or "link_pose" in sensor
            if sensor["kind"] in BEAM_STYLES and has_pose:
                frame = link_frame(name, header, sensor["link"]) if "link" in sensor else f"{name}/{BASE}"
                self.rays[sensor_name] = Rays(
                    viser_scene, frame=self.paths[frame], name=f"sensor-{number}", sensor=sensor
                )

    def show(self, base: Floats, positions: Floats) -> None:
        """Show the robot with a base pose `(7,)`, NaN if unknown, and joint angles `(n_joints,)` [rad]."""
        _set_node_pose(self.base, base if np.isfinite(base).all() else _UNKNOWN_POSE)
        if self._moving_links:
            rotations = link_rotations(self._header, positions[None])[0]
            for node, rotation in zip(self._moving_links, rotations, strict=True):
                node.wxyz = rotation


class TrialWorld:
    """A recording in the 3-D view; `set_recording` updates one that grows.

    Args:
        viser: the server of the 3-D view.
        recording: the recording, with at least one row.
    """

    def __init__(self, viser: ViserServer, recording: Recording) -> None:
        """Add the nodes of boxes, robots and their shapes to the scene; another trial is removed."""
        self._viser = viser
        self._poses: Poses
        self._marks: list[ShownMark] = []
        self.set_recording(recording)
        viser_scene = viser.scene
        with viser.atomic():
            viser_scene.remove_by_name(ROOT)
            viser_scene.add_frame(ROOT, show_axes=False)
            header = recording.header
            self._boxes = [
                viser_scene.add_frame(f"{ROOT}/box_{i}", show_axes=False)
                for i in range(1, len(header.boxes) + 1)
            ]
            self._robots = {
                name: RobotNodes(viser_scene, name, robot) for name, robot in header.robots.items()
            }
            node_paths = {
                FIELD: ROOT,
                **{f"box_{i}": f"{ROOT}/box_{i}" for i in range(1, len(header.boxes) + 1)},
            }
            for nodes in self._robots.values():
                node_paths |= nodes.paths
            tints = _robot_tints(self._robots)
            for number, entity in enumerate(build_scene(recording)["entities"]):
                frame = entity["frame_id"]
                _draw(viser_scene, f"{node_paths[frame]}/look-{number}", entity, tint=tints.get(frame))

    def set_recording(self, recording: Recording) -> None:
        """Replace the recording by a longer one of the same run."""
        self._recording = recording
        self._poses = poses_of_recording(recording)

    def show(self, time_s: float) -> None:
        """Show the recording at a time [s]."""
        poses = self._poses.interpolate_at(np.array([time_s]))  # arrays of one row, for this time
        (box_poses,) = poses.boxes
        with self._viser.atomic():
            for node, pose in zip(self._boxes, box_poses, strict=True):
                _set_node_pose(node, pose)
            for name, nodes in self._robots.items():
                nodes.show(poses.base_poses[name][0], poses.joint_angles[name][0])
                decisions = self._recording.robots[name].decisions
                last_row = int(np.searchsorted(decisions.times, time_s, side="right")) - 1
                for sensor, rays in nodes.rays.items():
                    if sensor in decisions.sensors and last_row >= 0:
                        rays.show(decisions.sensors[sensor][last_row])
            self._show_marks(time_s)

    def set_marks(self, marks: Iterable[Mark]) -> None:
        """Replace the marks at the positions of penalties, which `show` shows from their times on."""
        for shown in self._marks:
            shown.ball.remove()  # with its label
        self._marks = []
        for number, mark in enumerate(marks):
            if mark.kind is not MarkKind.PENALTY or mark.x is None or mark.y is None:
                continue
            path = f"{ROOT}/mark-{number}"
            ball = self._viser.scene.add_icosphere(
                path,
                radius=0.015,
                color=MARK_COLOUR,
                position=(mark.x, mark.y, MARK_HEIGHT_M),
                visible=False,
            )
            text = f"{mark.label}, {mark.time_s:.1f} s"
            label = self._viser.scene.add_label(f"{path}/words", text, visible=False)
            self._marks.append(ShownMark(mark.time_s, ball, label))

    def _show_marks(self, time_s: float) -> None:
        """Show the marks of what has happened until a time [s], and the texts of the latest."""
        for mark in self._marks:
            age_s = time_s - mark.time_s
            has_happened = age_s >= -MARK_TIME_TOLERANCE_S
            for node, is_visible in (
                (mark.ball, has_happened),
                (mark.label, has_happened and age_s < LABEL_S),
            ):
                if node.visible != is_visible:
                    node.visible = is_visible

    def set_lasers(self, is_visible: bool) -> None:
        """Show or hide the laser beams."""
        for nodes in self._robots.values():
            for rays in nodes.rays.values():
                rays.lines.visible = is_visible

    def _base_position(self, robot: str, time_s: float) -> Floats:
        """Return the position of a robot's base at a time [s], `(3,)` [m]."""
        base = self._poses.interpolate_at(np.array([time_s])).base_poses[robot][0, :3]
        return base if np.isfinite(base).all() else _UNKNOWN_POSE[:3]

    def look_at_field(self) -> None:
        """Point all cameras at the field; without a field, at the first robot's start."""
        size = self._recording.header.arena.get("size_m")
        if size:
            self._look((size[0] / 2.0, 0.0, 0.0), size_m=FIELD_SIZE_SHARE * math.hypot(*size))
        else:
            self.look_at_robot(next(iter(self._robots)), float(self._recording.times[0]))

    def look_at_robot(self, robot: str, time_s: float) -> None:
        """Point all cameras at a robot at a time [s], from close by."""
        self._look(self._base_position(robot, time_s), size_m=ROBOT_VIEW_SIZE_M)

    def move_cameras_with_robot(self, previous_time_s: float, current_time_s: float) -> None:
        """Move the cameras of all browsers over the floor like the first robot between two times [s]."""
        robot = next(iter(self._robots))
        previous_position = self._base_position(robot, previous_time_s)
        displacement = self._base_position(robot, current_time_s) - previous_position
        displacement[2] = 0.0  # the camera stays at its height
        for client in self._viser.get_clients().values():
            if client.camera.update_timestamp:  # 0 until the browser has sent its camera
                client.camera.position = client.camera.position + displacement

    def _look(self, position: Iterable[float], size_m: float) -> None:
        """Point all cameras at a position `(3,)` [m], so that an object of a size [m] fills the picture."""
        target = np.array(list(position))
        cameras: list[CameraHandle | InitialCameraConfig] = [self._viser.initial_camera]
        for client in self._viser.get_clients().values():
            if client.camera.update_timestamp:  # 0 until the browser has sent its camera
                cameras.append(client.camera)
        for camera in cameras:
            camera.position = target + size_m * _VIEW
            camera.look_at = target

    def close(self) -> None:
        """Remove the recording from the scene."""
        self._viser.scene.remove_by_name(ROOT)


def _set_node_pose(node: FrameHandle, pose: Floats) -> None:
    """Set the pose of a node: x y z qw qx qy qz."""
    node.position = pose[:3]
    node.wxyz = pose[3:]


def _robot_tints(robots: Mapping[str, RobotNodes]) -> dict[str, Colour]:
    """Return the colour of each of several robots by frame, that of its role as in pictures; none for one."""
    if len(robots) < 2:
        return {}
    colours = colours_of(robots)
    return {frame: channels_of(colours[name]) for name, nodes in robots.items() for frame in nodes.paths}


def _draw(viser_scene: SceneApi, path: str, entity: Mapping[str, Any], tint: Colour | None = None) -> None:
    """Add the shapes of a SceneEntity of `recordings.scene` to a node, tinted with a colour."""
    shapes = [(kind, shape) for kind in ("cubes", "spheres", "cylinders") for shape in entity[kind]]
    for number, (kind, shape) in enumerate(shapes):
        name = f"{path}-{number}"
        width, depth, height = (shape["size"][axis] for axis in "xyz")
        colour = shape["color"]
        rgb = (colour["r"], colour["g"], colour["b"])
        if tint is not None:
            red, green, blue = (
                (1.0 - TINT_SHARE) * own + TINT_SHARE * tinted for own, tinted in zip(rgb, tint, strict=True)
            )
            rgb = (red, green, blue)
        opacity = None if colour["a"] >= 1.0 else colour["a"]
        position = np.array([shape["pose"]["position"][axis] for axis in "xyz"])
        rotation = np.array([shape["pose"]["orientation"][axis] for axis in "wxyz"])
        if kind == "cubes":
            viser_scene.add_box(
                name, rgb, (width, depth, height), opacity=opacity, position=position, wxyz=rotation
            )
        elif kind == "spheres":
            scale = (width, depth, height)
            viser_scene.add_icosphere(
                name, radius=0.5, color=rgb, scale=scale, opacity=opacity, position=position, wxyz=rotation
            )
        else:
            viser_scene.add_cylinder(
                name, width / 2.0, height, rgb, opacity=opacity, position=position, wxyz=rotation
            )
