"""Look-up of the names and indices of MONET lines in archives, and checks of what they find."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from posewright.errors import FormatError
from posewright.formats import EntryKind, MotionLabel, archive_motion, read_omtn
from posewright.hazards import find_faults
from posewright.motions import Level
from posewright.runtimes.openr.stick.finding import COUNT_RULE, MonetFinding, error, quoted, warning
from posewright.runtimes.openr.stick.limits import (
    AGENTS,
    MODELS,
    MOTION_ENTRY,
    SOUND_ENTRY,
    MotionPostures,
    is_null,
    postures_of,
)
from posewright.runtimes.openr.stick.posture_transitions import JUMP, check_jumps
from posewright.runtimes.openr.stick.setup import MonetArchive, MonetSetup
from posewright.runtimes.openr.stick.text import AgentLine, MonetCommand

_DESCRIPTIONS = {
    EntryKind.MOTION: "a motion",
    EntryKind.PLACEHOLDER: "a placeholder, which holds no motion",
    EntryKind.SOUND: "a sound",
    EntryKind.MIDI: "a tune (MIDI)",
    EntryKind.UNKNOWN: "of an unknown kind",
}

FAULT = "fault"
"""Rule of the findings about errors that `motion check` reports."""

MAX_SUGGESTIONS = 20
"""For so many names similar ones are searched, which takes long in a large archive."""

NameSuggester: TypeAlias = Callable[[str, Iterable[str]], str]
"""Returns a hint with similar names, for a name and the existing ones."""


@dataclass(frozen=True)
class PlayedEntry:
    """The entry of an archive that a line plays.

    Attributes:
        archive: the archive of its agent.
        index: index of the entry; None if there is no such entry.
    """

    archive: MonetArchive
    index: int | None


def find_played_entry(line: AgentLine, setup: MonetSetup) -> PlayedEntry | None:
    """Return the entry that a line plays; None if its agent needs no archive, or it was not read.

    A negative index in the line means that the entry is looked up by the name in the line.
    """
    agent = AGENTS.get(line.agent)
    if agent is None or agent.entry_type is None or line.index is None:
        return None
    archive = setup.motions if agent.entry_type == MOTION_ENTRY else setup.sounds
    if archive is None:
        return None
    if line.index < 0:
        return PlayedEntry(archive, archive.index_by_name.get(line.name))
    return PlayedEntry(archive, line.index if line.index < len(archive.entries) else None)


def find_entry_index(line: AgentLine, setup: MonetSetup) -> int:
    """Return the index of a line's entry, or the number that its agent knows; -1 if there is no entry."""
    played_entry = find_played_entry(line, setup)
    index = line.index if played_entry is None else played_entry.index
    return -1 if index is None else index


def agent_lines_of(setup: MonetSetup) -> Iterator[AgentLine]:
    """Yield the lines that tell an agent what to play, of the commands file, then of the transitions file."""
    for text in (setup.commands, setup.transitions):
        if text is not None:
            yield from text.agent_lines


def indices_of_played_motions(setup: MonetSetup) -> set[int]:
    """Return the indices, in the archive of motions, of all motions that a line of the two files plays."""
    indices: set[int] = set()
    for line in agent_lines_of(setup):
        played_entry = find_played_entry(line, setup)
        if (
            played_entry is not None
            and played_entry.index is not None
            and played_entry.archive is setup.motions
        ):
            indices.add(played_entry.index)
    return indices


def check_lookups(setup: MonetSetup) -> Iterator[MonetFinding]:
    """Yield findings about the entries that lines play: missing, wrong, damaged or ambiguous ones."""
    checks = _MotionChecks(setup.models)
    n_suggestions = MAX_SUGGESTIONS  # that may still be searched
    for line in agent_lines_of(setup):
        played_entry = find_played_entry(line, setup)
        if played_entry is None:
            continue
        if played_entry.index is None:
            suggest_name = _suggest_similar if n_suggestions > 0 else _suggest_nothing
            yield from _report_missing_entry(line, played_entry.archive, suggest_name)
            n_suggestions -= 1
        elif AGENTS[line.agent].entry_type == MOTION_ENTRY:
            yield from checks.check(line, played_entry.archive, played_entry.index)
        else:
            yield from _check_sound(line, played_entry.archive, played_entry.index)
    for command in () if setup.commands is None else setup.commands.commands:
        yield from _check_ambiguous_lines(command, setup)


