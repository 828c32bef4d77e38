"""States and transitions of a document to those of a chart."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from posewright.charts.expression import Expression
from posewright.charts.formats.scxml.acting import Content, require_same
from posewright.charts.formats.scxml.data import required
from posewright.charts.formats.scxml.markup import Element
from posewright.charts.formats.scxml.moore import moore_values
from posewright.charts.formats.scxml.namespaces import own
from posewright.charts.formats.scxml.numbers import seconds_in, word_in
from posewright.charts.formats.scxml.python_text import python_guard
from posewright.charts.formats.scxml.states import Places
from posewright.charts.formats.scxml.subset import STATES
from posewright.charts.model import Actions, Otherwise, Priority, State, Target, Transition, else_guard, to


@dataclass(frozen=True)
class StateReader:
    """Reads the states of one document.

    Attributes:
        ours: the document says of itself that it is a chart of ours: what SCXML does otherwise stays as
            we do it.
    """

    places: Places
    content: Content
    ours: bool

    def states(self, element: Element, *, top: bool = False) -> tuple[State, ...]:
        """Return the states directly inside an element."""
        return tuple(self.state(child, top=top) for child in element.all(*STATES))

    def state(self, element: Element, *, top: bool) -> State:
        """Return a state with all that is inside it."""
        outlet = self.content if self.ours else self.content.within(_settled(element))
        leaving = outlet.actions(_inside(element, "onexit"))
        entry = outlet.actions(_inside(element, "onentry")) + self.on_the_way_in(element)
        if element.name == "final" and top and not self.ours:  # the document ends there: all is left at once
            entry, leaving = entry + leaving, ()
        min_s = seconds_in(element, "min_s")
        return State(
            name=self.places.name(element),
            transitions=self.transitions(element.all("transition"), min_s),
            do=moore_values(element, self.content),
            min_s=min_s,
            priority=word_in(element, "priority", Priority),
            otherwise=word_in(element, "otherwise", Otherwise),
            entry=entry,
            during=self.content.actions(_inside(element, "pw:during")),
            exit=leaving,
            states=self.states(element),
            initial=self.initial(element),
            parallel=element.name == "parallel",
            final=element.name == "final",
            description=element.get(own("description")) or "",
            line=element.line,
        )

    def initial(self, element: Element) -> tuple[Target, ...]:
        """Return what is entered first; where nothing says so, the first state inside."""
        if element.name == "parallel":
            return self.places.targets(element, own("enters"))
        inside = element.all(*STATES)
        if element.get("initial") is not None:
            return self.places.targets(element, "initial")
        for initial in element.all("initial"):
            return self.places.targets(_one_way(initial))
        return to(self.places.name(inside[0])) if inside else ()

    def on_the_way_in(self, element: Element) -> Actions:
        """Return what the transition of an <initial> does."""
        actions: Actions = ()
        for initial in element.all("initial"):
            if element.get("initial") is not None:
                initial.fail("both <initial> and 'initial'", hint="leave one of them out")
            actions = self.content.within({}).actions(_one_way(initial).children)
            if actions and not self.places.enters_as_a_whole(element):
                hint = "move it into the <onentry> of a state"
                what = "an <initial> that does something, of a state that is also entered otherwise,"
                initial.fail(f"{what} is outside the subset of SCXML", hint=hint)
        return actions

    def transitions(self, elements: Iterable[Element], min_s: float = 0.0) -> tuple[Transition, ...]:
        """Return transitions; one that waits only for events that never come is left out."""
        found: list[Transition] = []
        for element in elements:
            transition = self.transition(element, found, min_s)
            if transition is not None:
                found.append(transition)
        return tuple(found)

    def transition(self, element: Element, elders: list[Transition], min_s: float) -> Transition | None:
        """Return a transition, or a way on from a junction."""
        on = self.events(element)
        if on is None:
            return None
        is_else = element.get(own("else")) == "true"
        when = else_guard(elders, on, element.where) if is_else and elders else self.content.guard(element)
        links = element.all("pw:to")
        found = Transition(
            when=when,
            do=self.content.within({}).actions(element.children)
            if not self.ours
            else self.content.actions(element.children),
            go=self.places.targets(element),
            on=on,
            after_s=seconds_in(element, "after_s"),
            local=_is_local(element) and element.get("target") is not None,
            then=self.transitions(element.all("pw:way")),
            junction=required(links[0], "junction") if links else None,
            is_else=is_else,
            description=element.get(own("description")) or "",
            line=element.line,
        )
        self.require_same(element, found, min_s, when)
        return found

    def require_same(self, element: Element, found: Transition, min_s: float, when: Expression) -> None:
        """Refuse a guard that says one thing in Python's words and another in ours."""
        wait_s = max(min_s if found.go or found.leads_on else 0.0, found.after_s)
        python = python_guard(when, wait_s, self.content.scope.values)
        for key in ("when", "after_s", "else"):
            require_same(element, "cond", python, own(key))

    def events(self, element: Element) -> tuple[str, ...] | None:
        """Return the events that a transition waits for, None where none of them ever comes."""
        text, known = element.get("event"), self.content.events
        if text is None or text.strip() == known.tick:
            return ()
        if not text.split():
            element.fail("<transition> with an empty 'event'", hint="name an event, or leave 'event' out")
        return known.matching(text) or None


def _is_local(element: Element) -> bool:
    kind = element.get("type") or "external"
    if kind not in ("internal", "external"):
        element.fail(f"a transition is not {kind!r}", hint="it is internal or external")
    return kind == "internal" or element.get(own("local")) == "true"


def _one_way(initial: Element) -> Element:
    """Return the transition of an <initial>."""
    ways = initial.all("transition")
    if len(ways) != 1 or not ways[0].get("target") or ways[0].get("event") or ways[0].get("cond"):
        hint = 'write <transition target="..."/> in it'
        initial.fail("an <initial> needs one <transition> that asks for nothing", hint=hint)
    return ways[0]


def _inside(element: Element, name: str) -> list[Element]:
    """Return what stands in all elements of that name, those that set a Moore state's outputs left out."""
    return [inner for one in element.all(name) if one.get(own("moore")) is None for inner in one.children]


def _settled(element: Element) -> dict[str, bool]:
    """Return which states are known to be active while a state is entered or left: itself, none inside it."""
    inside = {one.get("id") or "": False for one in element.walk() if one.name in STATES}
    return {**inside, element.get("id") or "": True}
