"""Names of an SCXML document to names of a chart: letters, digits and `_`, each name once."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count

from posewright.charts.formats.scxml.vocabulary import DEFAULT, STATES, WHOLE, own
from posewright.charts.model import DONE_PREFIX, MAX_NAME, RESERVED
from posewright.documents import PlainData
from posewright.documents.markup import Element

MAX_STATE_NAME = MAX_NAME - 1
SUFFIX = 16
"""Room for what tells two names apart."""

DONE_STATE = "done.state."
MAX_EVENTS = 500
MEMORIES = {"shallow": "history", "deep": "deep_history"}
"""Types of a <history>, and what native documents call them."""

_PLATFORM = ("error", "done")
"""First words of events that nobody sends."""

_OTHER = re.compile(r"[^A-Za-z0-9_]+")


class FreeNames:
    """Gives out names, each of them once."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken = set(taken)

    def take(self, wanted: str, sort: str) -> str:
        """Return a name of a variable, a value or an event, as like `wanted` as may be.

        Args:
            wanted: what the document calls it.
            sort: is put behind it where the name is taken, or a word of our language.
        """
        name = _OTHER.sub("_", wanted)[:MAX_NAME] or sort
        if name[0].isdigit():
            name = f"{sort}_{name}"[:MAX_NAME]
        return self._free(name, f"{name[: MAX_NAME - SUFFIX]}_{sort}", RESERVED)

    def take_state(self, wanted: str) -> str:
        """Return a name of a state: it may begin with a digit and be a word of the language."""
        name = _OTHER.sub("_", wanted)[:MAX_STATE_NAME] or "state"
        return self._free(name, f"{name[: MAX_NAME - SUFFIX]}_2", ())

    def _free(self, name: str, instead: str, refused: Collection[str]) -> str:
        """Return `name`, or `instead`, or the latter with a number: the first that may be given out."""
        found, number = name, count(2)
        while found in self.taken or found.lower() in refused:
            found, instead = instead, f"{instead.rstrip('0123456789').rstrip('_')}_{next(number)}"
        self.taken.add(found)
        return found


@dataclass(frozen=True)
class StateNames:
    """What the states of a document are called, and how its transitions find them.

    Attributes:
        names: of each state with an id.
        called: of every state, by the identity of its element.
        histories: every <history> by its id, with the state it is in.
        free: gives out the names that are still free.
    """

    root: Element
    names: Mapping[str, str]
    called: Mapping[int, str]
    histories: Mapping[str, tuple[Element, Element]]
    free: FreeNames

    def name(self, element: Element) -> str:
        """Return the name of a state."""
        return self.called[id(element)]

    def targets(self, element: Element, key: str = "target") -> PlainData:
        """Return the states that an attribute lists, as a native document writes them; None without any."""
        found = [self._target(name, element) for name in (element.get(key) or "").split()]
        return found[0] if len(found) == 1 else found or None

    def _target(self, name: str, element: Element) -> PlainData:
        if name in self.names:
            return self.names[name]
        if name not in self.histories:
            element.fail(f"no state is called {name!r}", hint=f"there is {', '.join([*self.names][:12])}")
        history, around = self.histories[name]
        kind = history.get("type") or "shallow"
        if kind not in MEMORIES:
            history.fail(f"a history is not {kind!r}", hint="it is shallow or deep")
        return {MEMORIES[kind]: self.names[around.required("id")], "default": self._default(history)}

    def _default(self, history: Element) -> list[PlainData]:
        """Return where a history leads while there is nothing to remember."""
        ways = history.all("transition")
        if len(ways) != 1 or not ways[0].get("target"):
            history.fail("a <history> needs one <transition>", hint='write <transition target="..."/> in it')
        (way,) = ways
        if way.children or way.get("event") or way.get("cond"):
            what = "the <transition> of a <history> that does or asks something is outside the subset"
            way.fail(what, hint="give it a target, and nothing else")
        if history.get(DEFAULT) == WHOLE:
            return []
        ids = way.required("target").split()
        if any(name in self.histories for name in ids):
            what = "a <history> that leads to another is outside the subset of SCXML"
            way.fail(what, hint="name states")
        return [self._target(name, way) for name in ids]

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


