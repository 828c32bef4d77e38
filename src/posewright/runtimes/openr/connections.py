"""CONNECT.CFG: the connections from subjects to observers.

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
from posewright.runtimes.openr.services import Connection, OObject, ServiceName, ServiceSide

LINE_FORM = "Sender.Service.DataType.S  Receiver.Service.DataType.O"
_MAX_LINES = 10_000

_Item = TypeVar("_Item")


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
        """Names of the objects, in the order of the file."""
        ends = (end.owner for line in self.lines for end in (line.sender, line.receiver))
        return tuple(dict.fromkeys(ends))

    def where(self, name: str) -> Where:
        """Return the place of the first line that names an object."""
        return next(line.where for line in self.lines if name in {line.sender.owner, line.receiver.owner})


def read_connect_file(path: Path | str) -> ConnectConfig:
    """Read a CONNECT.CFG from a file; errors as `read_connect`."""
    return read_connect(read_text(Path(path)), Path(path))


def read_connect(text: str, path: Path | None = None) -> ConnectConfig:
    """Parse a CONNECT.CFG.

    Raises:
        FormatError: a line does not name a subject and an observer of the same data type, or repeats another;
            or there is no line.
    """
    lines: dict[str, ConnectLine] = {}
    for number, raw in enumerate(text.splitlines(), 1):
        tokens = raw.split()
        if not tokens or tokens[0].startswith("#"):
            continue
        where = Where(path=path, line=number)
        if len(lines) == _MAX_LINES:
            raise FormatError("too many connections", where=where, hint=f"at most {_MAX_LINES:,}")
        line = _parse_line(tokens, where)
        if str(line) in lines:
            first = lines[str(line)].where.line
            raise FormatError(
                f"the same connection as in line {first}", where=where, hint="remove one of them"
            )
        lines[str(line)] = line
    if not lines:
        raise FormatError("no connection", where=Where(path=path), hint=f"a line is {LINE_FORM}")
    return ConnectConfig(tuple(lines.values()), path)


def _parse_line(tokens: list[str], where: Where) -> ConnectLine:
    """Return the connection of a line: a subject, which sends, and an observer of the same data type."""
    if len(tokens) != 2:
        message = f"the line has {len(tokens)} words, not 2: {' '.join(tokens)}"
        raise FormatError(message, where=where, hint=f"a line is {LINE_FORM}")
    sender, receiver = (_parse_service(token, where) for token in tokens)
    if (sender.side, receiver.side) != (ServiceSide.SUBJECT, ServiceSide.OBSERVER):
        hint = "write the sender first, ending in .S, then the receiver, ending in .O"
        raise FormatError(
            f"{sender} {receiver} does not connect a subject (S) to an observer (O)", where=where, hint=hint
        )
    if sender.data_type != receiver.data_type:
        message = (
            f"{sender.short_name} sends {sender.data_type}, "
            f"but {receiver.short_name} receives {receiver.data_type}"
        )
        raise FormatError(message, where=where, hint="both ends have the same type of data")
    return ConnectLine(sender, receiver, where)


def _parse_service(token: str, where: Where) -> ServiceName:
    """Return the name of a service from `Object.Service.DataType.S`, or `.O`."""
    parts = token.split(".")
    if len(parts) != 4 or not all(parts) or parts[-1] not in {side.value for side in ServiceSide}:
        hint = "write Object.Service.DataType.S for a sender, .O for a receiver"
        raise FormatError(f"{token!r} is not a service", where=where, hint=hint)
    owner, service, data_type, side = parts
    return ServiceName(owner, service, data_type, ServiceSide(side))


def connect(objects: Iterable[OObject], config: ConnectConfig) -> tuple[Connection, ...]:
    """Connect objects by a CONNECT.CFG.

    Raises:
        UnknownNameError: it names an object or a service that does not exist.
        FormatError: the data type of a service differs from that in the file.
    """
    by_name = {openr_object.name: openr_object for openr_object in objects}
    return tuple(_connect_line(by_name, line) for line in config.lines)


def _connect_line(objects: Mapping[str, OObject], line: ConnectLine) -> Connection:
    """Connect the two services of a line; raise an error if one of them does not exist."""
    sender = _look_up("object", name=line.sender.owner, items=objects, where=line.where)
    receiver = _look_up("object", name=line.receiver.owner, items=objects, where=line.where)
    subject = _look_up(
        "subject",
        name=line.sender.service,
        items=sender.subjects,
        where=line.where,
        owner=f"of {sender.name}",
    )
    observers = receiver.observers
    observer = _look_up(
        "observer", name=line.receiver.service, items=observers, where=line.where, owner=f"of {receiver.name}"
    )
    for actual, stated in ((subject.name, line.sender), (observer.name, line.receiver)):
        if actual.data_type != stated.data_type:
            message = f"{stated.short_name} has the data type {actual.data_type}, not {stated.data_type}"
            raise FormatError(message, where=line.where, hint=f"write {actual}")
    connection = Connection(subject, observer)
    subject.connections.append(connection)
    observer.connections.append(connection)
    return connection


def _look_up(kind: str, name: str, items: Mapping[str, _Item], where: Where, owner: str = "") -> _Item:
    if name not in items:
        raise UnknownNameError.among(kind, name, items, owner=owner, where=where)
    return items[name]
