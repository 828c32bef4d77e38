"""A chart with something in it replaced: a state, or every expression."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from posewright.charts.expression import Expression
from posewright.charts.model import Action, Actions, Assign, Branch, Chart, State, Transition
from posewright.charts.types import BoolType, Type

Change = Callable[[Expression, Type], Expression]


def with_state(chart: Chart, changed: State) -> Chart:
    """Return a chart in which the state of that name, wherever it stands, is replaced."""
    parent = chart.parents[changed.name]
    if parent is None:
        return replace(chart, states=_replaced(chart.states, changed))
    around = chart.state(parent)
    return with_state(chart, replace(around, states=_replaced(around.states, changed)))


def _replaced(states: tuple[State, ...], changed: State) -> tuple[State, ...]:
    return tuple(changed if state.name == changed.name else state for state in states)


@dataclass(frozen=True)
class Mapped:
    """Changes every expression of a chart.

    Attributes:
        change: is given an expression and the type of what it is for.
    """

    chart: Chart
    change: Change

    def made(self) -> Chart:
        """Return the changed chart."""
        junctions = {name: self.transitions(one) for name, one in self.chart.junctions.items()}
        return replace(self.chart, states=tuple(map(self.state, self.chart.states)), junctions=junctions)

    def state(self, state: State) -> State:
        """Return a state with every expression changed."""
        return replace(
            state,
            transitions=self.transitions(state.transitions),
            do={name: self.change(one, self.chart.variables[name]) for name, one in state.do.items()},
            entry=self.actions(state.entry),
            during=self.actions(state.during),
            exit=self.actions(state.exit),
            states=tuple(map(self.state, state.states)),
        )

    def transitions(self, transitions: tuple[Transition, ...]) -> tuple[Transition, ...]:
        """Return transitions with every expression changed."""
        return tuple(
            replace(
                one,
                when=one.when if one.is_else else self.change(one.when, BoolType()),
                do=self.actions(one.do),
                then=self.transitions(one.then),
            )
            for one in transitions
        )

    def actions(self, actions: Actions) -> Actions:
        """Return actions with every expression changed."""
        return tuple(map(self.action, actions))

    def action(self, action: Action) -> Action:
        """Return an action with every expression changed."""
        if isinstance(action, Assign):
            kinds = self.chart.variables
            values = {name: self.change(one, kinds[name]) for name, one in action.values.items()}
            return replace(action, values=values)
        if isinstance(action, Branch):
            when = self.change(action.when, BoolType())
            then, otherwise = self.actions(action.then), self.actions(action.otherwise)
            return replace(action, when=when, then=then, otherwise=otherwise)
        return action
