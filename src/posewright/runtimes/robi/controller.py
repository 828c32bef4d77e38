"""The controller that runs a Robi's program: each frame some instructions, then the servo engine."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from posewright.bodies import BodyState, Decision, JointCommands
from posewright.control import Controller
from posewright.errors import InputError
from posewright.robots import Robot
from posewright.runtimes.robi.machine import ProgramMachine, RobiStopReason
from posewright.runtimes.robi.memory import RobiMemory, bytes_of_word
from posewright.runtimes.robi.postures import posture_name
from posewright.runtimes.robi.program import Rm4Program
from posewright.runtimes.robi.servos import FRAME_PERIOD_S, ServoEngine
from posewright.runtimes.robi.status import Status, status_of
from posewright.runtimes.robi.words import MAX_TIME_S, RecognisedWord

EVENT = "robi"
"""The kind of a program's events in a recording; the key `what` holds the kind of the single event."""

INSTRUCTIONS_PER_FRAME = 200
"""Our choice, since the robot's processor is not known: a waiting loop of five tags runs 40 times."""

MAX_RUN_S = 1e3 * MAX_TIME_S
"""Ends of a run beyond this are left to the runner to reject; far above the latest time of a word."""

MAX_IDLE_FRAMES = 120
"""A program that changes neither memory nor servos for so many frames, 2 s, counts as waiting; our choice."""

INPUT_CELLS = ("word", "measured")
"""Cells that change without the program; a loop that reads them waits for an input."""

MOTION_CELLS = ("position", "torque", "time", "table_position", "table_torque")
"""Cells that move servos; after writes to them, requests beyond the servos' limits are reported."""


class WatchedMemory:
    """A memory that records which inputs a program reads and which tag moves servos.

    Attributes:
        has_changed: whether the program has changed a byte.
        inputs_read: names of the input cells that it has read.
        machine: the machine that runs the program; None until it is set.
        motion_tag_address: the address of the tag that last wrote to a motion cell; None if no tag has since
            the controller last set this to None.
        motion_tag_label: the last label before that tag.
    """

    def __init__(self, memory: RobiMemory) -> None:
        self.has_changed = False
        self.inputs_read: set[str] = set()
        self.machine: ProgramMachine | None = None
        self.motion_tag_address: int | None = None
        self.motion_tag_label = ""
        self._memory = memory
        self._input_cell_of_byte: dict[int, str] = {}
        for name in INPUT_CELLS:
            for address in memory.map[name].addresses:
                self._input_cell_of_byte |= dict.fromkeys(bytes_of_word(address), name)
        self._motion_bytes: set[int] = set()  # addresses of all bytes of motion cells
        for name in MOTION_CELLS:
            for address in memory.map[name].addresses:
                self._motion_bytes.update(bytes_of_word(address))

    def read(self, address: int, size: int) -> int:
        """Return the value of 1 or 2 bytes; see `RobiMemory.read`."""
        for byte in (address, address + size - 1):
            if byte in self._input_cell_of_byte:
                self.inputs_read.add(self._input_cell_of_byte[byte])
        return self._memory.read(address, size)

    def write(self, address: int, size: int, value: int) -> None:
        """Write 1 or 2 bytes, and note a change and the tag that writes a motion cell."""
        previous_value = self._memory.read(address, size)
        self._memory.write(address, size, value)
        if value != previous_value:
            self.has_changed = True
        if self.machine is not None and {address, address + size - 1} & self._motion_bytes:
            self.motion_tag_address = self.machine.address
            self.motion_tag_label = self.machine.label


class _WordAtFrame(NamedTuple):
    """A spoken word that the robot is to recognise: the frame in which it does, and the word's number."""

    frame: int
    word_number: int


class _ReportedExcess(NamedTuple):
    """A reported request beyond a limit: the servo, the quantity, and the tag that wrote it."""

    servo_id: int
    quantity: str
    tag_address: int


