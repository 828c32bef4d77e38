"""Mutates a chart and sees how many of its faults the scenarios find."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from posewright.charts.machine import Interpreter, TickExecution
from posewright.charts.model import Chart
from posewright.charts.mutation.distinguish import Distinguisher, MutantStatus
from posewright.charts.mutation.faults import Mutant
from posewright.charts.mutation.mutants import mutants
from posewright.charts.reachability import Exploration, abstract_registers, explore
from posewright.charts.scenarios import Given, Scenario, fits, given, read_scenario, rows_of
from posewright.charts.types import FloatType, IntType, Type, Value
from posewright.display import Lines
from posewright.documents import PlainData
from posewright.errors import InputError, PosewrightError

SMALL_RANGE = 16
"""Whole numbers of a range up to which every one is told apart."""


@dataclass(frozen=True)
class MutationResult:
    """How many faults the scenarios find.

    Attributes:
        total: mutants that were made.
        killed: of these, those that fail some scenario.
        survived: those that fail none, and are not known to behave like the chart.
        equivalent: those that were proved to behave like the chart: no scenario could find them.
    """

    chart: Chart
    total: int
    killed: int
    survived: tuple[Mutant, ...]
    equivalent: tuple[Mutant, ...]

    @property
    def score(self) -> float:
        """Which part of the faults that can be found was found, 0..1."""
        findable = self.total - len(self.equivalent)
        return self.killed / findable if findable else 1.0

    def lines(self) -> Lines:
        """Yield the mutants that nothing found, and how many were found."""
        for word, mutants_left in (("survived", self.survived), ("changes nothing", self.equivalent)):
            for mutant in mutants_left:
                place = "" if mutant.line is None else f" (line {mutant.line})"
                yield f"{word}: {mutant}{place}"
        findable = self.total - len(self.equivalent)
        counts = f"{self.killed} of {findable} faults found ({self.score:.1%}); {self.total} made"
        yield f"{self.chart.name}: {counts}"

    def data(self) -> dict[str, PlainData]:
        """Return the result as plain data."""
        return {
            "chart": self.chart.name,
            "total": self.total,
            "killed": self.killed,
            "score": self.score,
            "survived": [_data(mutant) for mutant in self.survived],
            "equivalent": [_data(mutant) for mutant in self.equivalent],
        }


def mutate_chart(
    chart: Chart, scenarios: Iterable[Scenario | Path | str], *, exploration: Exploration | None = None
) -> MutationResult:
    """Put every single fault into a chart and see whether the scenarios find it.

    A mutant that no scenario finds is compared with the chart: where both are proved to be in the same
    states with the same outputs, whatever comes in, it is not counted.

    Args:
        chart: passes all the scenarios.
        scenarios: of the chart, or paths of their files.
        exploration: of the chart with all its variables kept, where there is one already.

    Raises:
        InputError: there is no scenario, or the chart itself fails one.
    """
    read = [one if isinstance(one, Scenario) else read_scenario(one, chart) for one in scenarios]
    if not read:
        raise InputError("no scenario to find faults with", hint="`chart cover -o FOLDER` writes some")
    prepared = [_PreparedScenario(chart, scenario) for scenario in read]
    interpreter = Interpreter(chart)
    for one in prepared:
        if one.fails(interpreter):
            message = f"{chart.name} itself fails the scenario {one.name!r}"
            raise InputError(message, hint="see `chart test`: what fails anyway tells no fault")
    every = list(mutants(chart))
    left = [mutant for mutant in every if not _kills(prepared, mutant)]
    equivalent: tuple[Mutant, ...] = ()
    if left:
        distinguisher = Distinguisher(exploration or explore_kept(chart))
        equivalent = tuple(
            mutant for mutant in left if distinguisher.distinguish(mutant).status is MutantStatus.ALIKE
        )
    survived = tuple(mutant for mutant in left if mutant not in equivalent)
    return MutationResult(chart, len(every), len(every) - len(left), survived, equivalent)


def explore_kept(chart: Chart) -> Exploration:
    """Return everything a chart can do, with states told apart by all that small variables hold.

    What nothing reads and has more values than a few is left out: told apart, a count that goes up and up
    would make a state of every number.
    """
    interpreter = Interpreter(chart)
    keeps = abstract_registers(interpreter.machine)

    def is_small(kind: Type) -> bool:
        if isinstance(kind, IntType):
            return kind.high - kind.low <= SMALL_RANGE
        return not isinstance(kind, FloatType)

    kept = [name for name, keep in keeps.items() if keep.drops and is_small(keep.kind)]
    return explore(chart, tracked=kept, interpreter=interpreter)


class _PreparedScenario:
    """A scenario made ready to be run again and again, on one mutant after the other."""

    def __init__(self, chart: Chart, scenario: Scenario) -> None:
        rows = rows_of(scenario, chart)
        self.name = scenario.name
        self.start = rows[0].start if rows else None
        self.ticks: list[tuple[Given, list[tuple[str, Value]]]] = [
            (given(chart, row.inputs), list(row.expected.items())) for row in rows
        ]

    def fails(self, interpreter: Interpreter) -> bool:
        """Return whether a chart does something else than the scenario expects."""
        state = interpreter.initial() if self.start is None else interpreter.snapshot_in(self.start)
        for row, expected in self.ticks:
            try:
                state = TickExecution(interpreter.machine, state).run(*row)
            except PosewrightError:
                return True
            if not all(fits(state, name, wanted) for name, wanted in expected):
                return True
        return False


def _kills(scenarios: Iterable[_PreparedScenario], mutant: Mutant) -> bool:
    """Return whether a mutant fails one of the scenarios; one that cannot even be run fails."""
    try:
        interpreter = Interpreter(mutant.chart)
    except InputError:
        return True
    return any(scenario.fails(interpreter) for scenario in scenarios)


def _data(mutant: Mutant) -> dict[str, PlainData]:
    return {"description": mutant.description, "line": mutant.line, "sort": mutant.kind.value}
