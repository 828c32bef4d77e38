"""Ways as messages speak of them, and what holds where they may be taken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from posewright.charts.checks.conditions import any_of, condition, differ
from posewright.charts.expression import Binary, Expression, Literal, Name, Operator
from posewright.charts.machine import CompoundTransition, Node
from posewright.charts.model import ALWAYS, Assign, Transition
from posewright.charts.proof import places_in

MAX_QUOTED = 100
"""Characters of a guard that a message quotes."""


def guard_text(way: CompoundTransition) -> str:
    """Return when a way is taken, as it is written: its events, its guards."""
    guard = quoted([segment for segment in way.segments if segment.when != ALWAYS])
    if not way.events:
        return guard
    on = f"on {' or '.join(way.events)}"
    return on if guard == "true" else f"{on} when {guard}"


def quoted(segments: Sequence[Transition]) -> str:
    """Return the guards of segments as a message quotes them."""
    texts = [str(segment.when) for segment in segments]
    if len(texts) > 1:
        texts = [f"({text})" if " or " in text or " if " in text else text for text in texts]
    text = " and ".join(texts) or "true"
    return text if len(text) <= MAX_QUOTED else text[: MAX_QUOTED - 3] + "..."


def lines_text(way: CompoundTransition) -> str:
    """Return the lines of a way's segments."""
    lines = list(dict.fromkeys(str(one.line) for one in way.segments if one.line is not None))
    return f"line{'s' if len(lines) > 1 else ''} {', '.join(lines)}" if lines else "no line"


def shown(way: CompoundTransition) -> str:
    """Return a way as messages show it."""
    return f"`{guard_text(way)}` ({lines_text(way)})"


def waited(way: CompoundTransition) -> tuple[Expression, ...]:
    """Return the condition that a way has waited long enough; none where it need not wait."""
    if not way.wait:
        return ()
    return (condition(Binary(Operator.GREATER_EQUAL, Name(way.since), Literal(way.wait))),)


def divides(guard: Expression) -> bool:
    """Return whether a guard divides; then it may fail where others hold."""
    return any(place.divides for place in places_in(guard.tree))


def groups(ways: Sequence[CompoundTransition]) -> Mapping[str | None, list[CompoundTransition]]:
    """Return the ways that are asked together: by event, and those that are asked at every tick."""
    found: dict[str | None, list[CompoundTransition]] = {}
    for way in ways:
        for event in way.events or (None,):
            found.setdefault(event, []).append(way)
    return found


def events_of(way: CompoundTransition) -> frozenset[str | None]:
    """Return the events at which a way is asked; None stands for every tick."""
    return frozenset(way.events) or frozenset({None})


def outcome_differs(one: CompoundTransition, other: CompoundTransition) -> Expression | bool:
    """Return where two ways do different things: never (False), always (True), or where a condition holds."""
    if one.goals != other.goals or one.domain != other.domain:
        return True
    if one.do == other.do:
        return False
    sets = [way.do[0] for way in (one, other) if len(way.do) == 1]
    if len(sets) < 2 or not all(isinstance(action, Assign) for action in sets):
        return True
    values = [action.values for action in sets if isinstance(action, Assign)]
    if values[0].keys() != values[1].keys():
        return True
    return any_of([differ(value, values[1][name]) for name, value in values[0].items()])


def parting(one: CompoundTransition, other: CompoundTransition) -> tuple[object, ...]:
    """Return the two segments at which two ways of one state part; the same for all that share them."""
    for a, b in zip(one.segments, other.segments, strict=False):
        if a is not b:
            return id(a), id(b)
    return id(one), id(other)


def asked_for(node: Node, machine_nodes: Sequence[Node]) -> list[CompoundTransition]:
    """Return the ways that ask for no event, of a state and of those around it."""
    numbers = (node.index, *node.around)
    return [way for number in numbers for way in machine_nodes[number].ways if not way.events]
