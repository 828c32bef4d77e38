"""Objects that move joints by string commands, with an automaton and motions in blocks: MoveHead, MoveLegs.

Source: seeds.md D2. When a motion starts, the start angles are read from the robot, the end angles and the
number of blocks are set; a block is 16 frames of 8 ms, and every Ready from OVirtualRobotComm advances one
block. A command that does not fit the state is not executed; its sender just gets AssertReady, and the object
waits for the next. At the end of a motion: IDLE, ClearBuffer, AssertReady to the sender. In the document's
code a motion to a pose (MOVE_BP, MOVE_MP, MOVE_FP) is answered only there, at MOVING_FINISH, so that the
next command follows it; one that its own STOP ends (MV_RGHT, ...) is answered at once, too, so that the
STOP can come.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from posewright.errors import InputError
from posewright.runtimes.openr.automaton import DONE, Automaton
from posewright.runtimes.openr.kernel import OpenR
from posewright.runtimes.openr.regions import MAX_FRAMES, MICRO_PER_UNIT, interpolate
from posewright.runtimes.openr.services import ONotifyEvent, OObject, ServiceName
from posewright.runtimes.openr.vectors import CommandVectorSubject


@dataclass(frozen=True, slots=True)
class BlockMotion:
    """A motion of some joints, each on a straight line to an end angle.

    Attributes:
        end_angles: the end angles by primitive [micro-radians].
        n_blocks: duration in blocks of 128 ms; all joints take all of them.
    """

    end_angles: Mapping[int, int]
    n_blocks: int


class BlockPlayer:
    """Plays one motion at a time, a block for every Ready.

    The integers between start and end are those of the whole motion, so that blocks join without a jump and
    the last frame hits the end. A motion that is started during a block waits for its end. As the start is
    the measured angle, not the commanded one, a joint that lags behind its command under load begins with a
    small step back; `Safety` spreads it if it is faster than the servo.

    Args:
        owner: the object that moves joints; it gets a subject `Move`.
        on_done: is called when the last block has been played.
    """

    def __init__(self, owner: OObject, on_done: Callable[[], None]) -> None:
        self._owner = owner
        self._on_done = on_done
        self._joint_commands = CommandVectorSubject(owner, "Move", self._send_next)
        self._motion: BlockMotion | None = None
        # by primitive, the number of a joint: its angle in each frame of the motion [micro-radians]
        self._frame_angles: dict[int, list[int]] = {}
        self._n_blocks_sent = 0  # blocks of the motion

    def play(self, motion: BlockMotion) -> None:
        """Start a motion, at once or at the end of the current block."""
        self._motion = motion
        self._n_blocks_sent = 0
        if self._joint_commands.is_ready:
            self._send_next()

    def end_motion(self) -> str:
        """End the motion after the current block; return a text for the log about where its joints end."""
        motion = self._motion
        self._motion = None
        self._joint_commands.clear_buffer()
        if motion is None or self._n_blocks_sent == 0:
            return "nothing of it was sent"
        names = self._owner.openr.robot.joint_names
        last_frame = self._n_blocks_sent * MAX_FRAMES - 1
        angles = ", ".join(
            f"{names[primitive]} at {math.degrees(angles[last_frame] / MICRO_PER_UNIT):.2f} deg"
            for primitive, angles in self._frame_angles.items()
        )
        return f"block {self._n_blocks_sent} of {motion.n_blocks} is the last; it ends with {angles}"

    def _send_next(self) -> None:
        """Send the next block of the motion; after the last, call `on_done`."""
        motion = self._motion
        if motion is None:
            return
        if self._n_blocks_sent == motion.n_blocks:
            self._on_done()
            return
        if self._n_blocks_sent == 0:
            n_frames = motion.n_blocks * MAX_FRAMES
            self._frame_angles = {
                primitive: interpolate(self._owner.openr.get_joint_value(primitive), end, n_frames)
                for primitive, end in motion.end_angles.items()
            }
        begin = self._n_blocks_sent * MAX_FRAMES
        self._n_blocks_sent += 1
        self._joint_commands.send_frames(
            {
                primitive: angles[begin : begin + MAX_FRAMES]
                for primitive, angles in self._frame_angles.items()
            }
        )


class MovingObject(OObject):
    """An object that moves joints by string commands.

    Its chart decides about every command. A command is acknowledged when it has been processed, unless it
    started a motion that no command can stop. The sender of one that started a motion is acknowledged when
    that has ended.

    Args:
        chart: name of its automaton.
        make_motions: returns the motion of each state but the first; raises UnknownNameError if the robot
            lacks a joint or a pose.
    """

    def __init__(self, chart: str, make_motions: Callable[[OpenR], Mapping[str, BlockMotion]]) -> None:
        super().__init__()
        self._make_motions = make_motions
        self._motion_of_state: Mapping[str, BlockMotion] = {}
        self._automaton = Automaton(chart)
        self._command_observer = self.observer(
            "ReceiveCommand", data_type="char", notify=self._receive, from_text=self._parse_command, data=str
        )
        self._player = BlockPlayer(self, self._on_motion_done)
        self._motion_sender: ServiceName | None = None  # of the command that started the current motion

    def inputs(self) -> Mapping[str, object]:
        """Return inputs of the chart besides the event; by default none."""
        return {}

    def do_init(self) -> None:
        """Find the joints."""
        self._motion_of_state = self._make_motions(self.openr)

    def do_start(self) -> None:
        """Wait for a command."""
        self.enter_state(self._automaton.state)
        super().do_start()

    def _parse_command(self, text: str) -> str:
        """Return a text that is a command; raise InputError for any other."""
        if text not in self._automaton.commands:
            raise InputError(f"no command {text!r}", hint=f"there are {', '.join(self._automaton.commands)}")
        return text

    def _receive(self, event: ONotifyEvent) -> None:
        """Execute received commands, and let their sender send the next.

        A sender whose command started a motion that no command can stop may do so only at its end.
        """
        for command in event.data:
            self._execute(command, event.sender)
        started_current_motion = event.sender == self._motion_sender
        if started_current_motion and not self._automaton.can_be_stopped:
            self._command_observer.answer_later(event.sender)  # by `_end_motion`
        else:
            self._command_observer.assert_ready(event.sender)

    def _execute(self, command: str, sender: ServiceName) -> None:
        """Execute a command if the chart accepts it; otherwise log why not.

        A command that leads to the first state stops the current motion; any other starts one.
        """
        automaton = self._automaton
        if command not in automaton.commands or not automaton.step(command, **self.inputs()):
            self.report_refusal(command, automaton.explain_rejection(command))
            return
        if automaton.is_idle:
            self._end_motion(command)
        else:
            self._motion_sender = sender
            self._start_motion()

    def _on_motion_done(self) -> None:
        """After the last block of a motion, start the next one of the chart, or none."""
        self._automaton.step(DONE, **self.inputs())
        if self._automaton.is_idle:
            self._end_motion()
        else:
            self._start_motion()

    def _start_motion(self) -> None:
        self.enter_state(self._automaton.state)
        self._player.play(self._motion_of_state[self._automaton.state])

    def _end_motion(self, stopped_by: str = "") -> None:
        """End a motion, and acknowledge it to the sender of the command that started it.

        Args:
            stopped_by: the command that stopped it, which is logged; empty at the end of the motion.
        """
        self.enter_state(self._automaton.state)
        end_text = self._player.end_motion()
        if stopped_by:
            self.syslog(f"{stopped_by}: {end_text}")
        sender = self._motion_sender
        self._motion_sender = None
        if sender is not None:
            self._command_observer.assert_ready(sender)
