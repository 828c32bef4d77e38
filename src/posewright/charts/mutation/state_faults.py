"""Faults in a state: its transitions, its actions, where it begins, how long it lasts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from posewright.charts.model import Priority, State, Target
from posewright.charts.mutation.action_faults import action_faults, value_faults
from posewright.charts.mutation.fault import Fault, Sort
from posewright.charts.mutation.ground import Ground
from posewright.charts.mutation.transition_faults import transition_faults


def state_faults(state: State, ground: Ground) -> Iterator[Fault[State]]:
    """Yield a state with every single fault, those inside its children not among them."""
    yield from _actions(state, ground)
    ordered = ground.chart.priority_in(state) is Priority.ORDERED
    for transitions in transition_faults(state.transitions, ground, ordered=ordered):
        yield transitions.of(replace(state, transitions=transitions.value))
    if len(state.transitions) == 1:
        line = state.transitions[0].line
        yield Fault(
            Sort.TRANSITION, f"nothing leads out of {state.name}", line, replace(state, transitions=())
        )
    for initial in initial_faults(state.initial, ground, state.line):
        yield initial.of(replace(state, initial=initial.value))
    if state.min_s:
        yield from _least_times(state, ground)


def initial_faults(
    targets: tuple[Target, ...], ground: Ground, line: int | None
) -> Iterator[Fault[tuple[Target, ...]]]:
    """Yield other targets to begin with."""
    for i, target in enumerate(targets):
        if target.memory is not None:
            other: str | None = target.state
            what, sort = f"{target.state} is entered anew", Sort.HISTORY
        else:
            other = ground.sibling(target.state)
            what, sort = f"it begins in {other} in place of {target.state}", Sort.INITIAL
        if other is not None:
            yield Fault(sort, what, line, (*targets[:i], Target(other), *targets[i + 1 :]))


def _actions(state: State, ground: Ground) -> Iterator[Fault[State]]:
    for one in action_faults(state.entry, ground):
        yield one.of(replace(state, entry=one.value))
    for one in action_faults(state.during, ground):
        yield one.of(replace(state, during=one.value))
    for one in action_faults(state.exit, ground):
        yield one.of(replace(state, exit=one.value))
    for values in value_faults(state.do, ground, state.line):
        yield values.of(replace(state, do=values.value))


def _least_times(state: State, ground: Ground) -> Iterator[Fault[State]]:
    for seconds in (state.min_s + ground.period_s, state.min_s - ground.period_s):
        time = max(round(seconds, 9), 0.0)
        what = f"{state.name} lasts {time:g} s in place of {state.min_s:g} s"
        yield Fault(Sort.TIME, what, state.line, replace(state, min_s=time))
