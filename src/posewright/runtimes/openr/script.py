"""Scripts of commands: what a client is to send, to whom, and when.

    MOVE_MP@0, MV_RGHT@3.0, STOP_MR@3.5

A command is a word of the object it is for, `@` and the time from the start [s]; without a time it follows at
once. Commas and ends of lines part them, `#` begins a comment. `MoveHead:MOVE_MP` says who is meant, where
several objects know the word.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path

from posewright.errors import FormatError, Where

LATEST_S = 3600.0
MOST_COMMANDS = 10_000
_COMMAND = re.compile(
    r"(?:(?P<to>[A-Za-z_]\w*)\s*:\s*)?(?P<word>[^@:\s]+(?:\s+[^@:\s]+)*)\s*(?:@\s*(?P<time>\S+))?"
)
_NUMBER = re.compile(r"[0-9]{1,9}(?:\.[0-9]{0,15})?|\.[0-9]{1,15}|[0-9]{1,9}e-?[0-9]{1,2}")
_FORM = "COMMAND@SECONDS, as in MOVE_MP@0"


@dataclass(frozen=True, slots=True)
class ScriptedCommand:
    """One command.

    Attributes:
        word: as it was written.
        time_s: when it is sent [s].
        to: for which object; empty where the word tells.
        where: where it was written.
    """

    word: str
    time_s: float = 0.0
    to: str = ""
    where: Where | None = None


def read_script(text: str, path: Path | None = None) -> tuple[ScriptedCommand, ...]:
    """Read a script; commands of one time keep their order.

    Raises:
        FormatError: a command is not of that form, or goes back in time.
    """
    found: list[ScriptedCommand] = []
    for number, line in enumerate(text.splitlines() or [""], 1):
        for piece in line.partition("#")[0].split(","):
            if piece.strip():
                last_s = found[-1].time_s if found else 0.0
                found.append(_command(piece.strip(), last_s, Where(path=path, line=number)))
    if len(found) > MOST_COMMANDS:
        raise FormatError(
            f"{len(found):,} commands", where=Where(path=path), hint=f"at most {MOST_COMMANDS:,}"
        )
    return tuple(found)


def _command(piece: str, last_s: float, where: Where) -> ScriptedCommand:
    match = _COMMAND.fullmatch(piece)
    if match is None:
        raise FormatError(f"{piece!r} is no command", where=where, hint=f"right is {_FORM}")
    time_s = last_s if match["time"] is None else _seconds(match["time"], where)
    if time_s < last_s:
        what = f"{piece} comes after a command at {last_s:g} s"
        raise FormatError(what, where=where, hint="times do not go back")
    return ScriptedCommand(match["word"], time_s, match["to"] or "", where)


def _seconds(text: str, where: Where) -> float:
    time_s = float(text) if _NUMBER.fullmatch(text) else math.nan
    if not 0.0 <= time_s <= LATEST_S:
        hint = f"seconds, 0 to {LATEST_S:g}"
        raise FormatError(f"{text!r} is no time", where=where, hint=hint)
    return time_s
