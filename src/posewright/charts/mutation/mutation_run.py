"""Mutation testing of a chart: how many faults its scenarios find."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from posewright.charts.machine import Interpreter, TickExecution
from posewright.charts.model import Chart
from posewright.charts.mutation.distinguish import Distinguisher, MutantStatus
from posewright.charts.mutation.mutants import mutants
from posewright.charts.mutation.mutation import Mutant
from posewright.charts.reachability import Exploration, abstract_registers, explore
from posewright.charts.scenarios import (
    Scenario,
    TickInputs,
    meets_expectation,
    read_scenario,
    rows_of,
    split_events,
)
from posewright.charts.types import FloatType, IntType, Type, Value
from posewright.display import Lines
from posewright.documents import PlainData
from posewright.errors import InputError, PosewrightError

SMALL_RANGE = 16
"""Range of an integer up to which all its values are distinguished."""


@dataclass(frozen=True)
class MutationResult:
    """The result of mutation testing.

    Attributes:
        total: number of mutants.
        killed: number of mutants that fail a scenario.
        survived: mutants that fail none, and are not known to be equivalent to the chart.
        equivalent: mutants that are proved to be equivalent to the chart: no scenario could find them.
    """

    chart: Chart
    total: int
    killed: int
    survived: tuple[Mutant, ...]
    equivalent: tuple[Mutant, ...]

    @property
    def score(self) -> float:
        """The fraction of the faults that can be found that was found, 0..1."""
        n_findable = self.total - len(self.equivalent)
        return self.killed / n_findable if n_findable else 1.0

    def lines(self) -> Lines:
        """Yield the lines of the result for a terminal: the mutants that no scenario found, then counts."""
        for status, mutants_with_status in (
            ("survived", self.survived),
            ("changes nothing", self.equivalent),
        ):
            for mutant in mutants_with_status:
                line_text = "" if mutant.line is None else f" (line {mutant.line})"
                yield f"{status}: {mutant}{line_text}"
        n_findable = self.total - len(self.equivalent)
        counts = f"{self.killed} of {n_findable} faults found ({self.score:.1%}); {self.total} made"
        yield f"{self.chart.name}: {counts}"

    def data(self) -> dict[str, PlainData]:
        """Return the result as plain data for JSON."""
        return {
            "chart": self.chart.name,
            "total": self.total,
            "killed": self.killed,
            "score": self.score,
            "survived": [_mutant_data(mutant) for mutant in self.survived],
            "equivalent": [_mutant_data(mutant) for mutant in self.equivalent],
        }


def mutate_chart(
    chart: Chart, scenarios: Iterable[Scenario | Path | str], *, exploration: Exploration | None = None
) -> MutationResult:
    """Make every mutant of a chart and return how many the scenarios find.

    A mutant is a copy of the chart with one mistake; a scenario finds it if the mutant fails the scenario. A
    mutant that none finds is compared with the chart. If it is proved to be always in the same states with
    the same outputs, it does not count.

    Args:
        chart: passes all the scenarios.
        scenarios: the scenarios of the chart, or paths of their files.
        exploration: an exploration of the chart by `explore_small_variables`, to be reused.

    Raises:
        InputError: there is no scenario, or the chart itself fails one.
    """
    loaded_scenarios = [
        scenario if isinstance(scenario, Scenario) else read_scenario(scenario, chart)
        for scenario in scenarios
    ]
    if not loaded_scenarios:
        raise InputError("no scenario to find faults with", hint="`chart cover -o FOLDER` writes some")
    prepared_scenarios = [_PreparedScenario(chart, scenario) for scenario in loaded_scenarios]
    interpreter = Interpreter(chart)
    for prepared_scenario in prepared_scenarios:
        if prepared_scenario.is_failed_by(interpreter):
            message = f"{chart.name} itself fails the scenario {prepared_scenario.name!r}"
            raise InputError(message, hint="see `chart test`; a scenario must pass before it can find faults")
    all_mutants = list(mutants(chart))
    alive_mutants = [mutant for mutant in all_mutants if not _is_killed(mutant, prepared_scenarios)]
    equivalent: tuple[Mutant, ...] = ()
    if alive_mutants:
        distinguisher = Distinguisher(exploration or explore_small_variables(chart))
        equivalent = tuple(
            mutant
            for mutant in alive_mutants
            if distinguisher.distinguish(mutant).status is MutantStatus.EQUIVALENT
        )
    return MutationResult(
        chart,
        total=len(all_mutants),
        killed=len(all_mutants) - len(alive_mutants),
        survived=tuple(mutant for mutant in alive_mutants if mutant not in equivalent),
        equivalent=equivalent,
    )


def explore_small_variables(chart: Chart) -> Exploration:
    """Explore a chart, and tell states apart by every variable whose type has few values.

    An exploration ignores variables that nothing reads, so that one that only counts up does not make a state
    of every value. Here those with few values are recorded all the same.
    """
    interpreter = Interpreter(chart)
    abstractions = abstract_registers(interpreter.machine)  # of every variable: which values it tells apart
    recorded_names = [
        name
        for name, abstraction in abstractions.items()
        if abstraction.is_unread and _has_few_values(abstraction.value_type)
    ]
    return explore(chart, tracked=recorded_names, interpreter=interpreter)


def _has_few_values(value_type: Type) -> bool:
    """Return whether a type has so few values that an exploration can tell all of them apart."""
    if isinstance(value_type, IntType):
        return value_type.high - value_type.low <= SMALL_RANGE
    return not isinstance(value_type, FloatType)


class _PreparedTick(NamedTuple):
    """One tick of a scenario.

    Attributes:
        inputs_and_events: the arguments of `TickExecution.run`.
        expected_values: the values that are expected after the tick, by name.
    """

    inputs_and_events: TickInputs
    expected_values: Mapping[str, Value]


class _PreparedScenario:
    """A scenario, prepared to be run on one mutant after the other.

    Attributes:
        name: its name.
        start: name of the state in which it starts; None starts before the first tick.
        ticks: inputs and expectations of every tick.
    """

    def __init__(self, chart: Chart, scenario: Scenario) -> None:
        """Convert the rows of a scenario to the arguments of `TickExecution.run`, and to expectations."""
        rows = rows_of(scenario, chart)
        self.name = scenario.name
        self.start = rows[0].start if rows else None
        self.ticks = [_PreparedTick(split_events(chart, row.inputs), row.expected) for row in rows]

    def is_failed_by(self, interpreter: Interpreter) -> bool:
        """Return whether a chart does not meet an expectation of the scenario, or a tick fails."""
        state = interpreter.initial() if self.start is None else interpreter.snapshot_in(self.start)
        for tick in self.ticks:
            try:
                state = TickExecution(interpreter.machine, state).run(*tick.inputs_and_events)
            except PosewrightError:
                return True
            for name, value in tick.expected_values.items():
                if not meets_expectation(state, name, value):
                    return True
        return False


def _is_killed(mutant: Mutant, scenarios: Iterable[_PreparedScenario]) -> bool:
    """Return whether a mutant fails one of the scenarios, or cannot even be run."""
    try:
        interpreter = Interpreter(mutant.chart)
    except InputError:
        return True
    return any(scenario.is_failed_by(interpreter) for scenario in scenarios)


def _mutant_data(mutant: Mutant) -> dict[str, PlainData]:
    return {"description": mutant.description, "line": mutant.line, "sort": mutant.kind.value}
