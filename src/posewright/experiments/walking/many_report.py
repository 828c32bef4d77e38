"""The report of a gait on many bodies: how many stay upright, and how bad it gets."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import Any

from posewright.evaluation.walking.command_schedule import Triple
from posewright.evaluation.walking.figures import FALLS, FIGURES
from posewright.evaluation.walking.report import GaitReport, plain
from posewright.experiments.walking.walked_body import WalkedBody
from posewright.gaits import Gait
from posewright.robots import Robot

_COMMANDED = ("commanded_forward_m_s", "commanded_left_m_s", "commanded_turn_rad_s")


@dataclass(frozen=True, eq=False)
class ManyReport:
    """A gait on many bodies.

    Attributes:
        gait: what walked.
        robot: who walked.
        seed: of the first body; the others have the seeds that follow.
        seconds: for so long each was to be measured [s].
        settle_s: for so long each walked before [s].
        bodies: what became of each.
        command_mean: what each was asked for on the mean over the time it was to be measured, forward [m/s],
            left [m/s] and turn [rad/s].
        wall_s: how long all took; 0 where no clock was handed in [s].
        body: `random` of the ranges that ship, `varied` of others.
    """

    gait: Gait
    robot: Robot
    seed: int
    seconds: float
    settle_s: float
    bodies: tuple[WalkedBody, ...]
    command_mean: Triple
    wall_s: float = 0.0
    body: str = "random"

    @property
    def reports(self) -> tuple[GaitReport, ...]:
        """The figures of all bodies that have some."""
        return tuple(body.report for body in self.bodies if body.report is not None)

    @property
    def upright(self) -> int:
        """How many never fell."""
        return sum(body.is_upright for body in self.bodies)

    @property
    def failed(self) -> tuple[WalkedBody, ...]:
        """The bodies on which the simulation failed; they count as fallen."""
        return tuple(body for body in self.bodies if body.failure is not None)

    @property
    def held_joints(self) -> tuple[str, ...]:
        """The joints that were welded in the gait's pose, as they carry next to nothing."""
        return self.bodies[0].held_joints

    @property
    def worst(self) -> dict[str, float | None]:
        """The worst value of each figure, of a speed the one farthest from what was commanded."""
        worst = {figure.name: figure.worst(self.reports) for figure in FIGURES}
        return {**worst, FALLS: max(body.falls for body in self.bodies)}

    @property
    def median(self) -> dict[str, float | None]:
        """The median of each figure."""
        middle = {figure.name: figure.median(self.reports) for figure in FIGURES}
        return {**middle, FALLS: float(median(body.falls for body in self.bodies))}

    @property
    def real_time_factor(self) -> float | None:
        """Simulated time of all bodies over wall time, making the worlds included; None without a clock."""
        simulated = sum(body.simulated_s for body in self.bodies)
        return simulated / self.wall_s if self.wall_s > 0.0 else None

    def commanded(self, name: str) -> float:
        """Return what was asked for on the mean over the whole time, by a report's own name for it.

        A report has it up to the fall of its own body.
        """
        return dict(zip(_COMMANDED, self.command_mean, strict=True))[name]

    def to_dict(self, body: str | None = None) -> dict[str, Any]:
        """Return plain data, fit for JSON.

        Args:
            body: by which name the bodies were asked for; our own for them by default.
        """
        return {
            "gait": self.gait.name,
            "robot": self.robot.name,
            "body": self.body if body is None else body,
            "seed": self.seed,
            "seconds": self.seconds,
            "settle_s": self.settle_s,
            **{name: plain(self.commanded(name)) for name in _COMMANDED},
            "n_bodies": len(self.bodies),
            "upright": self.upright,
            "falls": sum(body.falls for body in self.bodies),
            "fallen_seeds": [body.seed for body in self.bodies if not body.is_upright],
            "failures": [{"seed": body.seed, "reason": body.failure} for body in self.failed],
            "worst": plain(self.worst),
            "median": plain(self.median),
            "bodies": [body.to_dict() for body in self.bodies],
            "held_joints": list(self.held_joints),
            "wall_s": self.wall_s or None,
            "real_time_factor": self.real_time_factor,
        }
