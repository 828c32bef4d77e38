"""Commander: the test client of MoveHead's authors; here it sends the commands of a script or of a prompt."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import partial

from posewright.errors import FormatError, InputError
from posewright.runtimes.openr.connections import ConnectConfig
from posewright.runtimes.openr.script import ScriptedCommand, read_script
from posewright.runtimes.openr.services import Connection, ONotifyEvent, OObject, OObserver, OSubject

COMMANDER = "Commander"

CommandPrompt = Callable[[float, InputError | None], str | None]
"""Reads a line of commands from the user; their times count from now.

Its arguments are the time [s] and the error of the previous line; it returns None at the end of input.
"""


class CommandSender(OObject):
    """The object `Commander`: sends commands, each at its time, to the object that knows it.

    It has the services that a CONNECT.CFG names: a subject for each object that it sends to, an observer for
    each that reports to it.

    Args:
        config: its lines with `Commander` define the services.
        script: commands to send.
        until_s: end of the run, before which commands have to be sent [s].
    """

    def __init__(
        self, config: ConnectConfig, script: Iterable[ScriptedCommand] = (), until_s: float = math.inf
    ) -> None:
        super().__init__(COMMANDER)
        self._config = config
        self._script = tuple(script)
        self._until_s = until_s
        for line in config.lines:
            if line.sender.owner == COMMANDER and line.sender.service not in self.subjects:
                self.subject(line.sender.service, line.sender.data_type)
            if line.receiver.owner == COMMANDER and line.receiver.service not in self.observers:
                self.observer(line.receiver.service, line.receiver.data_type, self._log_report)

    def do_start(self) -> None:
        """Schedule all commands of the script."""
        super().do_start()
        self._schedule(self._script)

    def check(self) -> None:
        """Check the connections and the script before the run.

        Raises:
            FormatError: an observer cannot receive words, or a command is known by no object or by several,
                or comes after the end.
        """
        observers = [
            connection.observer for subject in self.subjects.values() for connection in subject.connections
        ]
        unsuitable = {observer.name for observer in observers if not _accepts_words(observer)}
        for line in self._config.lines:
            if line.sender.owner == COMMANDER and line.receiver in unsuitable:
                message = f"{COMMANDER} cannot send {line.receiver.data_type} to {line.receiver.short_name}"
                hint = f"it sends char, or data that {line.receiver.owner} parses from a word of a script"
                raise FormatError(message, where=line.where, hint=hint)
        for command in self._script:
            self._resolve(command)  # raises if no object, or several, know the command
            self._require_before_end(command, now_s=0.0)

    def _require_before_end(self, command: ScriptedCommand, now_s: float) -> None:
        """Raise FormatError if a command, whose time counts from `now_s`, comes after the run's end."""
        if now_s + command.time_s >= self._until_s:
            message = f"{command.text}@{command.time_s:g} comes after the run's end at {self._until_s:g} s"
            raise FormatError(message, where=command.where, hint="--seconds S makes the run longer")

    def read_commands(self, prompt: CommandPrompt) -> bool:
        """Schedule commands that the user enters, again after errors; return False at the end of input."""
        error: InputError | None = None
        while (text := prompt(self.openr.time_s, error)) is not None:
            error = None
            try:
                commands = read_script(text)
                self._schedule(commands)
            except InputError as invalid:
                error = invalid
                continue
            if commands:
                return True
        return False

    def _schedule(self, commands: Iterable[ScriptedCommand]) -> None:
        """Schedule all commands, or none if one is invalid; their times count from now."""
        commands = tuple(commands)
        now_s = self.openr.time_s
        for command in commands:
            self._require_before_end(command, now_s)
        resolved = [self._resolve(command) for command in commands]  # all, before any is scheduled
        for command, (subject, data) in zip(commands, resolved, strict=True):
            self.openr.call_at(now_s + command.time_s, partial(subject.send, data))

    def _resolve(self, command: ScriptedCommand) -> tuple[OSubject, object]:
        """Return the subject that sends a command, and its data.

        Each observer that may receive the command tries to parse it. The subject is that of the observers
        that succeed; if these have several subjects, the command is ambiguous.

        Raises:
            FormatError: no object knows the command, or several do.
        """
        owners: dict[OSubject, str] = {}  # of the first observer that accepts the text
        parsed: dict[OSubject, object] = {}  # the data by that observer
        errors: list[str] = []
        for connection in self._receivers(command):
            subject = connection.subject
            observer = connection.observer
            owner = observer.name.owner
            try:
                data = command.text if observer.from_text is None else observer.from_text(command.text)
            except InputError as error:
                errors.append(f"{owner}: {error.hint or error.message}")
            else:
                owners.setdefault(subject, owner)
                parsed.setdefault(subject, data)
        if len(parsed) == 1:
            return next(iter(parsed.items()))
        if parsed:
            names = list(owners.values())
            message = f"{command.text} is a command of {', '.join(names)}"
            raise FormatError(
                message, where=command.where, hint=f"name the object: {names[0]}:{command.text}"
            )
        if command.to:
            message = f"{command.to} does not know the command {command.text!r}"
        else:
            message = f"no object knows the command {command.text!r}"
        raise FormatError(message, where=command.where, hint="; ".join(errors) or None)

    def _receivers(self, command: ScriptedCommand) -> list[Connection]:
        """Return the connections over which a command may be sent: all, or those to its receiver.

        Raises:
            FormatError: Commander has no connection to the receiver.
        """
        connections: list[Connection] = []
        for subject in self.subjects.values():
            connections += subject.connections
        receivers: list[Connection] = []
        for connection in connections:
            observer = connection.observer
            if command.to in {"", observer.name.owner, connection.subject.name.service}:
                receivers.append(connection)
        if command.to and not receivers:
            owners = [connection.observer.name.owner for connection in connections]
            hint = f"it sends to {', '.join(owners)}"
            raise FormatError(f"{COMMANDER} sends nothing to {command.to}", where=command.where, hint=hint)
        return receivers

    def _log_report(self, event: ONotifyEvent) -> None:
        """Log reported data, and be ready for more."""
        for data in event.data:
            self.syslog(f"{event.sender.short_name}: {data}")
        for observer in self.observers.values():
            observer.assert_ready(event.sender)


def _accepts_words(observer: OObserver) -> bool:
    is_text = observer.name.data_type == "char" and observer.name.owner != COMMANDER
    return is_text or observer.from_text is not None
