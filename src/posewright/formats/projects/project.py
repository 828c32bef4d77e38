"""What a project of a simulator says: its bodies with their models and poses, and what is not read of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from posewright.errors import Where
from posewright.formats.scenes.mesh import Omissions
from posewright.formats.scenes.vrml import RootPose

MAX_BODIES = 1000
MAX_POSE_NUMBER = 1e6
"""Largest number in the position [m] or the rotation of a body."""


@dataclass(frozen=True)
class ProjectBody:
    """A body of a project.

    Attributes:
        name: its name.
        model: the file of its model, as the project names it.
        where: its place in the project.
        is_controlled: whether a program moves it: then it is a robot.
        is_called_robot: whether the project calls it a robot, which some do with a ball or a floor, too; None
            if it does not say.
        poses: the poses that the project gives its joints.
    """

    name: str
    model: str
    where: Where
    is_controlled: bool = False
    is_called_robot: bool | None = None
    poses: tuple[RootPose, ...] = ()


@dataclass
class Project:
    """A project.

    Attributes:
        path: its file.
        bodies: its bodies.
        omissions: what was left out.
        frictions: the sliding frictions between pairs of bodies.
    """

    path: Path
    bodies: list[ProjectBody] = field(default_factory=list)
    omissions: Omissions = field(default_factory=Omissions)
    frictions: set[float] = field(default_factory=set)
