"""Robots of OpenRAVE documents as mechanisms with sensors, with remarks on what is left out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from posewright.arrays import Floats
from posewright.errors import FormatError, InputError, Where
from posewright.formats.openrave.bodies import (
    AttachedSensor,
    Environment,
    Geometry,
    GeometryKind,
    JointKind,
    KinBody,
    RaveJoint,
)
from posewright.formats.openrave.reader import read_openrave
from posewright.robots import (
    Camera,
    FlashLidar,
    Hinge,
    Imu,
    Link,
    LinkShape,
    Mechanism,
    Mount,
    Oddity,
    RangeScan,
    SensorSpec,
    ShapeKind,
)
from posewright.robots.mechanism import to_rows, to_triple
from posewright.robots.sensors import MAX_BEAMS
from posewright.rotation import quaternion_of_matrix

_CAMERA_AXES = np.array([(0.0, -1.0, 0.0), (0.0, 0.0, -1.0), (1.0, 0.0, 0.0)])
"""Our axes, as columns, in the frame of an OpenRAVE camera, which looks along z with y down."""

_CYLINDER_AXES = np.array([(1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, -1.0, 0.0)])
"""The axes, as columns, of our cylinder, which is along z, in the frame of OpenRAVE's, which is along y."""

_MIN_EDGE_M = 1e-4
"""Shortest edge of the box around a mesh [m]."""


def read_openrave_robot(path: Path) -> tuple[Mechanism, tuple[Oddity, ...]]:
    """Read the robot of an OpenRAVE document; return the mechanism, and remarks on what was left out.

    The frames of links are parallel to that of the document, with z up. A mesh becomes the box around it.

    Raises:
        FormatError: the document is invalid, or its links are not connected.
        InputError: it has no robot, or more than one.
    """
    environment = read_openrave(path)
    builder = _MechanismBuilder(path, _find_robot(environment, path))
    builder.remarks += [Oddity(note) for note in environment.notes]
    return builder.build(), tuple(builder.remarks)


def _find_robot(environment: Environment, path: Path) -> KinBody:
    """Return the only robot of an environment, or, without robots, its only body with joints."""
    robots = [body for body in environment.bodies if body.is_robot]
    if not robots:
        robots = [body for body in environment.bodies if body.joints]
    if len(robots) != 1:
        names = ", ".join(body.name or "one without a name" for body in robots) or "none"
        hint = "the file must have exactly one"
        raise InputError(f"the robots in it are {names:.200}", where=Where(path), hint=hint)
    return robots[0]


