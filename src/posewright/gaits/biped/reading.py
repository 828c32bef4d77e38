"""Documents of bipeds' gaits."""

from __future__ import annotations

from pathlib import Path

from posewright.documents import Node, read_record
from posewright.gaits.biped.gait import BipedGait
from posewright.gaits.biped.parameters import EXPLANATIONS, BipedParameters
from posewright.gaits.entries import read_gait_name, read_pose, read_value
from posewright.robots import Robot

REQUIRED = ("gait", "robot", "parameters")
OPTIONAL = ("description", "source", "pose", "travel_gain", "trim", "feedback")


def parse_biped_gait(document: Node, robot: Robot, path: Path | None) -> BipedGait:
    """Return the gait of a document.

    Args:
        document: the document.
        robot: the robot that walks, which has the legs of a biped.
        path: the path of the document; None if it has none.

    Raises:
        DocumentError: the document is invalid.
    """
    fields = document.fields(required=REQUIRED, optional=OPTIONAL)
    return read_record(
        document,
        BipedGait,
        extra_keys=("gait", "robot", "parameters", "pose"),
        degrees=False,
        name=read_gait_name(fields["gait"]),
        robot=robot.name,
        parameters=_read_parameters(fields["parameters"]),
        pose=read_pose(fields, robot, BipedGait.pose),
        path=path,
    )


def _read_parameters(node: Node) -> BipedParameters:
    """Read the parameters of a walk, each by its name."""
    entries = node.fields(required=tuple(EXPLANATIONS), optional=())
    return BipedParameters(**{name: read_value(entry, EXPLANATIONS[name]) for name, entry in entries.items()})
