"""Faults in actions: one left out, one that sets another value or raises another event."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from posewright.charts.expression import Expression, shortened
from posewright.charts.model import Action, Actions, Assign, Branch, Raise
from posewright.charts.mutation.fault import Fault, Sort
from posewright.charts.mutation.ground import Ground


def action_faults(actions: Actions, ground: Ground) -> Iterator[Fault[Actions]]:
    """Yield actions with every single fault."""
    for i, action in enumerate(actions):
        for fault in _faults(action, ground):
            yield fault.of((*actions[:i], *fault.value, *actions[i + 1 :]))


def _faults(action: Action, ground: Ground) -> Iterator[Fault[Actions]]:
    if isinstance(action, Assign):
        for values in value_faults(action.values, ground, action.line):
            yield values.of((replace(action, values=values.value),) if values.value else ())
    elif isinstance(action, Raise):
        yield from _raises(action, ground)
    else:
        yield from _branch(action, ground)


def value_faults(
    values: Mapping[str, Expression], ground: Ground, line: int | None
) -> Iterator[Fault[dict[str, Expression]]]:
    """Yield a mapping of values to be set, with every single fault."""
    for name, value in values.items():
        without = {other: one for other, one in values.items() if other != name}
        what = f"{name} is not set to `{shortened(str(value))}`"
        yield Fault(Sort.ACTION, what, value.source.where.line or line, without)
        for fault in ground.values(name, value):
            sort = Sort.VALUE if fault.sort is Sort.CONSTANT else fault.sort
            what = f"{name}: {fault.what}"
            yield Fault(sort, what, fault.line or line, {**values, name: fault.value})


def _raises(action: Raise, ground: Ground) -> Iterator[Fault[Actions]]:
    yield Fault(Sort.ACTION, f"{action.event} is not raised", action.line, ())
    other = ground.other_event(action.event)
    if other is not None:
        what = f"{other} is raised in place of {action.event}"
        yield Fault(Sort.EVENT, what, action.line, (replace(action, event=other),))


def _branch(action: Branch, ground: Ground) -> Iterator[Fault[Actions]]:
    for condition in ground.conditions(action.when):
        yield condition.of((replace(action, when=condition.value),))
    for one in action_faults(action.then, ground):
        yield one.of((replace(action, then=one.value),))
    for one in action_faults(action.otherwise, ground):
        yield one.of((replace(action, otherwise=one.value),))
