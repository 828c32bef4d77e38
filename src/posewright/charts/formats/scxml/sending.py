"""What a document sends to itself, and the mail that this takes."""

from __future__ import annotations

import math
import re

from posewright.charts.formats.scxml.data import required
from posewright.charts.formats.scxml.events import Events
from posewright.charts.formats.scxml.mail import Mail
from posewright.charts.formats.scxml.markup import Element
from posewright.charts.formats.scxml.names import Names

MOST_SLOTS = 8
PROCESSORS = ("", "scxml", "http://www.w3.org/TR/scxml/#SCXMLEventProcessor")
INTERNAL = "#_internal"
LONGEST_S = 86_400.0

_DELAY = re.compile(r"(\d{1,9}\.?\d{0,9}|\.\d{1,9})(ms|s)")


def mail_of(root: Element, events: Events, names: Names, tick_s: float) -> Mail | None:
    """Return what a document needs for what it sends; None where it sends nothing.

    Raises:
        FormatError: a <send> is outside the subset.
    """
    sends = [one for one in root.walk() if one.name == "send" and is_mail(one)]
    if not sends:
        return None
    cancelled = {one.get("sendid") for one in root.walk() if one.name == "cancel"}
    sorts: dict[tuple[str, str], str] = {}
    for element in sends:
        event, name = events.called[required(element, "event")], element.get("id") or ""
        key = (event, name if name in cancelled else "")
        if key not in sorts:
            sorts[key] = names.take(f"{event}_sent", "sort")
    slots = min(len(sends) + 1, MOST_SLOTS)
    longest = max(ticks_of(element, tick_s) for element in sends)
    return Mail(sorts, slots, longest, tick_s, _names_in(names, slots))


def _names_in(names: Names, slots: int) -> dict[str, str]:
    """Return what the locals of a mail are called."""
    of_slots = {
        f"{what} {i}": names.take(f"{what}_{i}", "slot")
        for what in ("sent", "due")
        for i in range(1, slots + 1)
    }
    return {**of_slots, "nothing": names.take("nothing", "sent"), "lost": names.take("sent_lost", "event")}


def is_mail(element: Element) -> bool:
    """Return whether a <send> goes into the queue of events from outside, rather than the internal one.

    Raises:
        FormatError: it goes elsewhere.
    """
    target, kind = element.get("target") or "", element.get("type") or ""
    if kind not in PROCESSORS:
        element.fail(
            f"<send> of type {kind!r} is outside the subset of SCXML", hint="a chart sends to itself alone"
        )
    if target not in ("", INTERNAL):
        hint = f"a chart sends to itself alone: leave 'target' out, or write {INTERNAL}"
        element.fail(f"<send> to {target!r} is outside the subset of SCXML", hint=hint)
    if target and element.get("delay"):
        element.fail("<send> into the internal queue has no delay", hint="leave 'target' out")
    return not target


def ticks_of(element: Element, tick_s: float) -> int:
    """Return the ticks that a <send> waits.

    Raises:
        FormatError: the delay is no time.
    """
    text = element.get("delay")
    if text is None or text.strip() == "0":
        return 0
    match = _DELAY.fullmatch(text.strip())
    seconds = float(match[1]) / (1000 if match[2] == "ms" else 1) if match else math.inf
    if seconds > LONGEST_S:
        element.fail(f"the delay {text[:40]!r} is no time", hint="write it like 2s or 500ms, a day at most")
    return math.ceil(seconds / tick_s - 1e-9)
