"""A kinematic model of a robot, without dynamics: poses of its links for given joint angles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import mujoco
import numpy as np
from numpy.typing import NDArray

from posewright.arrays import Floats, Indices
from posewright.errors import UnknownNameError
from posewright.simulation.balance import TOUCHING_M, balance_on, compute_balance, find_touching
from posewright.simulation.placement import Lean, lean_of_normal, place, sole_corners
from posewright.simulation.resting_pose import find_supports
from posewright.simulation.robot_model import body_name, visible_geoms
from posewright.simulation.stance import Stance, StanceKind, classify_stance, measure_lean
from posewright.simulation.world import World

if TYPE_CHECKING:
    from posewright.robots import Robot

_FAR_END_SHARE = 0.9
"""Distance of the vertices of a link's far end from its joint, over that of the farthest vertex."""


@dataclass(frozen=True, eq=False)
class LinkMesh:
    """The visible surface of one geom of a link.

    Attributes:
        link: the link's name.
        vertices: `(n, 3)` in the link's frame [m].
        faces: `(m, 3)` indices of vertices, counterclockwise from outside.
        colour: red, green, blue and opacity, 0..1.
    """

    link: str
    vertices: Floats = field(repr=False)
    faces: NDArray[np.int32] = field(repr=False)
    colour: tuple[float, float, float, float]


@dataclass(frozen=True, eq=False)
class LinkPoses:
    """The poses of a robot's links.

    Attributes:
        base: pose of the base x y z qw qx qy qz in the field frame, `(7,)` [m].
        positions: the positions of the links, `(n_links, 3)` [m].
        rotations: the rotations of the links, quaternions w x y z, `(n_links, 4)`.
        centre_of_mass: the centre of mass of the robot, `(3,)` [m].
    """

    base: Floats
    positions: Floats = field(repr=False)
    rotations: Floats = field(repr=False)
    centre_of_mass: Floats = field(repr=False)


@dataclass(frozen=True)
class Limb:
    """A limb that can be dragged, such as a leg, an arm or the head.

    Attributes:
        name: the name of its group of joints on the card.
        link: the last link.
        point: the toe or the far end of that link, in the link's frame [m].
    """

    name: str
    link: str
    point: tuple[float, float, float]


