"""What MoveHead and MoveLegs have in common: string commands, an automaton, motions in blocks.

Source: seeds.md D2: a command that does not fit the state is not executed; its sender just gets AssertReady,
and the object waits for the next. At the end of a motion: IDLE, ClearBuffer, AssertReady to the sender.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from posewright.errors import InputError
from posewright.runtimes.openr.automaton import DONE, Automaton
from posewright.runtimes.openr.blocks import BlockMotion, BlockPlayer
from posewright.runtimes.openr.kernel import OpenR
from posewright.runtimes.openr.services import ONotifyEvent, OObject, ServiceName


class MovingObject(OObject):
    """An object that moves joints by string commands.

    Whatever comes, its chart says what is done about it. Every command is acknowledged when it has been
    looked at, and the sender of one that started a motion once more when the motion has ended.

    Args:
        chart: name of its automaton.
        motions: makes the motion of each state but the first; raises UnknownNameError where the robot lacks
            something for it.
    """

    def __init__(self, chart: str, motions: Callable[[OpenR], Mapping[str, BlockMotion]]) -> None:
        super().__init__()
        self._make_motions = motions
        self._motions: Mapping[str, BlockMotion] = {}
        self._automaton = Automaton(chart)
        self._commands = self.observer("ReceiveCommand", "char", self._receive, self._command_in, str)
        self._player = BlockPlayer(self, self._play_on)
        self._sender: ServiceName | None = None  # of the command that started the motion under way

    def inputs(self) -> Mapping[str, object]:
        """Return what the chart is told besides the event; by default nothing."""
        return {}

    def do_init(self) -> None:
        """Find the joints."""
        self._motions = self._make_motions(self.openr)

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
            self._obey(command, event.sender)
        self._commands.assert_ready(event.sender)

    def _obey(self, command: str, sender: ServiceName) -> None:
        """Do what the chart says about a command."""
        automaton = self._automaton
        if command not in automaton.commands or not automaton.hear(command, **self.inputs()):
            self.refuse(command, automaton.why_not(command))
            return
        if automaton.is_idle:
            self._end(command)
        else:
            self._sender = sender
            self._start()

    def _play_on(self) -> None:
        """Go on after the last block of a motion: with another one, or not at all."""
        self._automaton.hear(DONE, **self.inputs())
        if self._automaton.is_idle:
            self._end()
        else:
            self._start()

    def _start(self) -> None:
        self.enter(self._automaton.state)
        self._player.play(self._motions[self._automaton.state])

    def _end(self, stopped_by: str = "") -> None:
        """End a motion, and tell who started it."""
        self.enter(self._automaton.state)
        where = self._player.end()
        if stopped_by:
            self.say(f"{stopped_by}: {where}")
        sender, self._sender = self._sender, None
        if sender is not None:
            self._commands.assert_ready(sender)
