"""The board's servos: which counts each is sent at every pulse, with SPEED, PTP, HIGHSPEED and DIR."""

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
"""A robot's card has it where such a board drives its servos."""

N_SERVOS = 32
MIDDLE = 100


@dataclass(frozen=True, slots=True)
class BoardFacts:
    """What `board.yaml` says; sources and assumptions stand there.

    Attributes:
        speed_counts_s: counts a second at SPEED 1 [1/s].
        statement_us: what a statement takes [us].
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
def board_facts() -> BoardFacts:
    """Return what is known, and assumed, of the board."""
    text = resources.files(__package__).joinpath("board.yaml").read_text(encoding="utf-8")
    return read_record(parse_document(text), BoardFacts)


SLOWEST, FASTEST = 0.5, 200.0


def speed_from_measurement(speed: int, counts: float, seconds: float) -> float:
    """Return counts a second at SPEED 1, from one move that was measured on a robot.

    Args:
        speed: of the move, 1..15, HIGHSPEED off.
        counts: how far the servo that went farthest turned.
        seconds: what that took [s].

    Raises:
        InputError: no servo moves like that.
    """
    low, high = board_facts().speeds
    if not (low <= speed <= high and counts > 0.0 and seconds > 0.0):
        hint = f"SPEED {low}..{high}, counts and seconds above 0"
        raise InputError(f"SPEED {speed}, {counts:g} counts, {seconds:g} s", hint=hint)
    found = counts / seconds / speed
    if not SLOWEST <= found <= FASTEST:
        hint = f"{SLOWEST:g} to {FASTEST:g}; a count is a degree"
        raise InputError(f"{found:g} counts a second at SPEED 1", hint=hint)
    return found


@dataclass(frozen=True, slots=True)
class Order:
    """What one MOVE asks: counts by servo, counts a second for them, and what said so, or was left to it."""

    targets: Mapping[int, int]
    rate: float
    grouped: bool
    speed: int
    high_speed: bool
    speed_is_left: bool


@dataclass(slots=True)
class Way:
    """A servo that is under way: where it began, where to, in how many pulses, and how many it has had."""

    start: float
    target: int
    n: int
    order: Order
    done: int = 0


class Servos:
    """Positions in counts as they are sent, a pulse each `period_s`; a servo is where it was sent.

    MOVE lays down where to; all that is laid down between two pulses begins together. With PTP ALLON all of
    it ends together, with PTP SETON that of each MOVE; else every servo goes by itself.

    Attributes:
        positions: `(32,)` what is sent, as counts of the robot, whatever DIR says.
        driven: by servo: True, False after MOTOROFF, None until the program first says anything of it. Ours:
            until then somebody holds the robot as it stands.
        speed_counts_s: counts a second at SPEED 1.
        speed_is_left: whether SPEED is as another run left it, and not set since.
        ways: of the servos that are under way.
        begun: the ways that began at the last pulse.
        placed: servos that were put somewhere at once since then, as SERVO does, and MOTOR after MOTOROFF.
    """

    def __init__(
        self, start: Mapping[int, float], period_s: float, speed_counts_s: float | None = None
    ) -> None:
        facts = board_facts()
        self.period_s = period_s
        self.speed_counts_s = facts.speed_counts_s if speed_counts_s is None else speed_counts_s
        self.positions: list[float] = [start.get(servo, float(MIDDLE)) for servo in range(N_SERVOS)]
        self.driven: list[bool | None] = [None] * N_SERVOS
        self.directions = list(facts.directions)
        self.speed, self.speed_is_left = facts.first_speed, False
        self.high_speed = self.grouped = self.all_together = False
        self.pulses = 0
        self.ways: dict[int, Way] = {}
        self.begun: Mapping[int, Way] = {}
        self.placed: set[int] = set()
        self._orders: list[Order] = []
        self._ordered: set[int] = set()

    def mirrored(self, servo: int, counts: float) -> float:
        """Return counts of a program as the robot's, or the other way round: DIR turns a servo about 100."""
        return counts if self.directions[servo] == board_facts().directions[servo] else 2 * MIDDLE - counts

    def move(self, targets: Mapping[int, int]) -> None:
        """Lay down where to, in counts of the program; the servos are driven from now on."""
        facts = board_facts()
        low, high = facts.speeds
        rate = min(max(self.speed, low), high) * self.speed_counts_s
        told = {servo: int(self.mirrored(servo, counts)) for servo, counts in targets.items()}
        rate *= facts.high_speed if self.high_speed else 1.0
        self._orders.append(Order(told, rate, self.grouped, self.speed, self.high_speed, self.speed_is_left))
        self._ordered |= told.keys()
        self.drive(told)

    def set_speed(self, speed: int) -> None:
        """Set SPEED."""
        self.speed, self.speed_is_left = speed, False

    def place(self, servo: int, counts: float) -> None:
        """Send a servo there at once, in counts of the program, and forget what it was to do."""
        self.stay([servo])
        self.positions[servo] = self.mirrored(servo, counts)
        self.placed.add(servo)
        self.drive([servo])

    def stay(self, servos: Iterable[int]) -> None:
        """Let servos stay where they are."""
        for servo in servos:
            self.ways.pop(servo, None)
            if servo in self._ordered:
                self._ordered.discard(servo)
                self._orders = [
                    replace(one, targets={s: to for s, to in one.targets.items() if s != servo})
                    for one in self._orders
                ]

    def drive(self, servos: Iterable[int]) -> None:
        """Turn servos on."""
        for servo in servos:
            if self.driven[servo] is False:
                self.placed.add(servo)
            self.driven[servo] = True

    def release(self, servos: Collection[int]) -> None:
        """Turn servos off."""
        self.stay(servos)
        for servo in servos:
            self.driven[servo] = False

    @property
    def is_moving(self) -> bool:
        """Whether any servo is under way, or about to be."""
        return bool(self.ways or self._ordered)

    def is_busy(self, servos: Iterable[int]) -> bool:
        """Whether one of these is under way, or about to be."""
        return self.is_moving and any(servo in self.ways or servo in self._ordered for servo in servos)

    def pulse(self) -> None:
        """Send the next pulse: what was laid down begins, and what is under way goes on."""
        self.pulses += 1
        self.begun = self._begin() if self._orders else {}
        self.placed.clear()
        for servo, way in list(self.ways.items()):
            way.done += 1
            self.positions[servo] = way.start + (way.target - way.start) * way.done / way.n
            if way.done == way.n:
                self.positions[servo] = float(way.target)
                del self.ways[servo]

    def _begin(self) -> dict[int, Way]:
        begun: dict[int, Way] = {}
        longest = max(self._pulses_of(one, one.targets) for one in self._orders)
        for order in self._orders:
            together = self._pulses_of(order, order.targets)
            for servo, target in order.targets.items():
                alone = self._pulses_of(order, [servo])
                n = longest if self.all_together else together if order.grouped else alone
                begun[servo] = Way(self.positions[servo], target, n, order)
        self.ways |= begun
        self._orders.clear()
        self._ordered.clear()
        return begun

    def _pulses_of(self, order: Order, servos: Iterable[int]) -> int:
        way = max((abs(order.targets[one] - self.positions[one]) for one in servos), default=0.0)
        return pulses_for(way, order.rate, self.period_s)


