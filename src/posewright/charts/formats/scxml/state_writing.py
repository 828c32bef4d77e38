"""States and transitions of a chart to those of a document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from posewright.charts.expression import Expression, constant
from posewright.charts.formats.scxml.act_writing import ActWriter, act_writer
from posewright.charts.formats.scxml.moore import DEFAULT, MOORE
from posewright.charts.formats.scxml.names import Names
from posewright.charts.formats.scxml.namespaces import own
from posewright.charts.formats.scxml.python_text import python_guard
from posewright.charts.formats.scxml.states import WHOLE
from posewright.charts.formats.scxml.tags import Tag, yes
from posewright.charts.model import (
    DONE,
    Actions,
    Chart,
    Kind,
    Memory,
    State,
    Target,
    Transition,
    assign,
    segments_of,
    walk,
)


@dataclass
class StateWriter:
    """Writes the states of one chart.

    Attributes:
        tick: the event that asks transitions without an event once; None asks them again and again.
        names: gives out ids of histories.
        histories: every history that something leads to, and its id.
    """

    chart: Chart
    tick: str | None
    acts: ActWriter = field(init=False)
    names: Names = field(init=False)
    histories: dict[Target, str] = field(init=False)

    def __post_init__(self) -> None:
        self.acts = act_writer(self.chart)
        self.names = Names(self.chart.state_names)
        self.histories = {}
        for target in _targets_of(self.chart):
            if target.memory is not None and target not in self.histories:
                kind = "history" if target.memory is Memory.SHALLOW else "deep_history"
                self.histories[target] = self.names.take_state(f"{target.state}_{kind}")

    def targets(self, targets: Iterable[Target]) -> str | None:
        """Return targets as a document lists them; None where there are none."""
        return " ".join(self.histories.get(one, one.state) for one in targets) or None

    def state(self, state: State) -> Tag:
        """Return a state with all that is inside it."""
        name = "parallel" if state.parallel else "final" if state.final else "state"
        initial = self.targets(state.initial)
        attributes = {
            "id": state.name,
            "initial": None if state.parallel else initial,
            own("enters"): initial if state.parallel else None,
            own("min_s"): repr(state.min_s) if state.min_s else None,
            own("priority"): state.priority and state.priority.value,
            own("otherwise"): state.otherwise and state.otherwise.value,
            own("description"): state.description or None,
        }
        return Tag(name, attributes, tuple(self.inside(state)))

    def inside(self, state: State) -> Iterator[Tag]:
        """Yield what is in a state: its transitions, then its actions, then the states inside."""
        for transition in state.transitions:
            yield self.transition(transition, state)
        if self.chart.kind is Kind.MOORE:
            yield self.moore(state)
        yield from self._block("onentry", state.entry)
        yield from self._block(own("during"), state.during)
        yield from self._block("onexit", state.exit)
        for target, name in self.histories.items():
            if target.state == state.name:
                yield self.history(state, target, name)
        for child in state.states:
            yield self.state(child)

    def _block(self, name: str, actions: Actions) -> Iterator[Tag]:
        if actions:
            yield Tag(name, {}, tuple(self.acts.actions(actions)))

    def moore(self, state: State) -> Tag:
        """Return the block that sets all outputs of a Moore state."""
        values: dict[str, Expression] = {
            name: constant(value) for name, value in self.chart.start_outputs().items()
        }
        tags = []
        for name, value in {**values, **state.do}.items():
            (tag,) = self.acts.actions(assign({name: value}))
            tags.append(Tag("assign", {**tag.attributes, DEFAULT: yes(name not in state.do)}))
        return Tag("onentry", {MOORE: "true"}, tuple(tags))

    def history(self, state: State, target: Target, name: str) -> Tag:
        """Return the <history> that stands for what was last active in a state."""
        deep = target.memory is Memory.DEEP
        inside = [child.name for child in state.states]
        first = [one.state for one in state.initial] or inside
        if any(one.memory is not None for one in state.initial):
            first = inside if state.parallel else inside[:1]
        plain = " ".join(target.default or first)
        attributes = {
            "id": name,
            "type": "deep" if deep else "shallow",
            own("default"): None if target.default else WHOLE,
        }
        return Tag("history", attributes, (Tag("transition", {"target": plain}),))

    def transition(self, transition: Transition, source: State | None = None) -> Tag:
        """Return a transition of a state, or a way on from a junction."""
        name = "transition" if source is not None else own("way")
        min_s = source.min_s if source is not None and (transition.go or transition.leads_on) else 0.0
        wait_s = max(min_s, transition.after_s)
        guard = python_guard(transition.when, wait_s, self.acts.scope.values)
        ours = self.guard_of_ours(transition, guard, wait_s)
        inner = transition.local and self.stays_inside(transition, source)
        attributes = {
            "event": self.events(transition) if name == "transition" else None,
            "cond": guard,
            own("else"): yes(transition.is_else),
            own("when"): ours,
            own("after_s"): repr(transition.after_s) if transition.after_s else None,
            "type": "internal" if inner else None,
            own("local"): yes(transition.local and not inner),
            "target": self.targets(transition.go),
            own("description"): transition.description or None,
        }
        return Tag(name, attributes, (*self.acts.actions(transition.do), *self.ways(transition)))

    def stays_inside(self, transition: Transition, source: State | None) -> bool:
        """Return whether a local transition is what SCXML calls internal: to states inside a compound one."""
        if source is None or not source.is_compound:
            return False
        inside = {one.name for one in walk(source.states)}
        inside |= {source.name} if all(one.memory for one in transition.go) else set()
        return all(one.state in inside for one in transition.go)

    def guard_of_ours(self, transition: Transition, guard: str | None, wait_s: float) -> str | None:
        """Return the guard in our words, where Python's do not say the same or must not be read."""
        if transition.is_else or guard is None:
            return None
        if not wait_s and self.acts.condition(transition.when)[own("when")] is None:
            return None
        return str(transition.when)

    def ways(self, transition: Transition) -> Iterator[Tag]:
        """Yield the ways on from where a transition ends."""
        for way in transition.then:
            yield self.transition(way)
        if transition.junction is not None:
            yield Tag(own("to"), {"junction": transition.junction})

    def events(self, transition: Transition) -> str | None:
        """Return the list of events that a transition waits for; None where it is asked by itself."""
        if not transition.on:
            return self.tick
        return " ".join(
            f"done.state.{one.removeprefix(DONE)}" if one.startswith(DONE) else one for one in transition.on
        )


def _targets_of(chart: Chart) -> Iterator[Target]:
    yield from chart.initial
    for state in chart.every_state:
        yield from state.initial
        for segment in segments_of(state.transitions):
            yield from segment.go
    for segments in chart.junctions.values():
        for segment in segments_of(segments):
            yield from segment.go