class KinematicModel:
    """Forward kinematics, meshes and static balance of one robot on a bare floor.

    Attributes:
        robot: the card.
        model: MuJoCo's model; read-only.

    Raises:
        InputError: the card has no model.
    """

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self._world = World(robot)
        self._instance = self._world.instance()
        self.model: mujoco.MjModel = self._world.model
        self._link_bodies = self._instance.bodies

    @cached_property
    def links(self) -> tuple[str, ...]:
        """Names of the links, the base first."""
        return tuple(body_name(self.model, int(body)) for body in self._link_bodies)

    @cached_property
    def meshes(self) -> tuple[LinkMesh, ...]:
        """The visible geoms of all links as meshes."""
        return tuple(self._build_meshes())

    @cached_property
    def limbs(self) -> tuple[Limb, ...]:
        """The limbs: groups of the card with at least two joints that lie on one chain from the base."""
        limbs = []
        for name, joints in self.robot.groups.items():
            end_links = [link for link in self.links if set(joints) <= set(self.joint_chain(link))]
            if len(joints) > 1 and end_links:
                feet = [link for link in end_links if link in self.robot.feet]
                link = (feet or end_links)[0]
                limbs.append(Limb(name, link, self._find_far_end(link)))
        return tuple(limbs)

    @property
    def soles(self) -> tuple[int, ...]:
        """The geom that each foot stands on, in the card's order."""
        return tuple(self._instance.addresses.sole_geoms.tolist())

    @property
    def base_dofs(self) -> range:
        """Indices of the base's degrees of freedom in `qvel`."""
        span = self._instance.addresses.base_qvel
        return range(span.start, span.stop)

    @property
    def joint_dofs(self) -> Indices:
        """Indices of the joints' degrees of freedom in `qvel`, `(n_joints,)`."""
        return self._instance.addresses.joint_qvel

    @property
    def qpos(self) -> Floats:
        """A copy of MuJoCo's current position vector."""
        return np.array(self._world.data.qpos)

    def split_qpos(self, qpos: Floats) -> tuple[Floats, Floats]:
        """Return the base's pose `(7,)` and the joint angles `(n_joints,)` [rad] of a position vector."""
        addresses = self._instance.addresses
        return qpos[addresses.base_qpos].copy(), qpos[addresses.joint_qpos].copy()

    def body(self, link: str) -> int:
        """Return the number of a link's body in the model.

        Raises:
            UnknownNameError: the robot has no such link.
        """
        if link not in self.links:
            raise UnknownNameError.among("link", link, self.links)
        return int(self._link_bodies[self.links.index(link)])

    def joint_chain(self, link: str) -> tuple[str, ...]:
        """Return the names of the joints between the base and a link, from the base outward."""
        names = []
        body = self.body(link)
        while body != self._instance.addresses.base_body:
            first_joint = int(self.model.body_jntadr[body])
            joints = range(first_joint, first_joint + int(self.model.body_jntnum[body]))
            names += [self.model.joint(joint).name for joint in reversed(joints)]  # from the link inward
            body = int(self.model.body_parentid[body])
        return tuple(reversed(names))

    def is_flat_foot(self, link: str) -> bool:
        """Return whether a link is a foot with a flat sole."""
        feet = self.robot.feet
        return link in feet and feet.index(link) not in self._instance.addresses.ball_soles

    def stand(self, angles: Floats, lean: Lean | None = None) -> LinkPoses:
        """Set the joint angles, put the robot on the floor at the origin, and return the poses of its links.

        Args:
            angles: the joint angles, `(n_joints,)` [rad].
            lean: tilt of the base; None for the one with which the robot rests in this pose.
        """
        place(self._instance, x_m=0.0, y_m=0.0, yaw_rad=0.0, joints=angles, lean=lean)
        return self._copy_link_poses()

    @property
    def flat_feet(self) -> tuple[str, ...]:
        """The feet with a flat sole, each of which can carry the robot alone."""
        return tuple(foot for foot in self.robot.feet if self.is_flat_foot(foot))

    def stand_on_foot(self, angles: Floats, foot: str) -> LinkPoses:
        """Set joint angles `(n_joints,)` [rad], and put the sole of one flat foot on the floor.

        Other parts may then be below the floor.
        """
        sole_geom = self.soles[self.robot.feet.index(foot)]
        self.stand(angles, Lean())  # upright, to measure how the sole is inclined
        sole_normal = self._world.data.geom_xmat[sole_geom].reshape(3, 3)[:, 2]
        base = self.stand(angles, lean_of_normal(sole_normal)).base  # with the sole level
        sole_height = float(self._sole_corners_of(foot)[:, 2].min())
        base[2] -= sole_height
        return self.set_pose(base, angles)

    def set_pose(self, base: Floats, angles: Floats) -> LinkPoses:
        """Set the pose of the base and the joint angles, and return the poses of all links.

        Args:
            base: position x y z [m] and quaternion w x y z of the base, `(7,)`.
            angles: the joint angles, `(n_joints,)` [rad].
        """
        addresses = self._instance.addresses
        data = self._world.data
        data.qpos[addresses.base_qpos] = base
        data.qpos[addresses.joint_qpos] = addresses.select_moving(angles)
        mujoco.mj_kinematics(self.model, data)
        mujoco.mj_comPos(self.model, data)
        return self._copy_link_poses()

    def stance(self, foot: str = "") -> Stance:
        """Return how the robot stands in the current pose, at rest: by its centre of mass and its supports.

        Supports are balls that bound the shapes which collide with the floor. With a foot given, the robot
        stands if its centre of mass is above the sole of this foot, whatever else touches the floor.

        Args:
            foot: the link that alone carries it; empty for all parts that touch the floor.
        """
        data = self._world.data
        supports = find_supports(self._instance)
        centre = data.subtree_com[self._instance.addresses.base_body]
        rotation = data.xmat[self._instance.addresses.base_body].reshape(3, 3)
        lean_rad, lean_side = measure_lean(rotation)
        if foot:
            corners = self._sole_corners_of(foot)
            balance = balance_on(corners[:, :2], centre)
            lowest_m = float(supports.bottom_heights(np.array([0.0, 0.0, 1.0])).min())
            return Stance(
                StanceKind.STANDS if balance.margin_m > 0.0 else StanceKind.FALLS,
                balance,
                carriers=(foot,),
                lean_rad=lean_rad,
                lean_side=lean_side,
                foot=foot,
                sunk_m=max(0.0, float(corners[:, 2].min()) - lowest_m),
            )
        balance = compute_balance(supports, centre)
        carriers = self._links_of_geoms(supports.geoms[find_touching(supports)])
        soles = [self.soles[self.robot.feet.index(link)] for link in carriers if self.is_flat_foot(link)]
        sole_normals = data.geom_xmat[soles].reshape(-1, 3, 3)[:, :, 2]
        kind = classify_stance(balance, carriers, self.robot.feet, soles=sole_normals, base=rotation[:, 2])
        return Stance(kind, balance, carriers, lean_rad=lean_rad, lean_side=lean_side)

    def feet_on_floor(self) -> tuple[str, ...]:
        """Return the feet that touch the floor in the current pose."""
        sole_heights = sole_corners(self._instance)[..., 2].min(axis=-1)
        floor_height = float(find_supports(self._instance).bottom_heights(np.array([0.0, 0.0, 1.0])).min())
        touches = sole_heights < floor_height + TOUCHING_M
        return tuple(foot for foot, is_down in zip(self.robot.feet, touches, strict=True) if is_down)

    def _sole_corners_of(self, foot: str) -> Floats:
        """Return the current corners of a foot's sole in the field frame, `(4, 3)` [m]."""
        corners: Floats = sole_corners(self._instance)[self.robot.feet.index(foot)]
        return corners

    def _links_of_geoms(self, geoms: Indices) -> tuple[str, ...]:
        """Return the links to which some geoms belong, each once, in the order of `links`."""
        bodies = set(self.model.geom_bodyid[geoms].tolist())
        return tuple(
            link for body, link in zip(self._link_bodies.tolist(), self.links, strict=True) if body in bodies
        )

    def _find_far_end(self, link: str) -> tuple[float, float, float]:
        """Return the middle of a foot's front edge, or of a link's vertices farthest from its joint [m]."""
        if link in self.robot.feet:
            foot = self.robot.feet.index(link)
            addresses = self._instance.addresses
            corners = addresses.sole_corners[foot]
            if foot in addresses.ball_soles:
                corners = np.zeros_like(corners)  # the centre of the ball
            vertices = _to_link_frame(self.model, self.soles[foot], corners)[:2]  # the first two are in front
        else:
            vertices = np.concatenate([mesh.vertices for mesh in self.meshes if mesh.link == link])
            distances = np.linalg.norm(vertices, axis=-1)
            # those of the far end: beyond a share of the greatest distance from the joint
            vertices = vertices[distances > _FAR_END_SHARE * distances.max()]
        x, y, z = vertices.mean(axis=0).tolist()
        return x, y, z

    def _copy_link_poses(self) -> LinkPoses:
        """Return copies of the poses of all links, and of the centre of mass."""
        data = self._world.data
        addresses = self._instance.addresses
        return LinkPoses(
            base=data.qpos[addresses.base_qpos].copy(),
            positions=data.xpos[self._link_bodies].copy(),
            rotations=data.xquat[self._link_bodies].copy(),  # quaternions
            centre_of_mass=data.subtree_com[addresses.base_body].copy(),
        )

    def _build_meshes(self) -> Iterator[LinkMesh]:
        """Yield the visible shapes of each link as triangles."""
        model = self.model
        for body, link in zip(self._link_bodies.tolist(), self.links, strict=True):
            for geom, (red, green, blue, opacity) in visible_geoms(model, body):
                vertices, faces = _triangulate_geom(model, geom)
                yield LinkMesh(
                    link, _to_link_frame(model, geom, vertices), faces, colour=(red, green, blue, opacity)
                )


