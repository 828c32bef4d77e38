"""What `posewright monet` says: as data for programs, as lines for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from posewright.errors import Where
from posewright.motions import Level
from posewright.sticks import Added, MemoryStick, MonetFinding, MonetSetup


def check_report(stick: MemoryStick, findings: Sequence[MonetFinding]) -> dict[str, Any]:
    """Return what was looked at and what was found."""
    return {
        "stick": None if stick.root is None else str(stick.root),
        "setups": [_setup(setup) for setup in stick.setups],
        **{f"{level.value}s": sum(one.level is level for one in findings) for level in Level},
        "findings": [finding.data() for finding in findings],
    }


def _setup(setup: MonetSetup) -> dict[str, Any]:
    commands, transitions = setup.commands, setup.transitions
    return {
        "models": list(setup.models),
        "commands_file": None if commands is None else str(commands.path),
        "commands": None if commands is None else [command.id for command in commands.commands],
        "ways_file": None if transitions is None else str(transitions.path),
        "ways": None if transitions is None else len(transitions.agents),
        "motions_file": None if setup.motions is None else str(setup.motions.path),
        "motions": None if setup.motions is None else len(setup.motions.motions),
        "sounds_file": None if setup.sounds is None else str(setup.sounds.path),
        "sounds": None if setup.sounds is None else len(setup.sounds.entries),
    }


def report_lines(stick: MemoryStick, findings: Sequence[MonetFinding]) -> Iterator[str]:
    """Yield a line a finding, what was looked at, and how much was found."""
    width = max((len(one.rule) for one in findings), default=0)
    for finding in findings:
        yield f"{finding.level.value:<7} {finding.rule:<{width}} {finding_text(finding)}"
    for setup in stick.setups:
        yield _looked_at(setup)
    counts = [(level, sum(one.level is level for one in findings)) for level in Level]
    yield ", ".join(_count(number, level.value) for level, number in counts)


def finding_text(finding: MonetFinding) -> str:
    """Return where something was found, what, and what would be right."""
    place = "" if finding.path is None else f"{Where(path=finding.path, line=finding.line)}: "
    return place + finding.message + (f" ({finding.hint})" if finding.hint else "")


def _looked_at(setup: MonetSetup) -> str:
    told = []
    if setup.commands is not None:
        told.append(_count(len(setup.commands.commands), "command"))
    if setup.transitions is not None:
        told.append(_count(len(setup.transitions.agents), "way"))
    if setup.motions is not None:
        told.append(_count(len(setup.motions.motions), "motion"))
    if setup.sounds is not None:
        told.append(_count(len(setup.sounds.entries), "sound"))
    whose = " and ".join(setup.models) or "these files"
    return f"{whose}: {', '.join(told) or 'nothing'}"


def _count(number: int, what: str) -> str:
    return f"{number or 'no'} {what}{'' if number == 1 else 's'}"


def added_report(added: Added) -> dict[str, Any]:
    """Return what was added, as plain data."""
    return {
        "id": added.id,
        "name": added.name,
        "model": added.model,
        "archive": str(added.archive),
        "index": added.place,
        "commands": str(added.commands),
        "losses": list(added.losses),
        "remarks": list(added.remarks),
        "findings": [finding.data() for finding in added.findings],
    }


def added_lines(added: Added) -> Iterator[str]:
    """Yield what was added, and what is to be known of it."""
    yield f"{added.name} -> {added.archive}, index {added.place}"
    yield f"command {added.id} -> {added.commands}"
    for remark in added.remarks:
        yield f"  note: {remark}"
    for finding in added.findings:
        if finding.level is Level.NOTE:
            yield f"  note: {finding.message}"
