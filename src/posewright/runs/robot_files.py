"""Robots in from files of others (URDF, MuJoCo, OpenRAVE), and out: a card with a model, and back."""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from posewright.display import Lines
from posewright.documents import flow_mapping, path_exists, render_document, write_atomically
from posewright.documents.markup import read_markup
from posewright.documents.plain import plain_mapping
from posewright.errors import InputError, OutputError, PosewrightError, Where, escape_unprintable
from posewright.formats.openrave import is_openrave, read_openrave_robot
from posewright.formats.urdf.reading import read_urdf
from posewright.formats.urdf.writing import urdf_text
from posewright.robots import Hinge, Mechanism, Oddity, Robot, SensorSpec, mended, oddities, read_robot
from posewright.robots import robot as robot_named
from posewright.robots.reading import HEAVIEST_KG

FRAME_S = 0.008
TICK_URAD = 1000.0
SLOPE_RAD = 0.05
"""At so much error an imported servo gives all of its torque: about what an AX-12A does with slope 10."""

HELD_M = 0.1
DEFAULT_SPEED_RAD_S = 6.0
_STALL, _SPEED = (0.001, 200.0), (0.1, 1000.0)

LEVEL_SHARE = 0.02
"""Links whose lowest points lie within this share of the robot's height are taken for its feet."""

KINDS = ("urdf", "mjcf")
BY_HAND = (
    "maker and title",
    "servos: IDs on the bus, directions, centres, models; speeds and torques are the file's, or assumed",
    "poses: 'stand' is only all joints at 0, or as near as their limits allow",
    "feet: taken for the parts that lie lowest",
    "mirror_pairs and groups, for mirroring and design rules",
    "sensors: besides the file's own, an IMU at the base's origin and a contact for each foot",
    "sources: grade what the file says",
)
"""What no file of others says, or only roughly."""


@dataclass(frozen=True)
class ImportedRobot:
    """A robot that was imported: its card, and what a person should look at and fill in."""

    robot: Robot
    folder: Path
    odd: tuple[Oddity, ...]
    by_hand: tuple[str, ...] = BY_HAND

    def to_dict(self) -> dict[str, object]:
        """Return what was imported, fit for JSON."""
        return {
            "name": self.robot.name,
            "folder": str(self.folder),
            "n_joints": len(self.robot.joints),
            "mass_kg": self.robot.mass_kg,
            "feet": list(self.robot.feet),
            "odd": [str(oddity) for oddity in self.odd],
            "by_hand": list(self.by_hand),
        }

    def lines(self) -> Lines:
        """Yield what was imported, what is odd about it, and what is to be filled in."""
        mass = "" if self.robot.mass_kg is None else f", {self.robot.mass_kg:.3g} kg"
        yield f"{self.robot.name}: {len(self.robot.joints)} joints{mass} -> {self.folder}"
        feet = ", ".join(map(escape_unprintable, self.robot.feet))
        yield f"feet: {feet or 'none found: nothing has a shape'}"
        for oddity in self.odd:
            yield f"odd: {escape_unprintable(str(oddity))}"
        for entry in self.by_hand:
            yield f"fill in: {entry}"


def import_robot(path: str | Path, folder: str | Path, *, name: str | None = None) -> ImportedRobot:
    """Make a folder with a card and a model of a robot of URDF, MuJoCo or OpenRAVE.

    Args:
        path: a `.urdf` or `.xml` file; which it is, its root says.
        folder: must not be there yet.
        name: the robot's short name; made of the file's own where none is given.

    Raises:
        FormatError: the file is none of these, is damaged, or reaches outside of its folder.
        InputError: there is no hinge in it, the name is no short name, or physics cannot do with it.
        OutputError: the folder is there already, or cannot be written.
    """
    from posewright.simulation.mechanisms import model_text, read_mjcf

    path, folder = Path(path), Path(folder)
    if path_exists(folder):
        raise OutputError.at(folder, "there is something already; choose another name")
    root = read_markup(path)
    read = read_mjcf if root.name == "mujoco" else read_openrave_robot if is_openrave(root) else read_urdf
    mechanism, remarks = read(path)
    if not mechanism.hinges:
        raise InputError("nothing in it moves", where=Where(path), hint="a robot has at least one hinge")
    if name is not None and not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise InputError(
            f"{name!r} is not a short name", hint="small letters, digits and _, as in robotis_bioloid"
        )
    for link in mechanism.links:
        if not link.mass_kg <= HEAVIEST_KG:
            what = f"{link.name} weighs {link.mass_kg:g} kg: too much for a small robot"
            hint = f"at most {HEAVIEST_KG:g} kg a part; look at densities and units"
            raise InputError(what, where=Where(path, link.line), hint=hint)
    odd = (*remarks, *oddities(mechanism))
    mechanism = mended(mechanism)
    feet = _feet(mechanism)
    card = render_document(_card(mechanism, name or _short_name(mechanism.name, path), path.name, feet))
    model = model_text(mechanism, feet)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as beside:
            made = Path(beside) / folder.name
            made.mkdir()
            write_atomically(made / "model.xml", model.encode())
            write_atomically(made / "robot.yaml", card.encode())
            try:
                read_robot(made)  # what would not be read is not left behind
            except PosewrightError as error:
                raise InputError(f"no card can hold it: {error.message}", where=Where(path)) from error
            made.rename(folder)
    except OSError as error:
        raise OutputError.at(folder, error.strerror or str(error)) from error
    return ImportedRobot(read_robot(folder), folder, odd)


