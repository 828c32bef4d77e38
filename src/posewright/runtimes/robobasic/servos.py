"""The servos of an MR-C3024: the counts that MOVE, SPEED, PTP, HIGHSPEED and DIR send at every pulse."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources

from posewright.documents import parse_document, read_record
from posewright.errors import InputError
from posewright.robots import Robot

NUMBERING = "robobasic"
"""The numbering in the description of a robot whose servos such a board drives."""

N_SERVOS = 32
MIDDLE = 100
"""The count of a servo's middle position."""


@dataclass(frozen=True, slots=True)
class BoardParameters:
    """The constants of the board from `board.yaml`, which gives a source or an assumption for each.

    Attributes:
        counts: smallest and largest position.
        zero: smallest and largest value of ZERO.
        directions: the directions by servo, the usual argument of DIR.
        speed_counts_s: counts a second at SPEED 1 [1/s].
        high_speed: factor of HIGHSPEED SETON.
        speeds: smallest and largest SPEED.
        first_speed: SPEED before the program sets it.
        statement_us: time of a statement [us].
        first_tempo: TEMPO before the program sets it.
        beep_ms: time of a BEEP [ms].
        gyro_counts: correction at sensitivity 255 and 100 degrees a second.
        gyro_limit_counts: largest correction.
        erased: content of an EEPROM cell that was never written.
        most_gosubs: largest depth of GOSUB.
    """

    counts: tuple[int, int]
    zero: tuple[int, int]
    directions: tuple[int, ...]
    speed_counts_s: float
    high_speed: float
    speeds: tuple[int, int]
    first_speed: int
    statement_us: int
    first_tempo: int
    beep_ms: int
    gyro_counts: float
    gyro_limit_counts: float
    erased: int
    most_gosubs: int


@cache
def board_parameters() -> BoardParameters:
    """Return the constants of the board."""
    text = resources.files(__package__).joinpath("board.yaml").read_text(encoding="utf-8")
    return read_record(parse_document(text), BoardParameters)


MIN_SPEED_COUNTS_S = 0.5
MAX_SPEED_COUNTS_S = 200.0


def speed_from_measurement(speed: int, counts: float, seconds: float) -> float:
    """Return the counts a second at SPEED 1, from one move that was timed on a robot.

    Args:
        speed: SPEED of the move, 1..15, with HIGHSPEED off.
        counts: travel of the servo that moved farthest.
        seconds: duration of the move [s].

    Raises:
        InputError: an argument is out of range, or the speed is not plausible for a servo.
    """
    low, high = board_parameters().speeds
    if not (low <= speed <= high and counts > 0.0 and seconds > 0.0):
        hint = f"expected SPEED {low}..{high}, and counts and seconds above 0"
        raise InputError(f"no valid measurement: SPEED {speed}, {counts:g} counts, {seconds:g} s", hint=hint)
    speed_counts_s = counts / seconds / speed
    if not MIN_SPEED_COUNTS_S <= speed_counts_s <= MAX_SPEED_COUNTS_S:
        limits = f"{MIN_SPEED_COUNTS_S:g} to {MAX_SPEED_COUNTS_S:g}"
        raise InputError(
            f"the measurement gives {speed_counts_s:g} counts a second at SPEED 1",
            hint=f"expected {limits}; a count is a degree",
        )
    return speed_counts_s


@dataclass(frozen=True, slots=True)
class MoveCommand:
    """One MOVE that waits for the next pulse.

    Attributes:
        targets: counts of the robot, by servo.
        rate: counts a second of the servos.
        group_arrives_together: whether its servos arrive together (PTP SETON).
        speed: SPEED at the time.
        high_speed: HIGHSPEED at the time.
        speed_inherited: whether SPEED was set by another run.
    """

    targets: Mapping[int, int]
    rate: float
    group_arrives_together: bool
    speed: int
    high_speed: bool
    speed_inherited: bool


@dataclass(slots=True)
class ServoRamp:
    """The linear motion of one servo.

    Attributes:
        start: counts at the beginning.
        target: counts at the end.
        n_pulses: duration in pulses.
        command: the MOVE that caused it.
        pulses_sent: pulses since the beginning.
    """

    start: float
    target: int
    n_pulses: int
    command: MoveCommand
    pulses_sent: int = 0


