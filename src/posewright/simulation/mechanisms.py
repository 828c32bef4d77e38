"""Mechanisms from MuJoCo models and back: what a robot is imported to, and exported from."""

from __future__ import annotations

import math
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from posewright.documents import is_file, path_exists
from posewright.documents.markup import Element, read_markup
from posewright.errors import FormatError, InputError, Where
from posewright.robots import Form, Hinge, Kind, Link, Mechanism, Oddity
from posewright.robots.mechanism import LIGHTEST_KG, Quaternion, Triple, rotation_matrix, rows, triple
from posewright.rotation import quaternion_of_matrix
from posewright.simulation.robot_model import body_name, compiled, find_base, read_model

if TYPE_CHECKING:
    from posewright.robots import Robot

IMU_SITE = "imu"
"""The site in the base of an imported model that an IMU is mounted on."""

_KINDS = {
    int(mujoco.mjtGeom.mjGEOM_SPHERE): Kind.SPHERE,
    int(mujoco.mjtGeom.mjGEOM_CYLINDER): Kind.CYLINDER,
    int(mujoco.mjtGeom.mjGEOM_CAPSULE): Kind.CYLINDER,
}
_TYPES = {
    Kind.BOX: mujoco.mjtGeom.mjGEOM_BOX,
    Kind.SPHERE: mujoco.mjtGeom.mjGEOM_SPHERE,
    Kind.CYLINDER: mujoco.mjtGeom.mjGEOM_CYLINDER,
}

_TIMESTEP_S = 0.002
_ARMATURE = (0.003, 0.001)
"""Inertia of a motor as its joint feels it: some, and some for every N m that it gives; assumed [kg m^2]."""

_FRICTION_LOSS_SHARE = 0.02
"""Dry friction of a gear, over what its motor gives; an AX-12A's in our own model is as much."""

_LEAST_MOMENT = 1e-7

_DIRS = ("meshdir", "texturedir", "assetdir")
"""Attributes of a MuJoCo model that name folders; those that name files begin with `file`."""

_REFUSED = ("include", "plugin", "extension", "model", "attach")
"""Elements that bring in what is elsewhere, or programs."""

_MOST_BODIES, _MOST = 500, 1e4

_GROWING = ("hfield", "replicate", "composite", "flexcomp")
"""Elements in which a few letters take all of the memory; no robot is made of them."""

_WIDEST_TEXTURE = 16384
"""[pixels]"""


def mechanism_of(robot: Robot) -> Mechanism:
    """Return what a robot is built of: its model, with the limits and the motors of its card.

    Raises:
        InputError: the card has no model, the model does not compile, or a joint is no hinge.
    """
    spec = read_model(robot)
    base = str(find_base(spec, robot).name)
    model = compiled(spec, robot.model_path)
    joints = dict(zip(robot.joint_names, zip(robot.joints, robot.servos, strict=True), strict=True))

    def hinge(name: str, axis: Triple, _joint: int) -> Hinge:
        if name not in joints:
            raise InputError(f"the card has no joint {name!r}", where=Where(robot.model_path))
        told, servo = joints[name]
        motor = servo.stall_torque_nm, servo.no_load_speed_rad_s
        return Hinge(name, axis, told.lower_rad, told.upper_rad, *motor)

    links, welded = _Taken(model, int(model.body(base).id), hinge).links()
    if welded:
        raise InputError(str(welded[0]), where=Where(robot.model_path), hint="hinges turn links")
    return Mechanism(robot.name, links)


