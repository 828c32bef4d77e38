"""Imports robots from URDF, xacro, MuJoCo and OpenRAVE as a card with a model, and exports them."""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from posewright.display import Lines
from posewright.documents import (
    create_folder,
    flow_mapping,
    path_exists,
    render_document,
    require_portable_name,
    write_atomically,
)
from posewright.documents.markup import read_markup
from posewright.documents.plain import plain_mapping
from posewright.errors import InputError, OutputError, PosewrightError, Where, escape_unprintable
from posewright.formats.openrave import is_openrave, read_openrave_robot
from posewright.formats.urdf.reading import read_urdf
from posewright.formats.urdf.writing import urdf_text
from posewright.formats.urdf.xacro import uses_xacro
from posewright.robots import (
    SIDES,
    BipedGeometry,
    Hinge,
    Mechanism,
    Oddity,
    Robot,
    SensorSpec,
    derive_biped,
    find_oddities,
    read_robot,
    with_card_limits,
)
from posewright.robots import robot as robot_named
from posewright.robots.reading import MAX_LINK_MASS_KG

FRAME_S = 0.008
TICK_URAD = 1000.0
SLOPE_RAD = 0.05
"""Position error at which an imported servo has its full torque, about that of an AX-12A with slope 10."""

DEFAULT_LEVER_M = 0.1
"""A servo without a torque in the file can hold the robot's weight on a lever of this length."""

DEFAULT_SPEED_RAD_S = 6.0
_TORQUE_RANGE_NM = (0.001, 200.0)
_SPEED_RANGE_RAD_S = (0.1, 1000.0)

FOOT_HEIGHT_SHARE = 0.02
LEG_END_HEIGHT_SHARE = 0.1
"""Shares of the robot's height: feet are links whose lowest points are so near to the lowest one. The second
is for the ends of limbs, since an AIBO's paws are not level with all joints at 0."""

KINDS = ("urdf", "mjcf")
MANUAL_ENTRIES = (
    "maker and title",
    "servos: IDs on the bus, directions, centres, models; speeds and torques are the file's, or assumed",
    "poses: 'stand' is only all joints at 0, or as near as their limits allow",
    "feet: taken for the parts that lie lowest",
    "mirror_pairs and groups, for mirroring and design rules",
    "sensors: besides the file's own, an IMU at the base's origin and a contact for each foot",
    "sources: grade what the file says",
)
"""Entries of a card that the imported files lack, or state only roughly."""


@dataclass(frozen=True)
class ImportedRobot:
    """An imported robot.

    Attributes:
        robot: its card.
        folder: the folder of the card and its model.
        oddities: parts of the file that look wrong.
        biped_obstacle: why the legs of a robot with two feet are not on the card; empty if they are.
        manual_entries: entries of the card that a person should complete.
    """

    robot: Robot
    folder: Path
    oddities: tuple[Oddity, ...]
    biped_obstacle: str = ""
    manual_entries: tuple[str, ...] = MANUAL_ENTRIES

    def to_dict(self) -> dict[str, object]:
        """Return plain data, fit for JSON."""
        return {
            "name": self.robot.name,
            "folder": str(self.folder),
            "n_joints": len(self.robot.joints),
            "mass_kg": self.robot.mass_kg,
            "feet": list(self.robot.feet),
            "odd": [str(oddity) for oddity in self.oddities],
            "no_biped": self.biped_obstacle,
            "by_hand": list(self.manual_entries),
        }

    def lines(self) -> Lines:
        """Yield the report for people: a summary, the oddities, and the entries to complete."""
        mass = "" if self.robot.mass_kg is None else f", {self.robot.mass_kg:.3g} kg"
        yield f"{self.robot.name}: {len(self.robot.joints)} joints{mass} -> {self.folder}"
        feet = ", ".join(map(escape_unprintable, self.robot.feet))
        yield f"feet: {feet or 'none found: nothing has a shape'}"
        if self.biped_obstacle:
            yield f"no gait on two legs: {escape_unprintable(self.biped_obstacle)}"
        if self.robot.biped is not None:
            joints = (joint for leg in self.robot.biped.joints.values() for joint in leg)
            yield f"legs: {', '.join(map(escape_unprintable, joints))}"
        for oddity in self.oddities:
            yield f"odd: {escape_unprintable(str(oddity))}"
        for entry in self.manual_entries:
            yield f"fill in: {entry}"