def name_states(root: Element) -> StateNames:
    """Name the states of a document."""
    free, names, called = FreeNames(), dict[str, str](), dict[int, str]()
    histories: dict[str, tuple[Element, Element]] = {}
    first: dict[str, int | None] = {}
    unnamed: list[Element] = []
    for element, around in _with_parents(root):
        name = element.get("id")
        if element.name not in (*STATES, "history"):
            continue
        if not name:
            unnamed.append(element)
            continue
        if name in first:
            element.fail(f"the id {name!r} is there twice (first in line {first[name]})", hint="rename one")
        first[name] = element.line
        if element.name == "history":
            around.required("id")
            histories[name] = (element, around)
        else:
            names[name] = called[id(element)] = free.take_state(name)
    for element in unnamed:
        called[id(element)] = free.take_state(f"{element.name}_{element.line}")
    return StateNames(root, names, called, histories, free)


def _with_parents(element: Element) -> Iterator[tuple[Element, Element]]:
    for child in element.children:
        yield child, element
        yield from _with_parents(child)


@dataclass(frozen=True)
class DocumentEvents:
    """The events of a document, a closed set.

    Attributes:
        called: every event of the document, and what the chart calls it.
        outside: those that come from outside, as the chart calls them.
        inside: those that only the document raises.
        tick: what stands for the asking of transitions without an event, where the document says so.
    """

    called: Mapping[str, str]
    outside: tuple[str, ...]
    inside: tuple[str, ...]
    tick: str | None = None

    def matching(self, descriptors: str) -> tuple[str, ...]:
        """Return the events, as the chart calls them, that a list of descriptors takes in."""
        prefixes = [_prefix(word) for word in descriptors.split()]
        found = (name for one in prefixes for event, name in self.called.items() if _takes_in(one, event))
        return tuple(dict.fromkeys(found))


def name_events(root: Element, states: Mapping[str, str], free: FreeNames) -> DocumentEvents:
    """Collect the events of a document.

    It is the names that are raised or sent, those that are listened to, and `done.state.S` of every state
    that can be done. A descriptor that takes in an event raised in the document names no event of its own.
    """
    declared = [(root.get(own(key)) or "").split() for key in ("events", "local_events")]
    raised = dict.fromkeys(
        one.required("event") for one in root.walk() if one.name in ("raise", "send") and one.get("event")
    )
    done = dict.fromkeys(DONE_STATE + state for state in _done(root) if state in states)
    tick = root.get(own("tick"))
    inside = dict.fromkeys([*declared[1], *(name for name in raised if name not in declared[0])])
    known = [*declared[0], *inside, *done]
    heard = [
        name for name in _listened(root) if name != tick and not any(_takes_in(name, one) for one in known)
    ]
    outside = dict.fromkeys([*declared[0], *(name for name in heard if name.split(".")[0] not in _PLATFORM)])
    if len(outside) + len(inside) > MAX_EVENTS:
        root.fail(f"{len(outside) + len(inside)} events", hint=f"at most {MAX_EVENTS}")
    called = {name: free.take(name, "event") for name in (*outside, *inside)}
    of_states = {name: DONE_PREFIX + states[name.removeprefix(DONE_STATE)] for name in done}
    return DocumentEvents(
        {**called, **of_states},
        tuple(called[name] for name in outside),
        tuple(called[name] for name in inside),
        tick,
    )


def _listened(root: Element) -> Iterable[str]:
    lists = (one.get("event") or "" for one in root.walk() if one.name in ("transition", "pw:way"))
    found = dict.fromkeys(_prefix(word) for words in lists for word in words.split())
    return [name for name in found if name]


def _prefix(descriptor: str) -> str:
    return descriptor.removesuffix("*").removesuffix(".")


def _takes_in(prefix: str, event: str) -> bool:
    return not prefix or event == prefix or event.startswith(f"{prefix}.")


def _done(root: Element) -> Iterator[str]:
    """Yield the ids of states that say when they are done, in the order in which they are written."""
    for element in root.walk():
        name = element.get("id")
        inside = {"state": ("final",), "parallel": STATES}.get(element.name, ())
        if name is not None and element.all(*inside):
            yield name
