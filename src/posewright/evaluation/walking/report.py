"""What came of a walk: every figure by its name. docs/measuring-a-gait.md explains each."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property

from posewright.bodies import DomainParameters
from posewright.documents import Node
from posewright.documents.plain import PlainData, PlainMapping, plain_mapping, to_plain
from posewright.evaluation.trajectory import HEADER_PATH, domain_of
from posewright.evaluation.walking.feet import FeetWork, FootWork, feet_work_of
from posewright.evaluation.walking.joints import (
    Energy,
    JointLoad,
    JointLoads,
    drives_of,
    energy_of,
    joint_loads_of,
)
from posewright.evaluation.walking.travel import Leaning, Travel, leaning_of, travel_of
from posewright.evaluation.walking.walk import GaitFall, Walk
from posewright.gaits import Gait
from posewright.recordings import Recording
from posewright.robots import Robot

DECIMALS = 9
"""Numbers in JSON are rounded to this many: finer than anything measured, and free of 0.30000000000000004."""

FIRST = ("speed_m_s", "left_m_s", "turn_rad_s", "falls", "fall_times_s", "fall_sides")
"""What JSON begins with."""


@dataclass(frozen=True)
class GaitReport:
    """Every figure of one walk, up to the first fall; falls count from the beginning, settling included."""

    travel: Travel
    leaning: Leaning
    loads: JointLoads
    feet: FeetWork
    energy: Energy
    falls: tuple[GaitFall, ...] = ()

    @classmethod
    def of(cls, walk: Walk) -> GaitReport:
        """Return every figure of a walk."""
        upright = walk.upright
        travel, drives = travel_of(upright), drives_of(upright)
        return cls(
            travel=travel,
            leaning=leaning_of(upright),
            loads=joint_loads_of(upright, drives),
            feet=feet_work_of(upright, travel.path_m),
            energy=energy_of(upright, drives, travel.path_m),
            falls=walk.falls,
        )

    @property
    def is_upright(self) -> bool:
        """Whether the robot never fell."""
        return not self.falls

    @cached_property
    def figures(self) -> PlainMapping:
        """All figures by name, as `to_dict` has them but not rounded; `falls` is their number."""
        parts = (self.travel, self.leaning, self.loads, self.feet, self.energy)
        named = {entry.name: getattr(part, entry.name) for part in parts for entry in fields(part)}
        return {
            **named,
            "falls": len(self.falls),
            "fall_times_s": tuple(fall.time_s for fall in self.falls),
            "fall_sides": tuple(fall.side for fall in self.falls),
        }

    def to_dict(self) -> dict[str, PlainData]:
        """Return plain data, fit for JSON: None where there is no number."""
        rows = {
            "feet": {foot.foot: _without(foot, "foot") for foot in self.feet.feet},
            "joints": {joint.joint: _without(joint, "joint") for joint in self.loads.joints},
        }
        data = plain_mapping({**self.figures, **rows}, decimals=DECIMALS, nan_as_none=True)
        return {name: data.pop(name) for name in FIRST} | data


PARTS = (Travel, Leaning, JointLoads, FeetWork, Energy)
FIGURE_NAMES = (
    *FIRST,
    *(entry.name for part in PARTS for entry in fields(part) if entry.name not in FIRST),
)
"""The names of all figures, in the order of `GaitReport.to_dict`."""


@dataclass(frozen=True, eq=False)
class WalkResult:
    """What a gait made of a body; `wall_s` is 0 where nobody looked at a clock [s]."""

    walk: Walk
    report: GaitReport
    wall_s: float = 0.0

    def __repr__(self) -> str:
        falls = f"{len(self.report.falls)} falls" if self.report.falls else "upright"
        return f"<WalkResult of {self.gait} on {self.robot.name}: {self.simulated_s:g} s, {falls}>"

    @property
    def recording(self) -> Recording:
        """Everything that happened."""
        return self.walk.trajectory.recording

    @property
    def gait(self) -> str:
        """The name of what walked."""
        return self.walk.terms.gait

    @property
    def robot(self) -> Robot:
        """Who walked."""
        return self.walk.robot

    @property
    def seed(self) -> int:
        """The seed it was walked with."""
        return self.recording.header.seed

    @cached_property
    def domain(self) -> DomainParameters:
        """How the body differed from the robot's model."""
        return domain_of(self.walk.trajectory.fact("domain"))

    @property
    def welded(self) -> tuple[str, ...]:
        """The joints that were welded in the gait's pose, as they carry next to nothing."""
        names = Node(self.walk.trajectory.fact("welded"), HEADER_PATH, "welded")
        return tuple(name.text() for name in names.items())

    @property
    def simulated_s(self) -> float:
        """How long the robot walked, settling included [s]."""
        return float(self.walk.trajectory.times[-1])

    @property
    def real_time_factor(self) -> float | None:
        """Simulated time over wall time; None where nobody looked at a clock."""
        return self.simulated_s / self.wall_s if self.wall_s > 0.0 else None

    def figures(self) -> dict[str, PlainData]:
        """Return what the recording says, as plain data, fit for JSON."""
        terms = self.walk.terms
        return {
            "gait": terms.gait,
            "robot": self.robot.name,
            "body": terms.body,
            "seed": self.seed,
            "seconds": terms.seconds,
            "settle_s": terms.settle_s,
            **self.report.to_dict(),
            "held_joints": list(self.welded),
            "variation": figure_data(self.domain),
            "simulated_s": figure_data(self.simulated_s),
            "recording_digest": self.recording.digest(),
        }

    def to_dict(self) -> dict[str, PlainData]:
        """Return the same, and how long it took."""
        took = {"wall_s": self.wall_s or None, "real_time_factor": self.real_time_factor}
        return self.figures() | took


def evaluate_walk(
    recording: Recording, *, robot: Robot | None = None, gait: Gait | None = None, wall_s: float = 0.0
) -> WalkResult:
    """Measure a recorded walk of a gait: all figures follow from the recording alone.

    The card `robot` is needed where it does not ship; without a `gait`, it is read from the recording.

    Raises:
        InputError: the recording is of something else, or does not keep every frame.
        DocumentError: the gait in it cannot be read.
    """
    walk = Walk.of(recording, robot=robot, gait=gait)
    return WalkResult(walk, GaitReport.of(walk), wall_s)


def _without(row: FootWork | JointLoad, name: str) -> dict[str, object]:
    return {entry.name: getattr(row, entry.name) for entry in fields(row) if entry.name != name}


def figure_data(value: object) -> PlainData:
    """Return figures as JSON has them: rounded, and None where there is no number."""
    return to_plain(value, decimals=DECIMALS, nan_as_none=True)
