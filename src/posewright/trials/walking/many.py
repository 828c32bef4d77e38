"""A gait on many bodies, none quite like the model: how many stay upright, and how bad it gets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from posewright.bodies import BodyVariation, VariationRanges, random_variation, variation_ranges
from posewright.errors import InputError
from posewright.gaits.gait import Gait
from posewright.robots import Robot
from posewright.trials.trial import MAX_SEED
from posewright.trials.walking.figures import FIGURES
from posewright.trials.walking.report import GaitReport, plain
from posewright.trials.walking.trial import SECONDS, SETTLE_S, Schedule
from posewright.trials.walking.workers import Walker, walked

MOST_BODIES = 10000
MOST_WORKERS = 256


@dataclass(frozen=True, eq=False)
class WalkedBody:
    """One body of many, and what the gait made of it.

    Attributes:
        seed: the body was drawn with.
        variation: how it differs from the robot's model.
        report: every figure.
        simulated_s: how long it walked, settling included [s].
    """

    seed: int
    variation: BodyVariation
    report: GaitReport
    simulated_s: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, fit for JSON."""
        told = {"seed": self.seed, **self.report.to_dict(), "variation": plain(asdict(self.variation))}
        return {**told, "simulated_s": plain(self.simulated_s)}


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
        held_joints: that were welded in the gait's pose, as they carry next to nothing.
        wall_s: how long all took; 0 where no clock was handed in [s].
    """

    gait: Gait
    robot: Robot
    seed: int
    seconds: float
    settle_s: float
    bodies: tuple[WalkedBody, ...]
    held_joints: tuple[str, ...] = ()
    wall_s: float = 0.0

    @property
    def reports(self) -> tuple[GaitReport, ...]:
        """The figures of all bodies."""
        return tuple(body.report for body in self.bodies)

    @property
    def upright(self) -> int:
        """How many never fell."""
        return sum(report.is_upright for report in self.reports)

    @property
    def worst(self) -> dict[str, float | None]:
        """The worst value of each figure, of a speed the one farthest from what was commanded."""
        return {figure.name: figure.worst(self.reports) for figure in FIGURES}

    @property
    def median(self) -> dict[str, float | None]:
        """The median of each figure."""
        return {figure.name: figure.median(self.reports) for figure in FIGURES}

    @property
    def real_time_factor(self) -> float | None:
        """Simulated time of all bodies over wall time, making the worlds included; None without a clock."""
        simulated = sum(body.simulated_s for body in self.bodies)
        return simulated / self.wall_s if self.wall_s > 0.0 else None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, fit for JSON."""
        first = self.reports[0]
        return {
            "gait": self.gait.name,
            "robot": self.robot.name,
            "body": "random",
            "seed": self.seed,
            "seconds": self.seconds,
            "settle_s": self.settle_s,
            "commanded_forward_m_s": plain(first.commanded_forward_m_s),
            "commanded_left_m_s": plain(first.commanded_left_m_s),
            "commanded_turn_rad_s": plain(first.commanded_turn_rad_s),
            "n_bodies": len(self.bodies),
            "upright": self.upright,
            "falls": sum(report.falls for report in self.reports),
            "fallen_seeds": [body.seed for body in self.bodies if not body.report.is_upright],
            "worst": plain(self.worst),
            "median": plain(self.median),
            "bodies": [body.to_dict() for body in self.bodies],
            "held_joints": list(self.held_joints),
            "wall_s": self.wall_s or None,
            "real_time_factor": self.real_time_factor,
        }


def walk_many(
    gait: Gait,
    robot: Robot,
    command: Schedule,
    *,
    bodies: int = 20,
    seed: int = 0,
    seconds: float = SECONDS,
    settle_s: float = SETTLE_S,
    ranges: VariationRanges | None = None,
    workers: int = 1,
    tell: Callable[[WalkedBody], None] | None = None,
    clock: Callable[[], float] | None = None,
) -> ManyReport:
    """Walk a gait on many bodies drawn at random, and measure each.

    Body k is the one of seed + k, and the same one whatever their number and the number of workers; so are
    the figures, to the last bit.

    Args:
        gait: what is walked.
        robot: who walks.
        command: as of `walk_gait`.
        bodies: how many.
        seed: of the first.
        seconds: for so long each is measured [s].
        settle_s: for so long each walks before [s].
        ranges: how far bodies differ; the ones that ship by default.
        workers: processes that walk side by side; 1 for this one alone.
        tell: is told of each body when it is done, in their order.
        clock: a wall clock [s], for `ManyReport.wall_s`.

    Raises:
        InputError: a number is out of its range; else as `walk_gait`.
    """
    _expect("bodies", bodies, 1, MOST_BODIES)
    _expect("workers", workers, 1, MOST_WORKERS)
    _expect("seed", seed, 0, MAX_SEED - bodies)
    spread = variation_ranges() if ranges is None else ranges
    seeds = range(seed, seed + bodies)
    variations = [random_variation(spread, one) for one in seeds]
    walker = Walker(gait, robot, command, seconds, settle_s)
    began = clock() if clock else 0.0
    done: list[WalkedBody] = []
    held: tuple[str, ...] = ()
    trials = walked(walker, list(zip(variations, seeds, strict=True)), workers)
    for number, variation, trial in zip(seeds, variations, trials, strict=True):
        held = trial.held_joints
        done.append(WalkedBody(number, variation, trial.report, trial.simulated_s))
        if tell is not None:
            tell(done[-1])
    wall_s = clock() - began if clock else 0.0
    return ManyReport(gait, robot, seed, seconds, settle_s, tuple(done), held, wall_s)


def _expect(name: str, value: object, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InputError(f"{name} is {value}", hint=f"a whole number from {least} to {most}")
