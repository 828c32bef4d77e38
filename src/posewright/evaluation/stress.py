"""Stress maps: how often a program falls, and how well it does, over each factor that disturbs it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import TypeAlias

from posewright.display import Lines, Styled, table
from posewright.documents.plain import PlainData

SPEED = "speed_m_s"
POINTS = "points"
"""What a program is measured by besides its falls: its speed, or its points in a contest."""

MEASURE_LABELS = {SPEED: "speed [m/s]", POINTS: "points"}

TOLERATED_SHARE = 0.9
TOLERATED_SPEED = 0.5
"""A value is tolerated if at least this share of the runs is without a fall, with a median of at least this
share of the commanded speed.
"""

ValueRange: TypeAlias = tuple[float, float]
"""The smallest and the greatest of some values."""


@dataclass(frozen=True, slots=True)
class StressedRun:
    """One run of a sweep.

    Attributes:
        seed: the seed of the run.
        falls: number of falls; a failed simulation counts as one.
        measured: its speed or points; None if it has none.
    """

    seed: int
    falls: int
    measured: float | None


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """All runs with one value of a factor.

    Attributes:
        value: the value, in the factor's unit.
        runs: the runs, one for each seed.
        counts_fallen: whether the measurements of runs with a fall count: a race goes on after a fall, a walk
            does not.
    """

    value: float
    runs: tuple[StressedRun, ...]
    counts_fallen: bool = False

    @property
    def n_upright(self) -> int:
        """The number of runs without a fall."""
        return sum(run.falls == 0 for run in self.runs)

    @property
    def upright_share(self) -> float:
        """The share of the runs without a fall."""
        return self.n_upright / len(self.runs)

    @property
    def measurements(self) -> tuple[float, ...]:
        """Speeds or points of the runs that count."""
        counted_runs = [run for run in self.runs if self.counts_fallen or run.falls == 0]
        return tuple(run.measured for run in counted_runs if run.measured is not None)

    @property
    def median(self) -> float | None:
        """The median of the measurements; None without any."""
        return median(self.measurements) if self.measurements else None

    @property
    def measured_range(self) -> ValueRange | None:
        """The smallest and greatest measurement; None without any."""
        return (min(self.measurements), max(self.measurements)) if self.measurements else None

    def to_dict(self) -> dict[str, PlainData]:
        """Return the point as plain data, fit for JSON."""
        return {
            "value": self.value,
            "n_runs": len(self.runs),
            "n_upright": self.n_upright,
            "falls": sum(run.falls for run in self.runs),
            "median": self.median,
            "range": None if self.measured_range is None else list(self.measured_range),
            "runs": [{"seed": run.seed, "falls": run.falls, "measured": run.measured} for run in self.runs],
        }


@dataclass(frozen=True)
class FactorSweep:
    """The runs over the values of one factor.

    Attributes:
        name: of the factor: `friction`.
        title: what it is, for people.
        unit: of the values; empty for a ratio.
        nominal: its value in the robot's model; None if that is not one number.
        points: the runs of each value, which rises.
    """

    name: str
    title: str
    unit: str
    nominal: float | None
    points: tuple[SweepPoint, ...]

    def find_tolerated(self, commanded: float | None = None) -> ValueRange | None:
        """Return the widest range of neighbouring values that are all tolerated; None if none is.

        Args:
            commanded: the commanded forward speed; None if only falls count [m/s].
        """
        ranges: list[list[float]] = [[]]
        for point in self.points:
            is_upright = point.upright_share >= TOLERATED_SHARE
            is_fast = commanded is None or abs(point.median or 0.0) >= TOLERATED_SPEED * abs(commanded)
            if is_upright and is_fast:
                ranges[-1].append(point.value)
            else:
                ranges.append([])
        widest = max(ranges, key=len)
        return (widest[0], widest[-1]) if widest else None

    def to_dict(self, commanded: float | None = None) -> dict[str, PlainData]:
        """Return the sweep as plain data, fit for JSON; `commanded` as for `find_tolerated`."""
        tolerated = self.find_tolerated(commanded)
        return {
            "name": self.name,
            "title": self.title,
            "unit": self.unit,
            "nominal": self.nominal,
            "tolerated": None if tolerated is None else list(tolerated),
            "points": [point.to_dict() for point in self.points],
        }


@dataclass(frozen=True)
class StressMap:
    """The sweeps of all factors of one program.

    Attributes:
        program: its name.
        robot: the name of its robot.
        conditions: what all runs share: body, duration, command or trial.
        measure: `SPEED` or `POINTS`.
        commanded: the commanded forward speed; None without one [m/s].
        sweeps: the sweeps, one for each factor.
    """

    program: str
    robot: str
    conditions: str
    measure: str
    commanded: float | None
    sweeps: tuple[FactorSweep, ...]

    @property
    def title(self) -> str:
        """Program, robot and conditions."""
        return f"{self.program} on {self.robot}, {self.conditions}"

    def to_dict(self) -> dict[str, PlainData]:
        """Return the map as plain data, fit for JSON."""
        return {
            "program": self.program,
            "robot": self.robot,
            "conditions": self.conditions,
            "measure": self.measure,
            "commanded_forward_m_s": self.commanded,
            "factors": [sweep.to_dict(self.commanded) for sweep in self.sweeps],
        }

    def lines(self) -> Lines:
        """Yield a table with a row for each value, and one with the tolerated range of each factor."""
        label = MEASURE_LABELS[self.measure]
        columns = ("factor", "value", "upright", label, "least", "most")
        yield table(columns, self._rows(), title=self.title, text_columns=("factor",))
        ranges = []
        for sweep in self.sweeps:
            tolerated = sweep.find_tolerated(self.commanded)
            text = "none" if tolerated is None else "{:g} to {:g}".format(*tolerated)
            ranges.append((sweep.title, f"{text} {sweep.unit}".rstrip()))
        header = f"at least {TOLERATED_SHARE:.0%} upright"
        if self.commanded is not None:
            header += f" and {TOLERATED_SPEED:.0%} of the speed"
        yield table(("factor", header), ranges, text_columns=("factor", header))

    def _rows(self) -> Iterator[tuple[object, ...]]:
        """Yield a row for each value of each factor; only the first of a factor has its title.

        The columns are the factor, its value, the number of runs without a fall, and the median, least and
        greatest of the quantity measured, such as the speed; "-" where no run counts.
        """
        for sweep in self.sweeps:
            title = f"{sweep.title} [{sweep.unit}]" if sweep.unit else sweep.title
            for point in sweep.points:
                style = "red" if point.upright_share < TOLERATED_SHARE else ""
                upright = Styled(f"{point.n_upright} of {len(point.runs)}", style)
                measured = ("-", "-", "-")
                if point.median is not None and point.measured_range is not None:
                    least, most = point.measured_range
                    measured = (f"{point.median:.3f}", f"{least:.3f}", f"{most:.3f}")
                yield (title, f"{point.value:g}", upright, *measured)
                title = ""
