"""The report on a walk: every figure by its name. `docs/measuring-a-gait.md` explains each."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property

from posewright.bodies import DomainParameters
from posewright.documents import Node
from posewright.documents.plain import PlainData, PlainMapping, plain_mapping, to_plain
from posewright.evaluation.trajectory import HEADER_PATH, domain_of
from posewright.evaluation.walking.feet import FeetFigures, FootFigures, measure_feet
from posewright.evaluation.walking.joints import (
    Energy,
    JointLoad,
    JointLoads,
    drives_of,
    measure_energy,
    measure_joint_loads,
)
from posewright.evaluation.walking.travel import Attitude, Travel, measure_attitude, measure_travel
from posewright.evaluation.walking.walk import GaitFall, Walk
from posewright.gaits import Gait
from posewright.recordings import Recording
from posewright.robots import Robot

DECIMALS = 9
"""Numbers in JSON are rounded to this many decimals, finer than any measurement."""

LEADING_FIGURES = ("speed_m_s", "left_m_s", "turn_rad_s", "falls", "fall_times_s", "fall_sides")
"""The figures with which JSON begins."""


@dataclass(frozen=True)
class GaitReport:
    """The figures of one walk up to the first fall. Falls in the settling time are included."""

    travel: Travel
    attitude: Attitude
    loads: JointLoads
    feet: FeetFigures
    energy: Energy
    falls: tuple[GaitFall, ...] = ()

    @classmethod
    def of(cls, walk: Walk) -> GaitReport:
        """Return the figures of a walk."""
        upright = walk.up_to_first_fall
        travel = measure_travel(upright)
        drives = drives_of(upright)
        return cls(
            travel=travel,
            attitude=measure_attitude(upright),
            loads=measure_joint_loads(upright, drives),
            feet=measure_feet(upright, travel.path_m),
            energy=measure_energy(upright, drives, travel.path_m),
            falls=walk.falls,
        )

    @property
    def is_upright(self) -> bool:
        """Whether the robot never fell."""
        return not self.falls

    @cached_property
    def figures(self) -> PlainMapping:
        """All figures by name, not rounded; `falls` is their number."""
        groups = (self.travel, self.attitude, self.loads, self.feet, self.energy)
        figures = {entry.name: getattr(group, entry.name) for group in groups for entry in fields(group)}
        return {
            **figures,
            "falls": len(self.falls),
            "fall_times_s": tuple(fall.time_s for fall in self.falls),
            "fall_sides": tuple(fall.side for fall in self.falls),
        }

    def to_dict(self) -> dict[str, PlainData]:
        """Return all figures as plain data for JSON, rounded, with None in place of NaN."""
        rows = {
            "feet": {foot.foot: _without(foot, "foot") for foot in self.feet.feet},
            "joints": {joint.joint: _without(joint, "joint") for joint in self.loads.joints},
        }
        data = plain_mapping({**self.figures, **rows}, decimals=DECIMALS, nan_as_none=True)
        return {name: data.pop(name) for name in LEADING_FIGURES} | data


FIGURE_NAMES = (
    *LEADING_FIGURES,
    *(
        entry.name
        for group in (Travel, Attitude, JointLoads, FeetFigures, Energy)
        for entry in fields(group)
        if entry.name not in LEADING_FIGURES
    ),
)
"""The names of all figures, in the order of `GaitReport.to_dict`."""


@dataclass(frozen=True, eq=False)
class WalkResult:
    """The result of a walk.

    Attributes:
        walk: as recorded.
        report: its figures.
        wall_s: wall time of the simulation [s]; 0 if unknown.
    """

    walk: Walk
    report: GaitReport
    wall_s: float = 0.0

    def __repr__(self) -> str:
        falls = f"{len(self.report.falls)} falls" if self.report.falls else "upright"
        return f"<WalkResult of {self.gait} on {self.robot.name}: {self.simulated_s:g} s, {falls}>"

    @property
    def recording(self) -> Recording:
        """The recording of the walk."""
        return self.walk.trajectory.recording

    @property
    def gait(self) -> str:
        """Name of the gait."""
        return self.walk.settings.gait

    @property
    def robot(self) -> Robot:
        """Card of the robot."""
        return self.walk.robot

    @property
    def seed(self) -> int:
        """Seed of the run."""
        return self.recording.header.seed

    @cached_property
    def domain(self) -> DomainParameters:
        """Differences of the body from the robot's model."""
        return domain_of(self.walk.trajectory.read_body_value("domain"))

    @property
    def welded(self) -> tuple[str, ...]:
        """Joints that were fixed in the gait's pose because they move next to no mass."""
        names = Node(self.walk.trajectory.read_body_value("welded"), HEADER_PATH, "welded")
        return tuple(name.text() for name in names.items())

    @property
    def simulated_s(self) -> float:
        """Simulated time, including the settling time [s]."""
        return float(self.walk.trajectory.times[-1])

    @property
    def real_time_factor(self) -> float | None:
        """Simulated time divided by wall time; None if the wall time is unknown."""
        return self.simulated_s / self.wall_s if self.wall_s > 0.0 else None

    def figures(self) -> dict[str, PlainData]:
        """Return the walk's settings and figures, and the recording's digest, as plain data for JSON.

        Nothing depends on the machine: wall time is left out.
        """
        settings = self.walk.settings
        return {
            "gait": settings.gait,
            "robot": self.robot.name,
            "body": settings.body,
            "seed": self.seed,
            "seconds": settings.seconds,
            "settle_s": settings.settle_s,
            **self.report.to_dict(),
            "held_joints": list(self.welded),
            "variation": figure_data(self.domain.summary()),
            "simulated_s": figure_data(self.simulated_s),
            "recording_digest": self.recording.digest(),
        }

    def to_dict(self) -> dict[str, PlainData]:
        """Return the figures and the wall time, as plain data for JSON."""
        return self.figures() | {"wall_s": self.wall_s or None, "real_time_factor": self.real_time_factor}


def evaluate_walk(
    recording: Recording, *, robot: Robot | None = None, gait: Gait | None = None, wall_s: float = 0.0
) -> WalkResult:
    """Return the figures of a recorded walk of a gait. They depend on the recording alone.

    Args:
        recording: made by `gait run` or `walk_gait`.
        robot: the recorded robot; required unless it ships with Posewright.
        gait: by default, the one attached to the recording.
        wall_s: wall time of the simulation [s]; 0 if unknown.

    Raises:
        InputError: the recording is not one of a gait's walk, or lacks frames.
        DocumentError: the attached gait cannot be read.
    """
    walk = Walk.of(recording, robot=robot, gait=gait)
    return WalkResult(walk, GaitReport.of(walk), wall_s)


def _without(figures: FootFigures | JointLoad, name: str) -> dict[str, object]:
    """Return the figures as a mapping, except the one with this name."""
    return {entry.name: getattr(figures, entry.name) for entry in fields(figures) if entry.name != name}


def figure_data(value: object) -> PlainData:
    """Return figures as plain data for JSON, rounded, with None in place of NaN."""
    return to_plain(value, decimals=DECIMALS, nan_as_none=True)