class BoardServos:
    """The servo positions that the board sends, with one pulse each `period_s`.

    MOVE queues a command; commands queued between two pulses start together. With PTP ALLON all of them end
    together, with PTP SETON the servos of one MOVE do, and otherwise each servo moves on its own.

    Attributes:
        period_s: time between two pulses [s].
        speed_counts_s: counts a second at SPEED 1.
        positions: `(32,)` positions sent, in counts of the robot, whatever DIR says.
        torque_enabled: by servo: True, False after MOTOROFF, None before the program first addresses the
            servo. We assume that until then somebody holds the robot as it stands.
        directions: the directions by servo, the argument of DIR.
        speed: SPEED.
        speed_inherited: whether SPEED was set by another run, and not since.
        high_speed: whether HIGHSPEED is on.
        group_arrives_together: whether PTP SETON is in effect.
        all_arrive_together: whether PTP ALLON is in effect.
        pulse_count: pulses sent.
        ramps: the ramps of the servos that move.
        started_ramps: those of them that started with the last pulse.
        jumped: servos that were set to a position at once since then, by SERVO or by MOTOR after MOTOROFF.
    """

    def __init__(
        self, start: Mapping[int, float], period_s: float, speed_counts_s: float | None = None
    ) -> None:
        parameters = board_parameters()
        self.period_s = period_s
        self.speed_counts_s = parameters.speed_counts_s if speed_counts_s is None else speed_counts_s
        self.positions: list[float] = [start.get(servo, float(MIDDLE)) for servo in range(N_SERVOS)]
        self.torque_enabled: list[bool | None] = [None] * N_SERVOS
        self.directions = list(parameters.directions)
        self.speed = parameters.first_speed
        self.speed_inherited = False
        self.high_speed = False
        self.group_arrives_together = False
        self.all_arrive_together = False
        self.pulse_count = 0
        self.ramps: dict[int, ServoRamp] = {}
        self.started_ramps: Mapping[int, ServoRamp] = {}
        self.jumped: set[int] = set()
        self._queue: list[MoveCommand] = []
        self._queued_servos: set[int] = set()

    def apply_direction(self, servo: int, counts: float) -> float:
        """Convert counts of the program to counts of the robot, or back.

        A DIR other than the usual one mirrors the counts of a servo about its middle.
        """
        if self.directions[servo] == board_parameters().directions[servo]:
            return counts
        return 2 * MIDDLE - counts

    def queue_move(self, targets: Mapping[int, int]) -> None:
        """Queue a MOVE for the next pulse and enable the torque of its servos.

        Args:
            targets: counts of the program, by servo.
        """
        parameters = board_parameters()
        low, high = parameters.speeds
        rate = min(max(self.speed, low), high) * self.speed_counts_s
        if self.high_speed:
            rate *= parameters.high_speed
        robot_targets = {servo: int(self.apply_direction(servo, counts)) for servo, counts in targets.items()}
        command = MoveCommand(
            robot_targets,
            rate,
            self.group_arrives_together,
            self.speed,
            self.high_speed,
            self.speed_inherited,
        )
        self._queue.append(command)
        self._queued_servos |= robot_targets.keys()
        self.enable_torque(robot_targets)

    def set_speed(self, speed: int) -> None:
        """Set SPEED."""
        self.speed = speed
        self.speed_inherited = False

    def jump(self, servo: int, counts: float) -> None:
        """Set a servo to counts of the program at once and cancel its motion."""
        self.stop([servo])
        self.positions[servo] = self.apply_direction(servo, counts)
        self.jumped.add(servo)
        self.enable_torque([servo])

    def stop(self, servos: Iterable[int]) -> None:
        """Cancel the motions of servos, including queued ones."""
        for servo in servos:
            self.ramps.pop(servo, None)
            if servo not in self._queued_servos:
                continue
            self._queued_servos.discard(servo)
            for index, command in enumerate(self._queue):
                targets = {other: counts for other, counts in command.targets.items() if other != servo}
                self._queue[index] = replace(command, targets=targets)

    def enable_torque(self, servos: Iterable[int]) -> None:
        """Switch the torque of servos on; servos whose torque was off jump to their positions."""
        for servo in servos:
            if self.torque_enabled[servo] is False:
                self.jumped.add(servo)
            self.torque_enabled[servo] = True

    def disable_torque(self, servos: Collection[int]) -> None:
        """Cancel the motions of servos and switch their torque off."""
        self.stop(servos)
        for servo in servos:
            self.torque_enabled[servo] = False

    @property
    def is_moving(self) -> bool:
        """Whether any servo moves or has a queued motion."""
        return bool(self.ramps or self._queued_servos)

    def is_busy(self, servos: Iterable[int]) -> bool:
        """Whether one of some servos moves or has a queued motion."""
        return any(servo in self.ramps or servo in self._queued_servos for servo in servos)

    def send_pulse(self) -> None:
        """Send the next pulse to the servos: start the queued motions and advance all that are under way."""
        self.pulse_count += 1
        self.started_ramps = self._start_queue() if self._queue else {}
        self.jumped.clear()
        for servo, ramp in list(self.ramps.items()):
            ramp.pulses_sent += 1
            travel = ramp.target - ramp.start
            self.positions[servo] = ramp.start + travel * ramp.pulses_sent / ramp.n_pulses
            if ramp.pulses_sent == ramp.n_pulses:
                self.positions[servo] = float(ramp.target)
                del self.ramps[servo]

    def _start_queue(self) -> dict[int, ServoRamp]:
        """Turn the queued commands into ramps, add those to `ramps`, and return them by servo."""
        started: dict[int, ServoRamp] = {}
        # until the last servo of all commands, and of one command, arrives
        n_pulses_of_queue = max(self._count_pulses(command, command.targets) for command in self._queue)
        for command in self._queue:
            n_pulses_of_command = self._count_pulses(command, command.targets)
            for servo, target in command.targets.items():
                if self.all_arrive_together:
                    n_pulses = n_pulses_of_queue
                elif command.group_arrives_together:
                    n_pulses = n_pulses_of_command
                else:
                    n_pulses = self._count_pulses(command, [servo])
                started[servo] = ServoRamp(self.positions[servo], target, n_pulses, command)
        self.ramps |= started
        self._queue.clear()
        self._queued_servos.clear()
        return started

    def _count_pulses(self, command: MoveCommand, servos: Iterable[int]) -> int:
        """Return the number of pulses until the last of some servos of a command arrives."""
        distances = (abs(command.targets[servo] - self.positions[servo]) for servo in servos)
        return count_pulses(max(distances, default=0.0), command.rate, self.period_s)


