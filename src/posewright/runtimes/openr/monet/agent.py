"""What objects that play for MoNet have in common: they play one thing at a time, and say when it is over."""

from __future__ import annotations

from abc import abstractmethod

from posewright.errors import InputError
from posewright.runtimes.openr.monet.messages import IDLE, MoNetAgentCommand, MoNetAgentResult, MoNetStatus
from posewright.runtimes.openr.services import ONotifyEvent, OObject
from posewright.runtimes.openr.stick import MonetSetup


class Agent(OObject):
    """Plays what MoNet asks for.

    Args:
        setup: whose motions and sounds.
        fault: the answer to what cannot be played.

    Attributes:
        active: what is being played.
    """

    def __init__(self, setup: MonetSetup, fault: MoNetStatus) -> None:
        super().__init__()
        self.setup, self._fault = setup, fault
        self.active: MoNetAgentCommand | None = None
        self._result = self.subject("Result", "MoNetAgentResult")
        self._command = self.observer("Command", "MoNetAgentCommand", self._take, data=MoNetAgentCommand)

    @abstractmethod
    def play(self, command: MoNetAgentCommand) -> None:
        """Begin to play, or answer at once where nothing is to be played.

        Raises:
            InputError: it cannot be played.
        """

    def begin(self, command: MoNetAgentCommand) -> None:
        """Say that something is being played from now on."""
        self.active = command
        self.enter(command.name)

    def end(self) -> None:
        """Say that what was being played has ended."""
        command, self.active = self.active, None
        self.enter(IDLE)
        if command is not None:
            self.answer(command)

    def answer(
        self, command: MoNetAgentCommand, status: MoNetStatus = MoNetStatus.COMPLETION, why: str = ""
    ) -> None:
        """Tell MoNet what became of something."""
        if why:
            self.refuse(str(command), why)
        self._result.send(MoNetAgentResult(command.agent, command.index, status, why))

    def _take(self, event: ONotifyEvent) -> None:
        for command in event.data:
            if self.active is not None:
                self.answer(command, MoNetStatus.BUSY, f"{self.active.name} is being played")
                continue
            try:
                self.play(command)
            except InputError as error:
                self.answer(command, self._fault, str(error))
        self._command.assert_ready(event.sender)
