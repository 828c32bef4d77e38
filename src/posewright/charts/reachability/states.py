"""What can happen in one tick: the ways in which it can go, for states that a tick cannot tell apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, replace

from posewright.charts.expression import Expression
from posewright.charts.machine import (
    MAX_MICROSTEPS,
    CompoundTransition,
    Interpreter,
    Machine,
    Snapshot,
    TickConditions,
    TickExecution,
)
from posewright.charts.reachability.abstraction import (
    Abstraction,
    Counts,
    TimerAbstraction,
    assignments_of,
    conditions_of,
)
from posewright.charts.reachability.conditions import Answer, Registers
from posewright.charts.reachability.domain import Domain
from posewright.charts.reachability.limits import MANY_MICROSTEPS, Limits, WorkBudget
from posewright.charts.reachability.path import InputSpace, PathCondition, paths
from posewright.charts.reachability.questions import Questions
from posewright.charts.types import BoolType, Type, Value
from posewright.errors import ExpressionError, PosewrightError


@dataclass(frozen=True, eq=False)
class SymbolicStep:
    """One of the ways in which a tick can go: the inputs it stands for all do the same.

    Attributes:
        inputs: of these, the plainest: every input, and every event as true or false; ready to step with.
        after: where the chart stands after these inputs; None where the tick fails.
        taken: ways that are taken, in order.
        raised: events that are raised inside, in order.
        error: why the tick fails: a division by zero, or no end to it.
        answers: what the watched conditions are after the tick, in their order; none where it fails.
    """

    inputs: Mapping[str, Value]
    after: Snapshot | None
    taken: tuple[CompoundTransition, ...]
    raised: tuple[str, ...] = ()
    error: PosewrightError | None = None
    answers: tuple[bool, ...] = ()


@dataclass(frozen=True)
class Followed:
    """Where a tick came to along one path.

    Attributes:
        after: where the chart stands; None where the tick failed.
        env: what every name was at the end, inputs aside.
        answers: to the conditions that are asked after every tick.
    """

    after: Snapshot | None
    taken: tuple[CompoundTransition, ...]
    raised: tuple[str, ...]
    env: Mapping[str, Value]
    answers: tuple[bool, ...] = ()
    error: PosewrightError | None = None


class _FollowedTick(TickExecution):
    """A tick that notices at once when it goes round in a circle, as the interpreter does in the end.

    Where it comes back to where it was, and no input was asked for in between, it comes back for ever. So it
    does where it comes back with more of the only event in the queue: that is never found empty on the way.

    Attributes:
        met: for where the tick stood: after how many microsteps, how many events the queue held then, and how
            many had been raised.
        ways: how many ways had been taken after each microstep.
    """

    def __init__(
        self, machine: Machine, state: Snapshot, path: PathCondition, answers: Mapping[int, Answer]
    ) -> None:

        def compute(expression: Expression, env: Registers) -> Value:
            path.work += 1
            return answers[id(expression)](env, path)

        super().__init__(machine, state, compute)
        self.path = path
        self.met: dict[object, tuple[int, int, int]] = {}
        self.ways = [0]

    def process_queue(self) -> None:
        self.met.clear()
        super().process_queue()

    def microstep(self, event: str | None) -> bool:
        moved = super().microstep(event)
        if moved:
            self.ways.append(len(self.taken_transitions))
            if self.microsteps > MANY_MICROSTEPS:
                self.look_round()
        return moved

    def look_round(self) -> None:
        """Give up where the tick has come back."""
        values, queue = tuple(self.env.values()), tuple(self.queue)
        kind = queue[0] if len(set(queue)) == 1 else None
        held = queue if kind is None else kind
        standing = self.configuration, self.history, values, held, self.stayed, len(self.path.choices)
        begun, length, raised = self.met.setdefault(standing, (self.microsteps, len(queue), len(self.raised)))
        others = set(self.raised[raised:]) & self.machine.handled_events - {kind} if kind is not None else ()
        if begun == self.microsteps or len(queue) < length or others:
            return
        length = self.microsteps - begun
        while len(self.ways) <= MAX_MICROSTEPS:
            first, last = self.ways[-length - 1], self.ways[-length]
            self.taken_transitions += self.taken_transitions[first:last]
            self.ways.append(len(self.taken_transitions))
        self.fail_endless()


class Follower:
    """Runs ticks of a machine in which the inputs are known only as far as the path says.

    Args:
        machine: what is run.
        axes: the values of every input and event.
        keeps: how registers are kept.
        asked: conditions that are asked after every tick.
    """

    def __init__(
        self,
        machine: Machine,
        axes: Mapping[str, Domain],
        keeps: Mapping[str, Abstraction],
        asked: TickConditions,
    ) -> None:
        self.machine = machine
        self.asked = asked
        types: dict[str, Type] = {**machine.types, **{name: axis.kind for name, axis in axes.items()}}
        questions = Questions(axes, types | dict.fromkeys(asked.raised_names, BoolType()))
        self.answers = _answers(machine, questions, keeps)
        self.watched = tuple(questions.condition(one) for one in asked.conditions)

    def answering(self, answers: Mapping[int, Answer]) -> Follower:
        """Return a follower that answers some expressions, by their identity, anew, and watches nothing."""
        other = copy(self)
        other.answers, other.watched = {**self.answers, **answers}, ()
        return other

    def follow(self, state: Snapshot, path: PathCondition) -> Followed:
        """Take one tick along a path."""
        tick = _FollowedTick(self.machine, state, path, self.answers)
        try:
            after = tick.run({}, self.events(tick, path))
            watched = self._watch(tick, path) if self.watched else ()
        except PosewrightError as error:
            return Followed(None, tuple(tick.taken_transitions), tuple(tick.raised), tick.env, error=error)
        return Followed(after, tuple(tick.taken_transitions), tuple(tick.raised), tick.env, watched)

    def _watch(self, tick: TickExecution, path: PathCondition) -> tuple[bool, ...]:
        """Return the answers to what is asked after the tick."""
        env = {
            **tick.env,
            **self.asked.evaluate_names(tick.planner.active_nodes(tick.configuration), tick.raised),
        }
        return tuple([_asks(answer, env, path) for answer in self.watched])

    def events(self, tick: TickExecution, path: PathCondition) -> Iterator[str]:
        """Yield the events that come, asked for when it is their turn and if something then listens."""
        for event in self.machine.events:
            asked = self.machine.transitions_by_event.get(event, {})
            if any(leaf in asked for leaf in tick.configuration) and path.holds(event):
                yield event


def _asks(answer: Answer, env: Registers, path: PathCondition) -> bool:
    """Return an answer after the tick; one that cannot be computed is a doubt."""
    try:
        return bool(answer(env, path))
    except ExpressionError as error:
        path.doubts.append(str(error))
        return False


def _answers(machine: Machine, questions: Questions, keeps: Mapping[str, Abstraction]) -> dict[int, Answer]:
    """Return what answers each expression of a machine; the machine keeps the expressions alive."""
    found = {id(one): questions.condition(one) for one in conditions_of(machine)}
    for action in assignments_of(machine):
        for name, value in action.values.items():
            found[id(value)] = questions.value(value, keeps[name])
    return found


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
        doubts: in words, why steps may be missing.
    """

    state: Snapshot
    cases: tuple[SymbolicStep, ...]
    onward: tuple[Onward, ...]
    leads_to: tuple[int | None, ...]
    doubts: Mapping[str, None]

    @property
    def whole(self) -> bool:
        """Whether the cases stand for all inputs."""
        return not self.doubts


