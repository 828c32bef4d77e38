"""EKMotion: one special move at a time, poses loaded at given cycles, joints interpolated in integers.

Source: seeds.md A3 and A4 (ITAM Eagle Knights, RoboCup 2007). What it leaves open is decided here:

* A cycle is one joint vector. It lasts `frames` frames of 8 ms if a pose was loaded, otherwise one.
* The reserved commands are not described; here they move nothing. So nothing walks, and there are no walk
flags
  to clear.
* The cycle that answers MOVING_FINISH sends its vector like any other.
* A move starts from the measured joint angles when its command is received, not from the end of the last
move.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields

from posewright.errors import InputError
from posewright.formats.ekmoves.document import JOINT_ORDER
from posewright.runtimes.openr.automaton import DONE, Automaton
from posewright.runtimes.openr.ekmotion.moves import (
    MAX_COMMAND,
    MIN_COMMAND,
    RESERVED,
    PoseLoad,
    SpecialMove,
    SpecialMoves,
    open_moves,
)
from posewright.runtimes.openr.regions import interpolate
from posewright.runtimes.openr.services import ONotifyEvent, OObject
from posewright.runtimes.openr.vectors import CommandVectorSubject

_SEQUENCES_HINT = "--sequences FILE defines which poses to load"
_NUMBER = re.compile(r"[+-]?[0-9]{1,10}(?:\.[0-9]{1,9})?")


@dataclass(frozen=True, slots=True)
class EKMotionData:
    """A message of EKMain; only `command` has an effect here."""

    command: int
    y_walk: float = 0.0
    ang_walk: float = 0.0
    x_head: float = 0.0
    y_head: float = 0.0
    z_head: float = 0.0
    mouth: float = 0.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            accepted = int if field.name == "command" else (int, float)
            if not isinstance(value, accepted):
                hint = "command is a whole number, the other fields are numbers"
                raise InputError(f"EKMotionData with {field.name}={value!r}", hint=hint)

    @classmethod
    def from_text(cls, text: str) -> EKMotionData:
        """Parse `102`, or `102 mouth=-20`.

        Raises:
            InputError: the text has another form.
        """
        command, *assignments = text.split() or [""]
        is_integer = re.fullmatch(r"[+-]?[0-9]{1,10}", command) is not None
        if not is_integer or not MIN_COMMAND <= int(command) <= MAX_COMMAND:
            hint = "a command is a whole number of 32 bits, as 102 or 102 mouth=-20"
            raise InputError(f"{command!r} is not a command", hint=hint)
        field_names = [field.name for field in fields(cls)][1:]
        values: dict[str, float] = {}
        for assignment in assignments:
            name, _, value = assignment.partition("=")
            if name not in field_names or name in values or _NUMBER.fullmatch(value) is None:
                hint = f"after the number write FIELD=NUMBER, each once; fields: {', '.join(field_names)}"
                raise InputError(f"{assignment!r} is not a field of a command", hint=hint)
            values[name] = float(value)
        return cls(int(command), **values)

    def __str__(self) -> str:
        assignments = (f" {field.name}={getattr(self, field.name):g}" for field in fields(self)[1:])
        return f"{self.command}{''.join(text for text in assignments if not text.endswith('=0'))}"


class EKMotion(OObject):
    """Executes the special moves of a table.

    Args:
        moves: the table with its poses; ours by default.
    """

    def __init__(self, moves: SpecialMoves | None = None) -> None:
        super().__init__()
        self.action = self.observer(
            "ReceiveAction",
            data_type="EKMotionData",
            notify=self._receive,
            from_text=self._parse,
            data=EKMotionData,
        )
        self.move = CommandVectorSubject(self, "Move", self._run_cycle)
        self._special_moves = open_moves() if moves is None else moves
        self._automaton = Automaton("ekmotion")
        self._has_reported_unused = False
        self._primitives: list[int] = []
        self._current_move: SpecialMove | None = None
        self._cycle = 0  # number of the current cycle, from 1; 0 before the first
        # of earlier cycles, in the order of the angles in a pose [micro-radians]
        self._last_targets = [0] * len(JOINT_ORDER)
        self._cycle_targets: dict[int, int] = {}  # set in this cycle, by index in a pose [micro-radians]

    def do_init(self) -> None:
        """Find the joints."""
        self._primitives = [self.openr.robot.index(joint) for joint in JOINT_ORDER]

    def do_start(self) -> None:
        """Log the moves that cannot be executed, then tell the system that this object can receive."""
        unavailable_moves = self._special_moves.moves_without_poses.values()
        if unavailable_moves:
            names = ", ".join(map(str, unavailable_moves))
            self.syslog(
                f"{len(unavailable_moves)} moves have no poses in this header ({names}): {_SEQUENCES_HINT}"
            )
        for remark in self._special_moves.limit_remarks:
            self.syslog(remark)
        self.enter_state(self._automaton.state)
        super().do_start()

    def _parse(self, text: str) -> EKMotionData:
        """Parse a word of a script; the error lists the moves."""
        try:
            return EKMotionData.from_text(text)
        except InputError as error:
            raise InputError(error.message, hint=f"{error.hint}; moves are {self._move_names}") from error

    @property
    def _move_names(self) -> str:
        return ", ".join(map(str, self._special_moves.moves_by_command.values())) or "none"

    def _receive(self, event: ONotifyEvent) -> None:
        for data in event.data:
            self._push(data)
        self.action.assert_ready(event.sender)

    def _push(self, data: EKMotionData) -> None:
        """Start the move of a command, or log why it is not executed: `Push`.

        The joints start from their measured angles. Fields other than the command are logged once as unused.
        """
        _command_field, *other_fields = fields(data)
        unused_fields = [field.name for field in other_fields if getattr(data, field.name)]
        if unused_fields and not self._has_reported_unused:
            names = ", ".join(unused_fields)
            self.syslog(f"{names}: fields of a command other than its number are not used here")
            self._has_reported_unused = True
        if data.command in RESERVED and self._current_move is None:
            self.report_refusal(
                str(data), "a reserved command: what it did the documents do not say; nothing moves"
            )
        elif not self._step_automaton("command"):
            self.report_refusal(str(data), f"{self._current_move} is under way: {self.state}")
        elif data.command not in self._special_moves.moves_by_command:
            self.report_refusal(
                str(data), f"{self._explain_unknown(data.command)}; known: {self._move_names}"
            )
            self._step_automaton(DONE)
        else:
            self._current_move = self._special_moves.moves_by_command[data.command]
            self._last_targets = [self.openr.get_joint_value(primitive) for primitive in self._primitives]
            if self.move.is_ready:
                self._run_cycle()

    def _explain_unknown(self, command: int) -> str:
        """Return why there is no move for a command."""
        move = self._special_moves.moves_without_poses.get(command)
        if move is None:
            return "MoveToPos does not know it"
        missing = dict.fromkeys(
            step.pose for step in move.steps if step.pose not in self._special_moves.poses
        )
        return f"the header has no {', '.join(missing)} for {move}: {_SEQUENCES_HINT}"

    def _run_cycle(self) -> None:
        """Execute the next cycle of the current move: `MoveToPos` in the original program.

        A cycle sends one vector of joint commands. Some cycles first set new targets, and the last one ends
        the move. Without a current move nothing happens.
        """
        move = self._current_move
        if move is None:
            return
        self._cycle += 1
        for pose_load in move.pose_loads_at(self._cycle):
            self._load_pose(pose_load)
        if self._cycle == move.end:  # the number of its last cycle
            self._finish(move)
        self._send_joint_command_vector()

    def _load_pose(self, pose_load: PoseLoad) -> None:
        """Set this cycle's targets of the joints of a body part to those of a pose, and log it."""
        pose = self._special_moves.poses[pose_load.pose]
        for index in pose_load.part.indices:
            self._cycle_targets[index] = pose[index]
        self.openr.log(
            "load",
            object=self.name,
            cycle=pose_load.cycle,
            pose=pose_load.pose,
            part=pose_load.part.value,
        )

    def _finish(self, move: SpecialMove) -> None:
        """End the current move: log its result, and let the automaton return to its first state."""
        self.openr.log("result", object=self.name, move=str(move), cycle=self._cycle, result="MOVING_FINISH")
        self._cycle = 0
        self._current_move = None
        self._step_automaton(DONE)

    def _send_joint_command_vector(self) -> None:
        """Send the targets, interpolated from the last ones: `SendJointCommandVector`."""
        frames = {}
        for index, target in self._cycle_targets.items():
            frames[self._primitives[index]] = interpolate(
                self._last_targets[index], target, self._special_moves.frames_per_pose
            )
            self._last_targets[index] = target
        self._cycle_targets = {}
        self.move.send_frames(frames)

    def _step_automaton(self, event: str) -> bool:
        """Process an event; return whether the state changed."""
        has_changed = self._automaton.step(event)
        self.enter_state(self._automaton.state)
        return has_changed
