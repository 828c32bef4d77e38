"""A mannequin: a robot without physics that takes any pose and stands in it as it would on a floor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from posewright.arrays import Floats, Indices
from posewright.errors import UnknownNameError
from posewright.simulation.balance import TOUCHING_M, Balance, balance_of
from posewright.simulation.placing import Lean, place, sole_corners
from posewright.simulation.resting import find_supports
from posewright.simulation.robot_model import body_name, seen_geoms
from posewright.simulation.world import World

if TYPE_CHECKING:
    from posewright.robots import Robot

_FAR_SHARE = 0.9
"""What is this near to the farthest point of a link, as a share, is its far end."""


@dataclass(frozen=True, eq=False)
class LinkMesh:
    """What one link looks like.

    Attributes:
        link: its name.
        vertices: `(n, 3)` in the link's frame [m].
        faces: `(m, 3)` indices of vertices, counterclockwise from outside.
        colour: red, green, blue and opacity, 0..1.
    """

    link: str
    vertices: Floats = field(repr=False)
    faces: NDArray[np.int32] = field(repr=False)
    colour: tuple[float, float, float, float]


@dataclass(frozen=True, eq=False)
class Stance:
    """Where a robot's links are.

    Attributes:
        base: x y z qw qx qy qz of the base, in the field frame [m].
        positions: of the links, `(n_links, 3)` [m].
        rotations: of the links, w x y z, `(n_links, 4)`.
        centre_of_mass: `(3,)` [m].
    """

    base: Floats
    positions: Floats = field(repr=False)
    rotations: Floats = field(repr=False)
    centre_of_mass: Floats = field(repr=False)


@dataclass(frozen=True)
class Limb:
    """What one takes a robot by: a foot, a hand, a head.

    Attributes:
        name: of the group of joints that moves it, as the card has it.
        link: the last link.
        point: its toe or its far end, in the frame of the link [m].
    """

    name: str
    link: str
    point: tuple[float, float, float]


class Mannequin:
    """A robot that is posed, not driven.

    Attributes:
        model: MuJoCo's; nobody writes to it.

    Raises:
        InputError: the card has no model.
    """

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self._world = World(robot)
        self._one = self._world.instance()
        self.model: Any = self._world.model
        self._bodies = self._one.bodies

    @cached_property
    def links(self) -> tuple[str, ...]:
        """Names of the links, the base first."""
        return tuple(body_name(self.model, int(body)) for body in self._bodies)

    @cached_property
    def meshes(self) -> tuple[LinkMesh, ...]:
        """What it looks like."""
        return tuple(self._meshes())

    @cached_property
    def limbs(self) -> tuple[Limb, ...]:
        """Its limbs: the groups of the card whose joints turn one link after the other."""
        found = []
        for name, joints in self.robot.groups.items():
            ends = [link for link in self.links if set(joints) <= set(self.chain(link))]
            if len(joints) > 1 and ends:
                feet = [link for link in ends if link in self.robot.feet]
                link = (feet or ends)[0]
                found.append(Limb(name, link, self._far_end(link)))
        return tuple(found)

    @property
    def soles(self) -> tuple[int, ...]:
        """The geom that each foot stands on."""
        return tuple(self._one.addresses.sole_geoms.tolist())

    @property
    def base_dofs(self) -> range:
        """Degrees of freedom of the base."""
        span = self._one.addresses.base_qvel
        return range(span.start, span.stop)

    @property
    def joint_dofs(self) -> Indices:
        """Degrees of freedom of the joints, `(n_joints,)`."""
        return self._one.addresses.joint_qvel

    @property
    def qpos(self) -> Floats:
        """MuJoCo's positions as it stands now."""
        return np.array(self._world.data.qpos)

    def read(self, qpos: Floats) -> tuple[Floats, Floats]:
        """Return base `(7,)` and joint angles `(n_joints,)` [rad] of MuJoCo's positions."""
        at = self._one.addresses
        return qpos[at.base_qpos].copy(), qpos[at.joint_qpos].copy()

    def body(self, link: str) -> int:
        """Return MuJoCo's number of a link, or raise UnknownNameError."""
        if link not in self.links:
            raise UnknownNameError.among("link", link, self.links)
        return int(self._bodies[self.links.index(link)])

    def chain(self, link: str) -> tuple[str, ...]:
        """Return the joints between the base and a link, the base's first."""
        names, body = [], self.body(link)
        while body != self._one.addresses.base_body:
            first, count = int(self.model.body_jntadr[body]), int(self.model.body_jntnum[body])
            names += [self.model.joint(first + at).name for at in reversed(range(count))]
            body = int(self.model.body_parentid[body])
        return tuple(reversed(names))

    def is_flat_foot(self, link: str) -> bool:
        """Tell whether a link is a foot with a flat sole."""
        feet = self.robot.feet
        return link in feet and feet.index(link) not in self._one.addresses.round_soles

    def stand(self, angles: Floats, lean: Lean | None = None) -> Stance:
        """Take joint angles `(n_joints,)` [rad] and stand in them as `placing.place` lets it."""
        place(self._one, 0.0, 0.0, 0.0, angles, lean=lean)
        return self._stance()

    def take(self, base: Floats, angles: Floats) -> Stance:
        """Take joint angles `(n_joints,)` [rad], the base `(7,)` as in `Stance`."""
        at, data = self._one.addresses, self._world.data
        data.qpos[at.base_qpos] = base
        data.qpos[at.joint_qpos] = at.of_moving(angles)
        mujoco.mj_kinematics(self.model, data)
        mujoco.mj_comPos(self.model, data)
        return self._stance()

    def balance(self) -> Balance:
        """Return how it stands in the pose it took last."""
        centre = self._world.data.subtree_com[self._one.addresses.base_body]
        return balance_of(find_supports(self._one), centre)

    def feet_on_floor(self) -> tuple[str, ...]:
        """Return the feet that carry it in the pose it took last."""
        lowest = sole_corners(self._one)[..., 2].min(axis=-1)
        floor = float(find_supports(self._one).heights(np.array([0.0, 0.0, 1.0])).min())
        down = lowest < floor + TOUCHING_M
        return tuple(foot for foot, is_down in zip(self.robot.feet, down, strict=True) if is_down)

    def _far_end(self, link: str) -> tuple[float, float, float]:
        """Return the toe of a foot, or what of a link is farthest from its joint."""
        if link in self.robot.feet:
            foot, at = self.robot.feet.index(link), self._one.addresses
            corners = at.sole_corners[foot] * (foot not in at.round_soles)
            vertices = _placed(self.model, self.soles[foot], corners)[:2]
        else:
            vertices = np.concatenate([mesh.vertices for mesh in self.meshes if mesh.link == link])
            away = np.linalg.norm(vertices, axis=-1)
            vertices = vertices[away > _FAR_SHARE * away.max()]
        x, y, z = vertices.mean(axis=0).tolist()
        return x, y, z

    def _stance(self) -> Stance:
        data, at = self._world.data, self._one.addresses
        return Stance(
            data.qpos[at.base_qpos].copy(),
            data.xpos[self._bodies].copy(),
            data.xquat[self._bodies].copy(),
            data.subtree_com[at.base_body].copy(),
        )

    def _meshes(self) -> Iterator[LinkMesh]:
        model = self.model
        for body, link in zip(self._bodies.tolist(), self.links, strict=True):
            for geom, (red, green, blue, opacity) in seen_geoms(model, body):
                vertices, faces = _surface(model, geom)
                yield LinkMesh(link, _placed(model, geom, vertices), faces, (red, green, blue, opacity))


