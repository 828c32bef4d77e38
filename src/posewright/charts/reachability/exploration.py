"""An exploration: every state that a chart can come into, and every way in which a tick can go there."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from posewright.charts.expression import Expression
from posewright.charts.machine import CompoundTransition, Interpreter, Machine, Snapshot, TickConditions
from posewright.charts.model import Chart
from posewright.charts.proof import SolverBudget
from posewright.charts.reachability.abstraction import keep_registers
from posewright.charts.reachability.graph import ReachabilityGraph
from posewright.charts.reachability.limits import USUAL, Limits, WorkBudget
from posewright.charts.reachability.path import InputSpace
from posewright.charts.reachability.states import AbstractStates, SymbolicStep
from posewright.charts.types import Value
from posewright.errors import InputError


@dataclass(frozen=True, eq=False)
class Exploration:
    """What a chart can do.

    States are told apart as far as that can make a difference: what nothing reads is as at the start, and
    of numbers that are only compared with constants one stands for all that compare alike. `same` gives
    the state that stands for another.

    Attributes:
        watching: conditions whose answers every case has, as they were handed in.
        graph: how the states were reached, and what follows on each.
        reasons: in words, why the exploration is not complete; none where it is.
    """

    interpreter: Interpreter
    watching: tuple[Expression, ...]
    state_space: AbstractStates
    graph: ReachabilityGraph
    reasons: tuple[str, ...] = ()

    @property
    def chart(self) -> Chart:
        """What was explored."""
        return self.interpreter.chart

    @property
    def machine(self) -> Machine:
        """The machine of the chart."""
        return self.interpreter.machine

    @property
    def complete(self) -> bool:
        """Whether every case of every reached state was followed, and the cases stand for all inputs."""
        return not self.reasons

    @cached_property
    def reached(self) -> tuple[Snapshot, ...]:
        """The states reached, breadth first, the one before the first tick first.

        States that differ in nothing but the time they have lasted may be many; see `situations`.
        """
        return tuple(self.state_space.joined(*place) for place in self.graph.places)

    @cached_property
    def situations(self) -> tuple[Snapshot, ...]:
        """One reached state for all those that differ in counted time only, and go the same ways now.

        Whoever asks what can happen in a tick need not look at more.
        """
        return tuple(situation.state for situation in self.graph.distinct)

    def blurred(self, names: Collection[str]) -> frozenset[str]:
        """Return those of some outputs and locals whose values were not told apart, each for itself.

        Whoever compares what they hold, as in `{o: p}` and `{o: q}`, learns nothing from the explored states.
        """
        keeps = self.state_space.abstractions
        return frozenset(one for one in names if one in keeps and (keeps[one].drops or not keeps[one].single))

    def same(self, state: Snapshot) -> Snapshot:
        """Return the state that stands for another, whether reached or not."""
        return self.state_space.joined(*self.state_space.split(state))

    def cases(self, state: Snapshot) -> tuple[SymbolicStep, ...]:
        """Return all ways in which a tick can go, from any state of the chart."""
        return self.state_space.cases_of(state)

    def trace_to(self, state: Snapshot) -> tuple[Mapping[str, Value], ...]:
        """Return the shortest rows of inputs that lead from the very start to a state.

        Raises:
            InputError: the state was not reached.
        """
        number = self.number(state)
        if number is None:
            raise InputError(f"{state!r} was not reached", hint="ask for one of `reached`")
        return self.trace(number)

    def number(self, state: Snapshot) -> int | None:
        """Return the number of the node that a state is; None where it was not reached."""
        return self.graph.numbers.get(self.state_space.split(state))

    def trace(self, number: int) -> tuple[Mapping[str, Value], ...]:
        """Return the shortest rows of inputs that lead to one of the reached states."""
        return self.graph.trace(number)

    @cached_property
    def taken(self) -> Mapping[CompoundTransition, tuple[Snapshot, SymbolicStep]]:
        """For each way that can be taken, the first state and the first case in which it is."""
        found: dict[CompoundTransition, tuple[Snapshot, SymbolicStep]] = {}
        for situation in self.graph.distinct:
            for case in situation.cases:
                for way in case.taken:
                    found.setdefault(way, (situation.state, case))
        return found


def explore(
    chart: Chart,
    *,
    watching: Sequence[Expression] = (),
    tracked: Collection[str] = (),
    marks: Mapping[str, Collection[Value]] | None = None,
    limits: Limits = USUAL,
    interpreter: Interpreter | None = None,
    solver_budget: SolverBudget | None = None,
    budget: WorkBudget | None = None,
) -> Exploration:
    """Return everything that a chart can do.

    Every tick is run by the interpreter's own rules, with inputs of which nothing is known but what the
    conditions on the way have asked: each answer that is possible is followed. Registers have their values.

    Args:
        chart: what to explore.
        watching: conditions over inputs, events, outputs, locals and `in(...)`, asked after every tick; every
            case has the answers.
        tracked: outputs and locals to tell apart by their value even where nothing reads them.
        marks: values of outputs and locals that are tried at any rate, where not all inputs can be.
        limits: how far to go.
        interpreter: of the chart, where there is one already.
        solver_budget: effort of proving that is shared with others who ask about the chart.
        budget: work that is shared with other explorations.
    """
    interpreter = interpreter or Interpreter(chart)
    asked = TickConditions(interpreter.machine, watching)
    inputs, budget = InputSpace.of(chart, solver_budget), budget or WorkBudget(limits)
    keeps = keep_registers(interpreter.machine, asked.conditions, tracked, marks)
    looked = AbstractStates(interpreter, inputs, asked, keeps, limits=limits, budget=budget)
    graph = ReachabilityGraph(looked)
    graph.explore([looked.split(interpreter.initial())], limits)
    reasons = (*looked.doubts, graph.stopped) if graph.stopped else tuple(looked.doubts)
    return Exploration(interpreter, tuple(watching), looked, graph, reasons)
