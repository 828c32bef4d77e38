"""What MoveHead and MoveLegs have in common: string commands, an automaton, motions in blocks.

Source: seeds.md D2: a command that does not fit the state is not executed; its sender just gets AssertReady,
and the object waits for the next. At the end of a motion: IDLE, ClearBuffer, AssertReady to the sender.
"""

from __future__ import annotations

from collections.abc import Mapping

from posewright.errors import InputError
from posewright.runtimes.openr.automaton import DONE, Automaton, Does
from posewright.runtimes.openr.blocks import BlockMotion, BlockPlayer
from posewright.runtimes.openr.services import ONotifyEvent, OObject, ServiceName


class MovingObject(OObject):
    """An object that moves joints by string commands.

    Whatever comes, its chart says what is done about it. Every command is acknowledged when it has been
    looked at, and the sender of one that started a motion once more when the motion has ended.

    Args:
        chart: name of its automaton.
        locators: of the joints it moves.
    """

    def __init__(self, chart: str, locators: tuple[str, ...]) -> None:
        super().__init__()
        self._locators = locators
        self._automaton = Automaton(chart)
        self._commands = self.observer("ReceiveCommand", "char", self._receive, self._command_in)
        self._player = BlockPlayer(self, self._play_on)
        self._sender: ServiceName | None = None  # of the command that started the motion under way

    def motion(self, name: str) -> BlockMotion:
        """Return the motion that the chart calls so."""
        raise NotImplementedError

    def inputs(self) -> Mapping[str, object]:
        """Return what the chart is told besides the event; by default nothing."""
        return {}

    def angle(self, locator: str) -> int:
        """Return where one of its joints is now [micro-radians]."""
        return self._player.angle(locator)

    def do_init(self) -> None:
        """Open the joints."""
        self._player.open(self._locators)

    def do_start(self) -> None:
        """Begin, waiting for a command."""
        self.enter(self._automaton.state)
        super().do_start()

    def _command_in(self, text: str) -> str:
        if text not in self._automaton.commands:
            raise InputError(f"no command {text!r}", hint=f"there are {', '.join(self._automaton.commands)}")
        return text

    def _receive(self, event: ONotifyEvent) -> None:
        for command in event.data:
            self._obey(str(command), event.sender)
        self._commands.assert_ready(event.sender)

    def _obey(self, command: str, sender: ServiceName) -> None:
        """Do what the chart says about a command."""
        if command not in self._automaton.commands:
            self.refuse(command, self._automaton.why_not(command))
            return
        answer = self._automaton.hear(command, self.inputs())
        if answer.does is Does.REFUSE:
            self.refuse(command, self._automaton.why_not(command))
            return
        self.enter(answer.state)
        if answer.does is Does.START:
            self._sender = sender
            self._player.play(self.motion(answer.motion))
        else:
            self.say(f"{command}: {self._player.end()}")
            self._acknowledge_end()

    def _play_on(self) -> None:
        """Go on after the last block of a motion: with another one, or not at all."""
        answer = self._automaton.hear(DONE, self.inputs())
        self.enter(answer.state)
        if answer.does is Does.START:
            self._player.play(self.motion(answer.motion))
        else:
            self._player.end()
            self._acknowledge_end()

    def _acknowledge_end(self) -> None:
        sender, self._sender = self._sender, None
        if sender is not None:
            self._commands.assert_ready(sender)
