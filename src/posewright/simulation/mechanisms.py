"""Conversion between MuJoCo models and mechanisms, for importing and exporting robots."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import mujoco
import numpy as np

from posewright.arrays import Floats
from posewright.documents import is_file, path_exists
from posewright.documents.markup import Element, read_markup
from posewright.errors import FormatError, InputError, Where
from posewright.robots import (
    CARD,
    Hinge,
    Link,
    LinkShape,
    Mechanism,
    Oddity,
    ShapeKind,
    derive_biped,
    list_biped_differences,
)
from posewright.robots.mechanism import (
    MIN_MOVED_MASS_KG,
    Quaternion,
    Triple,
    rotation_matrix,
    to_rows,
    to_triple,
)
from posewright.rotation import quaternion_of_matrix
from posewright.simulation.robot_model import body_name, compile_spec, find_base, read_model

if TYPE_CHECKING:
    from posewright.robots import BipedGeometry, Robot

IMU_SITE = "imu"
"""Site on the base of an imported model for an IMU."""

_KIND_OF_GEOM_TYPE = {
    int(mujoco.mjtGeom.mjGEOM_SPHERE): ShapeKind.SPHERE,
    int(mujoco.mjtGeom.mjGEOM_CYLINDER): ShapeKind.CYLINDER,
    int(mujoco.mjtGeom.mjGEOM_CAPSULE): ShapeKind.CYLINDER,
}
_GEOM_TYPE_OF_KIND = {
    ShapeKind.BOX: mujoco.mjtGeom.mjGEOM_BOX,
    ShapeKind.SPHERE: mujoco.mjtGeom.mjGEOM_SPHERE,
    ShapeKind.CYLINDER: mujoco.mjtGeom.mjGEOM_CYLINDER,
}

_SITE_SIZE = (0.003, 0.003, 0.003)
_SITE_GROUP = 4
"""Size of the sites of sensors [m], and their group, which viewers do not show."""

_TIMESTEP_S = 0.002
_ARMATURE = 0.003
"""Assumed rotor inertia of a motor, as seen at its joint, independent of its torque [kg m^2]."""

_ARMATURE_PER_NM = 0.001
"""Assumed additional rotor inertia for each N m of torque [kg m^2]."""

_FRICTION_LOSS_SHARE = 0.02
"""Dry friction of a gear over its motor's torque; that of the AX-12A in our own model."""

_MIN_MOMENT = 1e-7
"""Least principal moment of inertia of a moving link [kg m^2]."""

_MOMENT_MARGIN = 1e-3
"""By how much two principal moments exceed the third at least, relative to the greatest: a rounding error."""

_FOLDER_ATTRIBUTES = ("meshdir", "texturedir", "assetdir")
"""Attributes of a MuJoCo model that name folders; the names of those with files begin with `file`."""

_FORBIDDEN_ELEMENTS = ("include", "plugin", "extension", "model", "attach")
"""Elements that load other files or programs."""

_MAX_BODIES = 500
_MAX_VALUE = 1e4

_EXPANDING_ELEMENTS = ("hfield", "replicate", "composite", "flexcomp")
"""Elements in which a few characters can fill the memory; robots do not need them."""

_MAX_TEXTURE_PX = 16384

_HingeFactory: TypeAlias = Callable[[str, Triple, int], Hinge]
"""Returns a hinge for a joint's name, axis and number."""


def mechanism_of(robot: Robot) -> Mechanism:
    """Return a robot's mechanism: the links of its model with the limits and motors of its card.

    Raises:
        InputError: the card has no model, the model does not compile, a joint is not on the card, or a joint
            is not a hinge.
    """
    spec = read_model(robot)
    base = str(find_base(spec, robot).name)
    model = compile_spec(spec, robot.model_path)

    def create_hinge(name: str, axis: Triple, _joint: int) -> Hinge:
        """Return the hinge of a joint with the limits and motor of the robot's card."""
        if name not in robot.joint_names:
            raise InputError(f"the card has no joint {name!r}", where=Where(robot.model_path))
        index = robot.index(name)
        joint = robot.joints[index]
        servo = robot.servos[index]
        return Hinge(
            name,
            axis,
            joint.lower_rad,
            joint.upper_rad,
            effort_nm=servo.stall_torque_nm,
            speed_rad_s=servo.no_load_speed_rad_s,
        )

    links, fixed_joints = _LinkExtractor(model, int(model.body(base).id), create_hinge).extract()
    if fixed_joints:
        raise InputError(str(fixed_joints[0]), where=Where(robot.model_path), hint="use hinges only")
    return Mechanism(robot.name, links)


