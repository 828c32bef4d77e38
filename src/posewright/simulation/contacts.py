"""What touches what, how hard, and whether it slips: looked at between two blocks of frames."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from posewright.bodies import Floats
from posewright.simulation.arena_model import FLOOR

if TYPE_CHECKING:
    from posewright.simulation.world import World

_BODY = int(mujoco.mjtObj.mjOBJ_BODY)


@dataclass(frozen=True, slots=True)
class Touch:
    """Two things that touch, at however many points.

    Attributes:
        part: a part of the robot: a body of its model.
        other: another part of it; or `floor`, `box_0`, `wall_left`, ...
        depth_m: how deep they are in each other where that is deepest [m].
        force_n: how hard they press, all points together [N].
    """

    part: str
    other: str
    depth_m: float
    force_n: float


@dataclass(frozen=True, slots=True, eq=False)
class Contacts:
    """All that a robot touches at one instant.

    Attributes:
        own: parts of the robot that touch each other, in the order of the model; a pair stands here once.
        ground: parts that touch the floor.
        things: parts that touch boxes and walls.
        slips_m_s: how fast each foot slides over the floor where it touches it, `(n_feet,)` in the order of
            `robot.feet` [m/s]; NaN for a foot in the air. A ball that rolls does not slide.
        efforts: share of its stall torque that each servo gives, `(n_joints,)`; 1 is all it has.
    """

    own: tuple[Touch, ...]
    ground: tuple[Touch, ...]
    things: tuple[Touch, ...]
    slips_m_s: Floats
    efforts: Floats

    @property
    def own_pairs(self) -> frozenset[frozenset[str]]:
        """Which parts touch each other."""
        return frozenset(frozenset((touch.part, touch.other)) for touch in self.own)

    @property
    def parts_on_ground(self) -> frozenset[str]:
        """Which parts touch the floor."""
        return frozenset(touch.part for touch in self.ground)


@dataclass(frozen=True, slots=True, eq=False)
class _Point:
    """One point where two bodies touch; the first is the robot's."""

    bodies: tuple[int, int]
    names: tuple[str, str]
    index: int
    depth_m: float


class ContactObserver:
    """Looks at a world's contacts; it changes nothing there, and the same run follows with it or without.

    MuJoCo knows the forces of a step only in its middle, so they are worked out once more, in a state of its
    own: a look costs about as much as one physics step.

    Args:
        world: what is looked at; its state is that of the end of a frame.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._model: Any = world.model
        self._data: Any = mujoco.MjData(world.model)
        trunk = world.addresses.trunk_body
        self._is_own: list[bool] = (self._model.body_rootid == trunk).tolist()
        self._body_of: list[int] = self._model.geom_bodyid.tolist()
        # What stands fixed in the field has no body of its own: its geoms tell its parts apart.
        self._names: list[str] = [
            str(self._model.body(body).name if body else self._model.geom(geom).name)
            for geom, body in enumerate(self._body_of)
        ]
        self._feet = {int(self._model.body(foot).id): i for i, foot in enumerate(world.robot.feet)}
        acts = world.addresses.actuators
        self._stall: Floats = self._model.actuator_forcerange[acts, 1].copy()
        self._acts = acts

    def look(self) -> Contacts:
        """Return what touches what now."""
        mujoco.mj_copyData(self._data, self._model, self._world.data)
        mujoco.mj_forwardSkip(self._model, self._data, int(mujoco.mjtStage.mjSTAGE_VEL), 1)
        points = list(self._points())
        forces = self._forces(points)
        own = [point for point in points if self._is_own[point.bodies[1]]]
        ground = [point for point in points if point.names[1] == FLOOR]
        things = [point for point in points if not self._is_own[point.bodies[1]] and point.names[1] != FLOOR]
        return Contacts(
            own=_touches(own, forces),
            ground=_touches(ground, forces),
            things=_touches(things, forces),
            slips_m_s=self._slips(ground),
            efforts=np.abs(self._data.actuator_force[self._acts]) / self._stall,
        )

    def _points(self) -> Iterable[_Point]:
        """Yield every point at which the robot touches something."""
        contacts, is_own, body_of = self._data.contact, self._is_own, self._body_of
        rows = zip(contacts.geom.tolist(), contacts.dist.tolist(), strict=True)
        for index, ((first, second), distance) in enumerate(rows):
            one, other = (first, second) if is_own[body_of[first]] else (second, first)
            if is_own[body_of[one]]:
                bodies, names = (body_of[one], body_of[other]), (self._names[one], self._names[other])
                yield _Point(bodies, names, index, max(0.0, -distance))

    def _forces(self, points: list[_Point]) -> dict[int, float]:
        """Return the normal force at each point, by its index [N]."""
        force = np.empty(6)
        forces = {}
        for point in points:
            mujoco.mj_contactForce(self._model, self._data, point.index, force)
            forces[point.index] = float(force[0])
        return forces

    def _slips(self, points: list[_Point]) -> Floats:
        slips = np.full(len(self._feet), np.nan)
        velocity = np.empty(6)
        places, middles = self._data.contact.pos, self._data.xipos
        for point in points:
            body = point.bodies[0]
            if body in self._feet:
                mujoco.mj_objectVelocity(self._model, self._data, _BODY, body, velocity, 0)
                (wx, wy, wz), (vx, vy, _) = velocity[:3].tolist(), velocity[3:].tolist()
                x, y, z = (places[point.index] - middles[body]).tolist()
                speed = math.hypot(vx + wy * z - wz * y, vy + wz * x - wx * z)
                slips[self._feet[body]] = np.fmax(slips[self._feet[body]], speed)
        return slips


def _touches(points: Iterable[_Point], forces: dict[int, float]) -> tuple[Touch, ...]:
    """Return one touch for each pair of names, in the order in which they first come."""
    touches: dict[tuple[str, str], Touch] = {}
    for point in points:
        now = Touch(*point.names, point.depth_m, forces[point.index])
        before = touches.get(point.names, now)
        if before is not now:
            depth = max(before.depth_m, now.depth_m)
            now = Touch(*point.names, depth, before.force_n + now.force_n)
        touches[point.names] = now
    return tuple(touches.values())
