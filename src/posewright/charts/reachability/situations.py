"""Situations: states of a chart that differ at most in counted time, and not so that a tick would notice."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from posewright.charts.machine import Asked, Interpreter, Snapshot
from posewright.charts.reachability.case import SymbolicStep
from posewright.charts.reachability.clocks import Counts, TimerAbstraction
from posewright.charts.reachability.following import Followed, Follower
from posewright.charts.reachability.inputs import InputSpace
from posewright.charts.reachability.keeping import keep_registers
from posewright.charts.reachability.limits import Limits
from posewright.charts.reachability.path import PathCondition, paths
from posewright.charts.types import Value

Rest = tuple[bool, tuple[int, ...], tuple[Value, ...], tuple[tuple[int, ...], ...]]
"""All of a state but its counters: started, configuration, outputs and locals, history."""


@dataclass(frozen=True)
class Onward:
    """What a tick leads to, whatever the counters are.

    Attributes:
        rest: number of what the state is then, its counters aside.
        running: counters that went on.
        answers: to the watched conditions.
        case: the first case that leads there, among those of the situation.
    """

    rest: int
    running: tuple[int, ...]
    answers: tuple[bool, ...]
    case: int


@dataclass(frozen=True, eq=False)
class AbstractState:
    """What can happen in one tick.

    Attributes:
        state: one of the states that it stands for.
        cases: of that state.
        onward: where they lead, each place once.
        leads_to: for each case, which of `onward` it leads to; None where the tick fails.
        whole: whether the cases stand for all inputs.
    """

    state: Snapshot
    cases: tuple[SymbolicStep, ...]
    onward: tuple[Onward, ...]
    leads_to: tuple[int | None, ...]
    whole: bool = True


class AbstractStates:
    """Looks into the situations of a machine, each one once.

    Attributes:
        doubts: in words, why cases may be missing.
    """

    def __init__(
        self,
        interpreter: Interpreter,
        inputs: InputSpace,
        asked: Asked,
        keep: Collection[str],
        limits: Limits,
        *,
        marks: Mapping[str, Collection[Value]] | None = None,
    ) -> None:
        self.interpreter = interpreter
        self.machine = interpreter.machine
        self.inputs = inputs
        self.limits = limits
        self.clocks = TimerAbstraction(self.machine)
        self.keeps = keep_registers(self.machine, asked.conditions, keep, marks)
        self.follower = Follower(self.machine, inputs.axes, self.keeps, asked)
        self.variables = len(self.machine.chart.variables)
        self.coarse = [keep for keep in self.keeps.values() if keep.drops or not keep.single]
        self.rests: list[Rest] = []
        self.rest_numbers: dict[Rest, int] = {}
        self.known: dict[tuple[int, int], AbstractState] = {}
        self.doubts: dict[str, None] = {}
        self.count = 0

    # States and what is told apart of them

    def split(self, state: Snapshot) -> tuple[int, Counts]:
        """Return the number of what a state is, its counters aside, and its counters."""
        values = state.values[: self.variables]
        if self.coarse:
            values = tuple([keep.canonical(v) for keep, v in zip(self.keeps.values(), values, strict=True)])
        rest = (state.started, state.configuration, values, state.history)
        number = self.rest_numbers.setdefault(rest, len(self.rests))
        if number == len(self.rests):
            self.rests.append(rest)
        return number, state.values[self.variables :]  # type: ignore[return-value]  # counters are whole

    def joined(self, rest: int, counts: Counts) -> Snapshot:
        """Return the state that has these two parts."""
        started, configuration, values, history = self.rests[rest]
        return Snapshot(self.machine, started, configuration, (*values, *counts), history)

    def at(self, rest: int, counts: Counts) -> AbstractState:
        """Return the situation of a state."""
        return self.at_number(rest, self.clocks.number(counts))

    def at_number(self, rest: int, number: int) -> AbstractState:
        """Return the situation of a state; its counters by their number."""
        key = (rest, self.clocks.looked[number])
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = self.look(self.joined(rest, self.clocks.every[number]))
        return found

    # What can happen

    def look(self, state: Snapshot) -> AbstractState:
        """Follow every path of a tick."""
        cases: list[SymbolicStep] = []
        whole = True

        def take(path: PathCondition) -> Followed:
            return self.follower.follow(state, path)

        for path, followed in paths(self.inputs, take, self.limits.cases_of_one):
            cases.append(self.case(state, path, followed))
            self.doubts |= dict.fromkeys(f"{state.state}: {doubt}" for doubt in path.doubts)
            whole = whole and not path.doubts
        self.count += len(cases)
        onward, leads_to = self.onward(cases)
        return AbstractState(state, tuple(cases), onward, leads_to, whole)

    def case(self, state: Snapshot, path: PathCondition, followed: Followed) -> SymbolicStep:
        """Return the case that a path shows."""
        inputs, after = path.inputs(), followed.after
        if path.loose and after is not None:
            after = self.interpreter.outcome(state, inputs).after
        return SymbolicStep(inputs, after, followed.taken, followed.raised, followed.error, followed.answers)

    def onward(self, cases: list[SymbolicStep]) -> tuple[tuple[Onward, ...], tuple[int | None, ...]]:
        """Return where cases lead, each place once, and for each case which of these places it is."""
        found: dict[object, int] = {}
        places: list[Onward] = []
        leads_to: list[int | None] = []
        for number, case in enumerate(cases):
            if case.after is None:
                leads_to.append(None)
                continue
            rest, counts = self.split(case.after)
            running = self.clocks.running(counts)
            at = found.setdefault((rest, running, case.answers), len(places))
            if at == len(places):
                places.append(Onward(rest, running, case.answers, number))
            leads_to.append(at)
        return tuple(places), tuple(leads_to)

    def cases_of(self, state: Snapshot) -> tuple[SymbolicStep, ...]:
        """Return the cases of any state."""
        rest, counts = self.split(state)
        situation = self.at(rest, counts)
        own = situation.state.values[self.variables :]
        if own == counts:
            return situation.cases
        return tuple(self.carried(case, counts) for case in situation.cases)

    def carried(self, case: SymbolicStep, counts: Counts) -> SymbolicStep:
        """Return a case with counters as they go on from others."""
        after = case.after
        if after is None:
            return case
        running = self.clocks.running(after.values[self.variables :])  # type: ignore[arg-type]
        values = (*after.values[: self.variables], *self.clocks.onward(counts, running))
        moved = Snapshot(self.machine, after.started, after.configuration, values, after.history)
        return replace(case, after=moved)