def biped_of_model(robot: Robot) -> BipedGeometry:
    """Return the geometry of a biped's legs that a robot's model has, with the feet of its card.

    Raises:
        InputError: the card has no model, the model does not compile, or its legs are not those of a biped;
            see `derive_biped`.
    """
    spec = read_model(robot)
    base = str(find_base(spec, robot).name)
    model = compile_spec(spec, robot.model_path)

    def create_hinge(name: str, axis: Triple, _joint: int) -> Hinge:
        """Return the hinge of a joint, whose limits and motor do not matter here."""
        return Hinge(name, axis, lower_rad=-math.pi, upper_rad=math.pi)

    links, _ = _LinkExtractor(model, int(model.body(base).id), create_hinge).extract()
    return derive_biped(Mechanism(robot.name, links), robot.feet)


@lru_cache(maxsize=64)
def require_biped_of_model(robot: Robot) -> None:
    """Raise InputError unless the block `biped:` of a card, if there is one, agrees with the model."""
    if robot.biped is None:
        return
    where = Where(None if robot.folder is None else robot.folder / CARD)
    try:
        model_geometry = biped_of_model(robot)
    except InputError as error:
        raise InputError(
            f"the card has a block `biped:`, but the model is none: {error.message}",
            where=where,
            hint=error.hint,
        ) from error
    differences = list(list_biped_differences(robot.biped, model_geometry))
    if differences:
        raise InputError(
            f"the block `biped:` disagrees with the model, in which {'; '.join(differences)}",
            where=where,
            hint="posewright robots legs prints the block that the model gives",
        )


def read_mjcf(path: Path) -> tuple[Mechanism, tuple[Oddity, ...]]:
    """Read a MuJoCo model; return the mechanism, and notes on what was left out or changed.

    Raises:
        FormatError: the file is no MuJoCo model, loads other files or plugins, names files outside its
            folder, or has no robot.
    """
    root = read_markup(path)
    if root.name != "mujoco":
        root.fail(f"<{root.name}> is not a MuJoCo model", "a MuJoCo model has the root <mujoco>")
    _require_self_contained(root, path.resolve().parent)
    try:
        with _singular_inertia_is_an_error():
            spec = mujoco.MjSpec.from_file(str(path))
            model = spec.compile()
    except (ValueError, RuntimeError, MemoryError) as error:
        raise FormatError(f"MuJoCo cannot read the model: {str(error)!r:.300}", where=Where(path)) from error
    if model.nbody < 2:
        raise FormatError("the model has no body", where=Where(path))
    fields = (
        *("body_pos", "body_quat", "body_ipos", "body_iquat", "body_mass", "body_inertia"),
        *("geom_pos", "geom_quat", "geom_size", "jnt_axis", "site_quat"),
    )
    for field in fields:
        if not (np.abs(getattr(model, field)) < _MAX_VALUE).all():
            raise FormatError(
                f"{field} is not finite, or not below {_MAX_VALUE:g}",
                where=Where(path),
                hint="use metres and kilograms",
            )
    free_joint_type = int(mujoco.mjtJoint.mjJNT_FREE)
    free_bodies = [
        model.jnt_bodyid[joint] for joint in range(model.njnt) if model.jnt_type[joint] == free_joint_type
    ]
    base = int(free_bodies[0]) if free_bodies else 1
    try:
        links, fixed_joints = _LinkExtractor(model, base, _create_hinge_factory(model)).extract()
    except InputError as error:
        raise FormatError(error.message, where=Where(path), hint=error.hint) from error
    return Mechanism(spec.modelname, links), tuple(fixed_joints)


