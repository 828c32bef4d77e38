"""Runs a routine by itself and records the servos' moves, provided that the routine always does the same.

A routine is static if it draws no random number, and reads no port, no memory and no variable that it has not
set itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass

from posewright.runtimes.robobasic.board import BasicBoard, BasicProgramError
from posewright.runtimes.robobasic.machine import BasicMachine, CompiledProgram
from posewright.runtimes.robobasic.servos import MIDDLE, BoardServos, ServoRamp, board_parameters
from posewright.runtimes.robobasic.speed_settings import SpeedSetting

MAX_MOVES = 10_000
MAX_TIME_S = 3600.0
MAX_STATEMENTS = 1_000_000
"""Largest number of statements of a routine; waiting for a pulse counts as one."""

PASSES = 4
"""Number of passes of a routine that repeats. The pass before the last is recorded: its first move starts
where the routine ends, and its end is known."""


def inherit_settings(servos: BoardServos, previous: BoardServos) -> BoardServos:
    """Copy the settings of SPEED, HIGHSPEED, PTP and DIR from `previous` to `servos`, and return `servos`."""
    servos.group_arrives_together = previous.group_arrives_together
    servos.all_arrive_together = previous.all_arrive_together
    servos.high_speed = previous.high_speed
    servos.directions = list(previous.directions)
    servos.speed = previous.speed
    servos.speed_inherited = True
    return servos


class _UnsetVariables(list[int]):
    """The values of variables; reading one before it is set is an error."""

    def __init__(self, program: CompiledProgram) -> None:
        self._unset_names = {variable.index: variable.name for variable in program.variables.values()}
        super().__init__([0] * len(self._unset_names))

    def __getitem__(self, index: int) -> int:  # type: ignore[override]  # values are never sliced
        if index in self._unset_names:
            raise BasicProgramError(f"it reads {self._unset_names[index]}, which it has not set")
        return super().__getitem__(index)

    def __setitem__(self, index: int, value: int) -> None:  # type: ignore[override]  # as above
        self._unset_names.pop(index, None)
        super().__setitem__(index, value)


class _UnwrittenMemory(dict[int, int]):
    """A memory; reading a byte before it is written is an error."""

    def get(self, address: int, default: int = 0) -> int:  # type: ignore[override]  # the machine's only use
        if address not in self:
            raise BasicProgramError(f"it reads the memory at {address}, which it has not written")
        return super().get(address, default)


@dataclass
class _UnreadablePorts:
    """Ports of which reading is an error; GETMOTORSET finds a servo without torque at its last position."""

    servos: BoardServos

    def read(self, port: str, number: int) -> int:
        raise BasicProgramError(f"it reads {port}" if port == "ERX" else f"it reads {port}({number})")

    def servo_position(self, servo: int) -> int:
        is_off = self.servos.torque_enabled[servo] is False
        return round(self.servos.positions[servo]) if is_off else 0


@dataclass
class RecordedMove:
    """The motions, jumps and releases of servos that start with one pulse.

    Attributes:
        begin_pulse: pulses sent before it.
        n_pulses: duration of its longest motion; 0 for jumps and releases.
        target_counts_by_servo: target position in counts of the servo, by servo number.
        released_servos: servos whose torque is switched off.
        speed: common speed setting of its motions; None if they differ or were interrupted.
    """

    begin_pulse: int
    n_pulses: int
    target_counts_by_servo: dict[int, float]
    released_servos: set[int]
    speed: SpeedSetting | None = None

    @property
    def end_pulse(self) -> int:
        """Pulses sent when it is over."""
        return self.begin_pulse + self.n_pulses


class RoutineRun:
    """One run of a routine; creating the object runs the routine to its end.

    Args:
        program: the program that contains the routine.
        servos: the servos with the settings before the routine.
        servo_numbers: the numbers of the servos that the robot has.
        address: the address of the routine.
        max_statements: the number of statements after which the routine counts as endless.
        at_power_on: whether it is the beginning of the program, where all variables are 0.

    Attributes:
        servos: the servos after the routine.
        moves: the moves that were recorded, in order.
        failure: why the routine is not static; empty if it is.
        line: the line of the statement that failed, or of the end.
        n_statements: number of statements that were run.
    """

    def __init__(
        self,
        program: CompiledProgram,
        servos: BoardServos,
        servo_numbers: Set[int],
        address: int,
        max_statements: int = MAX_STATEMENTS,
        *,
        at_power_on: bool = False,
    ) -> None:
        board = BasicBoard(
            servos,
            _UnreadablePorts(servos),
            eeprom=_UnwrittenMemory(),
            memory=_UnwrittenMemory(),
            random_generator=None,
        )
        self._machine = BasicMachine(program, board, address=address)
        if not at_power_on:
            self._machine.values = _UnsetVariables(program)
        self.servos = servos
        self.moves: list[RecordedMove] = []
        self._servo_numbers = servo_numbers
        self._start_address = address
        self._max_statements = max_statements
        self._pass_starts: list[int] = []  # of each pass after the first, the index of its first move
        self._recorded_effects = 0  # the board's `effect_count` when a pulse was last recorded
        self._released: set[int] = set()  # servos whose torque is off
        self._inherited_speed: int | None = None  # SPEED of a move that the routine has not set itself
        self._max_early_pulses = 0  # by which a servo arrives before others of its move
        self._overlaps = False  # whether a move began before others had ended
        self._missing_servos: set[int] = set()  # that are moved and that the robot does not have
        self._checkpoint: tuple[object, ...] = ()  # a state of the program; see `_is_in_endless_loop`
        self._checkpoint_n_statements = 0
        self._checkpoint_effects = 0
        self._next_checkpoint = 0  # pulses
        self.failure = self._run()
        self.line = self._machine.line
        self.n_statements = self._machine.n_statements

    @property
    def repeats(self) -> bool:
        """Whether the routine goes back to its own label for ever."""
        return bool(self._pass_starts)

    def one_pass(self) -> tuple[list[RecordedMove], int]:
        """Return the moves of one pass and the number of pulses sent at its end.

        Of a routine that repeats, this is the pass before the last, whose end is known: there the last
        begins.
        """
        if not self._pass_starts:
            return self.moves, self._clock_in_pulses()
        pass_start, next_pass_start, _ = self._pass_starts[-3:]
        if next_pass_start < len(self.moves):
            end_pulses = self.moves[next_pass_start].begin_pulse
        else:
            end_pulses = self._clock_in_pulses()
        return self.moves[pass_start:next_pass_start], end_pulses

    def _clock_in_pulses(self) -> int:
        """Return the time of the program as the number of whole periods between two pulses."""
        return self._machine.clock_us // self._machine.pulse_us

    # The run.

    def _run(self) -> str:
        """Run the routine, and return why it is not static; an empty text if it is.

        It runs to its end or, if it goes back to its own label for ever, for `PASSES` passes. The program
        runs up to the time of the next pulse of the servos, the pulse is sent, and so on.
        """
        machine = self._machine
        servos = self.servos
        while True:
            if not servos.is_moving:  # pulses that would move nothing are skipped
                servos.pulse_count = max(servos.pulse_count, self._clock_in_pulses())
            next_pulse_us = (servos.pulse_count + 1) * machine.pulse_us
            machine.run_until(next_pulse_us)
            if machine.error is not None:
                return machine.error.message
            n_jumps_to_start = machine.loop_counts.get(self._start_address, 0)
            if n_jumps_to_start > len(self._pass_starts):  # a further pass begins
                self._pass_starts.append(len(self.moves))
            self._send_pulse()
            has_ended = machine.stop_reason is not None and not servos.is_moving
            if has_ended or len(self._pass_starts) >= PASSES:
                return ""
            failure = self._check_limits()
            if failure:
                return failure

    def _check_limits(self) -> str:
        """Return why the routine is not run any further; an empty text if it goes on."""
        if self._machine.n_statements > self._max_statements:
            return f"it has not ended after {self._max_statements:,} statements"
        if self._machine.clock_us > MAX_TIME_S * 1e6:
            return f"it has not ended after {MAX_TIME_S:g} s"
        if len(self.moves) > MAX_MOVES:
            return f"it has more than {MAX_MOVES:,} moves"
        if self._is_in_endless_loop():
            return "it loops here for ever"
        return ""

    def _is_in_endless_loop(self) -> bool:
        """Whether the program will repeat the same statements for ever.

        That is so if it is in the same state as at an earlier time, the checkpoint, and has not just waited
        for servos since. The checkpoint is moved to the present at intervals that double (Brent 1980). A
        routine that goes back to its own label repeats on purpose, and is no endless loop.
        """
        machine = self._machine
        if self._pass_starts or machine.stop_reason is not None:
            return False
        servos_move = self.servos.is_moving
        state = (machine.address, list(machine.values), list(machine.return_addresses), servos_move)
        has_run_no_statement = machine.n_statements == self._checkpoint_n_statements
        has_had_no_effect = machine.board.effect_count == self._checkpoint_effects
        is_waiting = has_run_no_statement or (servos_move and has_had_no_effect)
        if state == self._checkpoint and not is_waiting:
            return True
        if self.servos.pulse_count >= self._next_checkpoint:
            self._checkpoint = state
            self._checkpoint_n_statements = machine.n_statements
            self._checkpoint_effects = machine.board.effect_count
            self._next_checkpoint = 2 * self.servos.pulse_count
        return False

    # The recording of moves.

    def _send_pulse(self) -> None:
        """Send a pulse and record what starts with it; motions that are under way are split at the pulse."""
        servos = self.servos
        begin_pulse = servos.pulse_count
        effect_count = self._machine.board.effect_count
        if effect_count == self._recorded_effects:
            servos.send_pulse()
            return
        self._recorded_effects = effect_count
        positions = list(servos.positions)
        running_ramps = dict(servos.ramps)
        jumped = servos.jumped & self._servo_numbers
        released = {servo for servo in self._servo_numbers if servos.torque_enabled[servo] is False}
        newly_released = released - self._released
        self._released = released
        servos.send_pulse()

        started_ramps: dict[int, ServoRamp] = {}
        for servo, ramp in servos.started_ramps.items():
            if servo in self._servo_numbers:
                started_ramps[servo] = ramp
            elif ramp.target != MIDDLE:
                self._missing_servos.add(servo)
        jumped = jumped - started_ramps.keys() - released
        if not (jumped or started_ramps or newly_released):
            return
        only_ramps_start = not jumped and not newly_released
        if only_ramps_start and self._merge_into_last_move(begin_pulse, started_ramps):
            return

        replaced = started_ramps.keys() | jumped | released
        continued_ramps: dict[int, ServoRamp] = {}
        for servo, ramp in running_ramps.items():
            if servo in self._servo_numbers and servo not in replaced:
                continued_ramps[servo] = ramp
        last_move = self.moves[-1] if self.moves else None
        if last_move is not None and last_move.end_pulse > begin_pulse:
            self._overlaps = True
            last_move.target_counts_by_servo |= {servo: positions[servo] for servo in continued_ramps}
            last_move.n_pulses = begin_pulse - last_move.begin_pulse
            last_move.speed = None
        if jumped:
            jump_targets = {servo: positions[servo] for servo in jumped}
            self.moves.append(RecordedMove(begin_pulse, 0, jump_targets, newly_released))
            newly_released = set()
        if started_ramps or continued_ramps or newly_released:
            move = self._create_move(begin_pulse, started_ramps, continued_ramps, newly_released)
            self.moves.append(move)

    def _merge_into_last_move(self, begin_pulse: int, started_ramps: Mapping[int, ServoRamp]) -> bool:
        """Merge motions that start into the last move, if that began one pulse earlier, with other servos.

        A pulse that falls between the MOVEs of one pose would otherwise split the pose. The merged move lasts
        as long as the longer one, and begins with it.

        Args:
            begin_pulse: number of pulses sent before the motions.
            started_ramps: the motions that start, by servo.

        Returns:
            Whether the motions have been merged.
        """
        last_move = self.moves[-1] if self.moves else None
        if last_move is None or begin_pulse != last_move.begin_pulse + 1:
            return False
        if last_move.n_pulses < 2:  # it is over already
            return False
        if last_move.target_counts_by_servo.keys() & started_ramps.keys():
            return False
        later_move = self._create_move(begin_pulse, started_ramps, continued_ramps={}, released_servos=set())
        if later_move.n_pulses >= last_move.n_pulses:
            last_move.begin_pulse = later_move.begin_pulse
            last_move.n_pulses = later_move.n_pulses
        last_move.target_counts_by_servo |= later_move.target_counts_by_servo
        if last_move.speed != later_move.speed:
            last_move.speed = None  # the servos have different speeds
        return True

    def _create_move(
        self,
        begin_pulse: int,
        started_ramps: Mapping[int, ServoRamp],
        continued_ramps: Mapping[int, ServoRamp],
        released_servos: set[int],
    ) -> RecordedMove:
        """Return a move of motions that start, and of others that continue from there.

        Side effects: updates `_max_early_pulses` and `_inherited_speed`, for the remarks.

        Args:
            begin_pulse: pulses sent before it.
            started_ramps: the motions that start, by servo.
            continued_ramps: motions that were under way, by servo.
            released_servos: servos whose torque is switched off with it.
        """
        ramps = {**started_ramps, **continued_ramps}
        target_counts = {servo: float(ramp.target) for servo, ramp in ramps.items()}
        # The first pulse has been sent already.
        durations = [ramp.n_pulses - ramp.pulses_sent + 1 for ramp in ramps.values()]
        n_pulses = max(durations, default=0)
        early_pulses = n_pulses - min(durations, default=0)
        self._max_early_pulses = max(self._max_early_pulses, early_pulses)
        low, high = board_parameters().speeds
        settings: set[SpeedSetting] = set()
        inherited_speeds: list[int] = []
        for ramp in started_ramps.values():
            command = ramp.command
            settings.add(SpeedSetting(min(max(command.speed, low), high), command.high_speed))
            if command.speed_inherited:
                inherited_speeds.append(command.speed)
        if inherited_speeds:
            self._inherited_speed = inherited_speeds[0]
        common_setting = settings.pop() if len(settings) == 1 and not continued_ramps else None
        return RecordedMove(begin_pulse, n_pulses, target_counts, released_servos, common_setting)

    def remarks(self) -> Iterator[str]:
        """Yield sentences about what the recorded moves do not contain, or contain differently."""
        servos = self.servos
        board = self._machine.board
        if self._inherited_speed is not None:
            yield (
                f"no SPEED before its first move: it uses {self._inherited_speed}, "
                "which the beginning of the program sets; "
                f"write SPEED {self._inherited_speed} before that move to make it independent"
            )
        first_move = self.moves[0] if self.moves else None
        if first_move is not None and first_move.target_counts_by_servo and first_move.n_pulses <= 1:
            yield (
                f"its first move takes {servos.period_s:g} s, as the robot is in that pose already; "
                "give the first keyframe a longer reach_s, such as 1, to play it from another pose"
            )
        if self._max_early_pulses:
            seconds = round(self._max_early_pulses * servos.period_s, 3)
            reason = "moves overlap" if self._overlaps and servos.all_arrive_together else "PTP is not ALLON"
            yield f"servos that arrive up to {seconds:g} s before others, as {reason}, arrive together here"
        if self._overlaps:
            yield "a move begins before others have ended: a keyframe holds the positions at that time"
        if self._missing_servos:
            yield f"the robot has no servo {_join_numbers(self._missing_servos)}"
        usual_directions = board_parameters().directions
        mirrored = {
            servo for servo in self._servo_numbers if servos.directions[servo] != usual_directions[servo]
        }
        if mirrored:
            numbers = _join_numbers(mirrored)
            yield f"DIR of servo {numbers} is not the usual one: its counts are mirrored about {MIDDLE}"
        if any(gyro.port for gyro in board.gyros.values()):
            yield "corrections by gyros are left out"
        keywords = dict.fromkeys(str(event.get("statement", event["what"])).upper() for event in board.events)
        keywords.pop("MOTOR", None)  # it is in the moves
        if keywords:
            yield f"statements that do not move servos are left out: {', '.join(keywords)}"


def _join_numbers(servos: set[int]) -> str:
    """Return the numbers in order, with commas between them."""
    return ", ".join(map(str, sorted(servos)))