class RobiController(Controller):
    """Runs a Robi's program that drives a robot.

    Its decisions, and so a recording, contain events of the kind `robi`: `word`, `posture`, `mapping`,
    `unsafe`, `error`, `waits`, `loops`, `running`, `end`. After an error, or at the end of the program, a
    running move is finished and the pose held, since the servo engine works without the program.

    Args:
        robot: a Robi.
        program: the program.
        memory: the memory at the start, to which `restart` returns; a new one by default.
        words: spoken words that the robot recognises, in the order of their times.
        breakpoints: addresses of tags in the file before which the program ends.

    Attributes:
        memory: the memory of the robot.
        machine: runs the program.
        engine: moves the servos.
        error: the error of the program; None before it fails.
        breakpoint_status: the status at the breakpoint that ended the program; None before that.
    """

    def __init__(
        self,
        robot: Robot,
        program: Rm4Program,
        memory: RobiMemory | None = None,
        *,
        words: Sequence[RecognisedWord] = (),
        breakpoints: Collection[int] = (),
    ) -> None:
        self.robot = robot
        self.memory = RobiMemory() if memory is None else memory
        self._program = program
        self._initial_bytes = bytes(self.memory)
        self._words = [_WordAtFrame(round(word.time_s / FRAME_PERIOD_S), word.number) for word in words]
        self._breakpoints = tuple(breakpoints)
        self._last_frame: int | None = None  # of the run; None while no end is set
        self._earlier_frames = 0  # before the last restart
        self._frame = 0
        self.restart()

    def restart(self) -> None:
        """Start anew, as when the robot is switched off and on; the times of words count from now."""
        self._earlier_frames += self._frame
        self.memory.restore(self._initial_bytes)
        self.engine = ServoEngine(self.robot, self.memory)
        self._watched_memory = WatchedMemory(self.memory)
        self.machine = ProgramMachine(self._program, self._watched_memory)
        self._watched_memory.machine = self.machine
        self.error: InputError | None = None
        self.breakpoint_status: Status | None = None
        self._pending_words = list(self._words)
        self._is_running = True
        self._label = ""  # the last one before the instruction that comes next
        self._frame = 0  # since this start
        self._idle_frames = 0  # frames in a row in which nothing changed
        self._last_commands: JointCommands | None = None
        self._reported_state: tuple[object, ...] = ()  # posture, label and mapped IDs
        self._reported_excesses: set[_ReportedExcess] = set()
        self._events: list[tuple[str, Mapping[str, object]]] = []

    def ends_at(self, until_s: float) -> None:
        """Set when the run ends at the latest [s]; a program that still runs then is reported.

        Raises:
            InputError: a spoken word of `words` is to be recognised later.
        """
        if not 0.0 < until_s < MAX_RUN_S:
            return  # the runner rejects other values
        last_frame = max(0, round(until_s / FRAME_PERIOD_S) - 1)  # frames count from 0
        self._last_frame = last_frame
        for word in self._pending_words:
            if word.frame > last_frame:
                word_s = word.frame * FRAME_PERIOD_S
                message = f"word {word.word_number} comes at {word_s:g} s, and the run ends at {until_s:g} s"
                raise InputError(message, hint="move it to an earlier time, or run longer with --seconds")

    @property
    def is_over(self) -> bool:
        """Whether nothing more will happen.

        That is so if no move is running, no word is to come, and the program has ended or is idle.
        """
        is_at_rest = not self._is_running or self._idle_frames >= MAX_IDLE_FRAMES
        return is_at_rest and not self._pending_words and not self.engine.is_moving

    def next(self, state: BodyState, n: int) -> JointCommands:  # noqa: ARG002 -- it reads the state every frame
        """Return the commands of one frame.

        In order: write the measured positions to the memory, recognise words that are due, run the program's
        instructions, then move the servos. The decision reports what has changed.
        """
        posture = self.memory.get("posture")
        mapped_ids = self.engine.mapped_ids
        try:
            self.engine.update_measured(state)
        except InputError as error:
            self._end_with_error(error)
        while self._pending_words and self._pending_words[0].frame <= self._frame:
            word = self._pending_words.pop(0)
            self.memory.set("word", word.word_number)
            self._add_event("word", number=word.word_number)
            self._idle_frames = 0
        if self._is_running:
            self._run_program()
        commands = self._servo_commands(state)
        self._report_changes(posture, mapped_ids)
        is_last_frame = self._earlier_frames + self._frame == self._last_frame
        if is_last_frame and self._is_running and self._idle_frames < MAX_IDLE_FRAMES:
            self._add_event("running", label=self.machine.label, address=self.machine.address)
        self._frame += 1
        return replace(commands, decision=self._collect_decision())

    def _run_program(self) -> None:
        """Run the instructions of one frame; add an event if the program ends, fails, or has become idle.

        A frame is idle if no memory has changed and no servo moves. After `MAX_IDLE_FRAMES` of them the
        program `waits` if it has read an input since the first of them, and otherwise `loops`.
        """
        memory = self._watched_memory
        memory.has_changed = False
        if self._idle_frames == 0:
            memory.inputs_read.clear()
        try:
            stop = self.machine.run(INSTRUCTIONS_PER_FRAME, self._breakpoints)
        except InputError as error:
            self._end_with_error(error)
            return
        self._label = stop.label
        if stop.reason is not RobiStopReason.BUDGET:
            self._is_running = False
            if stop.reason is RobiStopReason.BREAKPOINT:
                self.breakpoint_status = status_of(self)
            self._add_event("end", reason=stop.reason.value, address=stop.address, label=stop.label)
            return
        if memory.has_changed or self.engine.is_moving:
            self._idle_frames = 0
            return
        self._idle_frames += 1
        if self._idle_frames == MAX_IDLE_FRAMES:
            inputs = sorted(memory.inputs_read)
            kind = "waits" if inputs else "loops"
            self._add_event(kind, label=stop.label, address=stop.address, waits_for=inputs)

    def _servo_commands(self, state: BodyState) -> JointCommands:
        """Return the servo engine's commands; after an error the last ones, or the current positions."""
        try:
            self._report_exceeded_limits()
            commands = self.engine.advance_frame()
        except InputError as error:
            self._end_with_error(error)
            self.memory.set("time", 0)  # the frames left of the running motion: it is over
            return self._last_commands or JointCommands(state.positions[None].copy())
        self._last_commands = replace(commands, lights=None)  # to repeat them does not set lights again
        return commands

    def _report_exceeded_limits(self) -> None:
        """Add events for requests beyond limits, once for each servo, quantity and tag that wrote them.

        Does nothing in a frame in which no tag has written to a motion cell.

        Raises:
            InputError: a parameter table leads out of the memory.
        """
        address = self._watched_memory.motion_tag_address
        label = self._watched_memory.motion_tag_label
        self._watched_memory.motion_tag_address = None
        if address is None:
            return
        for excess in self.engine.iterate_excesses():
            reported = _ReportedExcess(excess.id, excess.quantity, address)
            if reported in self._reported_excesses:
                continue
            self._reported_excesses.add(reported)
            self._add_event(
                "unsafe",
                id=excess.id,
                of=excess.quantity,
                asked=excess.requested,
                limit=excess.limit,
                label=label,
                address=address,
                message=f"{excess}, at {label or '-'} (0x{address:08x})",
            )

    def _end_with_error(self, error: InputError) -> None:
        """End the program because of an error, and add an event for it if it is the first."""
        if self.error is None:
            self.error = error
            label = self.machine.label
            address = self.machine.address
            self._add_event("error", message=str(error), label=label, address=address)
        self._is_running = False

    def _report_changes(self, previous_posture: int, previous_mapped_ids: tuple[int, ...]) -> None:
        """Report changes of the posture variable and of mapped servos during this frame."""
        posture = self.memory.get("posture")
        if posture != previous_posture:
            name = posture_name(posture)
            self._add_event("posture", before=previous_posture, now=posture, name=name)
        if self.engine.mapped_ids != previous_mapped_ids:
            self._add_event("mapping", mapped=list(self.engine.mapped_ids))

    def _add_event(self, kind: str, **details: object) -> None:
        self._events.append((EVENT, {"what": kind, **details}))

    def _collect_decision(self) -> Decision | None:
        """Return a decision if posture, label or mapping changed or events occurred, and clear the events."""
        posture = self.memory.get("posture")
        mapped_ids = self.engine.mapped_ids
        state = (posture, self._label, mapped_ids)
        if state == self._reported_state and not self._events:
            return None
        self._reported_state = state
        events = tuple(self._events)
        self._events = []
        return Decision(
            f"{posture_name(posture)} {self._label}".strip(),
            {"word": self.memory.get("word")},
            {"posture": posture, "mapped": list(mapped_ids)},
            events=events,
        )
