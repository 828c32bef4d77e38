"""From a gait to its document, in the words of the document it is written over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from posewright.documents import (
    flow_mapping,
    parse_document,
    path_exists,
    read_text,
    render_document,
    save_document,
)
from posewright.gaits.quadruped.gait import Gait, TravelGain, Trim
from posewright.gaits.quadruped.parameters import EXPLANATIONS, ForeHind, Point
from posewright.gaits.quadruped.phases import ENDS, PHASE_TABLES, PhaseTable
from posewright.robots import is_path, robot

Tree = Mapping[str, object]

_NEW: Tree = {}
_WHERE_NOT_USUAL = ("description", "source", "interpolation", "pose", "travel_gain", "trim")
"""Keys that a document need not have; over one without them they are written only if unusual."""


def write_gait(gait: Gait, path: Path | str) -> None:
    """Write a gait as a `*.gait.yaml`.

    Over a document that is there already, a person's comments, order and ways of saying things survive, and
    only the lines change that say something else now.

    Raises:
        DocumentError: what stands there cannot be read.
        OutputError: the file cannot be written.
    """
    path = Path(path)
    before = parse_document(read_text(path), path).value if path_exists(path) else _NEW
    save_document(path, _document(gait, before if isinstance(before, Mapping) else _NEW, path))


def gait_text(gait: Gait) -> str:
    """Return the document that `write_gait` would write where there is none."""
    return render_document(_document(gait, _NEW, None))


def _document(gait: Gait, before: Tree, path: Path | None) -> Tree:
    told = _mapping(before.get("parameters"))
    data = {
        "gait": gait.name,
        "robot": _robot(gait.robot, before.get("robot"), path),
        "description": gait.description,
        "source": gait.source,
        "phases": _phases(gait.phases),
        "interpolation": gait.interpolation.value,
        "pose": gait.pose,
        "travel_gain": flow_mapping(asdict(gait.travel_gain)),
        "trim": flow_mapping(asdict(gait.trim)),
        "parameters": {name: _value(getattr(gait.parameters, name), told.get(name)) for name in EXPLANATIONS},
    }
    usual: Tree = {
        "description": "",
        "source": "",
        "interpolation": Gait.interpolation.value,
        "pose": Gait.pose,
        "travel_gain": flow_mapping(asdict(TravelGain())),
        "trim": flow_mapping(asdict(Trim())),
    }
    unsaid = [key for key in _WHERE_NOT_USUAL if key not in before and data[key] == usual[key]]
    left_out = unsaid if before else [key for key in unsaid if key in ("description", "source", "trim")]
    return {key: value for key, value in data.items() if key not in left_out}


def _robot(name: str, before: object, path: Path | None) -> str:
    """Return the name of the robot, or the path of its card where the document has that."""
    if isinstance(before, str) and is_path(before) and path is not None:
        return before if robot(path.parent / before).name == name else name
    return name


def _phases(phases: PhaseTable) -> str | Tree:
    if PHASE_TABLES.get(phases.name) == phases:
        return phases.name
    return flow_mapping(phases.offsets)


def _value(value: object, before: object) -> object:
    if isinstance(value, ForeHind):
        alike = value.fore == value.hind and not isinstance(before, Mapping)
        return value.fore if alike else flow_mapping({"fore": value.fore, "hind": value.hind})
    return paired_points(value, _mapping(before)) if isinstance(value, Mapping) else value


def paired_points(points: Mapping[str, Point], before: Tree = _NEW) -> dict[str, list[float]]:
    """Return the points, of two feet at once where they stand mirrored and nobody wrote them one by one."""
    told: dict[str, list[float]] = {}
    for end, (left, right) in ENDS.items():
        x, y, z = points[left]
        if points[right] == (x, -y, z) and left not in before:
            told[end] = [x, y, z]
        else:
            told |= {left: list(points[left]), right: list(points[right])}
    return told


def _mapping(before: object) -> Tree:
    return before if isinstance(before, Mapping) else _NEW
