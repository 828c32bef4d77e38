"""Sets of design rules by name: those of the hardware, and those of teams, each a `*.rules.yaml`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from posewright.documents import Catalogue, parse_document, read_record, read_text
from posewright.motions.checked import CHECKS, DesignRules
from posewright.robots import Robot
from posewright.robots.motion_rules import OF_CAMERA, MotionRules

HARDWARE = "hardware"
"""The rules that hold where nobody names others."""

_CATALOGUE = Catalogue("set of design rules", ".rules.yaml", lambda: [Path(__file__).parent / "catalogue"])


def rule_names() -> tuple[str, ...]:
    """Return the names of the sets of design rules that ship."""
    return _CATALOGUE.names()


def design_rules(name: str | Path, robot: Robot) -> DesignRules:
    """Return a set of design rules with its thresholds for a robot.

    A threshold of the set counts before that of the robot's card, and that before the default.

    Args:
        name: one of `rule_names()`, or the path of one's own `*.rules.yaml`.
        robot: whose card may have thresholds of its own.

    Raises:
        UnknownNameError: there is no such set.
        DocumentError: the document is not what it should be.
    """
    path = _CATALOGUE.find(name)
    document = parse_document(read_text(path), path)
    found = document.fields()
    besides = ("rules", "title", "checks", "near_pose", "source")
    document.fields(required=("rules", "checks"), optional=tuple(found))
    checks = tuple(entry.choice("rule", CHECKS) for entry in found["checks"].items())
    near: Sequence[str] | None = None
    if "near_pose" in found:
        near = tuple(entry.choice("pose", robot.poses) for entry in found["near_pose"].items())
    rules = read_record(document, MotionRules, extra_keys=besides, default_fields=OF_CAMERA, near_pose=near)
    return replace(DesignRules.of(robot), checks=checks, **rules.thresholds)