def require_self_contained(path: Path) -> None:
    """Raise a FormatError unless the model in a file is small and names only ordinary files in its folder."""
    _require_self_contained(read_markup(path), path.parent.resolve())


def _require_self_contained(root: Element, folder: Path) -> None:
    """Raise unless a model is small and names only ordinary files inside its folder (links are followed).

    Raises:
        FormatError: an element loads other models or programs, could fill the memory, or names a file
            elsewhere.
    """
    asset_folders = {""}  # the model's own folder, and those in which it looks for its files
    for element in root.all("compiler"):
        asset_folders |= {element.attributes.get(key) or "" for key in _FOLDER_ATTRIBUTES}
    n_bodies = 0
    for element in root.walk():
        if element.name == "body":
            n_bodies += 1
        if n_bodies > _MAX_BODIES:
            element.fail("too many bodies", f"at most {_MAX_BODIES}")
        if element.name in _FORBIDDEN_ELEMENTS:
            element.fail(f"<{element.name}> is not supported", "put everything into one file")
        if element.name in _EXPANDING_ELEMENTS:
            element.fail(f"<{element.name}> is not supported", "a model of the robot alone")
        if max(element.attribute_number(key, 0.0) for key in ("width", "height")) > _MAX_TEXTURE_PX:
            element.fail(f"a <{element.name}> is too large", f"at most {_MAX_TEXTURE_PX} wide and high")
        for key, name in element.attributes.items():
            if key in _FOLDER_ATTRIBUTES or key.startswith("file"):
                _require_inside(element, key, name, asset_folders, folder)


def _require_inside(element: Element, key: str, name: str, asset_folders: set[str], folder: Path) -> None:
    """Raise unless the file or folder that an attribute names is inside the model's folder.

    Args:
        element: the element with the attribute.
        key: the attribute.
        name: its value, the path of the file or folder.
        asset_folders: the folders in which MuJoCo looks for it, relative to the model's.
        folder: the model's folder, resolved.
    """
    if Path(name).is_absolute() or ".." in Path(name).parts or "\\" in name:
        element.fail(f"{name!r:.80} may be outside the model's folder", hint="a path inside it")
    for asset_folder in asset_folders:
        path = folder / asset_folder / name
        if key not in _FOLDER_ATTRIBUTES and path_exists(path) and not is_file(path):
            element.fail(f"{name!r:.80} is not an ordinary file")
        if not path.resolve().is_relative_to(folder):
            element.fail(f"{name!r:.80} leads out of the model's folder", hint="a file inside it")


def _create_hinge_factory(model: mujoco.MjModel) -> _HingeFactory:
    """Return a function that creates hinges from a model's joints, with the torques of their actuators."""
    actuator_of_joint = {int(model.actuator_trnid[actuator, 0]): actuator for actuator in range(model.nu)}

    def create_hinge(name: str, axis: Triple, joint: int) -> Hinge:
        """Return the hinge of a joint with the limits and motor of the model."""
        lower = -math.pi
        upper = math.pi
        if model.jnt_limited[joint]:
            lower, upper = model.jnt_range[joint].tolist()
        # the largest torque: that of the actuator, else that of the joint; 0 if unknown
        effort_nm = 0.0
        actuator = actuator_of_joint.get(joint)
        if actuator is not None and model.actuator_forcelimited[actuator]:
            effort_nm = float(model.actuator_forcerange[actuator].max())
        elif actuator is not None and model.jnt_actfrclimited[joint]:
            effort_nm = float(model.jnt_actfrcrange[joint].max())
        damping = float(model.dof_damping[model.jnt_dofadr[joint]])
        speed_rad_s = effort_nm / damping if damping > 0.0 else 0.0  # at which damping takes all the torque
        return Hinge(
            name, axis, lower_rad=lower, upper_rad=upper, effort_nm=effort_nm, speed_rad_s=speed_rad_s
        )

    return create_hinge


