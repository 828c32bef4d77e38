"""What happened in a run of a RoboBASIC program, as lines for people."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from posewright.display import Lines, Styled
from posewright.documents.plain import PlainMapping


def run_lines(result: PlainMapping) -> Lines:
    """Yield what happened in a run of a program, from what `basic_result` returns."""
    yield f"{result['program']}: {result['duration_s']:.2f} s"
    for event in result["events"]:
        style = {"error": "red", "running": "yellow"}.get(event["what"], "")
        yield Styled(f"{event['time_s']:8.2f} s  line {event['line']:4}  {_event_text(event)}", style)
    if result["variables"]:
        yield ", ".join(f"{name} = {value}" for name, value in result["variables"].items())
    yield f"{_upright(result)}; digest {result['digest'][:16]}"


def _upright(result: PlainMapping) -> str:
    """Return how the robot fared, in words; without physics nobody knows."""
    if result["fell"] is None:
        return "no physics on this body, so falls are not known"
    falls = ", ".join(f"{fall['side']} at {fall['time_s']:.2f} s" for fall in result["falls"])
    if not falls:
        return "the robot stayed up"
    return f"the robot fell {falls}, and {'is still down' if result['lies'] else 'is up again'}"


_EVENT_TEXTS: Mapping[str, Callable[[PlainMapping], str]] = {
    "loop": lambda event: f"a loop came round{_place(event)}",
    "waits": lambda event: (
        f"waits{_place(event)}" + (f" for {', '.join(event['looks_at'])}" if event["looks_at"] else "")
    ),
    "running": lambda event: f"still running{_place(event)} when time was up",
    "end": lambda event: (
        f"stopped{_place(event)}"
        if event["reason"] == "breakpoint"
        else f"over: {event['reason']}{_place(event)}"
    ),
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


def _place(event: PlainMapping) -> str:
    return f" at {event['label']}" if event.get("label") else ""


def _event_text(event: PlainMapping) -> str:
    if text_of := _EVENT_TEXTS.get(event["what"]):
        return text_of(event)
    numbers = ", ".join("" if number is None else str(number) for number in event.get("numbers", ()))
    return f"{event.get('statement', event['what'])} {numbers}".strip()
