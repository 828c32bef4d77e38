"""Follows one tick of a machine along a path; the tick itself is the one that the interpreter takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from posewright.charts.machine import Asked, CompoundTransition, Machine, Snapshot, Tick, every_actions
from posewright.charts.model import Assign, Branch, every_action
from posewright.charts.reachability.axis import Domain
from posewright.charts.reachability.conditions import Answer
from posewright.charts.reachability.keeping import Abstraction
from posewright.charts.reachability.path import PathCondition
from posewright.charts.reachability.questions import Questions
from posewright.charts.types import BoolType, Type
from posewright.errors import ExpressionError, PosewrightError


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
        asked: Asked,
    ) -> None:
        self.machine = machine
        self.asked = asked
        types: dict[str, Type] = {**machine.types, **{name: axis.kind for name, axis in axes.items()}}
        questions = Questions(axes, types | dict.fromkeys(asked.came, BoolType()))
        self.answers = _answers(machine, questions, keeps)
        self.watched = tuple(questions.condition(one) for one in asked.conditions)

    def follow(self, state: Snapshot, path: PathCondition) -> Followed:
        """Take one tick along a path."""
        answers = self.answers
        tick = Tick(self.machine, state, lambda expression, env: answers[id(expression)](env, path))
        try:
            after = tick.run({}, self.events(tick, path))
            watched = self.watch(tick, path) if self.watched else ()
        except PosewrightError as error:
            return Followed(None, tuple(tick.taken), tuple(tick.raised), tick.env, error=error)
        return Followed(after, tuple(tick.taken), tuple(tick.raised), tick.env, watched)

    def watch(self, tick: Tick, path: PathCondition) -> tuple[bool, ...]:
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

    def events(self, tick: Tick, path: PathCondition) -> Iterator[str]:
        """Yield the events that come, asked for when it is their turn and if something then listens."""
        asked = self.machine.ways_asked
        for event in self.machine.events:
            if any((leaf, event) in asked for leaf in tick.configuration) and path.holds(event):
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