class _LinkExtractor:
    """Extracts the links of one robot from a compiled model; each link has its origin at its hinge.

    Args:
        model: the compiled model.
        base: number of the robot's base.
        create_hinge: returns a hinge for a joint's name, axis and number.
    """

    def __init__(self, model: mujoco.MjModel, base: int, create_hinge: _HingeFactory) -> None:
        self._model = model
        self._base = base
        self._create_hinge = create_hinge
        self._fixed_joints: list[Oddity] = []
        self._origin_shifts: dict[int, Floats] = {}

    def extract(self) -> tuple[tuple[Link, ...], list[Oddity]]:
        """Return the links, and notes on what they lack: joints that are no hinges, other bodies.

        Raises:
            InputError: a body has several joints.
        """
        all_bodies = range(1, self._model.nbody)  # without the world
        bodies = [body for body in all_bodies if self._descends_from_base(body)]
        links = tuple(self._extract_link(body) for body in bodies)
        return links, [*self._fixed_joints, *self._list_omissions(bodies)]

    def _list_omissions(self, bodies: Collection[int]) -> Iterator[Oddity]:
        """Yield what the links lack: joints between the base and the world, and other bodies."""
        model = self._model
        first_joint = int(model.body_jntadr[self._base])
        joint_names = [
            model.joint(joint).name or f"joint_{joint}"
            for joint in range(first_joint, first_joint + int(model.body_jntnum[self._base]))
            if model.jnt_type[joint] != int(mujoco.mjtJoint.mjJNT_FREE)
        ]
        base_name = body_name(model, self._base)
        if joint_names:
            remark = f"{', '.join(joint_names)}: left out; the base {base_name} is free to move here"
            yield Oddity(remark)
        elif int(model.body_jntnum[self._base]) == 0 and self._base:
            yield Oddity(f"{base_name} is fixed to the world: here it is free to move")
        other_names = [body_name(model, body) for body in range(1, model.nbody) if body not in bodies]
        if other_names:
            yield Oddity(f"left out, since they are not connected to {base_name}: {', '.join(other_names)}")

    def _descends_from_base(self, body: int) -> bool:
        while body and body != self._base:
            body = int(self._model.body_parentid[body])
        return body == self._base

    def _extract_link(self, body: int) -> Link:
        """Return a body as a link, in the frame of its hinge at angle 0.

        Stores the shift of its origin, which the links of its child bodies need, and a note if its joint is
        not a hinge.
        """
        model = self._model
        hinge = None
        origin_shift = np.zeros(3)  # from the body's origin to its hinge
        zero_rotation = np.eye(3)  # of the body with its joint at 0
        body_rotation = rotation_matrix(_quaternion(model.body_quat[body]))
        first_joint = int(model.body_jntadr[body])
        n_joints = int(model.body_jntnum[body]) if body != self._base else 0
        if n_joints > 1:
            message = f"{body_name(model, body)} has {n_joints} joints"
            raise InputError(message, hint="give each body one joint")
        for joint in range(first_joint, first_joint + n_joints):
            name = model.joint(joint).name or f"joint_{joint}"
            if model.jnt_type[joint] != int(mujoco.mjtJoint.mjJNT_HINGE):
                self._fixed_joints.append(Oddity(f"{name} is not a hinge; it is fixed at 0"))
                continue
            axis = model.jnt_axis[joint]
            origin_shift = np.array(model.jnt_pos[joint])
            hinge = self._create_hinge(name, to_triple(axis), joint)
            quaternion = np.empty(4)
            zero_angle = float(model.qpos0[model.jnt_qposadr[joint]])
            mujoco.mju_axisAngle2Quat(quaternion, axis, -zero_angle)
            zero_rotation = rotation_matrix(_quaternion(quaternion))
        self._origin_shifts[body] = origin_shift
        parent = int(model.body_parentid[body])
        position = np.zeros(3)
        rotation = np.eye(3)
        if body != self._base:
            position = model.body_pos[body] + body_rotation @ origin_shift - self._origin_shifts[parent]
            rotation = body_rotation @ zero_rotation
        principal_axes = rotation_matrix(_quaternion(model.body_iquat[body]))
        inertia = principal_axes @ np.diag(model.body_inertia[body]) @ principal_axes.T
        return Link(
            name=body_name(model, body),
            parent="" if body == self._base else body_name(model, parent),
            position_m=to_triple(position),
            rotation=quaternion_of_matrix(rotation),
            hinge=hinge,
            mass_kg=float(model.body_mass[body]),
            centre_m=to_triple(model.body_ipos[body] - origin_shift),
            inertia=to_rows(inertia),
            shapes=tuple(self._extract_shapes(body, origin_shift)),
        )

    def _extract_shapes(self, body: int, origin_shift: Floats) -> list[LinkShape]:
        """Return the body's colliding geoms as shapes in the link's frame; meshes as their boxes."""
        model = self._model
        first = int(model.body_geomadr[body])
        shapes = []
        for geom in range(first, first + int(model.body_geomnum[body])):
            if not (model.geom_contype[geom] or model.geom_conaffinity[geom]):
                continue
            rotation = _quaternion(model.geom_quat[geom])
            box_centre = rotation_matrix(rotation) @ model.geom_aabb[geom, :3]
            centre = model.geom_pos[geom] + box_centre - origin_shift
            sizes = 2.0 * model.geom_aabb[geom, 3:]
            kind = _KIND_OF_GEOM_TYPE.get(int(model.geom_type[geom]), ShapeKind.BOX)
            shapes.append(
                LinkShape(kind, size_m=to_triple(sizes), position_m=to_triple(centre), rotation=rotation)
            )
        return shapes


