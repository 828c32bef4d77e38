"""The report of a walking benchmark: speeds, falls, pushes and floors of one program, from measured runs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from enum import Enum
from statistics import fmean, median
from typing import NamedTuple

from posewright.display import Lines, Styled, Table, table
from posewright.documents.plain import PlainData, plain_mapping
from posewright.evaluation.walking.figures import ALARM_STYLE, FIGURES, MM_PER_M
from posewright.evaluation.walking.report import DECIMALS

CONFIDENCE = 0.95
"""Of the upper bound of a rate of falls."""

UPRIGHT_SHARE = 0.9
"""A speed counts as reached if at least this share of the random bodies stays upright at it."""

_SECONDS_PER_HOUR = 3600.0


class Direction(Enum):
    """A component of the velocity command; its value is the name of its field."""

    FORWARD = "forward_m_s"
    LEFT = "left_m_s"
    TURN = "turn_rad_s"

    @property
    def figure(self) -> str:
        """Name of the figure that measures it."""
        return "speed_m_s" if self is Direction.FORWARD else self.value

    @property
    def unit(self) -> str:
        """Its unit."""
        return "rad/s" if self is Direction.TURN else "m/s"

    @property
    def title(self) -> str:
        """What it is, for people."""
        return {"forward_m_s": "forward", "left_m_s": "to the left", "turn_rad_s": "turn left"}[self.value]


class Floor(Enum):
    """What makes a floor difficult."""

    PLATES = "plates"
    SLOPE = "slope"

    @property
    def unit(self) -> str:
        """Unit of its value: the thickness of plates, the angle of a slope."""
        return "mm" if self is Floor.PLATES else "deg"


@dataclass(frozen=True, kw_only=True, slots=True)
class BenchmarkRun:
    """What is measured in one run; None for a figure that the program does not have.

    Attributes:
        is_upright: whether it ended without a fall.
        is_nominal: whether the body is that of the model, apart from pushes and floor.
        seed: the seed by which a random body was drawn.
        upright_s: time up to the first fall, or the complete time [s].
        speed_m_s: forward; along the path for a program that is no gait [m/s].

    The other figures are those of `GaitReport`.
    """

    is_upright: bool
    is_nominal: bool
    seed: int
    upright_s: float
    speed_m_s: float | None = None
    left_m_s: float | None = None
    turn_rad_s: float | None = None
    heading_drift_deg: float | None = None
    slip_per_m: float | None = None
    cost_of_transport: float | None = None
    max_torque_ratio: float | None = None
    rms_torque_ratio: float | None = None
    max_joint_speed_ratio: float | None = None

    def figure(self, name: str) -> float | None:
        """Return a figure by its name."""
        value: float | None = getattr(self, name)
        return value


_RUN_IDENTITY = ("is_upright", "is_nominal", "seed", "upright_s")
GAIT_FIGURES = tuple(entry.name for entry in fields(BenchmarkRun) if entry.name not in _RUN_IDENTITY)
"""The figures of a run that are figures of a `GaitReport`."""


@dataclass(frozen=True)
class _Test:
    """A condition and its runs on several bodies, those on the nominal body first.

    Attributes:
        runs: the runs; empty before the test.
    """

    runs: tuple[BenchmarkRun, ...] = ()

    @property
    def n_upright(self) -> int:
        """The number of runs without a fall."""
        return sum(run.is_upright for run in self.runs)

    @property
    def upright_share(self) -> float:
        """The share of the runs without a fall."""
        return self.n_upright / len(self.runs)

    @property
    def random_runs(self) -> tuple[BenchmarkRun, ...]:
        """The runs on random bodies."""
        return tuple(run for run in self.runs if not run.is_nominal)

    def collect(self, figure: str) -> list[float]:
        """Return a figure of all upright runs on random bodies that have it."""
        values = [run.figure(figure) for run in self.random_runs if run.is_upright]
        return [value for value in values if value is not None]

    def median(self, figure: str) -> float | None:
        """Return the median of a figure of the upright runs on random bodies; None without one."""
        values = self.collect(figure)
        return median(values) if values else None


@dataclass(frozen=True, kw_only=True)
class SpeedTest(_Test):
    """Runs with one velocity command.

    Attributes:
        direction: the component that is commanded.
        commanded: its value [m/s or rad/s]; None for a program that takes no command.
    """

    direction: Direction
    commanded: float | None

    @property
    def name(self) -> str:
        """A unique name."""
        command = "as it likes" if self.commanded is None else f"{self.commanded:.3g}"
        return f"{self.direction.name.lower()} {command}"

    @property
    def title(self) -> str:
        """What is measured, with its unit, for people."""
        title = "along the path" if self.commanded is None else self.direction.title
        return f"{title} [{self.direction.unit}]"

    @property
    def nominal(self) -> float | None:
        """The measured component on the nominal body; None if that falls."""
        for run in self.runs:
            if run.is_nominal and run.is_upright:
                return run.figure(self.direction.figure)
        return None

    def to_dict(self) -> dict[str, PlainData]:
        """Return the test as plain data, fit for JSON."""
        return {
            "direction": self.direction.value,
            "commanded": self.commanded,
            "nominal": self.nominal,
            "medians": {figure: self.median(figure) for figure in GAIT_FIGURES},
            "n_runs": len(self.runs),
            "n_upright": self.n_upright,
            "runs": [asdict(run) for run in self.runs],
        }


@dataclass(frozen=True, kw_only=True)
class FallTest(_Test):
    """Long runs on random bodies, by which falls are counted.

    Attributes:
        impulse_n_s: of the push every few seconds; 0 for none [N s].
        interval_s: time between two pushes [s].
    """

    impulse_n_s: float
    interval_s: float

    @property
    def name(self) -> str:
        """A unique name."""
        return f"falls with {self.impulse_n_s:g} N s"

    @property
    def title(self) -> str:
        """The condition, for people."""
        if not self.impulse_n_s:
            return "undisturbed"
        return f"{self.impulse_n_s:g} N s every {self.interval_s:g} s"

    @property
    def n_falls(self) -> int:
        """The number of falls: a run counts up to its first one."""
        return len(self.runs) - self.n_upright

    @property
    def hours(self) -> float:
        """Time up to the first falls, of all runs [h]."""
        return math.fsum(run.upright_s for run in self.runs) / _SECONDS_PER_HOUR

    @property
    def falls_per_hour(self) -> float | None:
        """Falls by hours; None if no robot stood at any time."""
        return self.n_falls / self.hours if self.hours else None

    @property
    def most_falls_per_hour(self) -> float | None:
        """Upper bound of the rate by `CONFIDENCE`, of a Poisson process (Garwood 1936)."""
        if not self.hours:
            return None
        from scipy.special import gammaincinv

        return float(gammaincinv(self.n_falls + 1, CONFIDENCE)) / self.hours

    def to_dict(self) -> dict[str, PlainData]:
        """Return the test as plain data, fit for JSON."""
        return {
            "impulse_n_s": self.impulse_n_s,
            "interval_s": self.interval_s,
            "n_falls": self.n_falls,
            "hours": self.hours,
            "falls_per_hour": self.falls_per_hour,
            "most_falls_per_hour": self.most_falls_per_hour,
            "fallen_seeds": [run.seed for run in self.runs if not run.is_upright],
        }


@dataclass(frozen=True, kw_only=True)
class PushTest(_Test):
    """Runs with one push of the trunk.

    Attributes:
        impulse_n_s: force times duration [N s].
        side_deg: side from which it comes: 0 from ahead, positive from the left [deg].
        phase: share of the gait's cycle at which it begins; of a second for a program without a cycle.
    """

    impulse_n_s: float
    side_deg: float
    phase: float

    @property
    def name(self) -> str:
        """A unique name."""
        return f"push {self.impulse_n_s:g} N s from {self.side_deg:g} deg at phase {self.phase:.2f}"

    def to_dict(self) -> dict[str, PlainData]:
        """Return the test as plain data, fit for JSON."""
        return {
            "impulse_n_s": self.impulse_n_s,
            "side_deg": self.side_deg,
            "phase": self.phase,
            "n_runs": len(self.runs),
            "n_upright": self.n_upright,
        }


@dataclass(frozen=True, kw_only=True)
class FloorTest(_Test):
    """Runs on a difficult floor.

    Attributes:
        floor: what makes it difficult.
        value: thickness of plates [mm], or angle of a slope [deg].
    """

    floor: Floor
    value: float

    @property
    def name(self) -> str:
        """A unique name."""
        return f"{self.floor.value} {self.value:g} {self.floor.unit}"

    def to_dict(self) -> dict[str, PlainData]:
        """Return the test as plain data, fit for JSON."""
        return {
            "floor": self.floor.value,
            "value": self.value,
            "n_runs": len(self.runs),
            "n_upright": self.n_upright,
            "speed_m_s": self.median("speed_m_s"),
            "fallen_seeds": [run.seed for run in self.runs if not run.is_upright],
        }


BenchmarkTest = SpeedTest | FallTest | PushTest | FloorTest


class PushPlace(NamedTuple):
    """From where and when a push comes, as in `PushTest`."""

    side_deg: float
    phase: float


class Headline(NamedTuple):
    """A leading figure of the report.

    Attributes:
        label: what it is.
        value: the figure with its unit.
        note: how it is to be read.
    """

    label: str
    value: str
    note: str


_SIDES = {
    0: "ahead",
    45: "ahead left",
    90: "left",
    135: "behind left",
    180: "behind",
    -135: "behind right",
    -90: "right",
    -45: "ahead right",
}


def side_name(side_deg: float) -> str:
    """Return the name of the side from which a push comes, or its angle if it has no name."""
    return _SIDES.get(round(side_deg), f"{side_deg:.0f} deg")


@dataclass(frozen=True, kw_only=True)
class BenchmarkReport:
    """The results of all tests of one program.

    Attributes:
        program: its name.
        robot: the name of its robot.
        conditions: command, durations, numbers of bodies, for people.
        mass_kg: mass of the robot's model [kg].
        leg_length_m: from hip to ground with a stretched leg; None if the card does not describe legs [m].
        commanded_m_s: forward command of all tests but those of speed; None without one [m/s].
        seconds: measured duration of the tests of speed [s].
        speeds: of forward commands with rising speed, then sideways, then turns.
        falls: undisturbed, then pushed.
        pushes: all sides, phases and impulses.
        floors: plates and slopes.
    """

    program: str
    robot: str
    conditions: str
    mass_kg: float
    leg_length_m: float | None
    commanded_m_s: float | None
    seconds: float
    speeds: tuple[SpeedTest, ...]
    falls: tuple[FallTest, ...]
    pushes: tuple[PushTest, ...]
    floors: tuple[FloorTest, ...]

    def __repr__(self) -> str:
        return f"<BenchmarkReport of {self.title}>"

    @property
    def title(self) -> str:
        """Program and robot."""
        return f"{self.program} on {self.robot}"

    def speeds_in(self, direction: Direction) -> tuple[SpeedTest, ...]:
        """Return the tests of one component of the command."""
        return tuple(test for test in self.speeds if test.direction is direction)

    @property
    def common_speed(self) -> SpeedTest:
        """The test of speed with the command of all other tests."""
        forward = self.speeds_in(Direction.FORWARD)
        return next(test for test in forward if test.commanded == self.commanded_m_s)

    @property
    def top_speed(self) -> SpeedTest | None:
        """The test with the greatest forward speed at which the bodies stay upright; None without one."""
        reached = [
            test
            for test in self.speeds_in(Direction.FORWARD)
            if test.upright_share >= UPRIGHT_SHARE and test.median("speed_m_s") is not None
        ]
        return max(reached, key=lambda test: test.median("speed_m_s") or 0.0, default=None)

    @property
    def heading_drifts_deg(self) -> tuple[float, ...]:
        """How far each upright random body is off its heading to either side, rising, at the common speed."""
        return tuple(sorted(abs(drift) for drift in self.common_speed.collect("heading_drift_deg")))

    @property
    def impulses_n_s(self) -> tuple[float, ...]:
        """The impulses of the pushes, rising [N s]."""
        return tuple(sorted({test.impulse_n_s for test in self.pushes}))

    @property
    def greatest_impulses(self) -> dict[PushPlace, float]:
        """The greatest impulse that is survived, by side and phase: the mean over the bodies [N s].

        Of each body it is the greatest one before the first with a fall; 0 if it falls at the least.
        """
        tests_by_place: dict[PushPlace, list[PushTest]] = {}
        for test in sorted(self.pushes, key=lambda test: test.impulse_n_s):
            tests_by_place.setdefault(PushPlace(test.side_deg, test.phase), []).append(test)
        return {place: _mean_impulse(tests) for place, tests in tests_by_place.items()}

    def survived_share(self, impulse_n_s: float) -> float:
        """Return the share of the pushes of an impulse that are survived, over sides, phases and bodies."""
        tests = [test for test in self.pushes if test.impulse_n_s == impulse_n_s]
        return sum(test.n_upright for test in tests) / sum(len(test.runs) for test in tests)

    def headlines(self) -> Iterator[Headline]:
        """Yield the leading figures."""
        yield self._top_speed_headline()
        common = self.common_speed
        drifts = self.heading_drifts_deg
        if drifts:
            yield Headline(
                f"heading off after {self.seconds:g} s",
                f"{median(drifts):.1f} deg",
                f"median over random bodies; the worst of {len(drifts)}: {drifts[-1]:.1f} deg",
            )
        for test in self.falls:
            yield Headline(
                f"falls an hour, {test.title}",
                "-" if test.falls_per_hour is None else f"{test.falls_per_hour:.1f}",
                _describe_falls(test),
            )
        impulses = self.greatest_impulses
        mean_impulse = fmean(impulses.values())
        weakest = min(impulses, key=lambda place: impulses[place])
        yield Headline(
            "push survived",
            f"{mean_impulse:.2f} N s",
            f"{mean_impulse / self.mass_kg:.2f} N s/kg, mean of {len(impulses)} sides and phases; "
            f"least {impulses[weakest]:.2f} from {side_name(weakest.side_deg)}",
        )
        for floor in Floor:
            tests = [test for test in self.floors if test.floor is floor]
            shares = ", ".join(f"{test.upright_share:.0%}" for test in tests)
            values = ", ".join(f"{test.value:g}" for test in tests)
            yield Headline(f"upright on {floor.value}", shares, f"of {values} {floor.unit}")
        for name in ("cost_of_transport", "slip_per_m"):
            figure = next(figure for figure in FIGURES if figure.name == name)
            value = common.median(name)
            if value is not None:
                text = f"{figure.text(value)} {figure.unit}".rstrip()
                yield Headline(figure.label, text, self._at_common_speed())
        yield from self._margin_headlines()

    def _top_speed_headline(self) -> Headline:
        """Return the headline of the greatest speed."""
        label = "speed" if self.commanded_m_s is None else "top speed"
        top = self.top_speed
        speed_m_s = None if top is None else top.median("speed_m_s")
        if top is None or speed_m_s is None:
            return Headline(label, "-", f"less than {UPRIGHT_SHARE:.0%} upright at every speed")
        note = f"{top.n_upright} of {len(top.runs)} bodies upright"
        if self.leg_length_m is not None:
            note = f"{speed_m_s / self.leg_length_m:.2f} leg lengths a second, {note}"
        return Headline(label, f"{speed_m_s:.3f} m/s", note)

    def _at_common_speed(self) -> str:
        """Return the command of most tests as a note."""
        if self.commanded_m_s is None:
            return "median"
        return f"median at {self.commanded_m_s:.3g} m/s"

    def _margin_headlines(self) -> Iterator[Headline]:
        """Yield how much of the joints' speed and torque is left, at the common and the greatest speed."""
        tests = [self.common_speed]
        if self.top_speed is not None and self.top_speed is not self.common_speed:
            tests.append(self.top_speed)
        commands = " and ".join(f"{test.commanded:.3g} m/s" for test in tests if test.commanded)
        place = f" at {commands}" if commands else ""
        for name, label, joint in (
            ("max_joint_speed_ratio", "speed margin", "fastest joint"),
            ("max_torque_ratio", "torque margin", "hardest joint"),
        ):
            ratios = [test.median(name) for test in tests]
            margins = [f"{1.0 - ratio:.0%}" for ratio in ratios if ratio is not None]
            if margins:
                yield Headline(label, ", ".join(margins), f"of the {joint}{place}")

    def tables(self) -> Iterator[Table]:
        """Yield the results as tables, the leading figures first."""
        yield table(
            ("figure", "value", "note"),
            self.headlines(),
            title=f"{self.title}: {self.conditions}",
            text_columns=("figure", "note"),
        )
        yield self._speed_table()
        yield self._push_table()
        yield self._survival_table()
        yield table(
            ("floor", "upright", "speed m/s"),
            (
                (test.name, _upright_cell(test), _format_number(test.median("speed_m_s"), digits=3))
                for test in self.floors
            ),
            title="Floors, on random bodies",
            text_columns=("floor",),
        )

    def lines(self) -> Lines:
        """Yield the report for people."""
        yield from self.tables()

    def _speed_table(self) -> Table:
        """Return the table of speeds, with loads and efficiency."""
        columns = (
            "command",
            "commanded",
            "nominal",
            "median",
            "least",
            "most",
            "upright",
            "heading\ndeg",
            "slip\nmm/m",
            "cost of\ntransport",
            "torque /\nstall",
            "joint speed /\nthe card's",
        )
        rows = []
        for test in self.speeds:
            measured = test.collect(test.direction.figure)
            is_turn = test.direction is Direction.TURN  # hardly moves ahead: it has no figures per metre
            slip = None if is_turn else test.median("slip_per_m")
            cost = None if is_turn else test.median("cost_of_transport")
            drifts = [] if is_turn else [abs(drift) for drift in test.collect("heading_drift_deg")]
            rows.append(
                (
                    test.title,
                    _format_number(test.commanded, digits=3),
                    _format_number(test.nominal, digits=3),
                    _format_number(test.median(test.direction.figure), digits=3),
                    _format_number(min(measured, default=None), digits=3),
                    _format_number(max(measured, default=None), digits=3),
                    _upright_cell(test),
                    _format_number(median(drifts) if drifts else None, digits=1),
                    _format_number(None if slip is None else slip * MM_PER_M, digits=0),
                    _format_number(cost, digits=2),
                    _ratio_cell(test.median("max_torque_ratio")),
                    _ratio_cell(test.median("max_joint_speed_ratio")),
                )
            )
        title = f"Speeds over {self.seconds:g} s; medians of the upright random bodies"
        return table(columns, rows, title=title, text_columns=("command",))

    def _push_table(self) -> Table:
        """Return the table of the greatest impulses by side and phase."""
        impulses = self.greatest_impulses
        phases = sorted({place.phase for place in impulses})
        sides = list(dict.fromkeys(place.side_deg for place in impulses))
        columns = ("from", *(f"phase {phase:.2f}" for phase in phases), "mean")
        rows = []
        for side in sides:
            values = [impulses[PushPlace(side, phase)] for phase in phases]
            rows.append((side_name(side), *(f"{value:.2f}" for value in values), f"{fmean(values):.2f}"))
        title = "Greatest push of the trunk that is survived [N s], mean of the bodies"
        return table(columns, rows, title=title, text_columns=("from",))

    def _survival_table(self) -> Table:
        """Return the table of the shares of pushes that are survived, by impulse."""
        rows = [
            (f"{impulse:g}", f"{impulse / self.mass_kg:.2f}", f"{self.survived_share(impulse):.0%}")
            for impulse in self.impulses_n_s
        ]
        columns = ("impulse N s", "N s/kg", "survived")
        return table(columns, rows, title="Pushes of all sides and phases")

    def to_dict(self) -> dict[str, PlainData]:
        """Return the report as plain data, fit for JSON."""
        top = self.top_speed
        top_speed_m_s = None if top is None else top.median("speed_m_s")
        leg_lengths = None
        if top_speed_m_s is not None and self.leg_length_m is not None:
            leg_lengths = top_speed_m_s / self.leg_length_m
        drifts = self.heading_drifts_deg
        impulses = self.greatest_impulses
        data = {
            "program": self.program,
            "robot": self.robot,
            "conditions": self.conditions,
            "mass_kg": self.mass_kg,
            "leg_length_m": self.leg_length_m,
            "commanded_forward_m_s": self.commanded_m_s,
            "seconds": self.seconds,
            "top_speed_m_s": top_speed_m_s,
            "leg_lengths_per_s": leg_lengths,
            "median_heading_drift_deg": median(drifts) if drifts else None,
            "worst_heading_drift_deg": max(drifts, default=None),
            "mean_impulse_n_s": fmean(impulses.values()),
            "greatest_impulses": [
                {**place._asdict(), "impulse_n_s": impulse} for place, impulse in impulses.items()
            ],
            "survived": [
                {"impulse_n_s": impulse, "share": self.survived_share(impulse)}
                for impulse in self.impulses_n_s
            ],
            "speeds": [test.to_dict() for test in self.speeds],
            "falls": [test.to_dict() for test in self.falls],
            "floors": [test.to_dict() for test in self.floors],
            "pushes": [test.to_dict() for test in self.pushes],
        }
        return plain_mapping(data, decimals=DECIMALS, nan_as_none=True)