def export_robot(robot: str | Path | Robot, to: str, path: str | Path) -> None:
    """Write a robot's model, with the limits and motors of its card, as a file that others read.

    Args:
        robot: a robot, its name, or the path of its card.
        to: `urdf`, in which meshes are the boxes around them and only what touches is told, or `mjcf`.
        path: where to write it.

    Raises:
        InputError: there is no such kind of file, or the robot has no model or one that cannot be told so.
        OutputError: the file cannot be written.
    """
    from posewright.simulation.mechanisms import mechanism_of, mjcf_text

    if to not in KINDS:
        raise InputError(f"no kind of file {to!r:.40}", hint=f"one of {', '.join(KINDS)}")
    card = robot if isinstance(robot, Robot) else robot_named(robot)
    if card.model_path is None:
        raise InputError(
            f"{card.name} has no model: there is nothing to export", hint="its card says no shapes"
        )
    text = urdf_text(mechanism_of(card)) if to == "urdf" else mjcf_text(card)
    write_atomically(Path(path), text.encode())


def _short_name(name: str, path: Path) -> str:
    for told in (name, path.stem):
        short = re.sub(r"[^a-z0-9]+", "_", told.lower()).strip("_")
        if re.fullmatch(r"[a-z][a-z0-9_]*", short):
            return short
    return "imported"


def _feet(mechanism: Mechanism) -> tuple[str, ...]:
    """Return the links that the robot stands on: those that lie lowest with all hinges at 0."""
    lows = mechanism.heights()
    if not lows:
        return ()
    lowest = min(lows.values())
    slack = LEVEL_SHARE * (max(lows.values()) - lowest)
    base = mechanism.links[0].name
    return tuple(link for link, low in lows.items() if low <= lowest + slack and link != base)


def _card(mechanism: Mechanism, name: str, file: str, feet: tuple[str, ...]) -> dict[str, Any]:
    hinges = mechanism.hinges
    models: dict[tuple[float, float], str] = {}
    for hinge in hinges:
        models.setdefault(_motor(hinge, mechanism), f"servo_{len(models) + 1}")
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
        "joints": {hinge.name: _limits(hinge) for hinge in hinges},
        "servo_models": {model: _servo(*motor) for motor, model in models.items()},
        "servos": {hinge.name: flow_mapping({"model": models[_motor(hinge, mechanism)]}) for hinge in hinges},
        "poses": {"stand": {"deg": stand, "source": "assumed"}},
        **({"feet": list(feet)} if feet else {}),
        **({"links": {"masses_kg": masses, "source": "file"}} if masses else {}),
        "sensors": {**_SENSORS, **contacts, **{one.name: _sensor(one) for one in mechanism.sensors}},
    }


_SENSORS = {"imu": flow_mapping({"kind": "imu", "mount": "imu"})}


def _sensor(sensor: SensorSpec) -> Mapping[str, Any]:
    usual = {entry.name: entry.default for entry in fields(sensor)}
    told = {
        key: value for key, value in plain_mapping(sensor).items() if value != usual[key] and key != "name"
    }
    return flow_mapping({"kind": sensor.kind, **told})


def _limits(hinge: Hinge) -> Mapping[str, Any]:
    ends = [round(math.degrees(end), 9) for end in (hinge.lower_rad, hinge.upper_rad)]
    return flow_mapping({"limits_deg": ends, "source": "file"})


def _motor(hinge: Hinge, mechanism: Mechanism) -> tuple[float, float]:
    """Return a joint's torque [N m] and speed [rad/s]; where the file has none, enough to hold the robot."""
    effort = hinge.effort_nm if hinge.effort_nm > 0.0 else 9.81 * HELD_M * mechanism.mass_kg
    speed = hinge.speed_rad_s if hinge.speed_rad_s > 0.0 else DEFAULT_SPEED_RAD_S
    return min(max(effort, _STALL[0]), _STALL[1]), min(max(speed, _SPEED[0]), _SPEED[1])


def _servo(effort_nm: float, speed_rad_s: float) -> Mapping[str, Any]:
    return {
        "tick_urad": TICK_URAD,
        "range_deg": [-360.0, 360.0],
        "no_load_speed_rad_s": speed_rad_s,
        "stall_torque_nm": effort_nm,
        "stiffness_nm_rad": effort_nm / SLOPE_RAD,
        "source": ["file", "assumed"],
    }