def read_mjcf(path: Path) -> tuple[Mechanism, tuple[Oddity, ...]]:
    """Read a MuJoCo model; return the mechanism, and what was left out or taken for something else.

    Raises:
        FormatError: it is no such model, includes others, has plugins, names files outside of its folder, or
            holds no robot.
    """
    root = read_markup(path)
    if root.name != "mujoco":
        root.fail(f"<{root.name}> is no MuJoCo model", "the root is <mujoco>")
    _check_reach(root, path.resolve().parent)
    try:
        spec = mujoco.MjSpec.from_file(str(path))
        model = spec.compile()
    except (ValueError, RuntimeError, MemoryError) as error:
        raise FormatError(f"MuJoCo does not read it: {str(error)!r:.300}", where=Where(path)) from error
    if model.nbody < 2:
        raise FormatError("there is no body in it", where=Where(path))
    for key in ("body_pos", "body_ipos", "body_mass", "body_inertia", "geom_pos", "geom_size"):
        if not (np.abs(getattr(model, key)) < _MOST).all():
            what = f"a number in {key} is not finite, or beyond all measure"
            raise FormatError(what, where=Where(path), hint="metres and kilograms")
    free = [model.jnt_bodyid[joint] for joint in range(model.njnt) if model.jnt_type[joint] == 0]
    try:
        links, welded = _Taken(model, int(free[0]) if free else 1, _modelled(model)).links()
    except InputError as error:
        raise FormatError(error.message, where=Where(path), hint=error.hint) from error
    return Mechanism(spec.modelname, links), tuple(welded)


def _check_reach(root: Element, folder: Path) -> None:
    """Refuse what opens other files than ordinary ones in the folder of the model; links are followed."""
    dirs = {
        "",
        *(told for element in root.all("compiler") for key in _DIRS if (told := element.attributes.get(key))),
    }
    count = 0
    for element in root.walk():
        count += element.name == "body"
        if count > _MOST_BODIES:
            element.fail("too many bodies", f"at most {_MOST_BODIES}")
        if element.name in _REFUSED:
            element.fail(f"<{element.name}> is not read", "put everything into one file")
        if element.name in _GROWING:
            element.fail(f"<{element.name}> is not read", "a robot alone")
        if max(element.attribute_number(key, 0.0) for key in ("width", "height")) > _WIDEST_TEXTURE:
            element.fail(f"a <{element.name}> that is too large", f"at most {_WIDEST_TEXTURE} wide and high")
        for key, name in element.attributes.items():
            if key not in _DIRS and not key.startswith("file"):
                continue
            if Path(name).is_absolute() or ".." in Path(name).parts or "\\" in name:
                element.fail(f"{name!r:.80} may lie outside of the model's folder", "a path inside it")
            for found in (folder / one / name for one in dirs):
                if key not in _DIRS and path_exists(found) and not is_file(found):
                    element.fail(f"{name!r:.80} is no ordinary file")
                if not found.resolve().is_relative_to(folder):
                    element.fail(f"{name!r:.80} leads out of the model's folder", "a file inside it")


def _modelled(model: Any) -> Any:
    """Return a function that makes hinges of a model's joints, with what their actuators give."""
    of_joint = {int(model.actuator_trnid[one, 0]): one for one in range(model.nu)}

    def hinge(name: str, axis: Triple, joint: int) -> Hinge:
        limited, limits = model.jnt_limited[joint], model.jnt_range[joint].tolist()
        lower, upper = limits if limited else (-math.pi, math.pi)
        effort = 0.0
        if joint in of_joint and model.actuator_forcelimited[of_joint[joint]]:
            effort = float(model.actuator_forcerange[of_joint[joint]].max())
        elif joint in of_joint and model.jnt_actfrclimited[joint]:
            effort = float(model.jnt_actfrcrange[joint].max())
        damping = float(model.dof_damping[model.jnt_dofadr[joint]])
        return Hinge(name, axis, lower, upper, effort, effort / damping if damping > 0.0 else 0.0)

    return hinge