def import_robot(path: str | Path, folder: str | Path, *, name: str | None = None) -> ImportedRobot:
    """Import a robot from URDF, xacro, MuJoCo or OpenRAVE into a new folder with a card and a model.

    Args:
        path: a `.urdf`, `.xacro` or `.xml` file; its root element tells the format.
        folder: the folder to be created.
        name: the robot's short name; by default derived from the name in the file.

    Raises:
        FormatError: the file has another format, is damaged, or refers to files outside its folder.
        InputError: there is no hinge, the name is not a short name, or the robot cannot be simulated.
        OutputError: the folder already exists, or cannot be written.
    """
    from posewright.simulation.mechanisms import model_text, read_mjcf

    path = Path(path)
    folder = Path(folder)
    if path_exists(folder):
        raise OutputError.at(folder, "it already exists; choose another name")
    root = read_markup(path)
    if root.name == "mujoco":
        mechanism, remarks = read_mjcf(path)
    elif is_openrave(root) and not uses_xacro(root):
        mechanism, remarks = read_openrave_robot(path)
    else:
        mechanism, remarks = read_urdf(path)
    if not mechanism.hinges:
        raise InputError(
            "the file has no movable joint", where=Where(path), hint="a robot needs at least one hinge"
        )
    if name is not None and not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise InputError(
            f"{name!r} is not a short name", hint="lower-case letters, digits and _, as in robotis_bioloid"
        )
    for link in mechanism.links:
        if not link.mass_kg <= MAX_LINK_MASS_KG:
            message = f"{link.name} weighs {link.mass_kg:g} kg: too much for a small robot"
            hint = f"at most {MAX_LINK_MASS_KG:g} kg for each link; check densities and units"
            raise InputError(message, where=Where(path, link.line), hint=hint)
    all_oddities = (*remarks, *find_oddities(mechanism))
    mechanism = with_card_limits(mechanism)
    feet = _find_feet(mechanism)
    biped = None
    biped_obstacle = ""
    if len(feet) == len(SIDES):
        try:
            biped = derive_biped(mechanism, feet)
        except InputError as error:
            biped_obstacle = f"{error.message}; {error.hint}"
    card = render_document(
        _card_data(
            mechanism,
            name=name or _short_name(mechanism.name, path),
            file=path.name,
            feet=feet,
            biped=biped,
        )
    )
    model = model_text(mechanism, feet)
    require_portable_name(folder)
    create_folder(folder.parent)
    try:
        with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
            unfinished = Path(temporary) / folder.name
            unfinished.mkdir()
            write_atomically(unfinished / "model.xml", model.encode())
            write_atomically(unfinished / "robot.yaml", card.encode())
            try:
                read_robot(unfinished)  # raises before the folder gets its final name
            except PosewrightError as error:
                raise InputError(
                    f"it does not fit a robot card: {error.message}", where=Where(path)
                ) from error
            unfinished.rename(folder)
    except OSError as error:
        raise OutputError.at(folder, error.strerror or str(error)) from error
    return ImportedRobot(read_robot(folder), folder, all_oddities, biped_obstacle)


def name_robot_folder(path: Path) -> str:
    """Return the name of the folder for a robot imported from a file: the file's without suffixes."""
    is_xacro = path.suffix.lower() == ".xacro"
    return path.stem.removesuffix(".urdf") if is_xacro else path.stem


