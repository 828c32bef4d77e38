"""A Robi's program as a controller: each frame it runs for a while, then the engine moves the servos."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from posewright.bodies import BodyState, Decision, JointCommands
from posewright.control import Controller
from posewright.errors import InputError
from posewright.robots import Robot
from posewright.runtimes.robi.machine import ProgramMachine, StopReason
from posewright.runtimes.robi.memory import Memory
from posewright.runtimes.robi.postures import posture_name
from posewright.runtimes.robi.program import Program
from posewright.runtimes.robi.servos import FRAME_PERIOD_S, ServoEngine
from posewright.runtimes.robi.status import Status, status_of
from posewright.runtimes.robi.words import LATEST_S, Word

EVENT = "robi"
"""The kind of events in a recording that tell of a Robi's program; `what` says what happened."""

INSTRUCTIONS_PER_FRAME = 200
"""Ours: nobody knows the robot's processor. A program that waits goes 40 times around a loop of five."""

SILENT_FRAMES = 120
"""Ours: so many frames, 2 s, a program may run on without a move under way or a change of the memory."""

OUTER = ("word", "measured")
"""Cells that change without the program: whoever reads them in a loop waits for something."""

MOVING = ("position", "torque", "time", "table_position", "table_torque")
"""Cells by which servos are moved; whoever writes to them is told of what is too much for a servo."""


class Watched:
    """The memory as a program sees it.

    Attributes:
        changed: whether the program has changed it.
        read_outer: which of the outer cells it has read.
        at: where the machine was when it last wrote what moves servos; -1 once that was looked at.
    """

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        cells = memory.map.cells
        self._outer = {at + i: name for name in OUTER for at in cells[name].addresses for i in (0, 1)}
        self._moving = {at + i for name in MOVING for at in cells[name].addresses for i in (0, 1)}
        self.changed = False
        self.read_outer: set[str] = set()
        self.machine: ProgramMachine | None = None
        self.at, self.label = -1, ""

    def read(self, address: int, size: int) -> int:
        """Read as `Memory.read` does."""
        self.read_outer.update(self._outer[at] for at in (address, address + size - 1) if at in self._outer)
        return self._memory.read(address, size)

    def write(self, address: int, size: int, value: int) -> None:
        """Write as `Memory.write` does."""
        before = self._memory.read(address, size)
        self._memory.write(address, size, value)
        self.changed = self.changed or value != before
        if self.machine is not None and {address, address + size - 1} & self._moving:
            self.at, self.label = self.machine.address, self.machine.label