def gathered(
    state: Snapshot, ways: Iterable[tuple[PathCondition, SymbolicStep, tuple[int, tuple[int, ...]] | None]]
) -> AbstractState:
    """Return what can happen in a state.

    Args:
        state: where all begins.
        ways: every path with its step, and where that leads: the number of what the state is then, and the
            counters that go on; None where nothing follows.
    """
    steps: list[SymbolicStep] = []
    onward: list[Onward] = []
    leads_to: list[int | None] = []
    doubts: dict[str, None] = {}
    numbers: dict[object, int] = {}
    for path, step, place in ways:
        number = None
        if place is not None:
            number = numbers.setdefault((*place, step.answers), len(onward))
            if number == len(onward):
                onward.append(Onward(*place, step.answers, len(steps)))
        steps.append(step)
        leads_to.append(number)
        doubts |= dict.fromkeys(f"{state.state}: {doubt}" for doubt in path.doubts)
    return AbstractState(state, tuple(steps), tuple(onward), tuple(leads_to), doubts)


class AbstractStates:
    """Looks into the situations of a machine, each one once.

    Args:
        interpreter: of the machine.
        inputs: all that may come in.
        asked: conditions that are asked after every tick.
        keeps: how outputs and locals are kept; as `keep_registers` says.
        limits: how far to go.
        budget: the work that may be done.

    Attributes:
        doubts: in words, why cases may be missing.
    """

    def __init__(
        self,
        interpreter: Interpreter,
        inputs: InputSpace,
        asked: TickConditions,
        keeps: Mapping[str, Abstraction],
        *,
        limits: Limits,
        budget: WorkBudget,
    ) -> None:
        self.interpreter = interpreter
        self.machine = interpreter.machine
        self.inputs = inputs
        self.limits = limits
        self.budget = budget
        self.clocks = TimerAbstraction(self.machine)
        self.abstractions = keeps
        self.follower = Follower(self.machine, inputs.axes, self.abstractions, asked)
        self.variables = len(self.machine.chart.variables)
        self.coarse = [keep for keep in self.abstractions.values() if keep.drops or not keep.single]
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
            values = tuple(
                [keep.canonical(v) for keep, v in zip(self.abstractions.values(), values, strict=True)]
            )
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
        found = gathered(state, self._ways(state))
        self.doubts |= found.doubts
        self.count += len(found.cases)
        return found

    def _ways(
        self, state: Snapshot
    ) -> Iterator[tuple[PathCondition, SymbolicStep, tuple[int, tuple[int, ...]] | None]]:
        def take(path: PathCondition) -> Followed:
            return self.follower.follow(state, path)

        for path, one in paths(self.inputs, take, self.limits.cases_of_one, self.budget):
            inputs, after, place = path.inputs(), one.after, None
            if path.loose and after is not None:
                after = self.interpreter.outcome(state, inputs).after
            if after is not None:
                rest, counts = self.split(after)
                place = rest, self.clocks.running(counts)
            yield path, SymbolicStep(inputs, after, one.taken, one.raised, one.error, one.answers), place

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
