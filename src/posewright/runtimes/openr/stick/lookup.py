"""Where the names and indices of MONET lines lead, and whether that can be played."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from posewright.errors import FormatError
from posewright.formats import EntryKind, MotionLabel, archive_motion, read_omtn
from posewright.motions import Level
from posewright.runtimes.openr.stick.finding import MonetFinding, error, quoted, warning
from posewright.runtimes.openr.stick.jumps import JUMP, jumps
from posewright.runtimes.openr.stick.limits import AGENTS, MODELS, is_null, postures_of
from posewright.runtimes.openr.stick.setup import MonetArchive, MonetSetup
from posewright.runtimes.openr.stick.text import AgentLine, Command

_SAID = {
    EntryKind.MOTION: "a motion",
    EntryKind.PLACEHOLDER: "a placeholder, which holds no motion",
    EntryKind.SOUND: "a sound",
    EntryKind.MIDI: "a tune (MIDI)",
    EntryKind.UNKNOWN: "nothing that is known here",
}

MOST_GUESSES = 20
"""For so many names the nearest that exist are looked for, which takes its time in a large archive."""

Guess: TypeAlias = Callable[[str, Iterable[str]], str]


@dataclass(frozen=True)
class Target:
    """What a line leads to."""

    archive: MonetArchive
    place: int | None  # of the entry in it, from 0; None where the line leads nowhere


def target_of(line: AgentLine, setup: MonetSetup) -> Target | None:
    """Return what a line leads to; None where its agent plays from no archive, or from none that was read."""
    agent = AGENTS.get(line.agent)
    if agent is None or agent.plays is None or line.index is None:
        return None
    archive = setup.motions if agent.plays == "OMTN" else setup.sounds
    if archive is None:
        return None
    if line.index < 0:
        return Target(archive, archive.places.get(line.name))
    return Target(archive, line.index if line.index < len(archive.entries) else None)


def index_of(line: AgentLine, setup: MonetSetup) -> int:
    """Return where what a line plays is in its archive, or what else its agent knows; below 0 for nothing."""
    target = target_of(line, setup)
    index = line.index if target is None else target.place
    return -1 if index is None else index


def lines_of(setup: MonetSetup) -> Iterator[AgentLine]:
    """Yield the agent lines of both files."""
    for text in (setup.commands, setup.transitions):
        if text is not None:
            yield from text.agents


def used_places(setup: MonetSetup) -> set[int]:
    """Return the places of the motions that some line plays."""
    found = (target_of(line, setup) for line in lines_of(setup))
    return {
        target.place
        for target in found
        if target and target.place is not None and target.archive is setup.motions
    }


def check_lookups(setup: MonetSetup) -> Iterator[MonetFinding]:
    """Look up what every line plays."""
    read: dict[int, str | None] = {}
    guesses = MOST_GUESSES
    for line in lines_of(setup):
        target = target_of(line, setup)
        if target is None:
            continue
        if target.place is None:
            yield from _leads_nowhere(line, target.archive, _near if guesses > 0 else lambda *_: "")
            guesses -= 1
        elif AGENTS[line.agent].plays == "OMTN":
            yield from _check_motion(line, target.archive, target.place, setup.models, read)
        else:
            yield from _check_sound(line, target.archive, target.place)
    for command in () if setup.commands is None else setup.commands.commands:
        yield from _check_waits_for_ever(command, setup)


def _leads_nowhere(line: AgentLine, archive: MonetArchive, guess: Guess) -> Iterator[MonetFinding]:
    entries, index = archive.entries, line.index
    if index is not None and index >= 0:
        what = f"there is no index {index} in {archive.path.name}, which has {len(entries)}"
        yield error("index", line.line, what, f"right is 0 to {len(entries) - 1}, or -1 to look the name up")
    elif AGENTS[line.agent].plays == "WAVE":
        names = [entry.name for entry in entries]
        what = f"no sound in {archive.path.name} is called {quoted(line.name)}"
        yield error("sound", line.line, what, guess(line.name, names))
    elif not is_null(line.name):
        yield _no_such_motion(line, archive, guess)


def _no_such_motion(line: AgentLine, archive: MonetArchive, guess: Guess) -> MonetFinding:
    place = archive.archive.places.get(line.name)
    label = None if place is None else archive.labels[place]
    if place is not None and label is not None:
        hint = (
            f"the entry is called so, but -1 looks for the motion's own name: {label.name}; or write {place}"
        )
    elif place is not None:
        hint = f"the entry is called so, but it holds {_SAID[archive.entries[place].content.kind]}"
    else:
        hint = guess(line.name, [label.name for label in archive.motions.values()])
    what = f"no motion in {archive.path.name} calls itself {quoted(line.name)}: the robot would stay as it is"
    return error("motion", line.line, what, hint)


def _check_motion(
    line: AgentLine, archive: MonetArchive, place: int, models: tuple[str, ...], read: dict[int, str | None]
) -> Iterator[MonetFinding]:
    entry, label = archive.entries[place], archive.labels[place]
    called = f"{quoted(entry.name)}, index {place} in {archive.path.name},"
    if entry.content.kind is not EntryKind.MOTION:
        yield error("kind", line.line, f"{called} is {_SAID[entry.content.kind]}", "right is a motion")
        return
    if place not in read:
        read[place] = _fault(archive, place)
    if read[place] is not None or label is None:
        yield error("kind", line.line, f"{called} is a motion that cannot be read: {read[place]}")
        return
    yield from _check_own_name(line, label, called)
    yield from _check_jumps(line, archive, place, called)
    designs = {MODELS[model].design for model in models if model in MODELS}
    if designs and label.design not in designs:
        yield warning(
            "design",
            line.line,
            f"{called} is for {quoted(label.design)}: the motion agent of {' and '.join(models)} refuses it",
            f"right is {' or '.join(sorted(designs))}",
        )


def _check_jumps(line: AgentLine, archive: MonetArchive, place: int, called: str) -> Iterator[MonetFinding]:
    """Look whether the robot would jump into the motion, or out of it: MoNet believes the line."""
    motion = archive_motion(place + 1, archive.archive, archive.path)
    for jump in jumps(motion, postures_of(line.name)):
        if jump.level is Level.ERROR:
            yield error(JUMP, line.line, f"{called} is played: {jump.message}", jump.hint)


def _fault(archive: MonetArchive, place: int) -> str | None:
    """Return what keeps a motion from being read, in words."""
    try:
        read_omtn(archive.entries[place].data)
    except FormatError as fault:
        return f"byte {fault.where.offset}: {fault.message}" if fault.where else fault.message
    return None


def _check_own_name(line: AgentLine, label: MotionLabel, called: str) -> Iterator[MonetFinding]:
    if line.name == label.name:
        return
    said, own = postures_of(line.name), postures_of(label.name)
    if own.said and said != own:
        what = f"the line says {' to '.join(said)}, but {called} calls itself {quoted(label.name)}"
        yield warning("posture", line.line, what, "MoNet believes the line")


def _check_sound(line: AgentLine, archive: MonetArchive, place: int) -> Iterator[MonetFinding]:
    entry = archive.entries[place]
    if entry.content.kind is not EntryKind.SOUND:
        called = f"{quoted(entry.name)}, index {place} in {archive.path.name},"
        yield error("kind", line.line, f"{called} is {_SAID[entry.content.kind]}", "right is a sound (WAVE)")


def _check_waits_for_ever(command: Command, setup: MonetSetup) -> Iterator[MonetFinding]:
    """Look for two lines that MoNet cannot tell apart when their agents say that they are done."""
    seen: set[tuple[str, int | str]] = set()
    for line in command.agents:
        played = _played(line, setup)
        if played in seen:
            what = (
                f"{line.agent} is to play the same twice in command {command.head.word(0)}: "
                "MoNet waits for ever for the second"
            )
            yield error("count", line.line, what, "take one of the lines out")
        seen.add(played)


def _played(line: AgentLine, setup: MonetSetup) -> tuple[str, int | str]:
    """Return by what MoNet tells a line from others: the agent, and the index or the name it looks up."""
    index = index_of(line, setup)
    return line.agent, line.name if index < 0 and target_of(line, setup) is None else index


def _near(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(known), n=3)
    return f"did you mean {' or '.join(near)}?" if near else ""