def _report_missing_entry(
    line: AgentLine, archive: MonetArchive, suggest_name: NameSuggester
) -> Iterator[MonetFinding]:
    """Yield the error about a line whose entry was looked up in the archive and is not there.

    A line names its entry by an index, or, with the index -1, by its name. A motion may be named so that it
    means "play nothing" (`a_sit#sit_null`); then there is no error.

    Args:
        line: the line.
        archive: the archive of its agent.
        suggest_name: returns the hint with similar names.
    """
    n_entries = len(archive.entries)
    has_index = line.index is not None and line.index >= 0
    if has_index:
        message = f"there is no index {line.index} in {archive.path.name}, which has {n_entries} entries"
        yield error(
            "index", line.text_line, message, hint=f"expected 0 to {n_entries - 1}, or -1 to look the name up"
        )
    elif AGENTS[line.agent].entry_type == SOUND_ENTRY:
        names = [entry.name for entry in archive.entries]
        message = f"no sound in {archive.path.name} has the name {quoted(line.name)}"
        yield error("sound", line.text_line, message, hint=suggest_name(line.name, names))
    elif not is_null(line.name):
        yield _missing_motion(line, archive, suggest_name)


def _missing_motion(line: AgentLine, archive: MonetArchive, suggest_name: NameSuggester) -> MonetFinding:
    """Return the error about a name that no motion has, with a hint if an entry has it."""
    # by the names of the entries, not of the motions in them
    index = archive.oda_archive.indices.get(line.name)
    label = None if index is None else archive.labels[index]
    if index is not None and label is not None:
        hint = (
            f"this is the name of an entry, but -1 looks for the motion's own name, {label.name}; "
            f"or write {index}"
        )
    elif index is not None:
        content = _DESCRIPTIONS[archive.entries[index].content.kind]
        hint = f"there is an entry of this name, but it is {content}"
    else:
        hint = suggest_name(line.name, [label.name for label in archive.motions.values()])
    message = f"no motion in {archive.path.name} has the name {quoted(line.name)}: the robot would not move"
    return error("motion", line.text_line, message, hint)


class _MotionChecks:
    """Checks of the motions that lines play; each motion is read once, however many lines play it.

    Args:
        models: the robot models of the files.
    """

    def __init__(self, models: tuple[str, ...]) -> None:
        self._models = models
        self._designs = {MODELS[model].design for model in models if model in MODELS}
        self._reading_faults: dict[int, str | None] = {}  # by index, why a motion cannot be read
        self._faults: dict[int, tuple[str, ...]] = {}  # by index, the errors of `motion check`
        self._jumps: dict[tuple[int, MotionPostures], tuple[MonetFinding, ...]] = {}

    def check(self, line: AgentLine, archive: MonetArchive, index: int) -> Iterator[MonetFinding]:
        """Yield findings about the motion that a line plays: its kind, name, design, jumps and faults.

        Args:
            line: the line.
            archive: the archive with the motion.
            index: the index of its entry.
        """
        entry = archive.entries[index]
        label = archive.labels[index]
        subject = f"{quoted(entry.name)}, index {index} in {archive.path.name},"
        if entry.content.kind is not EntryKind.MOTION:
            yield error(
                "kind",
                line.text_line,
                message=f"{subject} is {_DESCRIPTIONS[entry.content.kind]}",
                hint="expected a motion",
            )
            return
        if index not in self._reading_faults:
            self._reading_faults[index] = _reading_fault(archive, index)
        reading_fault = self._reading_faults[index]
        if reading_fault is not None or label is None:
            yield error("kind", line.text_line, f"{subject} is a motion that cannot be read: {reading_fault}")
            return
        yield from _check_own_name(line, label, subject)
        yield from self._check_movement(line, archive, index, subject)
        if self._designs and label.design not in self._designs:
            motion_agent = f"the motion agent of {' and '.join(self._models)}"
            yield warning(
                "design",
                line.text_line,
                message=f"{subject} is for {quoted(label.design)}: {motion_agent} rejects it",
                hint=f"expected {' or '.join(sorted(self._designs))}",
            )

    def _check_movement(
        self, line: AgentLine, archive: MonetArchive, index: int, subject: str
    ) -> Iterator[MonetFinding]:
        """Check whether the robot would jump, by the postures in the line, or could be harmed."""
        jumps_key = (index, postures_of(line.name))
        if jumps_key not in self._jumps:
            motion = archive_motion(index + 1, archive.oda_archive, archive.path)
            self._jumps[jumps_key] = tuple(check_jumps(motion, postures_of(line.name)))
            if index not in self._faults:
                self._faults[index] = find_faults(motion)
        for jump in self._jumps[jumps_key]:
            if jump.level is Level.ERROR:
                message = f"{subject} is played: {jump.message}"
                yield error(JUMP, line.text_line, message, hint=jump.hint)
        for fault in self._faults[index]:
            message = f"{subject} could harm the robot: {fault}"
            yield error(FAULT, line.text_line, message, hint="extract the motion, and correct it")


