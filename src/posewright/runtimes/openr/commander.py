"""Commander: the test client of MoveHead's authors, here sending what a script says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from posewright.errors import FormatError, InputError
from posewright.runtimes.openr.connections import ConnectConfig
from posewright.runtimes.openr.script import ScriptedCommand, read_script
from posewright.runtimes.openr.services import Connection, ONotifyEvent, OObject, OSubject

COMMANDER = "Commander"

Live = Callable[[float, InputError | None], str | None]
"""Asks a person for a line of commands, their times counted from now.

It is told the time [s], and what was wrong with the line before; it returns None when there will be no more.
"""


class Commander(OObject):
    """Sends commands, each at its time, to whom it is for.

    It has the services under which a CONNECT.CFG knows it: a subject for each object it sends to, an observer
    for each that reports to it.

    Args:
        config: whose lines with `Commander` say what it is connected to.
        script: what it sends.
    """

    def __init__(self, config: ConnectConfig, script: Iterable[ScriptedCommand] = ()) -> None:
        super().__init__(COMMANDER)
        self._script = tuple(script)
        for line in config.lines:
            if line.sender.owner == COMMANDER and line.sender.service not in self.subjects:
                self.subject(line.sender.service, line.sender.data_type)
            if line.receiver.owner == COMMANDER and line.receiver.service not in self.observers:
                self.observer(line.receiver.service, line.receiver.data_type, self._hear)

    def do_start(self) -> None:
        """Plan to send all commands of the script."""
        super().do_start()
        for command in self.check():
            self.plan(*command)

    def check(self) -> list[tuple[float, OSubject, Any]]:
        """Return when each command of the script goes where, and as what.

        Raises:
            FormatError: nobody, or more than one, knows a command.
        """
        return self._resolved(self._script)

    def ask(self, live: Live) -> bool:
        """Plan to send what a person types, asked again where it cannot be sent; return False for no more."""
        error: InputError | None = None
        while (text := live(self.openr.time_s, error)) is not None:
            error = None
            try:
                commands = self._resolved(read_script(text))
            except InputError as wrong:
                error = wrong
                continue
            for time_s, *what in commands:
                self.plan(self.openr.time_s + time_s, *what)
            if commands:
                return True
        return False

    def _resolved(self, commands: Sequence[ScriptedCommand]) -> list[tuple[float, OSubject, Any]]:
        return [(one.time_s, *self.resolve(one)) for one in commands]

    def plan(self, time_s: float, subject: OSubject, data: Any) -> None:
        """Send data at a time [s]."""
        self.openr.call_at(time_s, partial(subject.send, data))

    def resolve(self, command: ScriptedCommand) -> tuple[OSubject, Any]:
        """Return who is to get a command, and as what data.

        Raises:
            FormatError: nobody, or more than one, knows it.
        """
        known: list[tuple[OSubject, Any]] = []
        errors: list[str] = []
        for subject, connection in self._ends(command):
            read = connection.observer.from_text
            try:
                known.append((subject, command.word if read is None else read(command.word)))
            except InputError as error:
                errors.append(f"{connection.observer.name.owner}: {error.hint or error.message}")
        if len(known) == 1:
            return known[0]
        if known:
            who = ", ".join(subject.connections[0].observer.name.owner for subject, _ in known)
            hint = f"say whom: {subject_owner(known[0][0])}:{command.word}"
            raise FormatError(f"{command.word} is a command of {who}", where=command.where, hint=hint)
        who = f"{command.to} does not know" if command.to else "nobody here knows"
        what = f"{who} the command {command.word!r}"
        raise FormatError(what, where=command.where, hint="; ".join(errors) or None)

    def _ends(self, command: ScriptedCommand) -> Iterator[tuple[OSubject, Connection]]:
        """Yield the subjects a command may go out by, each with its first connection."""
        owners = []
        for subject in self.subjects.values():
            for connection in subject.connections[:1]:
                owner = connection.observer.name.owner
                owners.append(owner)
                if command.to in {"", owner, subject.name.service}:
                    yield subject, connection
        if command.to and command.to not in {*owners, *self.subjects}:
            hint = f"it sends to {', '.join(owners)}"
            raise FormatError(f"{COMMANDER} sends nothing to {command.to}", where=command.where, hint=hint)

    def _hear(self, event: ONotifyEvent) -> None:
        """Note what is reported, and be ready for more."""
        for one in event.data:
            self.say(f"{event.sender.short}: {one}")
        for observer in self.observers.values():
            observer.assert_ready(event.sender)


def subject_owner(subject: OSubject) -> str:
    """Return whom a subject's first connection leads to."""
    return subject.connections[0].observer.name.owner