def _mean_impulse(tests: Sequence[PushTest]) -> float:
    """Return the mean over bodies of the greatest impulse before the first with a fall [N s].

    Args:
        tests: of one side and phase, with rising impulses and the same bodies.
    """
    greatest_of_bodies = [0.0] * len(tests[0].runs)
    still_upright = set(range(len(greatest_of_bodies)))
    for test in tests:
        still_upright = {body for body in still_upright if test.runs[body].is_upright}
        for body in still_upright:
            greatest_of_bodies[body] = test.impulse_n_s
    return fmean(greatest_of_bodies)


def _describe_falls(test: FallTest) -> str:
    """Return number of falls, duration and upper bound of a test, for people."""
    if test.most_falls_per_hour is None:
        return "every robot fell at once"
    return (
        f"{test.n_falls} in {test.hours:.2f} h on {len(test.runs)} random bodies; "
        f"at most {test.most_falls_per_hour:.0f} with {CONFIDENCE:.0%} confidence"
    )


def _upright_cell(test: SpeedTest | FloorTest) -> Styled:
    """Return the cell with the number of upright runs, in red if too few."""
    style = "" if test.upright_share >= UPRIGHT_SHARE else ALARM_STYLE
    return Styled(f"{test.n_upright} of {len(test.runs)}", style)


def _ratio_cell(ratio: float | None) -> Styled:
    """Return the cell of a ratio whose limit is 1."""
    return Styled(_format_number(ratio, digits=2), ALARM_STYLE if ratio is not None and ratio > 1.0 else "")


def _format_number(value: float | None, *, digits: int) -> str:
    return "-" if value is None else f"{value:z.{digits}f}"