class _MechanismBuilder:
    """Builds the mechanism of one robot.

    Attributes:
        path: the document.
        body: the robot.
        links: its links by name.
        origins: the origin of each link that is built already, in the frame of the document, `(3,)` [m].
        remarks: descriptions of what was left out or assumed.
    """

    def __init__(self, path: Path, body: KinBody) -> None:
        self.path = path
        self.body = body
        self.links = {link.name: link for link in body.links}
        self.origins: dict[str, Floats] = {}
        self.remarks: list[Oddity] = []

    def add_remark(self, message: str, where: Where | None) -> None:
        """Add a remark at a place in the document, or in an included file, whose name is added then."""
        if where is not None and where.path is not None and where.path.resolve() != self.path.resolve():
            self.remarks.append(Oddity(f"{where.path.name}:{where.line}: {message}"))
        else:
            self.remarks.append(Oddity(message, None if where is None else where.line))

    def build(self) -> Mechanism:
        """Return the robot as a mechanism; its first link is the base, and each link comes after its parent.

        Raises:
            FormatError: a link is not connected to the base.
            InputError: there are no links.
        """
        if not self.body.links:
            raise InputError("the robot has no links", where=Where(self.path))
        base = self.body.links[0]
        if base.is_static:
            self.add_remark(f"{base.name} is fixed in the file; here it is free to move", base.where)
        links = [self.build_link(base.name, joint=None, parent="")]
        parents = [base.name]  # links whose children are not built yet
        joints = self.find_spanning_tree()
        while parents:
            parent = parents.pop(0)
            joints_at_parent = [joint for joint in joints if parent in (joint.parent, joint.child)]
            for joint in joints_at_parent:
                joints.remove(joint)
                child = joint.child if joint.parent == parent else joint.parent
                links.append(self.build_link(child, joint, parent))
                parents.append(child)
        for name, link in self.links.items():
            if name not in self.origins:
                message = f"the link {name!r:.80} is not connected to the base {base.name!r:.80}"
                raise FormatError(message, where=link.where, hint="add a <Joint> between them")
        mounts: list[Mount] = []
        sensors: list[SensorSpec] = []
        for attached_sensor in self.body.sensors:
            mount_and_sensor = self.build_sensor(attached_sensor)
            if mount_and_sensor is not None:
                mount, sensor = mount_and_sensor
                mounts.append(mount)
                sensors.append(sensor)
        mechanism = Mechanism(self.body.name, tuple(links))
        return replace(mechanism, mounts=tuple(mounts), sensors=tuple(sensors))

    def find_spanning_tree(self) -> list[RaveJoint]:
        """Return joints that connect the links without a ring; add a remark on each joint that is left out.

        Joints with a motor are preferred to passive ones.
        """
        groups = {name: {name} for name in self.links}  # the links connected so far to each link
        tree: list[RaveJoint] = []
        for joint in sorted(self.body.joints, key=lambda joint: not joint.is_enabled):
            if groups[joint.parent] is groups[joint.child]:
                self.add_remark(f"{joint.name} closes a ring of links: left out", joint.where)
                continue
            merged = groups[joint.parent] | groups[joint.child]
            groups.update(dict.fromkeys(merged, merged))
            tree.append(joint)
        return [joint for joint in self.body.joints if joint in tree]

    def build_link(self, name: str, joint: RaveJoint | None, parent: str) -> Link:
        """Return a link parallel to the document's axes, with its origin at its hinge, and note this origin.

        Args:
            name: the name of the link.
            joint: the joint to its parent; None for the base.
            parent: the name of its parent, which must be built already; empty for the base.
        """
        rave_link = self.links[name]
        hinge = None if joint is None else self.build_hinge(joint, is_reversed=joint.child != name)
        position = rave_link.pose[:3, 3]
        self.origins[name] = position if joint is None or hinge is None else joint.anchor_m
        rotation = rave_link.pose[:3, :3]
        offset = position - self.origins[name]
        link = Link(name, parent, hinge=hinge, line=rave_link.where.line if rave_link.where else None)
        if parent:
            link = replace(link, position_m=to_triple(self.origins[name] - self.origins[parent]))
        mass = rave_link.mass
        if mass is not None:
            centre = rotation @ mass.centre_m + offset
            inertia = rotation @ mass.inertia @ rotation.T
            link = replace(link, mass_kg=mass.kg, centre_m=to_triple(centre), inertia=to_rows(inertia))
        shapes = tuple(_build_shape(geometry, rotation, offset) for geometry in rave_link.geometries)
        return replace(link, shapes=shapes)

    def build_hinge(self, joint: RaveJoint, *, is_reversed: bool) -> Hinge | None:
        """Return the hinge of a joint; None if it is fixed.

        Args:
            joint: the joint.
            is_reversed: whether the joint's parent is the child in the tree of links.
        """
        name = joint.name
        limits = joint.limits
        if limits is not None:
            lower, upper = limits
            if lower == upper:
                return None
        if joint.kind is not JointKind.HINGE:
            self.add_remark(f"{name} is a slider: only hinges are read, so it is fixed at 0", joint.where)
            return None
        if not joint.is_enabled:
            self.add_remark(f"{name} has no motor: it is fixed at 0", joint.where)
            return None
        if joint.mimic:
            self.add_remark(f"{name} follows {joint.mimic:.80}; here it has a servo of its own", joint.where)
        if joint.initial_rad:
            self.add_remark(
                f"{name} starts at {math.degrees(joint.initial_rad):g} deg; here at 0", joint.where
            )
        if limits is None:
            self.add_remark(f"{name} has no limits: half a turn either way is assumed", joint.where)
            limits = (-math.pi, math.pi)
        lower, upper = limits
        axis = to_triple(-joint.axis if is_reversed else joint.axis)
        return Hinge(
            name,
            axis,
            lower_rad=lower,
            upper_rad=upper,
            effort_nm=joint.max_torque or 0.0,
            speed_rad_s=joint.max_velocity or 0.0,
        )

    def build_sensor(self, attached: AttachedSensor) -> tuple[Mount, SensorSpec] | None:
        """Return a sensor and its mount; None, with a remark, if its kind is unknown or it has no name."""
        build = _SENSORS.get(attached.kind.casefold())
        if build is None or not attached.name:
            subject = f"the sensor {attached.name!r:.80} of the kind {attached.kind!r:.40}"
            self.add_remark(f"{subject} is left out: unknown kind, or without a name", attached.where)
            return None
        link = self.links[attached.link]
        pose = link.pose @ attached.pose
        rotation = pose[:3, :3]
        if build in (_build_lidar, _build_camera):
            rotation = rotation @ _CAMERA_AXES
        position = to_triple(pose[:3, 3] - self.origins[attached.link])
        mount = Mount(
            attached.name, attached.link, position_m=position, rotation=quaternion_of_matrix(rotation)
        )
        return mount, build(attached)


