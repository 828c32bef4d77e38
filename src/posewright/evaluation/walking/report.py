"""What came of a walk: every figure by its name. docs/measuring-a-gait.md explains each."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from posewright.bodies import DomainParameters
from posewright.evaluation.trajectory import domain_of
from posewright.evaluation.walking.feet import FeetWork, feet_work_of
from posewright.evaluation.walking.joints import Energy, JointLoads, drives_of, energy_of, joint_loads_of
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
    def figures(self) -> Mapping[str, Any]:
        """All figures by name, as `to_dict` has them but not rounded; `falls` is their number."""
        parts = (self.travel, self.leaning, self.loads, self.feet, self.energy)
        named = {one.name: getattr(part, one.name) for part in parts for one in fields(part)}
        return {
            **named,
            "falls": len(self.falls),
            "fall_times_s": tuple(fall.time_s for fall in self.falls),
            "fall_sides": tuple(fall.side for fall in self.falls),
        }

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, fit for JSON: None where there is no number."""
        told: dict[str, Any] = plain(self.figures)
        told["feet"] = {one.pop("foot"): one for one in told["feet"]}
        told["joints"] = {one.pop("joint"): one for one in told["joints"]}
        return {name: told.pop(name) for name in FIRST} | told


PARTS = (Travel, Leaning, JointLoads, FeetWork, Energy)
FIGURE_NAMES = (*FIRST, *(one.name for part in PARTS for one in fields(part) if one.name not in FIRST))
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
        return tuple(self.walk.trajectory.fact("welded"))

    @property
    def simulated_s(self) -> float:
        """How long the robot walked, settling included [s]."""
        return float(self.walk.trajectory.times[-1])

    @property
    def real_time_factor(self) -> float | None:
        """Simulated time over wall time; None where nobody looked at a clock."""
        return self.simulated_s / self.wall_s if self.wall_s > 0.0 else None

    def figures(self) -> dict[str, Any]:
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
            "variation": plain(self.domain),
            "simulated_s": plain(self.simulated_s),
            "recording_digest": self.recording.digest(),
        }

    def to_dict(self) -> dict[str, Any]:
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


def plain(value: Any) -> Any:
    """Return values of values as JSON has them: dataclasses as objects, numbers rounded."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {one.name: plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, tuple | list):
        return [plain(one) for one in value]
    return round(value, DECIMALS) + 0.0 if isinstance(value, float) else value