class _Taken:
    """Links taken from a compiled model; each has its origin where its hinge is."""

    def __init__(self, model: Any, base: int, hinge: Any) -> None:
        self._model, self._base, self._hinge = model, base, hinge
        self._welded: list[Oddity] = []

    def links(self) -> tuple[tuple[Link, ...], list[Oddity]]:
        """Return them, and what is said of joints that are no hinges: those are fixed at 0."""
        own = np.flatnonzero(self._model.body_rootid == self._model.body_rootid[self._base]).tolist()
        shifts: dict[int, Any] = {}
        return tuple(self._link(body, shifts) for body in own if self._hangs(body)), self._welded

    def _hangs(self, body: int) -> bool:
        while body and body != self._base:
            body = int(self._model.body_parentid[body])
        return body == self._base

    def _link(self, body: int, shifts: dict[int, Any]) -> Link:
        model = self._model
        hinge, shift, turn = None, np.zeros(3), np.eye(3)
        first, count = int(model.body_jntadr[body]), int(model.body_jntnum[body])
        rotation = rotation_matrix(_four(model.body_quat[body]))
        joints = range(first, first + count) if body != self._base else ()
        if len(joints) > 1:
            raise InputError(f"{body_name(model, body)} has {len(joints)} joints", hint="one joint a body")
        for joint in joints:
            name = model.joint(joint).name or f"joint_{joint}"
            if model.jnt_type[joint] != int(mujoco.mjtJoint.mjJNT_HINGE):
                self._welded.append(Oddity(f"{name} is no hinge: it is fixed at 0"))
                continue
            axis, shift = model.jnt_axis[joint], np.array(model.jnt_pos[joint])
            hinge = self._hinge(name, triple(axis), joint)
            quaternion, zero = np.empty(4), -float(model.qpos0[model.jnt_qposadr[joint]])
            mujoco.mju_axisAngle2Quat(quaternion, axis, zero)
            turn = rotation_matrix(_four(quaternion))
        shifts[body] = shift
        parent = int(model.body_parentid[body])
        place = np.zeros(3), np.eye(3)
        if body != self._base:
            place = model.body_pos[body] + rotation @ shift - shifts[parent], rotation @ turn
        moments = rotation_matrix(_four(model.body_iquat[body]))
        inertia = moments @ np.diag(model.body_inertia[body]) @ moments.T
        return Link(
            name=body_name(model, body),
            parent="" if body == self._base else body_name(model, parent),
            position_m=triple(place[0]),
            rotation=quaternion_of_matrix(place[1]),
            hinge=hinge,
            mass_kg=float(model.body_mass[body]),
            centre_m=triple(model.body_ipos[body] - shift),
            inertia=rows(inertia),
            forms=tuple(self._forms(body, shift)),
        )

    def _forms(self, body: int, shift: Any) -> list[Form]:
        """Return the shapes of a body that can touch something."""
        model = self._model
        first = int(model.body_geomadr[body])
        forms = []
        for geom in range(first, first + int(model.body_geomnum[body])):
            if not (model.geom_contype[geom] or model.geom_conaffinity[geom]):
                continue
            rotation = _four(model.geom_quat[geom])
            middle = model.geom_pos[geom] + rotation_matrix(rotation) @ model.geom_aabb[geom, :3] - shift
            sizes = 2.0 * model.geom_aabb[geom, 3:]
            kind = _KINDS.get(int(model.geom_type[geom]), Kind.BOX)
            forms.append(Form(kind, triple(sizes), triple(middle), rotation))
        return forms


def _four(values: Any) -> Quaternion:
    w, x, y, z = values.tolist()
    return w, x, y, z