def _build_shape(geometry: Geometry, link_rotation: Floats, link_offset: Floats) -> LinkShape:
    """Return a shape in the frame of its link; a mesh becomes the box around it.

    Args:
        geometry: the shape as OpenRAVE has it.
        link_rotation: the axes of OpenRAVE's link in the frame of ours, `(3, 3)`.
        link_offset: the origin of OpenRAVE's link in the frame of ours, `(3,)` [m].
    """
    rotation = link_rotation @ geometry.pose[:3, :3]
    position = link_rotation @ geometry.pose[:3, 3] + link_offset
    kind = ShapeKind.BOX
    size_m: tuple[float, ...] = geometry.size_m
    if geometry.kind is GeometryKind.SPHERE:
        kind = ShapeKind.SPHERE
        (radius,) = size_m
        diameter = 2.0 * radius
        size_m = (diameter, diameter, diameter)
    elif geometry.kind is GeometryKind.CYLINDER:
        kind = ShapeKind.CYLINDER
        radius, height = size_m
        size_m = (2.0 * radius, 2.0 * radius, height)
        rotation = rotation @ _CYLINDER_AXES
    elif geometry.kind is GeometryKind.MESH:
        points = np.concatenate(geometry.parts)
        low = points.min(axis=0)
        high = points.max(axis=0)
        position = position + rotation @ ((low + high) / 2.0)
        size_m = tuple(np.maximum(high - low, _MIN_EDGE_M))
    return LinkShape(
        kind,
        size_m=to_triple(size_m),
        position_m=to_triple(position),
        rotation=quaternion_of_matrix(rotation),
    )


def _read_numbers(
    sensor: AttachedSensor, key: str, count: int, default: tuple[float, ...]
) -> tuple[float, ...]:
    """Return the numbers of a sensor's parameter, or the default if it has none."""
    text = dict(sensor.values).get(key)
    try:
        values = default if text is None else tuple(map(float, text.split()))
    except ValueError:
        values = ()
    if len(values) != count or not all(map(math.isfinite, values)):
        message = f"<{key}> of the sensor {sensor.name!r:.80} is {text!r:.60}"
        raise FormatError(message, where=sensor.where, hint=f"write {count} numbers")
    return values


def _read_number(sensor: AttachedSensor, key: str, default: float, low: float, high: float) -> float:
    (value,) = _read_numbers(sensor, key, count=1, default=(default,))
    if not low <= value <= high:
        message = f"<{key}> of the sensor {sensor.name!r:.80} is {value:g}"
        raise FormatError(message, where=sensor.where, hint=f"write {low:g} to {high:g}")
    return value


def _read_range(sensor: AttachedSensor) -> float:
    return _read_number(sensor, key="maxrange", default=5.0, low=0.001, high=1e4)


def _build_scan(sensor: AttachedSensor) -> RangeScan:
    """Return a laser scanner; a parameter that it does not give has OpenRAVE's default."""
    first_deg = _read_number(sensor, key="minangle", default=-90.0, low=-360.0, high=360.0)
    last_deg = _read_number(sensor, key="maxangle", default=90.0, low=-360.0, high=360.0)
    step_deg = _read_number(sensor, key="resolution", default=1.0, low=0.01, high=180.0)
    n_steps = math.floor((last_deg - first_deg) / step_deg + 1e-6)  # 1e-6 outweighs rounding errors
    beams = min(max(1 + n_steps, 1), MAX_BEAMS)
    return RangeScan(
        sensor.name,
        mount=sensor.name,
        max_range_m=_read_range(sensor),
        start_deg=first_deg,
        step_deg=step_deg,
        beams=beams,
    )


def _read_image_size(
    sensor: AttachedSensor, default_width: int, default_height: int, max_size: int
) -> Iterator[tuple[int, float]]:
    """Yield width and height of an image [pixels], each with its field of view [deg].

    The fields of view follow from the focal lengths in <kk>; without it, the horizontal one is 90 deg.
    """
    width = int(_read_number(sensor, key="width", default=default_width, low=1, high=max_size))
    height = int(_read_number(sensor, key="height", default=default_height, low=1, high=max_size))
    default_intrinsics = (width / 2.0, width / 2.0, width / 2.0, height / 2.0)
    focal_x, focal_y, _, _ = _read_numbers(sensor, key="kk", count=4, default=default_intrinsics)
    for size, focal in ((width, focal_x), (height, focal_y)):
        field_of_view_deg = 2.0 * math.degrees(math.atan2(size / 2.0, max(focal, 1e-9)))
        yield size, min(max(field_of_view_deg, 1.0), 170.0)


def _build_lidar(sensor: AttachedSensor) -> FlashLidar:
    (columns, width_deg), (n_rows, height_deg) = _read_image_size(
        sensor, default_width=64, default_height=48, max_size=128
    )
    max_range = _read_range(sensor)
    return FlashLidar(
        sensor.name,
        mount=sensor.name,
        max_range_m=max_range,
        horizontal_fov_deg=width_deg,
        vertical_fov_deg=height_deg,
        columns=columns,
        rows=n_rows,
    )


def _build_camera(sensor: AttachedSensor) -> Camera:
    (width, _), (height, height_deg) = _read_image_size(
        sensor, default_width=640, default_height=480, max_size=8192
    )
    return Camera(sensor.name, sensor.name, width, height, vertical_fov_deg=height_deg)


def _build_imu(sensor: AttachedSensor) -> Imu:
    return Imu(sensor.name, sensor.name)


_SENSORS: Mapping[str, Callable[[AttachedSensor], SensorSpec]] = {
    "baselaser2d": _build_scan,
    "baseflashlidar3d": _build_lidar,
    "basecamera": _build_camera,
    "baseimu": _build_imu,
}
