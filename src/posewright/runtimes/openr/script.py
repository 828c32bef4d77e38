"""Command scripts: commands with their times and receivers.

    MOVE_MP@0, MV_RGHT@3.0, STOP_MR@3.5

A command is a text that its receiver understands, `@` and the time from the start [s]; without a time it has
that of the previous command. Commas and line ends separate commands, `#` begins a comment. `MoveHead:MOVE_MP`
names the receiver if several objects understand the text.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path

from posewright.errors import FormatError, Where

MAX_TIME_S = 3600.0
MAX_COMMANDS = 10_000
_COMMAND = re.compile(
    r"(?:(?P<to>[A-Za-z_]\w*)\s*:\s*)?(?P<text>[^@:\s]+(?:\s+[^@:\s]+)*)\s*(?:@\s*(?P<time>\S+))?"
)
_NUMBER = re.compile(r"[0-9]{1,9}(?:\.[0-9]{0,15})?|\.[0-9]{1,15}|[0-9]{1,9}e-?[0-9]{1,2}")
_FORM = "COMMAND@SECONDS, as in MOVE_MP@0"


@dataclass(frozen=True, slots=True)
class ScriptedCommand:
    """One command.

    Attributes:
        text: as written.
        time_s: when it is sent [s].
        to: name of the receiver; empty if the text determines it.
        where: place in the script.
    """

    text: str
    time_s: float = 0.0
    to: str = ""
    where: Where | None = None


def read_script(text: str, path: Path | None = None) -> tuple[ScriptedCommand, ...]:
    """Parse a script; commands with the same time keep their order.

    Raises:
        FormatError: a command has another form, or a time before that of the previous one.
    """
    commands: list[ScriptedCommand] = []
    for number, line in enumerate(text.splitlines() or [""], 1):
        for piece in line.partition("#")[0].split(","):
            if piece.strip():
                previous_s = commands[-1].time_s if commands else 0.0
                where = Where(path=path, line=number)
                commands.append(_parse_command(piece.strip(), previous_s, where))
    if len(commands) > MAX_COMMANDS:
        message = f"the script has {len(commands):,} commands"
        raise FormatError(message, where=Where(path=path), hint=f"at most {MAX_COMMANDS:,}")
    return tuple(commands)


def _parse_command(piece: str, previous_s: float, where: Where) -> ScriptedCommand:
    """Parse `[RECEIVER:]COMMAND[@TIME]`; without a time it has the previous command's."""
    match = _COMMAND.fullmatch(piece)
    if match is None:
        raise FormatError(f"{piece!r} is not a command", where=where, hint=f"write {_FORM}")
    time_s = previous_s if match["time"] is None else _parse_time(match["time"], where)
    if time_s < previous_s:
        message = f"{piece} comes after a command at {previous_s:g} s"
        raise FormatError(message, where=where, hint="times must not decrease")
    return ScriptedCommand(match["text"], time_s, to=match["to"] or "", where=where)


def _parse_time(text: str, where: Where) -> float:
    """Return a time [s]; raise FormatError unless it is a number from 0 to `MAX_TIME_S`."""
    time_s = float(text) if _NUMBER.fullmatch(text) else math.nan
    if not 0.0 <= time_s <= MAX_TIME_S:
        hint = f"a time is 0 to {MAX_TIME_S:g} s"
        raise FormatError(f"{text!r} is not a valid time", where=where, hint=hint)
    return time_s
