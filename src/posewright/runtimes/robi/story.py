"""What happened in a run of a Robi's program, as lines for people."""

from __future__ import annotations

from posewright.display import Lines, Styled
from posewright.documents.plain import PlainMapping

_UPRIGHT = {None: "nobody knows whether it fell", False: "the robot stayed up", True: "the robot fell"}


def run_lines(result: PlainMapping) -> Lines:
    """Yield what happened in a run of a program, from what `robi_result` returns."""
    yield f"{result['program']}: {result['duration_s']:.2f} s, from the pose {result['pose']}"
    for event in result["events"]:
        style = {"error": "red", "unsafe": "red", "loops": "yellow", "running": "yellow"}.get(
            event["what"], ""
        )
        yield Styled(f"{event['time_s']:8.3f} s  {_event_text(event)}", style)
    for name, value in result.get("stopped", {}).get("cells", {}).items():
        yield f"            {name} = {value:#06x}"
    mapped = ", ".join(map(str, result["mapped"])) or "none"
    yield f"posture {result['posture']}; mapped: {mapped}"
    yield f"{_UPRIGHT[result['fell']]}; digest {result['digest'][:16]}"
    if "return_value" in result:
        yield f"return value {result['return_value']}"
    if result["note"]:
        yield Styled(f"note: {result['note']}", "yellow")


def ending_lines(result: PlainMapping, *, with_error: bool) -> Lines:
    """Yield how a run that was watched ended; an error only where it is asked for."""
    endings = {"end", "waits", "loops", "running", "error"}
    for event in [event for event in result["events"] if event["what"] in endings][-1:]:
        if event["what"] != "error" or with_error:
            yield f"{event['time_s']:8.3f} s  {_event_text(event)}"
    yield f"{result['duration_s']:8.3f} s  stopped; {_UPRIGHT[result['fell']]}"
    if result["note"]:
        yield f"note: {result['note']}"


def _event_text(event: PlainMapping) -> str:
    kind = str(event["what"])
    place = f"{event.get('label') or '-'} (0x{event.get('address', 0):08x})"
    if kind == "mapping":
        return f"mapped: {', '.join(map(str, event['mapped'])) or 'none'}"
    return {
        "word": f"word {event.get('number')} is recognised",
        "posture": f"posture {event.get('name')}",
        "error": str(event.get("message")),
        "waits": f"waits for a {' and a '.join(event.get('waits_for', ()))} at {place}",
        "loops": f"goes around without effect at {place}",
        "unsafe": str(event.get("message")),
        "running": f"still running at {place} when time was up",
        "end": f"stopped before {place}"
        if event.get("reason") == "breakpoint"
        else f"over: {event.get('reason')} at {place}",
    }.get(kind, kind)