def _reading_fault(archive: MonetArchive, index: int) -> str | None:
    """Return why a motion cannot be read; None if it can."""
    try:
        read_omtn(archive.entries[index].data)
    except FormatError as fault:
        return f"byte {fault.where.offset}: {fault.message}" if fault.where else fault.message
    return None


def _check_own_name(line: AgentLine, label: MotionLabel, subject: str) -> Iterator[MonetFinding]:
    """Yield a warning if the name in a line states other postures than the motion's own name."""
    if line.name == label.name:
        return
    line_postures = postures_of(line.name)
    own_postures = postures_of(label.name)
    if own_postures.has_start_and_end and line_postures != own_postures:
        message = (
            f"the line states {' to '.join(line_postures)}, but {subject} has the name {quoted(label.name)}"
        )
        yield warning("posture", line.text_line, message, hint="MoNet believes the line")


def _check_sound(line: AgentLine, archive: MonetArchive, index: int) -> Iterator[MonetFinding]:
    """Yield an error if the entry that a line plays as a sound is none."""
    entry = archive.entries[index]
    if entry.content.kind is not EntryKind.SOUND:
        subject = f"{quoted(entry.name)}, index {index} in {archive.path.name},"
        message = f"{subject} is {_DESCRIPTIONS[entry.content.kind]}"
        yield error("kind", line.text_line, message, hint="expected a sound (WAVE)")


def _check_ambiguous_lines(command: MonetCommand, setup: MonetSetup) -> Iterator[MonetFinding]:
    """Yield an error for each line with the agent and the entry to play of an earlier line of the command.

    MoNet recognises the result of a line by these two, so it gets only one result for both lines.
    """
    result_keys: set[_ResultKey] = set()
    for line in command.agent_lines:
        result_key = _result_key_of_line(line, setup)
        if result_key in result_keys:
            message = (
                f"{line.agent} is to play the same twice in command {command.head.word(0)}: "
                "MoNet waits forever for the second result"
            )
            yield error(COUNT_RULE, line.text_line, message, hint="remove one of the lines")
        result_keys.add(result_key)


class _ResultKey(NamedTuple):
    """By what MoNet recognises the result of a line: the agent, and the index or name of what it plays."""

    agent: str
    entry_index_or_name: int | str


def _result_key_of_line(line: AgentLine, setup: MonetSetup) -> _ResultKey:
    """Return by what MoNet recognises the result of a line; by name if the archive was not read."""
    index = find_entry_index(line, setup)
    if index < 0 and find_played_entry(line, setup) is None:
        return _ResultKey(line.agent, line.name)
    return _ResultKey(line.agent, index)


def _suggest_similar(name: str, names: Iterable[str]) -> str:
    """Return a hint with the most similar names; empty if there are none."""
    similar = difflib.get_close_matches(name, list(names), n=3)
    return f"did you mean {' or '.join(similar)}?" if similar else ""


def _suggest_nothing(name: str, names: Iterable[str]) -> str:  # noqa: ARG001 -- a NameSuggester
    return ""
