"""A robot of an OpenRAVE document as a mechanism, with its sensors; what there is no place for is said."""

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
    Joint,
    JointKind,
    KinBody,
)
from posewright.formats.openrave.reader import read_openrave
from posewright.robots import (
    Camera,
    FlashLidar,
    Form,
    Hinge,
    Imu,
    Kind,
    Link,
    Mechanism,
    Mount,
    Oddity,
    RangeScan,
    SensorSpec,
)
from posewright.robots.mechanism import rows, triple
from posewright.robots.sensors import MOST_BEAMS
from posewright.rotation import quaternion_of_matrix

_AHEAD = np.array([(0.0, -1.0, 0.0), (0.0, 0.0, -1.0), (1.0, 0.0, 0.0)])
"""Our x, y and z, as columns, in the frame of an OpenRAVE camera: it looks along z, and its y points down."""

_ALONG_Z = np.array([(1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, -1.0, 0.0)])
"""The frame, as columns, of a cylinder of ours, along z, in that of one of theirs, along y."""

_THINNEST_M = 1e-4


def read_openrave_robot(path: Path) -> tuple[Mechanism, tuple[Oddity, ...]]:
    """Read the robot of an OpenRAVE document; return the mechanism, and what was left out or assumed.

    Links lie along the axes of the document, as it places them: z is up. A mesh becomes the box around it.

    Raises:
        FormatError: the document is refused, or its links do not hang on each other.
        InputError: there is no robot in it, or more than one.
    """
    environment = read_openrave(path)
    maker = _Maker(path, _robot_of(environment, path))
    maker.remarks += [Oddity(note) for note in environment.notes]
    return maker.mechanism(), tuple(maker.remarks)


def _robot_of(environment: Environment, path: Path) -> KinBody:
    found = [body for body in environment.bodies if body.is_robot]
    found = found or [body for body in environment.bodies if body.joints]
    if len(found) != 1:
        names = ", ".join(body.name or "one without a name" for body in found) or "none"
        raise InputError(f"the robots in it are {names:.200}", where=Where(path), hint="exactly one")
    return found[0]


class _Maker:
    def __init__(self, path: Path, body: KinBody) -> None:
        self.path, self.body = path, body
        self.links = {link.name: link for link in body.links}
        self.origins: dict[str, Floats] = {}
        self.remarks: list[Oddity] = []

    def say(self, what: str, where: Where | None) -> None:
        """Remark something; a place in another file, which was included, is told with its name."""
        if where is not None and where.path is not None and where.path.resolve() != self.path.resolve():
            self.remarks.append(Oddity(f"{where.path.name}:{where.line}: {what}"))
        else:
            self.remarks.append(Oddity(what, None if where is None else where.line))

    def mechanism(self) -> Mechanism:
        """Return the robot, each link after the one it hangs on."""
        if not self.body.links:
            raise InputError("the robot has no links", where=Where(self.path))
        base = self.body.links[0]
        if base.is_static:
            self.say(f"{base.name} stands fast in the file; here it is free to move", base.where)
        links = [self.link(base.name, None, "")]
        waiting = [base.name]
        tree = self.tree()
        while waiting:
            parent = waiting.pop(0)
            for joint in [one for one in tree if parent in (one.parent, one.child)]:
                tree.remove(joint)
                child = joint.child if joint.parent == parent else joint.parent
                links.append(self.link(child, joint, parent))
                waiting.append(child)
        for name, link in self.links.items():
            if name not in self.origins:
                what = f"the link {name!r:.80} does not hang on the base {base.name!r:.80}"
                raise FormatError(what, where=link.where, hint="a <Joint> between them")
        named = Mechanism(self.body.name, tuple(links))
        found = [made for one in self.body.sensors if (made := self.sensor(one)) is not None]
        return replace(named, mounts=tuple(one for one, _ in found), sensors=tuple(one for _, one in found))

    def tree(self) -> list[Joint]:
        """Return joints that hang the links on each other without a ring, driven ones first."""
        whole = {name: {name} for name in self.links}
        kept = []
        for joint in sorted(self.body.joints, key=lambda one: not one.is_enabled):
            if whole[joint.parent] is whole[joint.child]:
                self.say(f"{joint.name} closes a ring of links: left out", joint.where)
                continue
            joined = whole[joint.parent] | whole[joint.child]
            whole.update(dict.fromkeys(joined, joined))
            kept.append(joint)
        return [joint for joint in self.body.joints if joint in kept]

    def link(self, name: str, joint: Joint | None, parent: str) -> Link:
        """Return a link along the document's axes, with its origin where its hinge is."""
        told = self.links[name]
        hinge = None if joint is None else self.hinge(joint, is_turned=joint.child != name)
        self.origins[name] = told.pose[:3, 3] if joint is None or hinge is None else joint.anchor_m
        turn, shift = told.pose[:3, :3], told.pose[:3, 3] - self.origins[name]
        made = Link(name, parent, hinge=hinge, line=told.where.line if told.where else None)
        if parent:
            made = replace(made, position_m=triple(self.origins[name] - self.origins[parent]))
        if told.mass is not None:
            centre, inertia = turn @ told.mass.centre_m + shift, turn @ told.mass.inertia @ turn.T
            made = replace(made, mass_kg=told.mass.kg, centre_m=triple(centre), inertia=rows(inertia))
        return replace(made, forms=tuple(_form(one, turn, shift) for one in told.geometries))

    def hinge(self, joint: Joint, *, is_turned: bool) -> Hinge | None:
        """Return what turns a link; None where it is fixed. `is_turned`: the tree hangs it the other way."""
        name, limits = joint.name, joint.limits
        if limits is not None and limits[0] == limits[1]:
            return None
        if joint.kind is not JointKind.HINGE:
            self.say(f"{name} is a slider: only hinges are read, so it is fixed at 0", joint.where)
            return None
        if not joint.is_enabled:
            self.say(f"{name} has no motor: it is fixed at 0", joint.where)
            return None
        if joint.mimic:
            self.say(f"{name} follows {joint.mimic:.80}; here it has a servo of its own", joint.where)
        if joint.initial_rad:
            self.say(f"{name} begins at {math.degrees(joint.initial_rad):g} deg; here at 0", joint.where)
        if limits is None:
            self.say(f"{name} has no limits: taken for half a turn either way", joint.where)
            limits = (-math.pi, math.pi)
        axis = triple(-joint.axis if is_turned else joint.axis)
        return Hinge(name, axis, *limits, joint.max_torque or 0.0, joint.max_velocity or 0.0)

    def sensor(self, told: AttachedSensor) -> tuple[Mount, SensorSpec] | None:
        """Return a sensor and the place it is fixed to; None, and a remark, where we have no such kind."""
        maker = _SENSORS.get(told.kind.casefold())
        if maker is None or not told.name:
            what = f"the sensor {told.name!r:.80} of the kind {told.kind!r:.40}"
            self.say(f"{what} is left out: no such kind, or without a name", told.where)
            return None
        link = self.links[told.link]
        pose = link.pose @ told.pose
        turn = pose[:3, :3] @ _AHEAD if maker in (_lidar, _camera) else pose[:3, :3]
        place = triple(pose[:3, 3] - self.origins[told.link])
        return Mount(told.name, told.link, place, quaternion_of_matrix(turn)), maker(told)