def _quaternion(values: Floats) -> Quaternion:
    w, x, y, z = values.tolist()
    return w, x, y, z


def model_text(mechanism: Mechanism, feet: Collection[str] = ()) -> str:
    """Return a mechanism as a MuJoCo model in XML, with its lowest shape on the floor.

    Moving links without mass or moments of inertia get the least that physics needs. Links collide with their
    surroundings, but not with each other.

    Args:
        mechanism: has at least one hinge.
        feet: links whose shapes have the friction of soles.

    Raises:
        InputError: MuJoCo does not compile it.
    """
    spec = mujoco.MjSpec()
    spec.modelname = mechanism.name
    spec.compiler.degree = False
    spec.compiler.autolimits = True
    spec.option.timestep = _TIMESTEP_S
    spec.option.impratio = 5.0
    spec.option.iterations = 20
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    lowest_z = min(mechanism.lowest_heights().values(), default=0.0)
    bodies = {"": spec.worldbody}
    for link in mechanism.links:
        position = link.position_m if link.parent else (0.0, 0.0, -lowest_z)
        rotation = link.rotation if link.parent else (1.0, 0.0, 0.0, 0.0)
        body = bodies[link.parent].add_body(name=link.name, pos=position, quat=rotation)
        bodies[link.name] = body
        if not link.parent:
            body.add_freejoint(name="root")
            has_imu_site = any(mount.name == IMU_SITE for mount in mechanism.mounts)
            if not has_imu_site:
                body.add_site(name=IMU_SITE, size=_SITE_SIZE, group=_SITE_GROUP)
        _add_inertia(body, link)
        if link.hinge is not None:
            _add_hinge(spec, body, link.hinge)
        for shape in link.shapes:
            _add_shape(body, shape, is_sole=link.name in feet)
    for mount in mechanism.mounts:
        site = bodies[mount.link].add_site(name=mount.name, size=_SITE_SIZE, group=_SITE_GROUP)
        site.pos = mount.position_m
        site.quat = mount.rotation
    compile_spec(spec.copy(), path=None)
    try:
        with _singular_inertia_is_an_error():
            text = str(spec.to_xml())
    except ValueError as error:
        raise InputError(f"MuJoCo cannot simulate the model: {error}") from error
    compile_spec(mujoco.MjSpec.from_string(text), path=None)  # its numbers are rounded
    return text


