"""Goes through everything a small chart can do, one tick after the other, and holds `check_chart` to it.

What is seen in any run must not be denied; where every run was seen, what is never seen must not be proved.
Nothing of the machine, the proofs or the explorations is used: ticks are those of `reference.py`.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from posewright.charts import Chart, Finding, Level, Rule
from posewright.charts.model import Otherwise, Priority
from posewright.charts.types import BoolType, EnumType, IntType, Type

from .reference import Reference, Seen, Way, Where
from .reference_text import FaultError, Text, texts_of

FAULTS = {
    "an operation leaves 32 bits": Rule.OVERFLOW,
    "division by zero": Rule.DIVISION,
    "does not end": Rule.CYCLE,
}
SOME_FRACTIONS = (0.0, 0.3, 0.7, 1.4, 2.0)


@dataclass
class Facts:
    """What was seen of a chart.

    Attributes:
        complete: every run was seen.
        following: of every place, the places that can follow, by inputs.
    """

    complete: bool = True
    overlaps: set[str] = field(default_factory=set)
    differing: set[tuple[str, int | None, int | None]] = field(default_factory=set)
    gaps: set[str] = field(default_factory=set)
    taken: set[tuple[str, tuple[int | None, ...]]] = field(default_factory=set)
    entered: set[str] = field(default_factory=set)
    out_of_range: set[str] = field(default_factory=set)
    overflows: bool = False
    cut_arguments: set[str] = field(default_factory=set)
    broken: set[str] = field(default_factory=set)
    faults: set[str] = field(default_factory=set)
    following: dict[Where, dict[Any, Where | None]] = field(default_factory=dict)
    matter: set[str] = field(default_factory=set)


def facts_of(chart: Chart, most_ticks: int) -> Facts:
    """Go through all that a chart can do, or as much as so many ticks tell."""
    reference, facts = Reference(chart), Facts()
    rows = list(every_row(reference))
    facts.complete = not any(
        not isinstance(kind, BoolType | EnumType | IntType) for kind in chart.inputs.values()
    )
    waiting = deque([reference.start()])
    ticks = 0
    while waiting:
        here = waiting.popleft()
        if here in facts.following:
            continue
        after = facts.following[here] = {}
        answers: dict[Any, Any] = {}
        for inputs, events in rows:
            ticks += 1
            if ticks > most_ticks:
                facts.complete = False
                return facts
            try:
                there, seen = reference.tick(here, inputs, events)
            except FaultError as fault:
                facts.faults.add(str(fault))
                note(facts, fault.seen)
                after[_key(inputs, events)] = None
                answers[_key(inputs, events)] = "fault"
                continue
            note(facts, seen)
            compare(reference, facts, here, (inputs, events), (there, seen))
            after[_key(inputs, events)] = there
            answers[_key(inputs, events)] = (there, tuple(id(w) for w in seen.taken))
            waiting.append(there)
        note_what_matters(facts, rows, answers)
    return facts


def note(facts: Facts, seen: Seen) -> None:
    facts.overlaps |= {name for name, _, _ in seen.overlaps}
    facts.gaps |= seen.gaps
    facts.taken |= {(way.source, prefix) for way in seen.taken for prefix in prefixes(way)}
    facts.entered |= seen.entered
    facts.out_of_range |= {name for name, _ in seen.out_of_range}
    facts.overflows = facts.overflows or bool(seen.overflows)
    facts.cut_arguments |= seen.cut_arguments
    facts.broken |= seen.broken


def compare(reference: Reference, facts: Facts, here: Where, row: Any, was: Any) -> None:
    """Note which of two ways that may both be taken would do something else."""
    for name, one, other in was[1].overlaps:
        key = (name, one.line, other.line)
        if key in facts.differing:
            continue
        results = []
        for way in (one, other):
            reference.forced = {name: way}
            try:
                results.append(reference.tick(here, *row)[0])
            except FaultError as fault:
                results.append(str(fault))
            finally:
                reference.forced = {}
        if results[0] != results[1]:
            facts.differing.add(key)


def note_what_matters(facts: Facts, rows: list[Any], answers: dict[Any, Any]) -> None:
    names = list(rows[0][0])
    for place, name in enumerate(names):
        if name in facts.matter:
            continue
        by_rest: dict[Any, Any] = {}
        for key, answer in answers.items():
            values, events = key
            rest = (values[:place] + values[place + 1 :], events)
            if by_rest.setdefault(rest, answer) != answer:
                facts.matter.add(name)
                break


def _key(inputs: dict[str, Any], events: tuple[str, ...]) -> Any:
    return tuple(inputs.values()), events


def every_row(reference: Reference) -> Iterator[tuple[dict[str, Any], tuple[str, ...]]]:
    """Yield all inputs with all events, as far as the chart mentions them; others are as they first are."""
    chart, mentioned = reference.chart, names_in(reference)
    cells = [
        every_value(kind) if name in mentioned else [kind.default] for name, kind in chart.inputs.items()
    ]
    heard = [event for event in chart.events if event in reference.heard or event in mentioned]
    for values in product(*cells):
        for which in product((False, True), repeat=len(heard)):
            events = tuple(event for event, comes in zip(heard, which, strict=True) if comes)
            yield dict(zip(chart.inputs, values, strict=True)), events


def every_value(kind: Type) -> list[Any]:
    if isinstance(kind, BoolType):
        return [False, True]
    if isinstance(kind, EnumType):
        return list(kind.values)
    if isinstance(kind, IntType):
        return list(range(kind.low, kind.high + 1))
    return [one for one in SOME_FRACTIONS if kind.low <= one <= kind.high]


def names_in(reference: Reference) -> set[str]:
    texts = [str(p.when) for p in reference.chart.promises] + [
        str(p.goal) for p in reference.chart.promises if p.goal
    ]
    for name, state in reference.states.items():
        segments = [s for way in reference.ways[name] for s in way.segments]
        texts += [str(s.when) for s in segments if not s.is_else] + [str(v) for v in state.do.values()]
        texts += [
            t for a in (state.entry, state.during, state.exit, *(s.do for s in segments)) for t in texts_of(a)
        ]
    return {n.id for text in set(texts) for n in ast.walk(Text.parsed(text)) if isinstance(n, ast.Name)}


# -- what the check says, held against what was seen


def disagreements(chart: Chart, findings: list[Finding], facts: Facts) -> Iterator[str]:
    """Yield where a check and what was seen contradict each other."""
    told = {rule: [f for f in findings if f.rule is rule] for rule in Rule}
    open_in = {f.state for f in told[Rule.NOT_PROVED]}

    def is_open(state: str | None = None) -> bool:
        return bool(told[Rule.NOT_PROVED]) if state is None else bool({state, None} & open_in)

    reference = Reference(chart)
    yield from of_overlaps(reference, told, facts, is_open)
    yield from of_ways(reference, told, facts, is_open)
    for name in facts.out_of_range | facts.cut_arguments:
        if not any(name in leaving(f) for f in told[Rule.RANGE]) and not is_open():
            yield f"{name} leaves its range, and nothing is said"
    for f in told[Rule.RANGE]:
        if facts.complete and f.proved and not leaving(f) & (facts.out_of_range | facts.cut_arguments):
            yield f"{f.message}: it never does"
    happened = facts.faults | ({"an operation leaves 32 bits"} if facts.overflows else set())
    for fault, rule in FAULTS.items():
        if fault in happened and not told[rule] and not is_open():
            yield f"{fault}, and nothing is said"
        if facts.complete and fault not in happened and any(f.proved for f in told[rule]):
            yield f"{told[rule][0].message}: it never happens"
    yield from of_promises(chart, told, facts, is_open)
    for f in told[Rule.UNUSED_INPUT]:
        if f.message.split()[0] in facts.matter:
            yield f"{f.message}: it makes a difference"


def leaving(finding: Finding) -> set[str]:
    """Return which variable, or the parameter of which function, is said to leave its range."""
    words = finding.message.split()
    return {words[4] if words[:2] == ["the", "parameter"] else words[0]}


def of_promises(chart: Chart, told: Any, facts: Facts, is_open: Any) -> Iterator[str]:
    for promise in chart.promises:
        broken = [f for f in told[Rule.PROMISE] if f.line == promise.line]
        if promise.name in facts.broken and not broken and not is_open():
            yield f"{promise.name} is broken, and nothing is said"
        if facts.complete and promise.name not in facts.broken and any(f.proved for f in broken):
            yield f"{promise.name} is said to be broken, and never is"


def of_overlaps(reference: Reference, told: Any, facts: Facts, is_open: Any) -> Iterator[str]:
    chart = reference.chart
    for name, state in reference.states.items():
        if chart.priority_in(state) is Priority.EXCLUSIVE:
            found = [f for f in told[Rule.OVERLAP] if f.state == name]
            if name in facts.overlaps and not found and not is_open(name):
                yield f"two guards of {name} hold at once, and nothing is said"
            if facts.complete and name not in facts.overlaps and any(f.proved for f in found):
                yield f"two guards of {name} are said to hold at once, and never do"
            lines = {one[2] for one in facts.differing if one[0] == name}
            for f in found:
                if (
                    f.level is Level.NOTE
                    and f.line in lines
                    and not any(g.level is Level.ERROR and g.line == f.line for g in found)
                ):
                    yield f"{name}, line {f.line}: {f.message}, yet they do not"
        if chart.otherwise_in(state) is Otherwise.REFUSE:
            found = [f for f in told[Rule.GAP] if f.state == name]
            if name in facts.gaps and not found and not is_open(name):
                yield f"no guard of {name} holds, and nothing is said"
            if (
                facts.complete
                and name not in facts.gaps
                and any(f.proved and f.level is Level.ERROR for f in found)
            ):
                yield f"no guard of {name} is said to hold, and one always does"


def of_ways(reference: Reference, told: Any, facts: Facts, is_open: Any) -> Iterator[str]:
    unreachable = {f.state for f in told[Rule.UNREACHABLE]}
    idle = {(f.state, f.line) for f in told[Rule.NEVER] + told[Rule.SHADOWED] if f.proved}
    for name in reference.states:
        if name in facts.entered and name in unreachable:
            yield f"{name} is entered, and is said not to be"
        outer = {name, *reference.around(name)}
        sure = facts.complete and not reference.asked_history  # else a default counts as entered
        if sure and name not in facts.entered and not outer & unreachable and not is_open(name):
            yield f"{name} is never entered, and nothing is said"
    for name, line in idle:
        ways = {prefix for way in reference.ways[str(name)] for prefix in prefixes(way) if prefix[-1] == line}
        if all((name, prefix) in facts.taken for prefix in ways):
            yield f"the transition of {name} in line {line} is taken, and is said not to be"
    for f in told[Rule.DEAD_END]:
        if (
            facts.complete
            and f.proved
            and not any(is_trap(facts, here, str(f.state)) for here in facts.following)
        ):
            yield f"{f.state} is said never to be left, and always can be"


def prefixes(way: Way) -> list[tuple[int | None, ...]]:
    lines = tuple(one.line for one in way.segments)
    return [lines[: i + 1] for i in range(len(lines))]


def is_trap(facts: Facts, start: Where, state: str) -> bool:
    """Return whether a state that is active somewhere stays so whatever comes."""
    if state not in start.active:
        return False
    met, waiting = {start}, [start]
    while waiting:
        for there in facts.following[waiting.pop()].values():
            if there is not None and there not in met:
                if state not in there.active:
                    return False
                met.add(there)
                waiting.append(there)
    return True
