"""`monet check`: everything that is wrong with the MONET files of a robot, and with how they fit together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

from posewright.formats.monet.archive import MonetArchive
from posewright.formats.monet.command_checks import check_commands, check_transitions
from posewright.formats.monet.finding import MonetFinding, quoted
from posewright.formats.monet.graph import check_graph
from posewright.formats.monet.limits import AGENTS
from posewright.formats.monet.lookup import check_lookups, lines_of, used_places
from posewright.formats.monet.memory_stick import read_stick
from posewright.formats.monet.names import postures_of
from posewright.formats.monet.setup import MemoryStick, MonetSetup
from posewright.motions import Level

MOST_NAMED = 10
"""More names than this in one sentence tell a person nothing more."""

_ORDER = {Level.ERROR: 0, Level.WARNING: 1, Level.NOTE: 2}

MOST_FINDINGS = 200
"""More findings of one kind of check are not told: the file is none of a robot."""


def check_monet(*where: MemoryStick | Path | str) -> tuple[MonetFinding, ...]:
    """Check MONET files: a memory stick, its `OPEN-R` or `CONF` folder, or files one by one.

    What is wrong in a file that several models share is told once, and says which models it holds for.

    Args:
        where: what `read_stick` gave, or folders and files to be read.

    Returns:
        What was found: by file, by line, and of one line errors first.

    Raises:
        FormatError: there is no such file, or no MONET file in the folder.
    """
    sticks = [one for one in where if isinstance(one, MemoryStick)]
    paths = [one for one in where if not isinstance(one, MemoryStick)]
    if paths:
        sticks.append(read_stick(*paths))
    found = [finding for stick in sticks for finding in stick.findings]
    found += [
        finding
        for stick in sticks
        for setup in stick.setups
        for finding in check_setup(setup, most=MOST_FINDINGS)
    ]
    return tuple(sorted(_once(found), key=_place))


def check_setup(setup: MonetSetup, *, most: int | None = None) -> Iterator[MonetFinding]:
    """Check files that belong together; stop one kind of check after `most` findings."""
    for check in _checks(setup):
        count = 0
        for finding in islice(check, most):
            yield replace(finding, models=setup.models)
            count += 1
        if count == most:
            message = f"more than {most} findings: the others of this kind are not told"
            yield replace(finding, level=Level.NOTE, rule="file", message=message, line=None, hint="")


def _checks(setup: MonetSetup) -> Iterator[Iterator[MonetFinding]]:
    if setup.commands is not None:
        yield check_commands(setup.commands, older=setup.older)
    if setup.transitions is not None:
        yield check_transitions(setup.transitions, older=setup.older)
        yield check_graph(setup.transitions, setup.commands, older=setup.older)
    yield check_lookups(setup)
    yield _not_looked_up(setup)
    if setup.motions is not None:
        yield _check_archive(setup, setup.motions)


def _not_looked_up(setup: MonetSetup) -> Iterator[MonetFinding]:
    for archive, plays, what in ((setup.motions, "OMTN", "motions"), (setup.sounds, "WAVE", "sounds")):
        lines = [
            line for line in lines_of(setup) if line.agent in AGENTS and AGENTS[line.agent].plays == plays
        ]
        if archive is None and lines:
            message = f"{what} were not looked up: no archive of them was read"
            yield MonetFinding(Level.NOTE, "file", message, lines[0].line.path)


def _check_archive(setup: MonetSetup, archive: MonetArchive) -> Iterator[MonetFinding]:
    path = archive.path
    for name in archive.twice[:MOST_NAMED]:
        message = f"several motions call themselves {quoted(name)}: the robot finds the first"
        yield MonetFinding(Level.WARNING, "name", message, path, hint="give each a name of its own")
    yield from _check_entry_names(archive)
    used = used_places(setup)
    unused = [label.name for place, label in archive.motions.items() if place not in used]
    if unused and setup.commands is not None:
        of = f"{len(unused)} of {len(archive.motions)} motions"
        message = f"{of} are played by no line: {_listed(unused)}"
        yield MonetFinding(Level.NOTE, "unused", message, path)


def _check_entry_names(archive: MonetArchive) -> Iterator[MonetFinding]:
    """Compare what motions call themselves with what their entries are called."""
    differ = [
        f"{quoted(archive.entries[place].name)} holds {quoted(label.name)}"
        for place, label in archive.motions.items()
        if (entry := postures_of(archive.entries[place].name)).said
        and (own := postures_of(label.name)).said
        and own != entry
    ]
    if differ:
        message = f"entries whose name says other postures than the motion in them: {_listed(differ)}"
        yield MonetFinding(
            Level.WARNING, "posture", message, archive.path, hint="MoNet looks up the motion's own name"
        )


def _once(findings: Iterable[MonetFinding]) -> list[MonetFinding]:
    """Return findings of several models once, with all the models they hold for."""
    merged: dict[MonetFinding, tuple[str, ...]] = {}
    for finding in findings:
        key = replace(finding, models=())
        merged[key] = tuple(dict.fromkeys((*merged.get(key, ()), *finding.models)))
    return [replace(finding, models=models) for finding, models in merged.items()]


def _place(finding: MonetFinding) -> tuple[str, int, int]:
    return (str(finding.path or ""), finding.line or 0, _ORDER[finding.level])


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more
