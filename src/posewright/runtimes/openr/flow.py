"""The message flow of OPEN-R objects in a recording: log entries, repetitions, Mermaid sequence diagrams."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from typing import NamedTuple

from posewright.recordings import Recording
from posewright.runtimes.openr.controller import EVENT, log_entry_of
from posewright.runtimes.openr.kernel import LogEntry

MESSAGE_KINDS = frozenset({"notify", "waits", "ready", "not ready", "silent"})
"""The kinds of entries between two objects; all others concern one."""

STATE = "state"

_MAX_LOOP_LENGTH = 8
"""Longest sequence of entries that is recognised as repeating."""

_MIN_REPETITIONS = 3
"""Sequences that repeat so often become a loop."""

MAX_LABEL = 80
"""Longest label in a diagram [characters]."""


@dataclass(frozen=True, slots=True)
class MessageLoop:
    """A sequence of entries that occurs once, or repeats with the same contents.

    Attributes:
        n_repetitions: how often the sequence occurs.
        body: the entries of the first repetition.
        until_s: time of the last entry of the last repetition [s].
    """

    n_repetitions: int
    body: tuple[LogEntry, ...]
    until_s: float


def entries_of(recording: Recording) -> tuple[LogEntry, ...]:
    """Return the log of the objects in a recording, in its order."""
    return tuple(log_entry_of(event.time_s, event.data) for event in recording.events_of(EVENT))


def sender_and_receiver(entry: LogEntry) -> tuple[str, str]:
    """Return sender and receiver of an entry; for an entry of one object, that object twice."""
    if entry.kind not in MESSAGE_KINDS:
        owner = str(entry.data.get("object", "?"))
        return owner, owner
    sender = str(entry.data.get("from", "?")).partition(".")[0]
    receiver = str(entry.data.get("to", "?")).partition(".")[0]
    return sender, receiver


def objects_in(entries: Iterable[LogEntry]) -> tuple[str, ...]:
    """Return the names of the objects in some entries; objects that send come first."""
    entries = tuple(entries)
    notify_ends = [sender_and_receiver(entry) for entry in entries if entry.kind == "notify"]
    all_ends = [sender_and_receiver(entry) for entry in entries]
    return tuple(dict.fromkeys(chain.from_iterable((*notify_ends, *all_ends))))


def format_label(entry: LogEntry) -> str:
    """Return the text of a log entry for diagrams and reports, at most `MAX_LABEL` characters."""
    data = {name: str(value) for name, value in entry.data.items()}
    _, _, service = data.get("from", "").partition(".")  # of the sender
    labels = {
        "notify": f"{service}: {data.get('data', '')}",
        "waits": f"{service} waits: {data.get('data', '')}",
        "silent": f"{service}: no answer for {data.get('waits_s', '?')} s; {data.get('why', '?')}",
        "load": f"load: cycle {data.get('cycle', '?')}, {data.get('pose', '')}, {data.get('part', '')}",
        "refused": f"refused: {data.get('asked', '')} ({data.get('why', '')})",
        STATE: data.get("state") or "-",
        "syslog": data.get("text", ""),
        **dict.fromkeys(MESSAGE_KINDS - {"notify", "waits", "silent"}, entry.kind),
    }
    values = ", ".join(value for name, value in data.items() if name != "object")
    text = labels.get(entry.kind, f"{entry.kind}: {values}")
    return text if len(text) <= MAX_LABEL else f"{text[: MAX_LABEL - len('...')]}..."


def fold_repetitions(entries: Sequence[LogEntry]) -> tuple[MessageLoop, ...]:
    """Return entries as loops; a sequence that does not repeat three times is a loop of one repetition.

    If several pairs of objects exchange messages at once, the messages of each pair are grouped.
    """
    return tuple(_find_loops(_group_by_pair(entries)))


def _find_loops(entries: Sequence[LogEntry]) -> list[MessageLoop]:
    """Return entries as loops, in their order; from each entry on, the loop that covers most entries."""
    contents = [_comparable_content(entry) for entry in entries]
    loops: list[MessageLoop] = []
    begin = 0
    while begin < len(entries):
        candidates = _find_repetitions(contents, begin)
        length, n_repetitions = max(candidates, key=lambda candidate: candidate.n_entries)
        end = begin + length * n_repetitions
        body = tuple(entries[begin : begin + length])
        loops.append(MessageLoop(n_repetitions, body, until_s=entries[end - 1].time_s))
        begin = end
    return loops


def _comparable_content(entry: LogEntry) -> object:
    """Return kind and data of an entry, without its time, as a value that can be compared and hashed."""
    return entry.kind, tuple(sorted((name, str(value)) for name, value in entry.data.items()))


def _group_by_pair(entries: Sequence[LogEntry]) -> list[LogEntry]:
    """Return entries with the messages of each pair of objects together, where that gives fewer loops.

    Only stretches of messages that all occur often are reordered, and only if it saves several loops; all
    other entries stay where they are.
    """
    occurrences = Counter(map(_comparable_content, entries))

    def is_frequent(entry: LogEntry) -> bool:
        return entry.kind in MESSAGE_KINDS and occurrences[_comparable_content(entry)] >= _MIN_REPETITIONS

    result: list[LogEntry] = []
    for are_frequent, group in groupby(entries, is_frequent):
        stretch = list(group)
        if are_frequent:
            by_pair: dict[frozenset[str], list[LogEntry]] = {}
            for entry in stretch:
                by_pair.setdefault(frozenset(sender_and_receiver(entry)), []).append(entry)
            grouped = list(chain.from_iterable(by_pair.values()))
            if len(_find_loops(stretch)) - len(_find_loops(grouped)) >= _MIN_REPETITIONS:
                stretch = grouped
        result += stretch
    return result


class _Repetition(NamedTuple):
    """A sequence of entries that repeats: its length, and how often it occurs."""

    length: int
    n_repetitions: int

    @property
    def n_entries(self) -> int:
        """Number of entries of all repetitions."""
        return self.length * self.n_repetitions


def _find_repetitions(contents: Sequence[object], begin: int) -> Iterator[_Repetition]:
    """Yield the sequences that begin at an index and repeat often enough, shorter ones first.

    The first is always the single entry there, once.
    """
    yield _Repetition(1, 1)
    for length in range(1, _MAX_LOOP_LENGTH + 1):
        body = contents[begin : begin + length]
        end = begin + length
        while end + length <= len(contents) and contents[end : end + length] == body:
            end += length
        n_repetitions = (end - begin) // length
        if n_repetitions >= _MIN_REPETITIONS:
            yield _Repetition(length, n_repetitions)


def sequence_diagram(recording: Recording) -> str:
    """Return the message flow of a recording as a Mermaid `sequenceDiagram`, with loops for repetitions."""
    entries = entries_of(recording)
    short_names = {name: f"o{number}" for number, name in enumerate(objects_in(entries))}
    lines = ["sequenceDiagram"]
    lines += [f"    participant {short} as {_escape(name)}" for name, short in short_names.items()]
    previous_s: float | None = None
    for loop in fold_repetitions(entries):
        indent = "    "
        if loop.n_repetitions > 1:
            lines.append(f"    loop {loop.n_repetitions} times, until {loop.until_s:.3f} s")
            indent *= 2
        for entry in loop.body:
            time = f"{entry.time_s:.3f} s " if entry.time_s != previous_s else ""
            lines.append(indent + _mermaid_line(entry, short_names, time))
            previous_s = entry.time_s
        if loop.n_repetitions > 1:
            lines.append("    end")
    return "\n".join(lines) + "\n"


_ARROWS = {"notify": "->>", "waits": "-)", "silent": "-x"}


def _mermaid_line(entry: LogEntry, short_names: dict[str, str], time: str) -> str:
    """Return an entry in Mermaid's syntax: a message between two objects, or a note over one.

    Args:
        entry: the entry.
        short_names: short names of the objects in the diagram, by their full names.
        time: the time as text, with a blank at its end; empty if it is that of the entry before.
    """
    sender, receiver = (short_names[object_name] for object_name in sender_and_receiver(entry))
    text = f"{time}{_escape(format_label(entry))}"
    if entry.kind in MESSAGE_KINDS:
        return f"{sender}{_ARROWS.get(entry.kind, '-->>')}{receiver}: {text}"
    return f"Note over {sender}: {text}"


def _escape(text: str) -> str:
    """Return a text on one line without characters that are special in Mermaid."""
    line = " ".join(text.split())
    escaped = "".join(f"#{ord(sign)};" if sign in '#;<>&%{}"' else sign for sign in line)
    return escaped or "-"
