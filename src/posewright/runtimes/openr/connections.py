"""CONNECT.CFG: from whose subject to whose observer data goes.

A line names both ends; a line that begins with `#` is a comment:

    Commander.SendHeadCommand.char.S  MoveHead.ReceiveCommand.char.O
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from posewright.documents import read_text
from posewright.errors import FormatError, UnknownNameError, Where
from posewright.runtimes.openr.services import Connection, OObject, OObserver, OSubject, ServiceName, Side

FORM = "Sender.Service.DataType.S  Receiver.Service.DataType.O"
_MOST_LINES = 10_000

_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class ConnectLine:
    """One line of a CONNECT.CFG."""

    sender: ServiceName
    receiver: ServiceName
    where: Where

    def __str__(self) -> str:
        return f"{self.sender} {self.receiver}"


@dataclass(frozen=True, slots=True)
class ConnectConfig:
    """A CONNECT.CFG."""

    lines: tuple[ConnectLine, ...]
    path: Path | None = None

    @property
    def objects(self) -> tuple[str, ...]:
        """The objects it names, in its order."""
        ends = (end.owner for line in self.lines for end in (line.sender, line.receiver))
        return tuple(dict.fromkeys(ends))

    def where(self, name: str) -> Where:
        """Return where it first names an object."""
        return next(line.where for line in self.lines if name in {line.sender.owner, line.receiver.owner})


def read_connect_file(path: Path | str) -> ConnectConfig:
    """Read a CONNECT.CFG from the disk; errors as `read_connect`."""
    return read_connect(read_text(Path(path)), Path(path))


def read_connect(text: str, path: Path | None = None) -> ConnectConfig:
    """Read a CONNECT.CFG.

    Raises:
        FormatError: a line does not name a subject and an observer of the same data, or says it twice; or
            there is no line.
    """
    found: dict[str, ConnectLine] = {}
    for number, raw in enumerate(text.splitlines(), 1):
        words = raw.split()
        if not words or words[0].startswith("#"):
            continue
        if len(found) == _MOST_LINES:
            where = Where(path=path, line=number)
            raise FormatError("too many connections", where=where, hint=f"at most {_MOST_LINES:,}")
        line = _line(words, Where(path=path, line=number))
        if str(line) in found:
            first = found[str(line)].where.line
            raise FormatError(
                f"the same connection as in line {first}", where=line.where, hint="once is enough"
            )
        found[str(line)] = line
    if not found:
        raise FormatError("no connection", where=Where(path=path), hint=f"a line is {FORM}")
    return ConnectConfig(tuple(found.values()), path)


def _line(words: list[str], where: Where) -> ConnectLine:
    if len(words) != 2:
        raise FormatError(
            f"{len(words)} words, not 2: {' '.join(words)}", where=where, hint=f"right is {FORM}"
        )
    sender, receiver = (_service(word, where) for word in words)
    if (sender.side, receiver.side) != (Side.SUBJECT, Side.OBSERVER):
        hint = "first who sends, ending in .S, then who receives, ending in .O"
        raise FormatError(f"{sender} {receiver} is not from S to O", where=where, hint=hint)
    if sender.data_type != receiver.data_type:
        what = f"{sender.short} sends {sender.data_type}, but {receiver.short} receives {receiver.data_type}"
        raise FormatError(what, where=where, hint="both ends have the same type of data")
    return ConnectLine(sender, receiver, where)


def _service(word: str, where: Where) -> ServiceName:
    parts = word.split(".")
    if len(parts) != 4 or not all(parts) or parts[3] not in {side.value for side in Side}:
        hint = "right is Object.Service.DataType.S for who sends, .O for who receives"
        raise FormatError(f"{word!r} is no service", where=where, hint=hint)
    return ServiceName(parts[0], parts[1], parts[2], Side(parts[3]))


def connect(objects: Iterable[OObject], config: ConnectConfig) -> tuple[Connection, ...]:
    """Connect objects as a CONNECT.CFG says.

    Raises:
        UnknownNameError: it names an object or a service that is not there.
        FormatError: two ends are of other data.
    """
    known = {one.name: one for one in objects}
    return tuple(_connected(known, line) for line in config.lines)


def _connected(known: Mapping[str, OObject], line: ConnectLine) -> Connection:
    owners = [_among("object", end.owner, known, line.where) for end in (line.sender, line.receiver)]
    subject: OSubject = _among(
        f"subject of {line.sender.owner}", line.sender.service, owners[0].subjects, line.where
    )
    observer: OObserver = _among(
        f"observer of {line.receiver.owner}", line.receiver.service, owners[1].observers, line.where
    )
    for end, said in ((subject, line.sender), (observer, line.receiver)):
        if end.name.data_type != said.data_type:
            what = f"{said.short} is of {end.name.data_type}, not {said.data_type}"
            raise FormatError(what, where=line.where, hint=f"right is {end.name}")
    made = Connection(subject, observer)
    subject.connections.append(made)
    observer.connections.append(made)
    return made


def _among(what: str, name: str, known: Mapping[str, _Value], where: Where) -> _Value:
    if name not in known:
        raise UnknownNameError.among(what, name, known, where=where)
    return known[name]
