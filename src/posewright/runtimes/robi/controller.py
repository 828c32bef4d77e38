"""A Robi's program as a controller: each frame it runs for a while, then the engine moves the servos."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from posewright.bodies import BodyState, Decision, JointCommands
from posewright.control import Block
from posewright.errors import FormatError, InputError
from posewright.robots import Robot
from posewright.runtimes.openr.script import ScriptedCommand
from posewright.runtimes.robi.machine import ProgramMachine, StopReason
from posewright.runtimes.robi.memory import Memory
from posewright.runtimes.robi.postures import Posture
from posewright.runtimes.robi.rm4 import Program
from posewright.runtimes.robi.servos import FRAME_PERIOD_S, ServoEngine

EVENT = "robi"
"""The kind of events in a recording that tell of a Robi's program; `what` says what happened."""

INSTRUCTIONS_PER_FRAME = 200
"""Ours: nobody knows the robot's processor. A program that waits goes 40 times around a loop of five."""

SILENT_S = 2.0
"""Ours: so long a program may run on without a move under way and without changing the memory."""

OUTER = ("word", "measured")
"""Cells that change without the program: whoever reads them in a loop waits for something."""

MAX_WORD = 0xFFFF
_NUMBER = re.compile("[0-9]{1,5}")


class Watched:
    """The memory as a program sees it; notes whether it changes, and which of the outer cells are read."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._outer = {address: name for name in OUTER for address in memory.map[name].addresses}
        self.changed = False
        self.read_outer: set[str] = set()

    def read(self, address: int, size: int) -> int:
        """Read as `Memory.read` does."""
        if address in self._outer:
            self.read_outer.add(self._outer[address])
        return self._memory.read(address, size)

    def write(self, address: int, size: int, value: int) -> None:
        """Write as `Memory.write` does."""
        before = self._memory.read(address, size)
        self._memory.write(address, size, value)
        self.changed = self.changed or value != before


class RobiController:
    """Lets a Robi's program drive a robot.

    What happens is in the decisions, and so in a recording, as events `robi`: `word`, `posture`, `mapping`,
    `error`, `waits`, `loops`, `end`. After an error, or when the program is over, the robot holds
    its pose: a servo engine needs no program.

    Args:
        robot: a Robi, by its card.
        memory: a new one unless given.
        words: numbers of words that the robot is to recognise, each with its time, in order.
        budget: instructions a frame, at least 1.
        silent_s: after so long without effect a loop is reported [s].
        breakpoints: addresses of tags in the file; the program is over when it comes to one.

    Attributes:
        error: what was wrong with the program, once something was.
        is_over: whether nothing more will happen: no move is under way, no word to come, and the program is
            over, or goes around without effect.
    """

    def __init__(
        self,
        robot: Robot,
        program: Program,
        memory: Memory | None = None,
        *,
        words: Sequence[ScriptedCommand] = (),
        budget: int = INSTRUCTIONS_PER_FRAME,
        silent_s: float = SILENT_S,
        breakpoints: Collection[int] = (),
    ) -> None:
        if budget < 1:
            raise InputError(f"{budget} instructions a frame", hint="at least 1")
        self.robot = robot
        self.memory = Memory() if memory is None else memory
        self.engine = ServoEngine(robot, self.memory)
        self._ram = Watched(self.memory)
        self.machine = ProgramMachine(program, self._ram)
        self._words = [(round(one.time_s / FRAME_PERIOD_S), word_number(one)) for one in words]
        self._breakpoints = tuple(breakpoints)
        self._budget, self._silent_frames = budget, round(silent_s / FRAME_PERIOD_S)
        self.error: InputError | None = None
        self._runs = True
        self._label = ""
        self._frame = self._silent = 0
        self._last: JointCommands | None = None
        self._told: tuple[object, ...] = ()
        self._events: list[tuple[str, Mapping[str, object]]] = []

    @property
    def is_over(self) -> bool:
        """Whether nothing more will happen."""
        still = not self._runs or self._silent >= self._silent_frames
        return still and not self._words and not self.engine.is_moving

    def next(self, state: BodyState, n: int) -> JointCommands:  # noqa: ARG002 -- it looks every frame
        """Return one frame."""
        posture, mapped = self.memory.get("posture"), self.engine.mapped
        self.engine.see(state)
        self._recognise()
        if self._runs:
            self._run()
        commands = self._commands(state)
        self._compare(posture, mapped)
        self._frame += 1
        return replace(commands, decision=self._decision())

    def _recognise(self) -> None:
        while self._words and self._words[0][0] <= self._frame:
            _, number = self._words.pop(0)
            self.memory.set("word", number)
            self._tell("word", number=number)
            self._silent = 0

    def _run(self) -> None:
        self._ram.changed = False
        if not self._silent:
            self._ram.read_outer.clear()
        try:
            stop = self.machine.run(self._budget, self._breakpoints)
        except InputError as error:
            self._fail(error)
            return
        self._label = stop.label
        if stop.reason is not StopReason.BUDGET:
            self._runs = False
            self._tell("end", reason=stop.reason.value, address=stop.address, label=stop.label)
            return
        self._silent = 0 if self._ram.changed or self.engine.is_moving else self._silent + 1
        if self._silent == self._silent_frames:
            waits_for = sorted(self._ram.read_outer)
            self._tell(
                "waits" if waits_for else "loops", label=stop.label, address=stop.address, waits_for=waits_for
            )

    def _commands(self, state: BodyState) -> JointCommands:
        try:
            commands = self.engine.frame()
        except InputError as error:
            self._fail(error)
            self.memory.set("time", 0)
            return self._last or JointCommands(state.positions[None].copy())
        self._last = replace(commands, lights=None)
        return commands

    def _fail(self, error: InputError) -> None:
        if self.error is None:
            self.error = error
            self._tell("error", message=str(error), label=self.machine.label, address=self.machine.address)
        self._runs = False

    def _compare(self, posture: int, mapped: tuple[int, ...]) -> None:
        now = self.memory.get("posture")
        if now != posture:
            self._tell("posture", before=posture, now=now, name=posture_name(now))
        if self.engine.mapped != mapped:
            self._tell("mapping", mapped=list(self.engine.mapped))

    def _tell(self, what: str, **data: object) -> None:
        self._events.append((EVENT, {"what": what, **data}))

    def _decision(self) -> Decision | None:
        posture = self.memory.get("posture")
        told = (posture, self._label, self.engine.mapped)
        if told == self._told and not self._events:
            return None
        events, self._events, self._told = tuple(self._events), [], told
        outputs = {"posture": posture, "mapped": list(self.engine.mapped)}
        inputs = {"word": self.memory.get("word")}
        return Decision(f"{posture_name(posture)} {self._label}".strip(), inputs, outputs, events=events)


def posture_name(number: int) -> str:
    """Return what the number in the posture variable means."""
    return Posture(number).word if number in list(Posture) else f"posture {number}"


def word_number(command: ScriptedCommand) -> int:
    """Return the number of a recognised word, written as in `472@3.0`, or raise FormatError."""
    if not _NUMBER.fullmatch(command.word) or not 0 < int(command.word) <= MAX_WORD:
        hint = f"NUMBER@SECONDS, as in 472@3.0; 1..{MAX_WORD}"
        raise FormatError(f"{command.word!r} is no number of a word", where=command.where, hint=hint)
    return int(command.word)


class UntilOver:
    """A watcher that ends a run when nothing more will happen, a while after."""

    def __init__(self, controllers: Iterable[RobiController], still_s: float = 0.5) -> None:
        self._controllers, self._still_s = tuple(controllers), still_s
        self._busy_s = 0.0

    def watch(self, block: Block) -> bool:
        """Return whether it is over."""
        now_s = float(block.states.times[-1])
        if not all(one.is_over for one in self._controllers):
            self._busy_s = now_s
        return now_s - self._busy_s >= self._still_s
