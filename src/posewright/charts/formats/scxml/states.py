"""States of a document, and how its transitions find them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from posewright.charts.formats.scxml.data import required
from posewright.charts.formats.scxml.markup import Element
from posewright.charts.formats.scxml.names import Names
from posewright.charts.formats.scxml.namespaces import own
from posewright.charts.formats.scxml.subset import STATES
from posewright.charts.model import Memory, Target

WHOLE = "whole"
"""What `pw:default` says of a history that leads, at first, to its state as a whole."""


@dataclass(frozen=True)
class Places:
    """Where the states of a document stand.

    Attributes:
        root: of the document.
        names: what each state with an id is called.
        called: what every state is called, by the identity of its element.
        histories: every <history> by its id, with the state it is in.
        free: gives out the names that are still free.
    """

    root: Element
    names: Mapping[str, str]
    called: Mapping[int, str]
    histories: Mapping[str, tuple[Element, Element]]
    free: Names

    def name(self, element: Element) -> str:
        """Return the name of a state."""
        return self.called[id(element)]

    def targets(self, element: Element, key: str = "target") -> tuple[Target, ...]:
        """Return the states that an attribute lists; none where it is not there.

        Raises:
            FormatError: there is no such state.
        """
        return tuple(self.target(name, element) for name in (element.get(key) or "").split())

    def target(self, name: str, element: Element) -> Target:
        """Return the state, or the history, of that id."""
        if name in self.names:
            return Target(self.names[name])
        if name not in self.histories:
            element.fail(f"no state is called {name!r}", hint=f"there is {', '.join([*self.names][:12])}")
        history, around = self.histories[name]
        kind = history.get("type") or "shallow"
        if kind not in ("shallow", "deep"):
            history.fail(f"a history is not {kind!r}", hint="it is shallow or deep")
        memory = Memory.SHALLOW if kind == "shallow" else Memory.DEEP
        return Target(self.names[required(around, "id")], memory, self.default(history))

    def default(self, history: Element) -> tuple[str, ...]:
        """Return where a history leads while there is nothing to remember."""
        ways = history.all("transition")
        if len(ways) != 1 or not ways[0].get("target"):
            history.fail("a <history> needs one <transition>", hint='write <transition target="..."/> in it')
        if ways[0].children or ways[0].get("event") or ways[0].get("cond"):
            hint = "give it a target, and nothing else"
            ways[0].fail(
                "the <transition> of a <history> that does or asks something is outside the subset", hint=hint
            )
        if history.get(own("default")) == WHOLE:
            return ()
        targets = self.targets(ways[0])
        if any(target.memory for target in targets):
            ways[0].fail(
                "a <history> that leads to another is outside the subset of SCXML", hint="name states"
            )
        return tuple(target.state for target in targets)

    def enters_as_a_whole(self, element: Element) -> bool:
        """Return whether a state is never entered but by its <initial>: nothing outside leads into it."""
        within = {id(one) for one in element.walk()} - {id(one) for one in element.all("transition")}
        inside = {one.get("id") for one in element.walk() if one is not element}
        for one in self.root.walk():
            names = {*(one.get("target") or "").split(), *(one.get("initial") or "").split()}
            if names & inside and not (names <= inside and id(one) in within):
                return False
        deep = (around for history, around in self.histories.values() if history.get("type") == "deep")
        return not any(one is element for around in deep for one in around.walk())


def places_in(root: Element) -> Places:
    """Find the states of a document.

    Raises:
        FormatError: an id is there twice, or a state with a <history> has none.
    """
    free, names, called = Names(), dict[str, str](), dict[int, str]()
    histories: dict[str, tuple[Element, Element]] = {}
    first: dict[str, int | None] = {}
    unnamed: list[Element] = []
    for element, around in _with_parents(root):
        if element.name not in (*STATES, "history"):
            continue
        name = element.get("id")
        if not name:
            unnamed.append(element)
            continue
        if name in first:
            element.fail(f"the id {name!r} is there twice (first in line {first[name]})", hint="rename one")
        first[name] = element.line
        if element.name == "history":
            required(around, "id")
            histories[name] = (element, around)
        else:
            names[name] = called[id(element)] = free.take_state(name)
    for element in unnamed:
        called[id(element)] = free.take_state(f"{element.name}_{element.line}")
    return Places(root, names, called, histories, free)


def _with_parents(element: Element) -> Iterator[tuple[Element, Element]]:
    for child in element.children:
        yield child, element
        yield from _with_parents(child)
