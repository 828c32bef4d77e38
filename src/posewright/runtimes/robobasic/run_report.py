"""The report of a run of a RoboBASIC program as lines of text."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from posewright.display import Lines, Styled
from posewright.documents.plain import PlainMapping

_STYLES = {"error": "red", "running": "yellow"}


def format_run_report(result: PlainMapping) -> Lines:
    """Yield the lines of a report: events with times, variables, falls and digest.

    Args:
        result: the result of `basic_result`.
    """
    yield f"{result['program']}: {result['duration_s']:.2f} s"
    for event in result["events"]:
        text = f"{event['time_s']:8.2f} s  line {event['line']:4}  {_describe_event(event)}"
        yield Styled(text, _STYLES.get(event["what"], ""))
    if result["variables"]:
        yield ", ".join(f"{name} = {value}" for name, value in result["variables"].items())
    yield f"{_describe_falls(result)}; digest {result['digest'][:16]}"


def _describe_falls(result: PlainMapping) -> str:
    """Return a sentence about the falls of a run."""
    if result["fell"] is None:
        return "no physics on this body, so falls are not known"
    falls = ", ".join(f"{fall['side']} at {fall['time_s']:.2f} s" for fall in result["falls"])
    if not falls:
        return "the robot stayed up"
    return f"the robot fell {falls}, and {'is still down' if result['lies'] else 'is up again'}"


def _describe_wait(event: PlainMapping) -> str:
    ports = ", ".join(event["looks_at"])
    return f"waits{_place(event)} for {ports}" if ports else f"waits{_place(event)}"


def _describe_end(event: PlainMapping) -> str:
    if event["reason"] == "breakpoint":
        return f"stopped{_place(event)}"
    return f"over: {event['reason']}{_place(event)}"


def _place(event: PlainMapping) -> str:
    return f" at {event['label']}" if event.get("label") else ""


_DESCRIPTIONS: Mapping[str, Callable[[PlainMapping], str]] = {
    "loop": lambda event: f"a loop came round{_place(event)}",
    "waits": _describe_wait,
    "running": lambda event: f"still running{_place(event)} when time was up",
    "end": _describe_end,
    "error": lambda event: f"error: {event['message']}",
    "key": lambda event: f"key {event['key']}",
    "motor": lambda event: f"motors of {event['servos']} {'on' if event['on'] else 'off'}",
    "out": lambda event: f"OUT {event['port']}, {event['value']}",
    "byteout": lambda event: f"BYTEOUT {event['port']}, {event['value']}",
    "skipped": lambda event: f"{event['statement']} {', '.join(map(str, event['numbers']))} is skipped",
    "print": lambda event: f"display: {event['text']}",
    "music": lambda event: f"music {event['notes']}",
    "sent": lambda event: f"sent byte {event['byte']}",
}
"""By kind of event, its description."""


def _describe_event(event: PlainMapping) -> str:
    """Return an event in words; one without words of its own as its statement with the arguments."""
    describe = _DESCRIPTIONS.get(event["what"])
    if describe is not None:
        return describe(event)
    arguments = ["" if value is None else str(value) for value in event.get("numbers", ())]
    return f"{event.get('statement', event['what'])} {', '.join(arguments)}".strip()
