"""Mutates a chart and sees how many of its faults the scenarios find."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from posewright.charts.machine import Interpreter
from posewright.charts.model import Chart
from posewright.charts.mutation.fault import Mutant
from posewright.charts.mutation.killing import Trial, trials_of
from posewright.charts.mutation.mutants import mutants
from posewright.charts.mutation.telling import MutantStatus, Teller
from posewright.charts.reachability import Exploration, explore, keep_registers
from posewright.charts.scenarios import Scenario, read_scenario
from posewright.charts.types import FloatType, IntType, Type
from posewright.errors import InputError

SMALL = 16
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

    def data(self) -> dict[str, Any]:
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
    given = [one if isinstance(one, Scenario) else read_scenario(one, chart) for one in scenarios]
    if not given:
        raise InputError("no scenario to find faults with", hint="`chart cover -o FOLDER` writes some")
    trials = trials_of(chart, given)
    every = list(mutants(chart))
    left = [mutant for mutant in every if not kills(trials, mutant)]
    equivalent: tuple[Mutant, ...] = ()
    if left:
        teller = Teller(exploration or explore_kept(chart))
        equivalent = tuple(mutant for mutant in left if teller.tell(mutant).verdict is MutantStatus.ALIKE)
    survived = tuple(mutant for mutant in left if mutant not in equivalent)
    return MutationResult(chart, len(every), len(every) - len(left), survived, equivalent)


def explore_kept(chart: Chart) -> Exploration:
    """Return everything a chart can do, with states told apart by all that small variables hold.

    What nothing reads and has more values than a few is left out: told apart, a count that goes up and up
    would make a state of every number.
    """
    interpreter = Interpreter(chart)
    keeps = keep_registers(interpreter.machine)
    kept = [name for name, keep in keeps.items() if keep.drops and _is_small(keep.kind)]
    return explore(chart, keep=kept, interpreter=interpreter)


def _is_small(kind: Type) -> bool:
    return not isinstance(kind, FloatType) and not (
        isinstance(kind, IntType) and kind.high - kind.low > SMALL
    )


def kills(trials: Iterable[Trial], mutant: Mutant) -> bool:
    """Return whether a mutant fails one of the scenarios; one that cannot even be run fails."""
    try:
        interpreter = Interpreter(mutant.chart)
    except InputError:
        return True
    return any(trial.fails(interpreter) for trial in trials)


def _data(mutant: Mutant) -> dict[str, Any]:
    return {"description": mutant.description, "line": mutant.line, "sort": mutant.sort.value}