def _to_link_frame(model: mujoco.MjModel, geom: int, points: Floats) -> Floats:
    """Transform points from a geom's frame to its link's frame, `(n, 3)` [m]."""
    matrix = np.empty(9)
    mujoco.mju_quat2Mat(matrix, model.geom_quat[geom])
    transformed: Floats = points @ matrix.reshape(3, 3).T + model.geom_pos[geom]
    return transformed


def _triangulate_geom(model: mujoco.MjModel, geom: int) -> tuple[Floats, NDArray[np.int32]]:
    """Return vertices `(n, 3)` [m] and faces `(m, 3)` of a geom in its own frame."""
    import trimesh

    geom_type = int(model.geom_type[geom])
    size = model.geom_size[geom]
    if geom_type == int(mujoco.mjtGeom.mjGEOM_MESH):
        mesh = int(model.geom_dataid[geom])
        first_vertex = int(model.mesh_vertadr[mesh])
        n_vertices = int(model.mesh_vertnum[mesh])
        first_face = int(model.mesh_faceadr[mesh])
        n_faces = int(model.mesh_facenum[mesh])
        vertices = model.mesh_vert[first_vertex : first_vertex + n_vertices].astype(float)
        return vertices, model.mesh_face[first_face : first_face + n_faces]
    if geom_type == int(mujoco.mjtGeom.mjGEOM_BOX):
        surface = trimesh.creation.box(extents=2.0 * size)
    elif geom_type == int(mujoco.mjtGeom.mjGEOM_SPHERE):
        surface = trimesh.creation.icosphere(subdivisions=2, radius=size[0])
    elif geom_type == int(mujoco.mjtGeom.mjGEOM_ELLIPSOID):
        surface = trimesh.creation.icosphere(subdivisions=2, radius=1.0)
        surface.apply_scale(size)
    elif geom_type == int(mujoco.mjtGeom.mjGEOM_CAPSULE):
        surface = trimesh.creation.capsule(height=2.0 * size[1], radius=size[0], count=[16, 16])
        middle = surface.bounds.mean(axis=0)
        surface.apply_translation([0.0, 0.0, -middle[2]])  # MuJoCo's capsule has its origin in the middle
    else:  # a cylinder
        surface = trimesh.creation.cylinder(radius=size[0], height=2.0 * size[1], sections=24)
    return np.asarray(surface.vertices), np.asarray(surface.faces, dtype=np.int32)
