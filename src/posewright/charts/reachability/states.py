"""What can happen in one tick: the ways in which it can go, for states that a tick cannot tell apart."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

from posewright.charts.expression import Expression
from posewright.charts.machine import (
    MAX_MICROSTEPS,
    CompoundTransition,
    Interpreter,
    Machine,
    Snapshot,
    TickConditions,
    TickExecution,
    every_actions,
)
from posewright.charts.model import Assign, Branch, every_action
from posewright.charts.reachability.abstraction import Abstraction, Counts, TimerAbstraction, keep_registers
from posewright.charts.reachability.conditions import Answer
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
    env: Mapping[str, Any]
    answers: tuple[bool, ...] = ()
    error: PosewrightError | None = None


class FollowedTick(TickExecution):
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

        def compute(expression: Expression, env: dict[str, Any]) -> Any:
            path.work += 1
            return answers[id(expression)](env, path)

        super().__init__(machine, state, compute)
        self.path = path
        self.met: dict[object, tuple[int, int, int]] = {}
        self.ways = [0]

    def settle_raised(self) -> None:
        """Deal with the events in the queue; see `TickExecution`."""
        self.met.clear()
        super().settle_raised()

    def microstep(self, event: str | None) -> bool:
        """Take the transitions that are enabled; see `TickExecution`."""
        moved = super().microstep(event)
        if moved:
            self.ways.append(len(self.taken))
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
        others = set(self.raised[raised:]) & self.machine.heard - {kind} if kind is not None else ()
        if begun == self.microsteps or len(queue) < length or others:
            return
        length = self.microsteps - begun
        while len(self.ways) <= MAX_MICROSTEPS:
            first, last = self.ways[-length - 1], self.ways[-length]
            self.taken += self.taken[first:last]
            self.ways.append(len(self.taken))
        self.refuse_circle()


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
        questions = Questions(axes, types | dict.fromkeys(asked.came, BoolType()))
        self.answers = _answers(machine, questions, keeps)
        self.watched = tuple(questions.condition(one) for one in asked.conditions)

    def answering(self, answers: Mapping[int, Answer]) -> Follower:
        """Return a follower that answers some expressions, by their identity, anew, and watches nothing."""
        other = copy(self)
        other.answers, other.watched = {**self.answers, **answers}, ()
        return other

    def follow(self, state: Snapshot, path: PathCondition) -> Followed:
        """Take one tick along a path."""
        answers = self.answers
        tick = FollowedTick(self.machine, state, path, answers)
        try:
            after = tick.run({}, self.events(tick, path))
            watched = self.watch(tick, path) if self.watched else ()
        except PosewrightError as error:
            return Followed(None, tuple(tick.taken), tuple(tick.raised), tick.env, error=error)
        return Followed(after, tuple(tick.taken), tuple(tick.raised), tick.env, watched)

    def watch(self, tick: TickExecution, path: PathCondition) -> tuple[bool, ...]:
        """Return the answers to what is asked after the tick."""
        env = {**tick.env, **self.asked.standing(tick.moves.active(tick.configuration), tick.raised)}
        return tuple([self.asks(answer, env, path) for answer in self.watched])

    def asks(self, answer: Answer, env: dict[str, Any], path: PathCondition) -> bool:
        """Return an answer after the tick; one that cannot be computed is a doubt."""
        try:
            return bool(answer(env, path))
        except ExpressionError as error:
            path.doubts.append(str(error))
            return False

    def events(self, tick: TickExecution, path: PathCondition) -> Iterator[str]:
        """Yield the events that come, asked for when it is their turn and if something then listens."""
        for event in self.machine.events:
            asked = self.machine.ways_asked.get(event, {})
            if any(leaf in asked for leaf in tick.configuration) and path.holds(event):
                yield event


def _answers(machine: Machine, questions: Questions, keeps: Mapping[str, Abstraction]) -> dict[int, Answer]:
    """Return what answers each expression of a machine; the machine keeps the expressions alive."""
    conditions = [guard for way in machine.ways for guard in way.guards]
    conditions += [counter.condition for counter in machine.counters if counter.condition is not None]
    found = {id(one): questions.condition(one) for one in conditions}
    for actions in every_actions(machine):
        for action in every_action(actions):
            if isinstance(action, Branch):
                found[id(action.when)] = questions.condition(action.when)
            elif isinstance(action, Assign):
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
        whole: whether the cases stand for all inputs.
    """

    state: Snapshot
    cases: tuple[SymbolicStep, ...]
    onward: tuple[Onward, ...]
    leads_to: tuple[int | None, ...]
    whole: bool = True


class Gathered:
    """The steps from a state, while they are gathered.

    Attributes:
        doubts: in words, why steps may be missing.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.steps: list[SymbolicStep] = []
        self.onward: list[Onward] = []
        self.leads_to: list[int | None] = []
        self.doubts: dict[str, None] = {}
        self._numbers: dict[object, int] = {}

    def add(self, step: SymbolicStep, place: tuple[int, tuple[int, ...]] | None) -> None:
        """Note a step, and where it leads: number of what the state is then, and counters that go on."""
        self.steps.append(step)
        if place is None:
            self.leads_to.append(None)
            return
        number = self._numbers.setdefault((*place, step.answers), len(self.onward))
        if number == len(self.onward):
            self.onward.append(Onward(*place, step.answers, len(self.steps) - 1))
        self.leads_to.append(number)

    def doubt(self, doubts: list[str]) -> None:
        """Note why steps may be missing."""
        self.doubts |= dict.fromkeys(f"{self.snapshot.state}: {doubt}" for doubt in doubts)

    def state(self) -> AbstractState:
        """Return all that can happen."""
        steps, onward, leads_to = tuple(self.steps), tuple(self.onward), tuple(self.leads_to)
        return AbstractState(self.snapshot, steps, onward, leads_to, whole=not self.doubts)


class AbstractStates:
    """Looks into the situations of a machine, each one once.

    Attributes:
        doubts: in words, why cases may be missing.
    """

    def __init__(
        self,
        interpreter: Interpreter,
        inputs: InputSpace,
        asked: TickConditions,
        keep: Collection[str],
        *,
        limits: Limits,
        budget: WorkBudget,
        marks: Mapping[str, Collection[Value]] | None = None,
    ) -> None:
        self.interpreter = interpreter
        self.machine = interpreter.machine
        self.inputs = inputs
        self.limits = limits
        self.budget = budget
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
        gathered = Gathered(state)

        def take(path: PathCondition) -> Followed:
            return self.follower.follow(state, path)

        for path, followed in paths(self.inputs, take, self.limits.cases_of_one, self.budget):
            step = self.case(state, path, followed)
            gathered.add(step, None if step.after is None else self.place(step.after))
            gathered.doubt(path.doubts)
        self.doubts |= gathered.doubts
        self.count += len(gathered.steps)
        return gathered.state()

    def place(self, after: Snapshot) -> tuple[int, tuple[int, ...]]:
        """Return the number of what a state is, its counters aside, and the counters that went on."""
        rest, counts = self.split(after)
        return rest, self.clocks.running(counts)

    def case(self, state: Snapshot, path: PathCondition, followed: Followed) -> SymbolicStep:
        """Return the case that a path shows."""
        inputs, after = path.inputs(), followed.after
        if path.loose and after is not None:
            after = self.interpreter.outcome(state, inputs).after
        return SymbolicStep(inputs, after, followed.taken, followed.raised, followed.error, followed.answers)

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
