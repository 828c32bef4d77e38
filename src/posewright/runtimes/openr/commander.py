"""Commander: the test client of MoveHead's authors, here sending what a script says."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from posewright.errors import FormatError, InputError
from posewright.runtimes.openr.connections import ConnectConfig
from posewright.runtimes.openr.script import ScriptedCommand, read_script
from posewright.runtimes.openr.services import ONotifyEvent, OObject, OObserver, OSubject

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
        until_s: when the run ends, and no command is taken any more [s].
    """

    def __init__(
        self, config: ConnectConfig, script: Iterable[ScriptedCommand] = (), until_s: float = math.inf
    ) -> None:
        super().__init__(COMMANDER)
        self._config, self._script, self._until_s = config, tuple(script), until_s
        for line in config.lines:
            if line.sender.owner == COMMANDER and line.sender.service not in self.subjects:
                self.subject(line.sender.service, line.sender.data_type)
            if line.receiver.owner == COMMANDER and line.receiver.service not in self.observers:
                self.observer(line.receiver.service, line.receiver.data_type, self._hear)

    def do_start(self) -> None:
        """Plan to send all commands of the script."""
        super().do_start()
        self._plan(self._script)

    def check(self) -> None:
        """Raise FormatError: a connection carries no word, or a command is nobody's, several's, or late."""
        ends = (end.observer for one in self.subjects.values() for end in one.connections)
        deaf = {one.name for one in ends if not _reads_words(one)}
        for line in self._config.lines:
            if line.sender.owner == COMMANDER and line.receiver in deaf:
                hint = f"it sends char, or what {line.receiver.owner} reads from a word of a script"
                what = f"{COMMANDER} cannot send {line.receiver.data_type} to {line.receiver.short}"
                raise FormatError(what, where=line.where, hint=hint)
        for command in self._script:
            self._resolve(command)
            self._refuse_late(command, 0.0)

    def _refuse_late(self, command: ScriptedCommand, now_s: float) -> None:
        if now_s + command.time_s >= self._until_s:
            what = f"{command.word}@{command.time_s:g} comes after the run's end at {self._until_s:g} s"
            raise FormatError(what, where=command.where, hint="--seconds S runs it for longer")

    def ask(self, live: Live) -> bool:
        """Plan to send what a person types, asked again where it cannot be sent; return False for no more."""
        error: InputError | None = None
        while (text := live(self.openr.time_s, error)) is not None:
            error = None
            try:
                commands = read_script(text)
                self._plan(commands)
            except InputError as wrong:
                error = wrong
                continue
            if commands:
                return True
        return False

    def _plan(self, commands: Iterable[ScriptedCommand]) -> None:
        """Plan to send commands, all or none; their times are counted from now."""
        commands, now_s = tuple(commands), self.openr.time_s
        for command in commands:
            self._refuse_late(command, now_s)
        for time_s, subject, data in [(one.time_s, *self._resolve(one)) for one in commands]:
            self.openr.call_at(now_s + time_s, partial(subject.send, data))

    def _resolve(self, command: ScriptedCommand) -> tuple[OSubject, Any]:
        """Return by which subject a command goes out, and as what data; FormatError as `check`."""
        known: dict[OSubject, tuple[str, Any]] = {}  # by subject, who is the first to know the word
        errors: list[str] = []
        for subject, observer in self._ends(command):
            owner, read = observer.name.owner, observer.from_text
            try:
                data = command.word if read is None else read(command.word)
            except InputError as error:
                errors.append(f"{owner}: {error.hint or error.message}")
            else:
                known.setdefault(subject, (owner, data))
        if len(known) == 1:
            return next((subject, data) for subject, (_, data) in known.items())
        if known:
            owners = [owner for owner, _ in known.values()]
            what = f"{command.word} is a command of {', '.join(owners)}"
            raise FormatError(what, where=command.where, hint=f"say whom: {owners[0]}:{command.word}")
        who = f"{command.to} does not know" if command.to else "nobody here knows"
        what = f"{who} the command {command.word!r}"
        raise FormatError(what, where=command.where, hint="; ".join(errors) or None)

    def _ends(self, command: ScriptedCommand) -> list[tuple[OSubject, OObserver]]:
        """Return whom a command may go to, and by which subject."""
        ends = [(one, end.observer) for one in self.subjects.values() for end in one.connections]
        found = [end for end in ends if command.to in {"", end[1].name.owner, end[0].name.service}]
        if command.to and not found:
            hint = f"it sends to {', '.join(observer.name.owner for _, observer in ends)}"
            raise FormatError(f"{COMMANDER} sends nothing to {command.to}", where=command.where, hint=hint)
        return found

    def _hear(self, event: ONotifyEvent) -> None:
        """Note what is reported, and be ready for more."""
        for one in event.data:
            self.say(f"{event.sender.short}: {one}")
        for observer in self.observers.values():
            observer.assert_ready(event.sender)


def _reads_words(observer: OObserver) -> bool:
    is_text = observer.name.data_type == "char" and observer.name.owner != COMMANDER
    return is_text or observer.from_text is not None
