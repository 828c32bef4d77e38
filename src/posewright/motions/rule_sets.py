"""Sets of design rules by name: those of the hardware, and those of teams, each a `*.rules.yaml`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from posewright.documents import Catalogue, parse_document, read_record, read_text
from posewright.motions.checked_motion import CHECKS, DesignRules
from posewright.robots import Robot
from posewright.robots.motion_rules import CAMERA_FIELDS, MotionRules

HARDWARE = "hardware"
"""The default set of rules."""

_CATALOGUE = Catalogue("set of design rules", ".rules.yaml", lambda: [Path(__file__).parent / "catalogue"])


def rule_names() -> tuple[str, ...]:
    """Return the names of the shipped sets of design rules."""
    return _CATALOGUE.names()


def design_rules(name: str | Path, robot: Robot) -> DesignRules:
    """Return a set of design rules with its thresholds for a robot.

    A threshold of the set overrides that of the robot's card, and that the default.

    Args:
        name: one of `rule_names()`, or the path of a custom `*.rules.yaml`.
        robot: the robot whose card may have thresholds of its own.

    Raises:
        UnknownNameError: there is no such set.
        DocumentError: the document is invalid.
    """
    path = _CATALOGUE.find(name)
    document = parse_document(read_text(path), path)
    fields = document.fields()
    other_keys = ("rules", "title", "checks", "near_pose", "source")
    document.fields(required=("rules", "checks"), optional=tuple(fields))
    checks = tuple(entry.choice("rule", CHECKS) for entry in fields["checks"].items())
    near_pose: Sequence[str] | None = None
    if "near_pose" in fields:
        near_pose = tuple(entry.choice("pose", robot.poses) for entry in fields["near_pose"].items())
    rules = read_record(
        document, MotionRules, extra_keys=other_keys, default_fields=CAMERA_FIELDS, near_pose=near_pose
    )
    return replace(DesignRules.of(robot), checks=checks, **rules.thresholds)