def model_text(mechanism: Mechanism, feet: Collection[str] = ()) -> str:
    """Return a mechanism as a MuJoCo model, which stands with its lowest shape on the floor.

    What a moving part lacks that physics needs, mass and moments of inertia, is made up to the least there
    can be. Parts touch what is around them, never each other.

    Args:
        mechanism: with at least one hinge.
        feet: links whose shapes have the friction of soles.

    Raises:
        InputError: MuJoCo does not compile it.
    """
    spec = mujoco.MjSpec()
    spec.modelname = mechanism.name
    spec.compiler.degree, spec.compiler.autolimits, spec.compiler.balanceinertia = False, True, True
    spec.option.timestep, spec.option.impratio, spec.option.iterations = _TIMESTEP_S, 5.0, 20
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    lowest = min(mechanism.heights().values(), default=0.0)
    bodies = {"": spec.worldbody}
    for link in mechanism.links:
        place = link.position_m if link.parent else (0.0, 0.0, -lowest)
        turn = link.rotation if link.parent else (1.0, 0.0, 0.0, 0.0)
        body = bodies[link.name] = bodies[link.parent].add_body(name=link.name, pos=place, quat=turn)
        if not link.parent:
            body.add_freejoint(name="root")
            if all(mount.name != IMU_SITE for mount in mechanism.mounts):  # it has one of its own
                body.add_site(name=IMU_SITE, size=(0.003,) * 3, group=4)
        _add_inertia(body, link)
        _add_hinge(spec, body, link.hinge)
        for form in link.forms:
            _add_form(body, form, is_sole=link.name in feet)
    for mount in mechanism.mounts:
        site = bodies[mount.link].add_site(name=mount.name, size=(0.003,) * 3, group=4)
        site.pos, site.quat = mount.position_m, mount.rotation
    compiled(spec.copy(), None)
    return str(spec.to_xml())


def _add_inertia(body: Any, link: Link) -> None:
    moves = link.hinge is not None or not link.parent
    if link.mass_kg <= 0.0 and not moves:
        return
    mass = max(link.mass_kg, LIGHTEST_KG)
    moments, axes = np.linalg.eigh(np.array(link.inertia))
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = axes @ np.diag(np.maximum(moments, _LEAST_MOMENT)) @ axes.T
    body.mass, body.ipos, body.explicitinertial = mass, link.centre_m, True
    body.fullinertia = (xx, yy, zz, xy, xz, yz)


def _add_hinge(spec: Any, body: Any, hinge: Hinge | None) -> None:
    if hinge is None:
        return
    some, share = _ARMATURE
    effort = hinge.effort_nm
    joint = body.add_joint(name=hinge.name, axis=hinge.axis, range=(hinge.lower_rad, hinge.upper_rad))
    joint.armature, joint.frictionloss = some + share * effort, _FRICTION_LOSS_SHARE * effort
    driven = spec.add_actuator(name=hinge.name, target=hinge.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
    driven.set_to_position(kp=max(effort, 1.0), inheritrange=1.0)


def _add_form(body: Any, form: Form, *, is_sole: bool) -> None:
    half = [edge / 2.0 for edge in form.size_m]
    sizes = {Kind.SPHERE: (half[0], 0.0, 0.0), Kind.CYLINDER: (half[0], half[2], 0.0)}
    geom = body.add_geom(
        type=_TYPES[form.kind],
        pos=form.position_m,
        quat=form.rotation,
        size=sizes.get(form.kind, half),
        contype=0,
        conaffinity=1,
        condim=3,
        solref=(0.01, 1.0),
    )
    if is_sole:
        geom.friction = (0.9, 0.005, 0.0001)
        geom.priority = 1


def mjcf_text(robot: Robot) -> str:
    """Return a robot's own model as one MuJoCo file, with the limits and the motors of its card.

    Raises:
        InputError: the card has no model, or the model does not fit the card.
    """
    spec = read_model(robot)
    compiled(spec.copy(), robot.model_path)
    driven = {actuator.target: actuator for actuator in spec.actuators}
    for joint, servo in zip(robot.joints, robot.servos, strict=True):
        found, actuator = spec.joint(joint.name), driven.get(joint.name)
        if found is None or actuator is None:
            where = Where(robot.model_path)
            raise InputError(f"the model has no joint {joint.name!r} with an actuator", where=where)
        found.range = joint.lower_rad, joint.upper_rad
        found.damping[0] = servo.stall_torque_nm / servo.no_load_speed_rad_s
        actuator.set_to_position(kp=servo.stiffness)
        actuator.forcerange = (-servo.stall_torque_nm, servo.stall_torque_nm)
    return str(spec.to_xml())
