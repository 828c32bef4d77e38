"""Faults in transitions: guard, event, time, target, order, and one left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from posewright.charts.model import ALWAYS, Memory, Target, Transition, else_guard, has_elders
from posewright.charts.mutation.action_faults import action_faults
from posewright.charts.mutation.fault import Fault, Sort
from posewright.charts.mutation.ground import Ground

Transitions = tuple[Transition, ...]


def transition_faults(
    transitions: Transitions, ground: Ground, *, ordered: bool = True
) -> Iterator[Fault[Transitions]]:
    """Yield transitions, or the segments of a junction, with every single fault.

    Args:
        transitions: of one state or junction.
        ground: the chart that they are in.
        ordered: whether it matters which stands first.
    """
    for i, one in enumerate(transitions):
        before, after = transitions[:i], transitions[i + 1 :]
        if len(transitions) > 1:
            yield Fault(Sort.TRANSITION, f"{_name(one)} is left out", one.line, refreshed((*before, *after)))
        if ordered and after and _compete(one, after[0]):
            what = f"{_name(one)} stands after {_name(after[0])}"
            yield Fault(Sort.ORDER, what, one.line, refreshed((*before, after[0], one, *after[1:])))
        for fault in _faults(one, ground):
            made = refreshed((*before, fault.value, *after))
            yield Fault(fault.sort, fault.what, fault.line or one.line, made)


def refreshed(transitions: Transitions) -> Transitions:
    """Return transitions whose `else` denies what stands before it now."""
    made: list[Transition] = []
    for one in transitions:
        if one.is_else:
            where = one.when.source.where
            one = replace(one, when=else_guard(made, one.on, where) if has_elders(made, one.on) else ALWAYS)  # noqa: PLW2901
        made.append(one)
    return tuple(made)


def _compete(one: Transition, other: Transition) -> bool:
    """Return whether it matters which of two transitions stands first: both may be asked at one time."""
    if one.is_else or other.is_else or bool(one.on) != bool(other.on):
        return False
    return not one.on or bool({*one.on} & {*other.on})


def _name(transition: Transition) -> str:
    goals = ", ".join(target.state for target in transition.go)
    return f"the transition{' to ' + goals if goals else ''}"


def _faults(one: Transition, ground: Ground) -> Iterator[Fault[Transition]]:
    if not one.is_else and one.when != ALWAYS:
        for condition in ground.conditions(one.when):
            yield condition.of(replace(one, when=condition.value))
    yield from _goals(one, ground)
    yield from _events(one, ground)
    if one.after_s:
        yield from _waits(one, ground)
    for actions in action_faults(one.do, ground):
        if actions.value or one.go or one.leads_on:
            yield actions.of(replace(one, do=actions.value))
    for segments in transition_faults(one.then, ground):
        yield segments.of(replace(one, then=segments.value))


def _goals(one: Transition, ground: Ground) -> Iterator[Fault[Transition]]:
    for i, target in enumerate(one.go):
        for fault in _targets(target, ground):
            yield fault.of(replace(one, go=(*one.go[:i], fault.value, *one.go[i + 1 :])))
    if one.local:
        yield Fault(Sort.TARGET, f"{_name(one)} leaves the state", one.line, replace(one, local=False))


def _targets(target: Target, ground: Ground) -> Iterator[Fault[Target]]:
    """Yield other targets in place of one."""
    if target.memory is not None:
        yield Fault(Sort.HISTORY, f"{target.state} is entered anew", None, Target(target.state))
        if any(child.states for child in ground.chart.state(target.state).states):
            other = Memory.DEEP if target.memory is Memory.SHALLOW else Memory.SHALLOW
            what = f"the history of {target.state} is {other.value}"
            yield Fault(Sort.HISTORY, what, None, replace(target, memory=other))
        return
    sibling = ground.sibling(target.state)
    if sibling is not None:
        what = f"it goes to {sibling} in place of {target.state}"
        yield Fault(Sort.TARGET, what, None, Target(sibling))


def _events(one: Transition, ground: Ground) -> Iterator[Fault[Transition]]:
    for i, event in enumerate(one.on):
        other = ground.other_event(event)
        if other is not None and other not in one.on:
            on = (*one.on[:i], other, *one.on[i + 1 :])
            yield Fault(
                Sort.EVENT, f"it waits for {other} in place of {event}", one.line, replace(one, on=on)
            )


def _waits(one: Transition, ground: Ground) -> Iterator[Fault[Transition]]:
    for seconds in (one.after_s + ground.period_s, one.after_s - ground.period_s):
        time = max(round(seconds, 9), 0.0)
        what = f"after {one.after_s:g} s becomes after {time:g} s"
        yield Fault(Sort.TIME, what, one.line, replace(one, after_s=time))
