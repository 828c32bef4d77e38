"""What OPEN-R objects said to each other, from a recording: entries, repetitions, Mermaid text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby

from posewright.recordings import Recording
from posewright.runtimes.openr.controller import EVENT, entry_of
from posewright.runtimes.openr.kernel import LogEntry

BETWEEN = frozenset({"notify", "waits", "ready", "not ready", "silent"})
"""The kinds of entries that have two ends; all others are of one object."""

STATE = "state"

_LONGEST = 8
"""So many entries at most are looked at as one that repeats."""

_OFTEN = 3
"""What comes so often in a row is told once."""

MOST_TOLD = 80
"""Characters of what was sent that a diagram shows."""


@dataclass(frozen=True, slots=True)
class Loop:
    """Entries that came once, or several times in a row, the same but for their times.

    Attributes:
        body: as they came first.
        until_s: when the last of them came [s].
    """

    times: int
    body: tuple[LogEntry, ...]
    until_s: float


def entries_of(recording: Recording) -> tuple[LogEntry, ...]:
    """Return all that happened between objects and in them, in its order."""
    return tuple(entry_of(event.time_s, event.data) for event in recording.events_of(EVENT))


def ends_of(entry: LogEntry) -> tuple[str, str]:
    """Return the objects an entry leads from and to; of one about a single object, that one twice."""
    if entry.kind not in BETWEEN:
        owner = str(entry.data.get("object", "?"))
        return owner, owner
    one, other = (str(entry.data.get(end, "?")).partition(".")[0] for end in ("from", "to"))
    return one, other


def objects_in(entries: Iterable[LogEntry]) -> tuple[str, ...]:
    """Return the objects that entries speak of; who sends first stands first."""
    entries = tuple(entries)
    sent = [ends_of(one) for one in entries if one.kind == "notify"]
    others = [ends_of(one) for one in entries]
    return tuple(dict.fromkeys(name for ends in (*sent, *others) for name in ends))


def label_of(entry: LogEntry) -> str:
    """Return what a diagram writes beside an entry."""
    data = {name: str(value) for name, value in entry.data.items()}
    service = data.get("from", "").partition(".")[2]
    told = {
        "notify": f"{service}: {data.get('data', '')}",
        "waits": f"{service} waits: {data.get('data', '')}",
        "silent": f"{service}: no answer for {data.get('waits_s', '?')} s; {data.get('why', '?')}",
        "load": f"load: cycle {data.get('cycle', '?')}, {data.get('pose', '')}, {data.get('part', '')}",
        "refused": f"refused: {data.get('asked', '')} ({data.get('why', '')})",
        STATE: data.get("state") or "-",
        "syslog": data.get("text", ""),
        **dict.fromkeys(BETWEEN - {"notify", "waits", "silent"}, entry.kind),
    }
    rest = ", ".join(value for name, value in data.items() if name != "object")
    text = told.get(entry.kind, f"{entry.kind}: {rest}")
    return text if len(text) <= MOST_TOLD else f"{text[: MOST_TOLD - 3]}..."


def folded(entries: Sequence[LogEntry]) -> tuple[Loop, ...]:
    """Return entries as loops, of one each but where something comes three times in a row, or more.

    Where several pairs of objects go on at once, what each pair says is told together.
    """
    return tuple(_looped(_unwoven(entries)))


def _looped(entries: Sequence[LogEntry]) -> list[Loop]:
    signs = [_sign(one) for one in entries]
    found: list[Loop] = []
    at = 0
    while at < len(entries):
        length, times = max(_repetitions(signs, at), key=lambda one: one[0] * one[1])
        end = at + length * times
        found.append(Loop(times, tuple(entries[at : at + length]), entries[end - 1].time_s))
        at = end
    return found


def _sign(entry: LogEntry) -> object:
    return entry.kind, tuple(sorted((name, str(value)) for name, value in entry.data.items()))


def _unwoven(entries: Sequence[LogEntry]) -> list[LogEntry]:
    """Return entries, those of each pair of objects together where that tells it in clearly fewer lines."""
    often = Counter(map(_sign, entries))
    found: list[LogEntry] = []
    for repeats, group in groupby(entries, lambda one: one.kind in BETWEEN and often[_sign(one)] >= _OFTEN):
        stretch = list(group)
        if repeats:
            pairs: dict[frozenset[str], list[LogEntry]] = {}
            for one in stretch:
                pairs.setdefault(frozenset(ends_of(one)), []).append(one)
            together = list(chain.from_iterable(pairs.values()))
            if len(_looped(stretch)) - len(_looped(together)) >= _OFTEN:
                stretch = together
        found += stretch
    return found


def _repetitions(signs: Sequence[object], at: int) -> Iterator[tuple[int, int]]:
    """Yield how often what begins here comes in a row, for each length; the shorter first."""
    yield 1, 1
    for length in range(1, _LONGEST + 1):
        begin = at + length
        while begin + length <= len(signs) and signs[begin : begin + length] == signs[at : at + length]:
            begin += length
        times = (begin - at) // length
        if times >= _OFTEN:
            yield length, times


def sequence_diagram(recording: Recording) -> str:
    """Return the flow of a recording as a Mermaid `sequenceDiagram`; repetitions are loops."""
    entries = entries_of(recording)
    names = {name: f"o{number}" for number, name in enumerate(objects_in(entries))}
    lines = [
        "sequenceDiagram",
        *(f"    participant {short} as {_plain(name)}" for name, short in names.items()),
    ]
    last_s = -1.0
    for step in folded(entries):
        indent = "    "
        if step.times > 1:
            lines.append(f"    loop {step.times} times, until {step.until_s:.3f} s")
            indent *= 2
        for entry in step.body:
            time = f"{entry.time_s:.3f} s " if entry.time_s != last_s else ""
            lines.append(indent + _mermaid(entry, names, time))
            last_s = entry.time_s
        if step.times > 1:
            lines.append("    end")
    return "\n".join(lines) + "\n"


_ARROWS = {"notify": "->>", "waits": "-)", "silent": "-x"}


def _mermaid(entry: LogEntry, names: dict[str, str], time: str) -> str:
    one, other = (names[end] for end in ends_of(entry))
    told = f"{time}{_plain(label_of(entry))}"
    if entry.kind in BETWEEN:
        return f"{one}{_ARROWS.get(entry.kind, '-->>')}{other}: {told}"
    return f"Note over {one}: {told}"


def _plain(text: str) -> str:
    """Return a text in which nothing means anything to Mermaid."""
    return (
        "".join(f"#{ord(sign)};" if sign in '#;<>&%{}"' else sign for sign in " ".join(text.split())) or "-"
    )