class RobiController(Controller):
    """Lets a Robi's program drive a robot.

    What happens is in the decisions, and so in a recording, as events `robi`: `word`, `posture`, `mapping`,
    `unsafe`, `error`, `waits`, `loops`, `running`, `end`. After an error, or when the program is over, a move
    that is under way is finished and the pose held: a servo engine needs no program.

    Args:
        robot: a Robi, by its card.
        memory: a new one unless given; `restart` sets it to what it is now.
        words: that the robot is to recognise, in the order of their times.
        breakpoints: addresses of tags in the file; the program is over when it comes to one.

    Attributes:
        error: what was wrong with the program, once something was.
        stopped: how all stood at the breakpoint to which the program came, if it did.
        is_over: whether nothing more will happen: no move is under way, no word to come, and the program is
            over, or goes around without effect.
    """

    def __init__(
        self,
        robot: Robot,
        program: Program,
        memory: Memory | None = None,
        *,
        words: Sequence[Word] = (),
        breakpoints: Collection[int] = (),
    ) -> None:
        self.robot = robot
        self.memory = Memory() if memory is None else memory
        self._program = program
        self._first_bytes = bytes(self.memory)
        self._all_words = [(round(word.time_s / FRAME_PERIOD_S), word.number) for word in words]
        self._breakpoints = tuple(breakpoints)
        self._last_frame = -1
        self._earlier_frames = 0  # those of tries before the last restart
        self._frame = 0
        self.restart()

    def restart(self) -> None:
        """Begin anew, as when the robot is switched off and on: words come at their times from now on."""
        self._earlier_frames += self._frame
        self.memory.restore(self._first_bytes)
        self.engine = ServoEngine(self.robot, self.memory)
        self._ram = Watched(self.memory)
        self.machine = ProgramMachine(self._program, self._ram)
        self._ram.machine = self.machine
        self._words = list(self._all_words)
        self.error: InputError | None = None
        self.stopped: Status | None = None
        self._runs = True
        self._label = ""
        self._frame = 0
        self._silent = 0
        self._last: JointCommands | None = None
        self._told: tuple[object, ...] = ()
        self._unsafe: set[tuple[int, str, int]] = set()
        self._events: list[tuple[str, Mapping[str, object]]] = []

    def ends_at(self, until_s: float) -> None:
        """Take in when the run ends at the latest [s]: a program that still runs then is told.

        Raises:
            InputError: a word comes later.
        """
        if not 0.0 < until_s < LATEST_S * 1e3:
            return  # whoever runs it refuses that
        self._last_frame = max(0, round(until_s / FRAME_PERIOD_S) - 1)
        for frame, number in self._words:
            if frame > self._last_frame:
                at_s = frame * FRAME_PERIOD_S
                what = f"word {number} comes at {at_s:g} s, and the run ends at {until_s:g} s"
                raise InputError(what, hint="let it come sooner, or run for longer with --seconds")

    @property
    def is_over(self) -> bool:
        """Whether nothing more will happen."""
        still = not self._runs or self._silent >= SILENT_FRAMES
        return still and not self._words and not self.engine.is_moving

    def next(self, state: BodyState, n: int) -> JointCommands:  # noqa: ARG002 -- it looks every frame
        """Return one frame."""
        posture, mapped = self.memory.get("posture"), self.engine.mapped
        try:
            self.engine.see(state)
        except InputError as error:
            self._fail(error)
        self._recognise()
        if self._runs:
            self._run()
        commands = self._commands(state)
        self._compare(posture, mapped)
        frame_of_run = self._earlier_frames + self._frame
        if frame_of_run == self._last_frame and self._runs and self._silent < SILENT_FRAMES:
            self._tell("running", label=self.machine.label, address=self.machine.address)
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
            stop = self.machine.run(INSTRUCTIONS_PER_FRAME, self._breakpoints)
        except InputError as error:
            self._fail(error)
            return
        self._label = stop.label
        if stop.reason is not StopReason.BUDGET:
            self._runs = False
            if stop.reason is StopReason.BREAKPOINT:
                self.stopped = status_of(self)
            self._tell("end", reason=stop.reason.value, address=stop.address, label=stop.label)
            return
        self._silent = 0 if self._ram.changed or self.engine.is_moving else self._silent + 1
        if self._silent == SILENT_FRAMES:
            waits_for = sorted(self._ram.read_outer)
            self._tell(
                "waits" if waits_for else "loops", label=stop.label, address=stop.address, waits_for=waits_for
            )

    def _tell_unsafe(self) -> None:
        """Tell once, for each servo and place in the program, what is too much."""
        at, self._ram.at = self._ram.at, -1
        for excess in self.engine.excesses() if at >= 0 else ():
            if (excess.id, excess.what, at) not in self._unsafe:
                self._unsafe.add((excess.id, excess.what, at))
                message = f"{excess}, at {self._ram.label or '-'} (0x{at:08x})"
                self._tell(
                    "unsafe",
                    id=excess.id,
                    of=excess.what,
                    asked=excess.asked,
                    limit=excess.limit,
                    label=self._ram.label,
                    address=at,
                    message=message,
                )

    def _commands(self, state: BodyState) -> JointCommands:
        try:
            self._tell_unsafe()
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
