"""What can be wrong with a chart that reads well: each finding comes with the case that shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from posewright.charts.chart import Chart, Kind, Otherwise, Priority, Transition
from posewright.charts.datatypes import BoolType, Numeric, Value
from posewright.charts.exploration import Exploration, View, explore, names_read
from posewright.charts.finding import Counterexample, Finding, Level, Rule, show
from posewright.errors import InputError, Where

LOOKED_THROUGH = 500
"""Cases among which the plainest one is chosen to be shown."""

_ORDER = {Level.ERROR: 0, Level.WARNING: 1, Level.NOTE: 2}


def check_chart(chart: Chart) -> tuple[Finding, ...]:
    """Return what is wrong with a chart, errors first, each with a case that shows it.

    Every state is looked at for every combination of what its guards read. Truth values, names and short
    ranges of whole numbers are tried one and all; longer ranges and fractions at the values where a guard
    changes, beside them and between them, which stands for all of them as long as every comparison is
    linear in one number. Where it is not, or there are too many combinations, a note says `sampled`.
    """
    seen = explore(chart)
    reached = seen.reached
    for state in chart.states:
        if state.name not in reached:
            start = {name: chart.start_outputs()[name] for name in seen.read_outputs}
            seen.view(state.name, seen.registers(start))
    findings = [finding for check in CHECKS for finding in check(seen)]
    return tuple(sorted(findings, key=lambda one: (_ORDER[one.level], one.line or 0)))


def _views(seen: Exploration) -> Iterator[View]:
    for views in seen.views.values():
        yield from views.values()


def _case(seen: Exploration, view: View, where: NDArray[np.bool_] | np.bool_) -> Counterexample:
    """Return the plainest of the points at which `where` is true, as a case."""
    at = min(np.flatnonzero(where)[:LOOKED_THROUGH].tolist(), key=lambda i: _plainness(view.points.at(i)))
    values = view.points.at(at)
    inputs = {name: values.get(name, kind.zero) for name, kind in seen.chart.inputs.items()}
    read = names_read(view.state)
    return Counterexample(view.state.name, inputs, {k: v for k, v in view.registers if k in read})


def _plainness(values: dict[str, Value]) -> int:
    return sum(len(show(value)) + (value is True) for value in values.values())


def unreachable(seen: Exploration) -> Iterator[Finding]:
    """Find states that the chart never comes into."""
    for state in seen.chart.states:
        if state.name in seen.reached:
            continue
        towards = [
            (other.name, transition)
            for other in seen.chart.states
            for transition in other.transitions
            if transition.go == state.name and other.name != state.name
        ]
        reason = "no transition leads there"
        if towards:
            ways = "; ".join(f"from {name} when {transition.when}" for name, transition in towards[:3])
            reason = f"it is never entered ({ways})"
        yield Finding(
            Level.ERROR,
            Rule.UNREACHABLE,
            f"{state.name} cannot be reached from {seen.chart.initial}: {reason}",
            state.name,
            Counterexample(state.name, {}),
            state.line,
        )


def gaps(seen: Exploration) -> Iterator[Finding]:
    """Find states in which, for some inputs, no guard holds, and staying was not said to be meant."""
    done: set[str] = set()
    for view in _views(seen):
        name = view.state.name
        none = ~view.holds.any(axis=0) & ~view.failed.any(axis=0)
        if name in done or not none.any() or seen.chart.otherwise_in(view.state) is Otherwise.STAY:
            continue
        done.add(name)
        case = _case(seen, view, none)
        share = f" ({int(none.sum())} of {view.points.count} cases)" if _countable(seen, view) else ""
        message = f"no transition {case}{share}: add one, or say `otherwise: stay`"
        yield Finding(Level.ERROR, Rule.GAP, message, name, case, view.state.line)


def _countable(seen: Exploration, view: View) -> bool:
    return view.points.grid and all(
        isinstance(seen.chart.inputs[name], BoolType) for name in view.points.axes
    )


def overlaps(seen: Exploration) -> Iterator[Finding]:
    """Find pairs of guards that hold at once; that they then do the same is worth no more than a note."""
    worst: dict[tuple[str, int, int], Finding] = {}
    for view in _views(seen):
        if seen.chart.priority_in(view.state) is Priority.ORDERED:
            continue
        crowded = np.flatnonzero(view.holds.sum(axis=0) > 1)
        involved = np.flatnonzero(view.holds[:, crowded].any(axis=1)).tolist() if crowded.size else []
        for i, j in combinations(involved, 2):
            both = view.holds[i] & view.holds[j]
            key = (view.state.name, i, j)
            if both.any() and (key not in worst or worst[key].level is Level.NOTE):
                worst[key] = _overlap(seen, view, (i, j), both)
    yield from worst.values()


def _overlap(seen: Exploration, view: View, pair: tuple[int, int], both: NDArray[np.bool_]) -> Finding:
    one, other = (view.state.transitions[index] for index in pair)
    differ = both & _differ(view, one, other)
    level, where = (Level.ERROR, differ) if differ.any() else (Level.NOTE, both)
    case = _case(seen, view, where)
    message = f"two guards hold {case}: `{one.when}` (line {one.line}) and `{other.when}` (line {other.line})"
    if level is Level.ERROR:
        message += "; make them exclude each other, or say `priority: ordered`"
    else:
        message += "; both do the same"
    return Finding(level, Rule.OVERLAP, message, view.state.name, case, other.line)


def _differ(view: View, one: Transition, other: Transition) -> NDArray[np.bool_]:
    """Return where two transitions have different effects, `(count,)`."""
    count = view.points.count
    if one.go != other.go:
        return np.ones(count, dtype=bool)
    found = np.zeros(count, dtype=bool)
    for name in one.do.keys() | other.do.keys():
        if name in one.do and name in other.do:
            found |= view.compute(one.do[name]).values != view.compute(other.do[name]).values
        else:
            return np.ones(count, dtype=bool)
    return found


def idle_transitions(seen: Exploration) -> Iterator[Finding]:
    """Find transitions that are never taken: their guard never holds, or an earlier one always wins."""
    for state in seen.chart.states:
        if state.name not in seen.reached or not seen.complete:
            continue
        views = list(seen.views[state.name].values())
        for index, transition in enumerate(state.transitions):
            if (state.name, index) in seen.fired:
                continue
            held = next((view for view in views if view.holds[index].any()), None)
            if held is None:
                message = f"the guard `{transition.when}` never holds in {state.name}"
                yield Finding(Level.WARNING, Rule.NEVER, message, state.name, None, transition.line)
                continue
            case = _case(seen, held, held.holds[index])
            message = f"`{transition.when}` is never taken: an earlier transition always wins, as {case}"
            yield Finding(Level.WARNING, Rule.SHADOWED, message, state.name, case, transition.line)


def faulty_values(seen: Exploration) -> Iterator[Finding]:
    """Find divisions by zero, and outputs set to a value outside their range."""
    done: set[tuple[str, int, Rule]] = set()
    for view in _views(seen):
        for index, transition in enumerate(view.state.transitions):
            earlier = view.holds[:index].any(axis=0)
            for finding in _faults_of(
                seen, view, transition, view.failed[index] & ~earlier, view.holds[index] & ~earlier
            ):
                if (view.state.name, index, finding.rule) not in done:
                    done.add((view.state.name, index, finding.rule))
                    yield finding


def _faults_of(
    seen: Exploration,
    view: View,
    transition: Transition,
    guard_fails: NDArray[np.bool_],
    taken: NDArray[np.bool_],
) -> Iterator[Finding]:
    name, line = view.state.name, transition.line
    values = {output: view.compute(one) for output, one in transition.do.items() if one.names or taken.any()}
    divides = guard_fails.copy()
    for found in values.values():
        divides |= taken & found.failed
    if divides.any():
        case = _case(seen, view, divides)
        yield Finding(Level.ERROR, Rule.DIVISION, f"division by zero {case}", name, case, line)
    for output, found in values.items():
        kind = seen.chart.outputs[output]
        if not isinstance(kind, Numeric):
            continue
        outside = taken & ~found.failed & ~((found.values >= kind.low) & (found.values <= kind.high))
        if outside.any():
            case = _case(seen, view, outside)
            message = f"{output} leaves its range {kind.low:g}..{kind.high:g} {case}"
            yield Finding(Level.ERROR, Rule.RANGE, message, name, case, line)


def unused(seen: Exploration) -> Iterator[Finding]:
    """Find inputs that make no difference, and outputs that nothing sets."""
    chart = seen.chart
    read = frozenset(name for state in chart.states for name in names_read(state))
    for name in chart.inputs:
        if name not in read:
            message = f"the input {name} is read by no guard and no action"
        elif seen.complete and not _matters(seen, name):
            message = f"the input {name} makes no difference in any state"
        else:
            continue
        yield Finding(Level.WARNING, Rule.UNUSED_INPUT, message)
    written = {name for state in chart.states for t in state.transitions for name in t.do}
    if chart.kind is Kind.MOORE:
        written = {name for state in chart.states for name in state.do}
    for name in chart.outputs:
        if name not in written:
            yield Finding(Level.WARNING, Rule.UNUSED_OUTPUT, f"nothing ever sets the output {name}")


def _matters(seen: Exploration, name: str) -> bool:
    """Return whether an input can make a difference, or whether that cannot be told."""
    return any(_matters_in(seen, view, name) for view in _views(seen) if name in view.points.axes)


def _matters_in(seen: Exploration, view: View, name: str) -> bool:
    transitions = view.state.transitions
    computed = any(one.names for transition in transitions for one in transition.do.values())
    timed = any(seen.chart.wait_ticks(view.state, transition) for transition in transitions)
    if computed or timed or not (view.points.grid and view.points.exact):
        return True
    kinds: dict[object, int] = {}
    effects = [
        kinds.setdefault((t.go, tuple((k, v.constant) for k, v in sorted(t.do.items()))), len(kinds))
        for t in transitions
    ]
    first = view.first(list(range(len(transitions))))
    found = np.array([*effects, -1])[first].reshape([len(axis) for axis in view.points.axes.values()])
    along = np.moveaxis(found, list(view.points.axes).index(name), 0)
    return bool((along != along[:1]).any() or view.failed.any())


def sampled(seen: Exploration) -> Iterator[Finding]:
    """Say where the checks looked at some cases only."""
    if not seen.complete:
        message = "the outputs that guards read take too many values to try them all: no proof"
        yield Finding(Level.NOTE, Rule.SAMPLED, message)
    for name, views in seen.views.items():
        view = next((view for view in views.values() if not view.points.exact), None)
        if view is not None:
            message = (
                f"{name} was looked at in {view.points.count} cases that need not stand for all: no proof"
            )
            yield Finding(Level.NOTE, Rule.SAMPLED, message, name, None, view.state.line)


CHECKS: tuple[Callable[[Exploration], Iterator[Finding]], ...] = (
    unreachable,
    gaps,
    overlaps,
    idle_transitions,
    faulty_values,
    unused,
    sampled,
)


def require_sound(chart: Chart) -> None:
    """Refuse a chart that has an error.

    Raises:
        InputError: says the first error with the case that shows it.
    """
    errors = [finding for finding in check_chart(chart) if finding.level is Level.ERROR]
    if errors:
        more = f"; `posewright chart check` shows {len(errors) - 1} more" if len(errors) > 1 else ""
        first = errors[0]
        where = Where(chart.path, first.line) if chart.path or first.line else None
        raise InputError(f"the chart {chart.name} is refused: {first.message}{more}", where=where)
