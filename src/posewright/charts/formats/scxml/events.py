"""The events of a document, a closed set, and what a transition's list of descriptors means in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from posewright.charts.formats.scxml.data import required
from posewright.charts.formats.scxml.markup import Element
from posewright.charts.formats.scxml.names import Names
from posewright.charts.formats.scxml.namespaces import own
from posewright.charts.model import DONE

DONE_STATE = "done.state."
MAX_EVENTS = 500
_PLATFORM = ("error", "done")
"""First words of events that nobody sends."""


@dataclass(frozen=True)
class Events:
    """The events of a document.

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


def events_in(root: Element, states: Mapping[str, str], names: Names) -> Events:
    """Collect the events of a document.

    It is the names that are raised or sent, those that are listened to, and `done.state.S` of every state
    that can be done. A descriptor that takes in an event raised in the document names no event of its own.
    """
    declared = [(root.get(own(key)) or "").split() for key in ("events", "local_events")]
    raised = dict.fromkeys(
        required(one, "event") for one in root.walk() if one.name in ("raise", "send") and one.get("event")
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
    called = {name: names.take(name, "event") for name in (*outside, *inside)}
    of_states = {name: DONE + states[name.removeprefix(DONE_STATE)] for name in done}
    return Events(
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
    """Return what an event's name has to begin with; nothing of `*`."""
    return descriptor.removesuffix("*").removesuffix(".")


def _takes_in(prefix: str, event: str) -> bool:
    return not prefix or event == prefix or event.startswith(f"{prefix}.")


def _done(root: Element) -> Iterable[str]:
    """Yield the ids of states that say when they are done, in the order in which they are written."""
    for element in root.walk():
        name = element.get("id")
        if name is not None and (
            element.name == "parallel" or (element.name == "state" and element.all("final"))
        ):
            yield name
