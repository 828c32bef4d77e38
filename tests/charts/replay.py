"""Runs the trace of a finding from the very start and asks whether it shows what the finding says.

Nothing of the checks is used here: only the interpreter, and a `compute` that looks at what it computes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from posewright.charts import Chart, Finding, Interpreter, Monitor, Rule, Snapshot
from posewright.charts.expression import Expression
from posewright.charts.machine import CompoundTransition, format_promise
from posewright.errors import ExpressionError, InputError


class Computed(NamedTuple):
    """An expression, where its names stood, and what it came to."""

    expression: Expression
    env: dict[str, Any]
    value: Any


class Replay:
    """The last tick of a trace.

    Attributes:
        before: where the chart stood before it.
        after: where it stands after it, None where it failed.
        computed: all that it computed, in order.
    """

    def __init__(self, chart: Chart, finding: Finding) -> None:
        self.chart, self.finding = chart, finding
        self.interpreter = Interpreter(chart)
        self.states = [self.interpreter.initial()]
        self.states += self.interpreter.run(finding.trace[:-1])
        self.before = self.states[-1]
        self.computed: list[Computed] = []
        self.after: Snapshot | None = None
        self.taken: tuple[CompoundTransition, ...] = ()
        self.error: Exception | None = None
        try:
            outcome = self.interpreter.outcome(self.before, finding.trace[-1], self.note)
            self.after, self.taken = outcome.after, outcome.taken_transitions
        except InputError as error:
            self.error = error

    def note(self, expression: Expression, env: dict[str, Any]) -> Any:
        self.computed.append(Computed(expression, dict(env), None))
        value = expression.evaluate(env)
        self.computed[-1] = Computed(expression, self.computed[-1].env, value)
        return value

    @property
    def ways(self) -> tuple[CompoundTransition, ...]:
        """The ways out of the state that the finding is about."""
        return self.interpreter.machine.node(str(self.finding.state)).transitions

    def envs(self) -> list[dict[str, Any]]:
        """Where names stood whenever a guard of the state was asked."""
        guards = {id(guard) for way in self.ways for guard in way.guards}
        return [one.env for one in self.computed if id(one.expression) in guards]

    def holding(self) -> int:
        """The most guards of the state that held at once, as the chart saw them; -1 where none was asked."""
        return max(
            (sum(way.guard.evaluate(env) is True for way in self.ways) for env in self.envs()), default=-1
        )

    def is_in(self, state: str) -> bool:
        """Whether a state is active before or after the last tick, or is left in between."""
        left = {self.interpreter.machine.nodes[way.source].name for way in self.taken}
        return state in left or any(state in one.active for one in (self.before, self.after) if one)


def shows(chart: Chart, finding: Finding) -> bool:
    """Return whether the trace of a finding shows what it says."""
    replay, rule = Replay(chart, finding), finding.rule
    if finding.state is not None and rule is not Rule.CYCLE and not replay.is_in(finding.state):
        return False
    return SHOWN[rule](replay) if rule in SHOWN else True


def is_lost(replay: Replay) -> bool:
    """Whether a guard of the way holds, and another way is taken."""
    lost = [way for way in replay.ways if way.line == replay.finding.line]
    return any(way not in replay.taken for way in lost) and bool(replay.taken)


def has_no_way(replay: Replay) -> bool:
    """Whether no guard holds of what asks for no event, in the state and around it, at the first asking."""
    machine = replay.interpreter.machine
    node = machine.node(str(replay.finding.state))
    ways = [
        way for i in (node.index, *node.ancestors) for way in machine.nodes[i].transitions if not way.events
    ]
    guards = {id(guard) for way in ways for guard in way.guards}
    env = next((one.env for one in replay.computed if id(one.expression) in guards), None)
    quiet = not any(way in ways for way in replay.taken)
    return quiet and (env is None or all(way.guard.evaluate(env) is False for way in ways))


def out_of_range(replay: Replay) -> bool:
    """Whether a value was computed that its variable cannot hold."""
    kinds = replay.chart.variables
    name = replay.finding.message.split()[0]
    return any(
        isinstance(one.value, int | float) and not kinds[name].low <= one.value <= kinds[name].high
        for one in replay.computed
    )


def stays_on(replay: Replay) -> bool:
    """Whether a resource is on at the end."""
    assert replay.after is not None
    name = replay.finding.message.split()[0]
    return replay.after.outputs[name] != replay.chart.outputs[name].default


def stays_where_it_is(replay: Replay) -> bool:
    """Whether nothing moves for a while after the last tick, when the same inputs come again."""
    assert replay.after is not None
    state = replay.after
    for _ in range(50):
        state = replay.interpreter.step(state, replay.finding.trace[-1])
    return str(replay.finding.state) in state.active


def is_unset(replay: Replay) -> bool:
    """Whether an output is still what it is at the very start."""
    assert replay.after is not None
    name = replay.finding.message.removeprefix("nothing has set ").split()[0]
    return replay.after.outputs[name] == replay.chart.outputs[name].default


SHOWN: dict[Rule, Callable[[Replay], bool]] = {
    Rule.OVERLAP: lambda replay: replay.holding() >= 2,
    Rule.GAP: has_no_way,
    Rule.SHADOWED: is_lost,
    Rule.DIVISION: lambda replay: isinstance(replay.error, ExpressionError),
    Rule.CYCLE: lambda replay: "does not end" in str(replay.error),
    Rule.PROMISE: lambda replay: breaks(replay.chart, replay.finding),
    Rule.RANGE: out_of_range,
    Rule.LEFT_ON: stays_on,
    Rule.DEAD_END: stays_where_it_is,
    Rule.OUTPUT_UNSET: is_unset,
}


def breaks(chart: Chart, finding: Finding) -> bool:
    """Whether the promise is kept up to the last tick of the trace, and broken by it."""
    watch, broken = Monitor(chart), []
    for inputs, state in zip(finding.trace, Interpreter(chart).run(finding.trace), strict=True):
        names = [one.promise.name for one in watch.check_tick(inputs, state)]
        broken.append({format_promise(one) for one in chart.promises if one.name in names})
    return any(text in finding.message for text in broken[-1] - set().union(*broken[:-1]))