def pulses_for(counts: float, rate: float, period_s: float) -> int:
    """Return how many pulses a move over some counts takes at some counts a second; one at the least."""
    return max(1, math.ceil(counts / (rate * period_s) - 1e-9))


GROUPS: Mapping[str, range] = {
    **{f"G6{letter}": range(6 * at, 6 * at + 6) for at, letter in enumerate("ABCDE")},
    **{f"G8{letter}": range(8 * at, 8 * at + 8) for at, letter in enumerate("ABCD")},
    **{f"G{n}": range(n) for n in (12, 16, 24, 32)},
}
"""Servos by the names of their groups."""


def group_of(name: str) -> range | None:
    """Return the servos of a group such as G6A or G24; None where there is no such group."""
    return GROUPS.get(name.upper())


def board_servos(robot: Robot) -> dict[int, str]:
    """Return the joints of a robot by the numbers that their servos have on the board, in their order.

    Raises:
        InputError: the robot has no such board.
    """
    found = {servo.id: joint for servo, joint in zip(robot.servos, robot.joint_names, strict=True)}
    numbered = {number: joint for number, joint in found.items() if number is not None}
    if NUMBERING not in robot.numberings or len(numbered) < len(robot.servos):
        raise InputError(f"{robot.name} is not driven by an MR-C3024", hint="hitec_robonova1 is")
    return numbered