def _form(shape: Geometry, turn: Floats, shift: Floats) -> Form:
    turn, place = turn @ shape.pose[:3, :3], turn @ shape.pose[:3, 3] + shift
    kind, size = Kind.BOX, shape.size_m
    if shape.kind is GeometryKind.SPHERE:
        kind, size = Kind.SPHERE, (2.0 * size[0],) * 3
    elif shape.kind is GeometryKind.CYLINDER:
        kind, size = Kind.CYLINDER, (2.0 * size[0], 2.0 * size[0], size[1])
        turn = turn @ _ALONG_Z
    elif shape.kind is GeometryKind.MESH:
        points = np.concatenate(shape.parts)
        low, high = points.min(axis=0), points.max(axis=0)
        place, size = place + turn @ ((low + high) / 2.0), tuple(np.maximum(high - low, _THINNEST_M))
    return Form(kind, triple(size), triple(place), quaternion_of_matrix(turn))


def _numbers(told: AttachedSensor, key: str, count: int, usual: tuple[float, ...]) -> tuple[float, ...]:
    """Return what a sensor's element says, numbers above or below 0; the usual ones where it says nothing."""
    text = dict(told.values).get(key)
    try:
        values = usual if text is None else tuple(map(float, text.split()))
    except ValueError:
        values = ()
    if len(values) != count or not all(map(math.isfinite, values)):
        what = f"<{key}> of the sensor {told.name!r:.80} is {text!r:.60}"
        raise FormatError(what, where=told.where, hint=f"{count} numbers")
    return values


def _number(told: AttachedSensor, key: str, usual: float, low: float, high: float) -> float:
    (value,) = _numbers(told, key, 1, (usual,))
    if not low <= value <= high:
        what = f"<{key}> of the sensor {told.name!r:.80} is {value:g}"
        raise FormatError(what, where=told.where, hint=f"{low:g} to {high:g}")
    return value


def _scan(told: AttachedSensor) -> RangeScan:
    first, last = (_number(told, key, usual, -360.0, 360.0) for key, usual in _ENDS)
    step = _number(told, "resolution", 1.0, 0.01, 180.0)
    beams = min(max(1 + math.floor((last - first) / step + 1e-6), 1), MOST_BEAMS)
    return RangeScan(told.name, told.name, _reach(told), first, step, beams)


_ENDS = (("minangle", -90.0), ("maxangle", 90.0))


def _reach(told: AttachedSensor) -> float:
    return _number(told, "maxrange", 5.0, 0.001, 1e4)


def _picture(told: AttachedSensor, usual: tuple[int, int], most: int) -> Iterator[tuple[int, float]]:
    """Yield width and height of a picture, each with its opening [deg]."""
    sizes = [int(_number(told, key, n, 1, most)) for key, n in zip(("width", "height"), usual, strict=True)]
    focal = _numbers(told, "kk", 4, (sizes[0] / 2.0, sizes[0] / 2.0, sizes[0] / 2.0, sizes[1] / 2.0))[:2]
    for size, length in zip(sizes, focal, strict=True):
        yield size, min(max(2.0 * math.degrees(math.atan2(size / 2.0, max(length, 1e-9))), 1.0), 170.0)


def _lidar(told: AttachedSensor) -> FlashLidar:
    (columns, across), (rows_, up) = _picture(told, (64, 48), 128)
    return FlashLidar(told.name, told.name, _reach(told), across, up, columns, rows_)


def _camera(told: AttachedSensor) -> Camera:
    (width, _), (height, up) = _picture(told, (640, 480), 8192)
    return Camera(told.name, told.name, width, height, up)


def _imu(told: AttachedSensor) -> Imu:
    return Imu(told.name, told.name)


_SENSORS: Mapping[str, Callable[[AttachedSensor], SensorSpec]] = {
    "baselaser2d": _scan,
    "baseflashlidar3d": _lidar,
    "basecamera": _camera,
    "baseimu": _imu,
}