def export_robot(robot: str | Path | Robot, to: str, path: str | Path) -> None:
    """Write a robot's model, with the limits and motors of its card, in another format.

    Args:
        robot: a robot, its name, or the path of its card.
        to: `mjcf`; or `urdf`, in which bounding boxes replace meshes, and only colliding shapes are kept.
        path: the path of the new file.

    Raises:
        InputError: there is no such format, the robot has no model, or the format cannot represent it.
        OutputError: the file cannot be written.
    """
    from posewright.simulation.mechanisms import mechanism_of, mjcf_text

    if to not in KINDS:
        raise InputError(f"unknown format {to!r:.40}", hint=f"choose from {', '.join(KINDS)}")
    card = robot if isinstance(robot, Robot) else robot_named(robot)
    if card.model_path is None:
        raise InputError(f"{card.name} has no model to export", hint="a robot whose card names a model")
    text = urdf_text(mechanism_of(card)) if to == "urdf" else mjcf_text(card)
    write_atomically(Path(path), text.encode())


def _short_name(name: str, path: Path) -> str:
    """Return a short name derived from the robot's name or the file's, or `imported`."""
    for candidate in (name, path.stem):
        short = re.sub(r"[^a-z0-9]+", "_", candidate.lower()).strip("_")
        if re.fullmatch(r"[a-z][a-z0-9_]*", short):
            return short
    return "imported"


def _find_feet(mechanism: Mechanism) -> tuple[str, ...]:
    """Return the links that the robot stands on: the lowest ones with all hinges at 0."""
    lowest_points = mechanism.lowest_heights()
    if not lowest_points:
        return ()
    lowest = min(lowest_points.values())
    height = max(lowest_points.values()) - lowest
    base = mechanism.links[0].name
    limb_ends = _find_limb_ends(mechanism, lowest_points)

    def is_foot(link: str) -> bool:
        """Return whether a link is near enough to the floor."""
        share = LEG_END_HEIGHT_SHARE if link in limb_ends else FOOT_HEIGHT_SHARE
        return link != base and lowest_points[link] <= lowest + share * height

    return tuple(filter(is_foot, lowest_points))


def _find_limb_ends(mechanism: Mechanism, lowest_points: Mapping[str, float]) -> set[str]:
    """Return the lowest link of each rigid body that a hinge moves and that moves no further one.

    Args:
        mechanism: the robot.
        lowest_points: heights of the lowest points of links with shapes [m].
    """
    first_links: dict[str, str] = {}  # of the rigid body of each link
    inner_bodies: set[str] = set()  # first links of rigid bodies that carry a hinge
    for link in mechanism.links:
        is_fixed = bool(link.parent) and link.hinge is None
        first_links[link.name] = first_links[link.parent] if is_fixed else link.name
        if link.hinge is not None:
            inner_bodies.add(first_links[link.parent])
    lowest_links: dict[str, str] = {}  # by first link of the rigid body
    for name, height in lowest_points.items():
        body = first_links[name]
        if body not in lowest_links or height < lowest_points[lowest_links[body]]:
            lowest_links[body] = name
    return {link for body, link in lowest_links.items() if body not in inner_bodies}


def _card_data(
    mechanism: Mechanism, name: str, file: str, feet: tuple[str, ...], biped: BipedGeometry | None
) -> dict[str, Any]:
    """Return the content of the card's document.

    Joints with equal torque and speed share a servo model. The pose `stand` has each joint at 0, or at the
    nearest angle within its limits.

    Args:
        mechanism: the imported robot.
        name: its short name.
        file: name of the file it was read from.
        feet: names of its links that are feet.
        biped: geometry of its legs; None if they are not those of a biped.
    """
    hinges = mechanism.hinges
    models: dict[tuple[float, float], str] = {}  # names of servo models by torque [N m] and speed [rad/s]
    for hinge in hinges:
        models.setdefault(_torque_and_speed(hinge, mechanism), f"servo_{len(models) + 1}")
    masses = {link.name: link.mass_kg for link in mechanism.links if link.mass_kg > 0.0}
    stand = [round(math.degrees(min(max(0.0, hinge.lower_rad), hinge.upper_rad)), 9) for hinge in hinges]
    contacts = {f"{foot}_contact": flow_mapping({"kind": "foot_contact", "foot": foot}) for foot in feet}
    return {
        "robot": name,
        "maker": "unknown",
        "title": f"{mechanism.name or name}, imported",
        "model": "model.xml",
        "sources": {
            "file": f"{file}, as it was imported; not graded",
            "assumed": "assumption; nobody has said so yet",
        },
        "frame": flow_mapping({"period_s": FRAME_S, "source": "assumed"}),
        "joints": {hinge.name: _limits_data(hinge) for hinge in hinges},
        "servo_models": {
            model: _servo_data(torque_nm, speed_rad_s) for (torque_nm, speed_rad_s), model in models.items()
        },
        "servos": {
            hinge.name: flow_mapping({"model": models[_torque_and_speed(hinge, mechanism)]})
            for hinge in hinges
        },
        "poses": {"stand": {"deg": stand, "source": "assumed"}},
        **({"feet": list(feet)} if feet else {}),
        **({"biped": {**_biped_entry(biped), "source": "file"}} if biped else {}),
        **({"links": {"masses_kg": masses, "source": "file"}} if masses else {}),
        "sensors": {
            **_SENSORS,
            **contacts,
            **{sensor.name: _sensor_data(sensor) for sensor in mechanism.sensors},
        },
    }


