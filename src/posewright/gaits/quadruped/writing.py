"""Writing of a quadruped's gait as a document, in the notation of a document that is overwritten."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from posewright.documents import flow_mapping
from posewright.gaits.entries import Tree, feedback_tree, omit_defaults, robot_value
from posewright.gaits.feedback import OPEN_LOOP
from posewright.gaits.quadruped.parameters import EXPLANATIONS, ForeHind, Point
from posewright.gaits.quadruped.phases import ENDS, PHASE_TABLES, PhaseTable
from posewright.gaits.quadruped.values import QuadrupedValues
from posewright.gaits.travel import TravelGain, Trim

_NEW: Tree = {}


def gait_document(gait: QuadrupedValues, old_document: Tree, path: Path | None) -> Tree:
    """Return a gait as a document; defaults are omitted unless the old document has them.

    Args:
        gait: the gait.
        old_document: the document that is overwritten, empty if there is none.
        path: the path of that document; None if there is none.
    """
    parameter_entries = _as_mapping(old_document.get("parameters"))
    data = {
        "gait": gait.name,
        "robot": robot_value(gait.robot, old_document.get("robot"), path),
        "description": gait.description,
        "source": gait.source,
        "phases": _phases_value(gait.phases),
        "interpolation": gait.interpolation.value,
        "pose": gait.pose,
        "travel_gain": flow_mapping(asdict(gait.travel_gain)),
        "trim": flow_mapping(asdict(gait.trim)),
        "feedback": feedback_tree(gait.feedback, old_document),
        "parameters": {
            name: _parameter_value(getattr(gait.parameters, name), parameter_entries.get(name))
            for name in EXPLANATIONS
        },
    }
    defaults: Tree = {
        "description": "",
        "source": "",
        "interpolation": QuadrupedValues.interpolation.value,
        "pose": QuadrupedValues.pose,
        "travel_gain": flow_mapping(asdict(TravelGain())),
        "trim": flow_mapping(asdict(Trim())),
        "feedback": feedback_tree(OPEN_LOOP, old_document),
    }
    hidden_keys = ("description", "source", "trim", "feedback")
    return omit_defaults(data, defaults, old_document, hidden_keys=hidden_keys)


def _phases_value(phases: PhaseTable) -> str | Tree:
    if PHASE_TABLES.get(phases.name) == phases:
        return phases.name
    return flow_mapping(phases.offsets)


def _parameter_value(value: object, old_value: object) -> object:
    """Return a parameter as written to the document, in the notation that it has there.

    Args:
        value: the value of the parameter.
        old_value: what the document has; None if the parameter is new.
    """
    if isinstance(value, ForeHind):
        is_single = value.fore == value.hind and not isinstance(old_value, Mapping)
        return value.fore if is_single else flow_mapping({"fore": value.fore, "hind": value.hind})
    if isinstance(value, Mapping):
        return pair_mirrored_points(value, _as_mapping(old_value))
    return value


def pair_mirrored_points(points: Mapping[str, Point], old_points: Tree = _NEW) -> dict[str, list[float]]:
    """Return one point for each pair of feet, `fore` or `hind`, that is mirrored, else one for each foot.

    Args:
        points: a point for each foot [m].
        old_points: the points in the document, in the same notation; a pair that is listed foot by foot there
            is listed so again.
    """
    points_by_foot_or_pair: dict[str, list[float]] = {}
    for pair, (left, right) in ENDS.items():
        x, y, z = points[left]
        is_mirrored = points[right] == (x, -y, z)
        if is_mirrored and left not in old_points:
            points_by_foot_or_pair[pair] = [x, y, z]
        else:
            points_by_foot_or_pair[left] = list(points[left])
            points_by_foot_or_pair[right] = list(points[right])
    return points_by_foot_or_pair


def _as_mapping(value: object) -> Tree:
    return value if isinstance(value, Mapping) else _NEW
