"""Text reports of a run of OPEN-R objects: a line per message, and a summary."""

from __future__ import annotations

from collections.abc import Iterable

from posewright.display import Lines, Styled, format_count
from posewright.documents.plain import PlainMapping
from posewright.runtimes.openr.flow import MESSAGE_KINDS, STATE, format_label, sender_and_receiver
from posewright.runtimes.openr.kernel import LogEntry

_SUMMARY_TEMPLATES = {
    STATE: "{object}: {state}",
    "syslog": "{object} says: {text}",
    "refused": "{object} refused {asked}: {why}",
    "silent": "{to} does not answer {from}: {why}",
}
"""The line of an entry in the report, by kind; entries of other kinds are left out."""

_COLOURS = {"refused": "yellow", "silent": "red", "state": "cyan", "ready": "dim"}


def message_line(entry: LogEntry) -> Styled:
    """Return an entry as a line: time, sender and receiver, label."""
    sender, receiver = sender_and_receiver(entry)
    ends = f"{sender} -> {receiver}" if entry.kind in MESSAGE_KINDS else sender
    text = f"{entry.time_s:8.3f} s  {ends:<36}  {format_label(entry)}"
    return Styled(text, _COLOURS.get(entry.kind, ""))


def format_run_report(result: PlainMapping, entries: Iterable[LogEntry]) -> Lines:
    """Yield the report of a run: the summary of `openr_result`, and notable entries of its log."""
    n_delivered = sum(message["kind"] == "notify" for message in result["messages"])
    n_waited = sum(message["kind"] == "waits" for message in result["messages"])
    summary = f"{result['duration_s']:.3f} s, {format_count(n_delivered, 'message')} delivered"
    summary += f", {n_waited} waited for a busy observer" if n_waited else ""
    yield f"{result['program']} on {result['robot']}: {summary}"
    for entry in entries:
        if text := _summary_text(entry):
            yield Styled(f"{entry.time_s:8.3f} s  {text}", _COLOURS.get(entry.kind, ""))
    upright = {
        None: "it is unknown whether the robot fell",
        False: "the robot stayed up",
        True: f"the robot fell at {result['fell_s'] or 0.0:.3f} s{_format_states_before_fall(result)}",
    }
    yield f"{upright[result['fell']]}; digest {result['digest'][:16]}"


def _summary_text(entry: LogEntry) -> str:
    """Return the line of an entry in the report; empty for kinds that are left out."""
    template = _SUMMARY_TEMPLATES.get(entry.kind, "")
    fields = {name: value or "-" for name, value in entry.data.items()}  # an object may have no state
    return template.format_map(fields)


def _format_states_before_fall(result: PlainMapping) -> str:
    """Return the last two states of each object before a fall, in brackets; empty if there are none."""
    states_by_object: dict[str, list[str]] = {}
    for entry in result["states"]:
        if result["fell"] and entry["time_s"] <= result["fell_s"]:
            states_by_object.setdefault(entry["object"], []).append(entry["state"] or "-")
    text = "; ".join(f"{name}: {', then '.join(states[-2:])}" for name, states in states_by_object.items())
    return f" ({text})" if text else ""
