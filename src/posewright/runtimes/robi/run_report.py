"""The report of a run of a Robi's program as lines of text."""

from __future__ import annotations

from posewright.display import Lines, Styled
from posewright.documents.plain import PlainMapping

_UPRIGHT = {None: "it is not known whether it fell", False: "the robot stayed up", True: "the robot fell"}
_STYLES = {"error": "red", "unsafe": "red", "loops": "yellow", "running": "yellow"}
_ENDINGS = {"end", "waits", "loops", "running", "error"}


def format_run_report(result: PlainMapping) -> Lines:
    """Yield the lines of a report.

    Args:
        result: the result of `robi_result`; with `stopped`, the status at a breakpoint, and `return_value`
            if known.
    """
    yield f"{result['program']}: {result['duration_s']:.2f} s, from the pose {result['pose']}"
    for event in result["events"]:
        text = f"{event['time_s']:8.3f} s  {_describe_event(event)}"
        yield Styled(text, _STYLES.get(event["what"], ""))
    for name, value in result.get("stopped", {}).get("cells", {}).items():
        yield f"            {name} = {value:#06x}"
    mapped_ids = ", ".join(map(str, result["mapped"])) or "none"
    yield f"posture {result['posture']}; mapped: {mapped_ids}"
    yield f"{_UPRIGHT[result['fell']]}; digest {result['digest'][:16]}"
    if "return_value" in result:
        yield f"return value {result['return_value']}"
    if result["note"]:
        yield Styled(f"note: {result['note']}", "yellow")


def ending_lines(result: PlainMapping, *, with_error: bool) -> Lines:
    """Yield the last lines of a run that was watched.

    Args:
        result: the result of `robi_result`.
        with_error: whether to include an error that ended the program.
    """
    endings = [event for event in result["events"] if event["what"] in _ENDINGS]
    if endings and (with_error or endings[-1]["what"] != "error"):
        yield f"{endings[-1]['time_s']:8.3f} s  {_describe_event(endings[-1])}"
    yield f"{result['duration_s']:8.3f} s  stopped; {_UPRIGHT[result['fell']]}"
    if result["note"]:
        yield f"note: {result['note']}"


def _describe_event(event: PlainMapping) -> str:  # noqa: PLR0911 -- one case for each kind of event
    """Return an event of a recording in words, with its place in the program."""
    location = f"{event.get('label') or '-'} (0x{event.get('address', 0):08x})"
    match event["what"]:
        case "word":
            return f"word {event.get('number')} is recognised"
        case "posture":
            return f"posture {event.get('name')}"
        case "mapping":
            return f"mapped: {', '.join(map(str, event['mapped'])) or 'none'}"
        case "error" | "unsafe":
            return str(event.get("message"))
        case "waits":
            return f"waits for a {' and a '.join(event.get('waits_for', ()))} at {location}"
        case "loops":
            return f"loops without effect at {location}"
        case "running":
            return f"still running at {location} when time was up"
        case "end" if event.get("reason") == "breakpoint":
            return f"stopped before {location}"
        case "end":
            return f"over: {event.get('reason')} at {location}"
        case kind:
            return str(kind)
