"""The base class of objects that play for MoNet: they play one item at a time, and report its end."""

from __future__ import annotations

from abc import abstractmethod

from posewright.errors import InputError
from posewright.runtimes.openr.monet.messages import IDLE, MoNetAgentCommand, MoNetAgentResult, MoNetStatus
from posewright.runtimes.openr.services import ONotifyEvent, OObject
from posewright.runtimes.openr.stick import MonetSetup


class MoNetAgent(OObject):
    """Plays the requests of MoNet.

    Args:
        setup: the setup with the motions and sounds.
        failure: the status for a request that cannot be played.

    Attributes:
        active: the request that is being played.
    """

    def __init__(self, setup: MonetSetup, failure: MoNetStatus) -> None:
        super().__init__()
        self.setup = setup
        self._failure_status = failure
        self.active_command: MoNetAgentCommand | None = None
        self._result_subject = self.subject("Result", "MoNetAgentResult")
        self._command_observer = self.observer(
            "Command", "MoNetAgentCommand", self._receive, data=MoNetAgentCommand
        )

    @abstractmethod
    def play_request(self, command: MoNetAgentCommand) -> None:
        """Start to play a request, or report its result at once if there is nothing to play.

        Raises:
            InputError: it cannot be played.
        """

    def mark_active(self, command: MoNetAgentCommand) -> None:
        """Mark a request as being played."""
        self.active_command = command
        self.enter_state(command.name)

    def report_end(self) -> None:
        """Report that the active request has been played."""
        command = self.active_command
        self.active_command = None
        self.enter_state(IDLE)
        if command is not None:
            self.send_result(command)

    def send_result(
        self, command: MoNetAgentCommand, status: MoNetStatus = MoNetStatus.COMPLETION, reason: str = ""
    ) -> None:
        """Send the result of a request to MoNet; a reason is also logged."""
        if reason:
            self.report_refusal(str(command), reason)
        self._result_subject.send(MoNetAgentResult(command.agent, command.index, status, reason))

    def _receive(self, event: ONotifyEvent) -> None:
        """Play a request; report a failure if another one is being played, or this one cannot be."""
        for command in event.data:
            if self.active_command is not None:
                self.send_result(command, MoNetStatus.BUSY, f"{self.active_command.name} is being played")
                continue
            try:
                self.play_request(command)
            except InputError as error:
                self.send_result(command, self._failure_status, str(error))
        self._command_observer.assert_ready(event.sender)
