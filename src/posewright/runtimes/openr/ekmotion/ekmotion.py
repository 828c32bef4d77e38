"""EKMotion: one special move at a time, poses loaded at counted cycles, joints interpolated in integers.

Source: seeds.md A3 and A4 (ITAM Eagle Knights, RoboCup 2007). What it leaves open is decided here:

* A cycle is one joint vector. It lasts `frames` frames of 8 ms where a pose was loaded, else one.
* What the reserved commands did it does not say; here they move nothing. So nothing walks, and there are no
  walk flags to clear.
* The cycle that answers MOVING_FINISH sends its vector like any other.
* A move starts from where the joints are when its command is taken, not from where the last one ended.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields

from posewright.errors import InputError
from posewright.formats.ekmoves.document import ORDER
from posewright.runtimes.openr.automaton import DONE, Automaton
from posewright.runtimes.openr.ekmotion.moves import LEAST, MOST, RESERVED, Load, Move, Moves, open_moves
from posewright.runtimes.openr.regions import interpolated
from posewright.runtimes.openr.services import ONotifyEvent, OObject
from posewright.runtimes.openr.vectors import CommandVectorSubject

_LOADED = "--sequences FILE says which poses to load"
_NUMBER = re.compile(r"[+-]?[0-9]{1,10}(?:\.[0-9]{1,9})?")


@dataclass(frozen=True, slots=True)
class EKMotionData:
    """What EKMain asks for; only `command` moves anything here."""

    command: int
    y_walk: float = 0.0
    ang_walk: float = 0.0
    x_head: float = 0.0
    y_head: float = 0.0
    z_head: float = 0.0
    mouth: float = 0.0

    def __post_init__(self) -> None:
        for one in fields(self):
            value, wanted = getattr(self, one.name), int if one.name == "command" else (int, float)
            if not isinstance(value, wanted):
                hint = "command is a whole number, the others are numbers"
                raise InputError(f"EKMotionData with {one.name}={value!r}", hint=hint)

    @classmethod
    def from_text(cls, text: str) -> EKMotionData:
        """Return what `102`, or `102 mouth=-20`, says.

        Raises:
            InputError: it says something else.
        """
        first, *others = text.split() or [""]
        if re.fullmatch(r"[+-]?[0-9]{1,10}", first) is None or not LEAST <= int(first) <= MOST:
            hint = "a command is a whole number of 32 bits, as 102 or 102 mouth=-20"
            raise InputError(f"{first!r} is no command", hint=hint)
        known = [one.name for one in fields(cls)][1:]
        values: dict[str, float] = {}
        for word in others:
            name, _, value = word.partition("=")
            if name not in known or name in values or _NUMBER.fullmatch(value) is None:
                hint = f"after the number come, each once, FIELD=NUMBER; fields: {', '.join(known)}"
                raise InputError(f"{word!r} is no field of a command", hint=hint)
            values[name] = float(value)
        return cls(int(first), **values)

    def __str__(self) -> str:
        said = (f" {one.name}={getattr(self, one.name):g}" for one in fields(self)[1:])
        return f"{self.command}{''.join(word for word in said if not word.endswith('=0'))}"


class EKMotion(OObject):
    """Makes the special moves of a table.

    Args:
        moves: the table over its poses; ours by default.
    """

    def __init__(self, moves: Moves | None = None) -> None:
        super().__init__()
        self.action = self.observer("ReceiveAction", "EKMotionData", self._received, self._read, EKMotionData)
        self.move = CommandVectorSubject(self, "Move", self._cycle)
        self._moves = open_moves() if moves is None else moves
        self._automaton = Automaton("ekmotion")
        self._told_unused = False
        self._primitives: list[int] = []
        self._under_way: Move | None = None
        self._cont = 0
        self._current = [0] * len(ORDER)  # micro-radians, as all angles here
        self._joint_values: dict[int, int] = {}  # of the indices that are to be sent

    def do_init(self) -> None:
        """Find the joints."""
        self._primitives = [self.openr.robot.index(joint) for joint in ORDER]

    def do_start(self) -> None:
        """Say what cannot be done, and be ready."""
        missing = self._moves.missing
        if missing:
            names = ", ".join(map(str, missing.values()))
            self.say(f"{len(missing)} moves have no poses in this header ({names}): {_LOADED}")
        for remark in self._moves.remarks:
            self.say(remark)
        self.enter(self._automaton.state)
        super().do_start()

    def _read(self, text: str) -> EKMotionData:
        """Return what a word of a script says; a word that is none is told which moves there are."""
        try:
            return EKMotionData.from_text(text)
        except InputError as error:
            raise InputError(error.message, hint=f"{error.hint}; moves are {self._known}") from error

    @property
    def _known(self) -> str:
        return ", ".join(map(str, self._moves.moves.values())) or "none"

    def _received(self, event: ONotifyEvent) -> None:
        for data in event.data:
            self._push(data)
        self.action.assert_ready(event.sender)

    def _push(self, data: EKMotionData) -> None:
        """Take a command, or say why not: `Push`."""
        unused = [one.name for one in fields(data)[1:] if getattr(data, one.name)]
        if unused and not self._told_unused:
            self.say(f"{', '.join(unused)}: fields of a command other than its number are not used here")
            self._told_unused = True
        if data.command in RESERVED and self._under_way is None:
            self.refuse(str(data), "a reserved command: what it did the documents do not say; nothing moves")
        elif not self._hear("command"):
            self.refuse(str(data), f"{self._under_way} is under way: {self.state}")
        elif data.command not in self._moves.moves:
            self.refuse(str(data), f"{self._why_not(data.command)}; known: {self._known}")
            self._hear(DONE)
        else:
            self._under_way = self._moves.moves[data.command]
            self._current = [self.openr.get_joint_value(one) for one in self._primitives]
            if self.move.is_ready:
                self._cycle()

    def _why_not(self, command: int) -> str:
        move = self._moves.missing.get(command)
        if move is None:
            return "MoveToPos does not know it"
        lacking = dict.fromkeys(one.pose for one in move.steps if one.pose not in self._moves.poses)
        return f"the header has no {', '.join(lacking)} for {move}: {_LOADED}"

    def _cycle(self) -> None:
        """Go one cycle further, if a move is under way: `MoveToPos`."""
        move = self._under_way
        if move is None:
            return
        self._cont += 1
        for one in move.at(self._cont):
            self._load(one)
        if self._cont == move.end:
            self._finish(move)
        self._send_joint_command_vector()

    def _load(self, load: Load) -> None:
        """Set where the joints of a part are to be."""
        for index in load.part.indices:
            self._joint_values[index] = self._moves.poses[load.pose][index]
        self.openr.log("load", object=self.name, cycle=load.cycle, pose=load.pose, part=load.part.value)

    def _finish(self, move: Move) -> None:
        self.openr.log("result", object=self.name, move=str(move), cycle=self._cont, result="MOVING_FINISH")
        self._cont, self._under_way = 0, None
        self._hear(DONE)

    def _send_joint_command_vector(self) -> None:
        """Send the joints that were set on their way: `SendJointCommandVector`."""
        frames = {}
        for index, target in self._joint_values.items():
            frames[self._primitives[index]] = interpolated(self._current[index], target, self._moves.frames)
            self._current[index] = target
        self._joint_values = {}
        self.move.send_frames(frames)

    def _hear(self, event: str) -> bool:
        """Step the automaton; return whether it takes the event."""
        taken = self._automaton.hear(event)
        self.enter(self._automaton.state)
        return taken