def count_pulses(distance_counts: float, speed_counts_s: float, period_s: float) -> int:
    """Return the number of pulses of a move, at least 1.

    Args:
        distance_counts: how far the servo moves [counts].
        speed_counts_s: its speed [counts/s].
        period_s: time between two pulses [s].
    """
    rounding = 1e-9  # a whole number of pulses stays that number
    return max(1, math.ceil(distance_counts / (speed_counts_s * period_s) - rounding))


GROUPS: Mapping[str, range] = {
    **{f"G6{letter}": range(6 * index, 6 * index + 6) for index, letter in enumerate("ABCDE")},
    **{f"G8{letter}": range(8 * index, 8 * index + 8) for index, letter in enumerate("ABCD")},
    **{f"G{n}": range(n) for n in (12, 16, 24, 32)},
}
"""Servos by the names of their groups."""


def find_group(name: str) -> range | None:
    """Return the servos of a group such as G6A or G24; None if there is no such group."""
    return GROUPS.get(name.upper())


def board_joints(robot: Robot) -> dict[int, str]:
    """Return the joints of a robot by the numbers of their servos on the board, in the robot's order.

    Raises:
        InputError: the robot is not driven by such a board.
    """
    joints: dict[int, str] = {}
    for servo, joint in zip(robot.servos, robot.joint_names, strict=True):
        if servo.id is not None:
            joints[servo.id] = joint
    if NUMBERING not in robot.numberings or len(joints) < len(robot.servos):
        raise InputError(f"{robot.name} is not driven by an MR-C3024", hint="hitec_robonova1 is")
    return joints