def biped_block(robot: str | Path | Robot) -> str:
    """Return the block `biped:` that a robot's model gives, as text for its card.

    Args:
        robot: a robot with a model, its name, or the path of its card.

    Raises:
        InputError: the card has no model, or its legs are not those of a biped; the message says why.
    """
    from posewright.simulation.mechanisms import biped_of_model

    card = robot if isinstance(robot, Robot) else robot_named(robot)
    return render_document({"biped": _biped_entry(biped_of_model(card))})


def _biped_entry(biped: BipedGeometry) -> dict[str, Any]:
    """Return the block `biped:` of a card, without its source."""
    legs = {}
    for side in SIDES:
        leg: dict[str, Any] = {"joints": list(biped.joints[side]), "foot": biped.feet[side]}
        if -1 in biped.directions[side]:
            leg["directions"] = list(biped.directions[side])
        legs[side] = flow_mapping(leg)
    lengths = {name: value for name, value in plain_mapping(biped).items() if name.endswith("_m")}
    return {**legs, **lengths}


_SENSORS = {"imu": flow_mapping({"kind": "imu", "mount": "imu"})}


def _sensor_data(sensor: SensorSpec) -> Mapping[str, Any]:
    """Return a sensor's entry: its kind and the fields that differ from their defaults."""
    defaults = {entry.name: entry.default for entry in fields(sensor)}
    changed = {
        key: value for key, value in plain_mapping(sensor).items() if value != defaults[key] and key != "name"
    }
    return flow_mapping({"kind": sensor.kind, **changed})


def _limits_data(hinge: Hinge) -> Mapping[str, Any]:
    limits_deg = [round(math.degrees(limit), 9) for limit in (hinge.lower_rad, hinge.upper_rad)]
    return flow_mapping({"limits_deg": limits_deg, "source": "file"})


def _torque_and_speed(hinge: Hinge, mechanism: Mechanism) -> tuple[float, float]:
    """Return a joint's torque [N m] and speed [rad/s], with defaults for those that the file lacks."""
    default_torque_nm = 9.81 * DEFAULT_LEVER_M * mechanism.mass_kg
    torque_nm = hinge.effort_nm if hinge.effort_nm > 0.0 else default_torque_nm
    speed_rad_s = hinge.speed_rad_s if hinge.speed_rad_s > 0.0 else DEFAULT_SPEED_RAD_S
    min_torque, max_torque = _TORQUE_RANGE_NM
    min_speed, max_speed = _SPEED_RANGE_RAD_S
    return min(max(torque_nm, min_torque), max_torque), min(max(speed_rad_s, min_speed), max_speed)


def _servo_data(torque_nm: float, speed_rad_s: float) -> Mapping[str, Any]:
    """Return the entry of a servo model with this torque [N m] and speed [rad/s]."""
    return {
        "tick_urad": TICK_URAD,
        "range_deg": [-360.0, 360.0],
        "no_load_speed_rad_s": speed_rad_s,
        "stall_torque_nm": torque_nm,
        "stiffness_nm_rad": torque_nm / SLOPE_RAD,
        "source": ["file", "assumed"],
    }