@contextmanager
def _singular_inertia_is_an_error() -> Iterator[None]:
    """Raise a ValueError where MuJoCo warns that a model has hardly any inertia at a joint.

    MuJoCo's other warnings of a model, which change no result, are ignored.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        warnings.filterwarnings("error", message="Inertia matrix", category=UserWarning)
        try:
            yield
        except UserWarning as warning:
            raise ValueError(str(warning)) from warning


def _add_inertia(body: mujoco.MjsBody, link: Link) -> None:
    """Set mass, centre of mass and inertia of a body, at least the minimum if it moves."""
    is_moving = link.hinge is not None or not link.parent
    if link.mass_kg <= 0.0 and not is_moving:
        return
    # principal moments in rising order; of a real body, none exceeds the sum of the other two
    moments, axes = np.linalg.eigh(np.array(link.inertia))
    moments = np.maximum(moments, _MIN_MOMENT)
    least, middle, greatest = moments
    shortage = (1.0 + _MOMENT_MARGIN) * greatest - (least + middle)
    moments[:2] += max(shortage, 0.0) / 2.0
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = axes @ np.diag(moments) @ axes.T
    body.mass = max(link.mass_kg, MIN_MOVED_MASS_KG)
    body.ipos = link.centre_m
    body.explicitinertial = True
    body.fullinertia = (xx, yy, zz, xy, xz, yz)


def _add_hinge(spec: mujoco.MjSpec, body: mujoco.MjsBody, hinge: Hinge) -> None:
    """Add a joint and its position actuator."""
    effort = hinge.effort_nm
    joint = body.add_joint(name=hinge.name, axis=hinge.axis, range=(hinge.lower_rad, hinge.upper_rad))
    joint.armature = _ARMATURE + _ARMATURE_PER_NM * effort
    joint.frictionloss = _FRICTION_LOSS_SHARE * effort
    actuator = spec.add_actuator(name=hinge.name, target=hinge.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
    actuator.set_to_position(kp=max(effort, 1.0), inheritrange=1.0)


def _add_shape(body: mujoco.MjsBody, shape: LinkShape, *, is_sole: bool) -> None:
    """Add a shape to a body; a sole has friction of its own."""
    half_x, half_y, half_z = (edge / 2.0 for edge in shape.size_m)
    sizes = {  # as MuJoCo takes them: a sphere's radius, a cylinder's radius and half height
        ShapeKind.BOX: (half_x, half_y, half_z),
        ShapeKind.SPHERE: (half_x, 0.0, 0.0),
        ShapeKind.CYLINDER: (half_x, half_z, 0.0),
    }
    geom = body.add_geom(
        type=_GEOM_TYPE_OF_KIND[shape.kind],
        pos=shape.position_m,
        quat=shape.rotation,
        size=sizes[shape.kind],
        mass=0.0,  # of a link without a mass, too; MuJoCo would take the density of water
        contype=0,
        conaffinity=1,
        condim=3,
        solref=(0.01, 1.0),
    )
    if is_sole:
        geom.friction = (0.9, 0.005, 0.0001)
        geom.priority = 1


def mjcf_text(robot: Robot) -> str:
    """Return a robot's own model as one MuJoCo file in XML, with the limits and the motors of its card.

    Raises:
        InputError: the card has no model, or the model does not fit the card.
    """
    spec = read_model(robot)
    compile_spec(spec.copy(), robot.model_path)  # raises if it does not compile
    actuators = {actuator.target: actuator for actuator in spec.actuators}
    for card_joint, servo in zip(robot.joints, robot.servos, strict=True):
        joint = spec.joint(card_joint.name)
        actuator = actuators.get(card_joint.name)
        if joint is None or actuator is None:
            raise InputError(
                f"the model has no joint {card_joint.name!r} with an actuator", where=Where(robot.model_path)
            )
        joint.range = card_joint.lower_rad, card_joint.upper_rad
        joint.damping[0] = servo.stall_torque_nm / servo.no_load_speed_rad_s
        actuator.set_to_position(kp=servo.stiffness)
        actuator.forcerange = (-servo.stall_torque_nm, servo.stall_torque_nm)
    return str(spec.to_xml())