def _placed(model: Any, geom: int, points: Floats) -> Floats:
    """Return points of a geom's frame, `(n, 3)`, in the frame of its link [m]."""
    turn = np.empty(9)
    mujoco.mju_quat2Mat(turn, model.geom_quat[geom])
    placed: Floats = points @ turn.reshape(3, 3).T + model.geom_pos[geom]
    return placed


def _surface(model: Any, geom: int) -> tuple[Floats, NDArray[np.int32]]:
    """Return vertices and faces of a geom in its own frame."""
    import trimesh

    kind, size = int(model.geom_type[geom]), model.geom_size[geom]
    if kind == int(mujoco.mjtGeom.mjGEOM_MESH):
        mesh = int(model.geom_dataid[geom])
        first, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
        begin, faces = int(model.mesh_faceadr[mesh]), int(model.mesh_facenum[mesh])
        return model.mesh_vert[first : first + count].astype(float), model.mesh_face[begin : begin + faces]
    if kind == int(mujoco.mjtGeom.mjGEOM_BOX):
        made = trimesh.creation.box(extents=2.0 * size)
    elif kind == int(mujoco.mjtGeom.mjGEOM_SPHERE):
        made = trimesh.creation.icosphere(subdivisions=2, radius=size[0])
    elif kind == int(mujoco.mjtGeom.mjGEOM_ELLIPSOID):
        made = trimesh.creation.icosphere(subdivisions=2, radius=1.0)
        made.apply_scale(size)
    elif kind == int(mujoco.mjtGeom.mjGEOM_CAPSULE):
        made = trimesh.creation.capsule(height=2.0 * size[1], radius=size[0], count=[16, 16])
        made.apply_translation([0.0, 0.0, -made.bounds.mean(axis=0)[2]])
    else:
        made = trimesh.creation.cylinder(radius=size[0], height=2.0 * size[1], sections=24)
    return np.asarray(made.vertices), np.asarray(made.faces, dtype=np.int32)
