"""A routine is run by itself, and what the servos do is taken down, as long as that is always the same.

It is static where it draws nothing by chance, and reads no port, no memory and no variable that it has not
set itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass

from posewright.runtimes.robobasic.board import Board, ProgramError
from posewright.runtimes.robobasic.machine import Machine, Program
from posewright.runtimes.robobasic.paces import Pace
from posewright.runtimes.robobasic.servos import MIDDLE, Servos, Way, board_facts

MOST_MOMENTS = 10_000
LONGEST_S = 3600.0
MOST_STATEMENTS = 1_000_000
"""Of a routine; each pulse that is waited for counts as one."""

PASSES = 4
"""So often a routine that repeats comes round here. The pass before the last is taken: its first move is one
from where the routine ends, and when it is over is known, too."""


def as_left(before: Servos, servos: Servos) -> Servos:
    """Return servos with SPEED and the switches as others have them by now."""
    for switch in ("grouped", "all_together", "high_speed"):
        setattr(servos, switch, getattr(before, switch))
    servos.directions = list(before.directions)
    servos.speed, servos.speed_is_left = before.speed, True
    return servos


class _Known(list[int]):
    """Values of variables, of which none is read before the routine has set it."""

    def __init__(self, program: Program) -> None:
        self._names = {one.place: one.name for one in program.variables.values()}
        super().__init__([0] * len(self._names))

    def __getitem__(self, place: int) -> int:  # type: ignore[override]  # nobody takes slices of values
        if place in self._names:
            raise ProgramError(f"it reads {self._names[place]}, which it has not set")
        return super().__getitem__(place)

    def __setitem__(self, place: int, value: int) -> None:  # type: ignore[override]  # as above
        self._names.pop(place, None)
        super().__setitem__(place, value)


class _Written(dict[int, int]):
    """Memory, of which nothing is read before the routine has written it."""

    def get(self, address: int, default: int = 0) -> int:  # type: ignore[override]  # as the machine asks
        if address not in self:
            raise ProgramError(f"it reads the memory at {address}, which it has not written")
        return super().get(address, default)


@dataclass
class _NoPorts:
    """Ports that refuse to be read; GETMOTORSET finds a servo that was let go where it was sent last."""

    servos: Servos

    def read(self, port: str, number: int) -> int:
        raise ProgramError(f"it reads {port}" if port == "ERX" else f"it reads {port}({number})")

    def position(self, servo: int) -> int:
        return round(self.servos.positions[servo]) if self.servos.driven[servo] is False else 0


@dataclass
class Moment:
    """What begins between two pulses.

    Attributes:
        begin: pulses sent before it.
        n: pulses until all of it is there; 0 where servos jump, or are let go.
        counts: of the robot, by servo.
        free: servos that are let go.
        pace: of all its moves; None where they have several, or were interrupted.
    """

    begin: int
    n: int
    counts: dict[int, float]
    free: set[int]
    pace: Pace | None = None

    @property
    def end(self) -> int:
        """Pulses sent when it is over."""
        return self.begin + self.n


class RoutineRun:
    """One run of a routine from its address; it is over when this is made.

    Args:
        program: whose routine it is.
        servos: how they stand before.
        ours: the servos that the robot has.
        at: the routine's address.
        most: statements that it may have.
        at_power_on: whether it is the beginning of the program, for which every variable is 0.

    Attributes:
        servos: how the routine leaves them.
        why: why it is not static; empty where it is.
        line: of the statement that makes it so, or after which it is over.
        steps: how many statements were run.
        moments: what began, in order.
    """

    def __init__(
        self,
        program: Program,
        servos: Servos,
        ours: Set[int],
        at: int,
        most: int = MOST_STATEMENTS,
        *,
        at_power_on: bool = False,
    ) -> None:
        board = Board(servos, _NoPorts(servos), eeprom=_Written(), memory=_Written(), chance=None)
        self._machine = Machine(program, board, at=at)
        if not at_power_on:
            self._machine.values = _Known(program)
        self.servos, self._ours, self._start, self._most = servos, ours, at, most
        self.moments: list[Moment] = []
        self._rounds: list[int] = []
        self._free: set[int] = set()
        self._left_over: int | None = None
        self._early = self._effects = 0
        self._overlaps = False
        self._nowhere: set[int] = set()
        self._kept: tuple[object, ...] = ()
        self._kept_at = (0, 0, 0)
        self.why = self._play()
        self.line, self.steps = self._machine.line, self._machine.steps

    @property
    def repeats(self) -> bool:
        """Whether it goes back to its own label for ever."""
        return bool(self._rounds)

    def one_pass(self) -> tuple[list[Moment], int]:
        """Return what began, in one pass of a routine that repeats, and the pulses sent when it is over."""
        end = self._machine.clock_us // self._machine.pulse_us
        if not self._rounds:
            return self.moments, end
        first, last = self._rounds[-3:-1]
        return self.moments[first:last], self.moments[last].begin if last < len(self.moments) else end

    def _play(self) -> str:
        """Run to the end, or round a few times; return why the routine is not static, or nothing."""
        machine, servos = self._machine, self.servos
        while True:
            if not servos.is_moving:
                servos.pulses = max(servos.pulses, machine.clock_us // machine.pulse_us)
            machine.run_until((servos.pulses + 1) * machine.pulse_us)
            if machine.error is not None:
                return machine.error.message
            if machine.rounds.get(self._start, 0) > len(self._rounds):
                self._rounds.append(len(self.moments))
            self._take_down()
            if (machine.stopped is not None and not servos.is_moving) or len(self._rounds) >= PASSES:
                return ""
            if why := self._endless():
                return why

    def _endless(self) -> str:
        machine = self._machine
        if machine.steps > self._most:
            return f"it has not ended after {self._most:,} statements"
        if machine.clock_us > LONGEST_S * 1e6:
            return f"it has not ended after {LONGEST_S:g} s"
        if len(self.moments) > MOST_MOMENTS:
            return f"it has more than {MOST_MOMENTS:,} moves"
        return "it loops here for ever" if self._is_where_it_was() else ""

    def _is_where_it_was(self) -> bool:
        """Tell whether all is as it was at a time that is kept, and moved on ever farther (Brent 1980)."""
        machine, moving = self._machine, self.servos.is_moving
        if self._rounds or machine.stopped is not None:
            return False
        now = machine.at, list(machine.values), list(machine.gosubs), moving
        steps, effects, until = self._kept_at
        waits = machine.steps == steps or (moving and machine.board.effects == effects)
        if now == self._kept and not waits:
            return True
        if self.servos.pulses >= until:
            self._kept, self._kept_at = now, (machine.steps, machine.board.effects, 2 * self.servos.pulses)
        return False

    def _take_down(self) -> None:
        """Send a pulse, and take down what begins with it; what is under way by then begins anew."""
        servos, begin = self.servos, self.servos.pulses
        if self._machine.board.effects == self._effects:
            servos.pulse()
            return
        self._effects = self._machine.board.effects
        before, under_way, placed = list(servos.positions), dict(servos.ways), set(servos.placed)
        let_go = {one for one in self._ours if servos.driven[one] is False}
        free, self._free = let_go - self._free, let_go
        servos.pulse()
        begun = {one: way for one, way in servos.begun.items() if one in self._ours}
        self._nowhere |= {
            one for one, way in servos.begun.items() if one not in begun and way.target != MIDDLE
        }
        placed = (placed & self._ours) - begun.keys() - let_go
        if not (placed or begun or free):
            return
        if not placed and not free and self._was_torn(begin, begun):
            return
        taken = begun.keys() | placed | let_go
        carried = {one: way for one, way in under_way.items() if one in self._ours and one not in taken}
        if self.moments and (last := self.moments[-1]).end > begin:
            self._overlaps = True
            last.counts |= {one: before[one] for one in carried}
            last.n, last.pace = begin - last.begin, None
        if placed:
            self.moments.append(Moment(begin, 0, {one: before[one] for one in placed}, free))
            free = set()
        if begun or carried or free:
            self._begin(Moment(begin, 0, {}, free), begun, carried)

    def _was_torn(self, begin: int, begun: Mapping[int, Way]) -> bool:
        """Take moves that come a pulse after others of other servos as theirs: a pulse came in between."""
        last = self.moments[-1] if self.moments else None
        if last is None or begin != last.begin + 1 or last.n < 2 or last.counts.keys() & begun.keys():
            return False
        self._begin(Moment(begin, 0, {}, set()), begun, {})
        later = self.moments.pop()
        last.begin = begin if later.n >= last.n else last.begin
        last.n = max(last.n, later.n)
        last.counts |= later.counts
        last.pace = last.pace if last.pace == later.pace else None
        return True

    def _begin(self, moment: Moment, begun: Mapping[int, Way], carried: Mapping[int, Way]) -> None:
        ways = {**begun, **carried}
        moment.counts = {one: float(way.target) for one, way in ways.items()}
        pulses = [way.n - way.done + 1 for way in ways.values()]  # they have had the first
        moment.n = max(pulses, default=0)
        self._early = max(self._early, moment.n - min(pulses, default=0))
        low, high = board_facts().speeds
        orders = [way.order for way in begun.values()]
        paces = {Pace(min(max(one.speed, low), high), one.high_speed) for one in orders}
        moment.pace = paces.pop() if len(paces) == 1 and not carried else None
        left_over = [one.speed for one in orders if one.speed_is_left]
        self._left_over = left_over[0] if left_over else self._left_over
        self.moments.append(moment)

    def remarks(self) -> Iterator[str]:
        """Yield what its moments do not say, in words."""
        facts, servos, board = board_facts(), self.servos, self._machine.board
        if self._left_over is not None:
            yield f"no SPEED before its first move: {self._left_over} is used, as the beginning leaves it"
        if self._early:
            seconds = round(self._early * servos.period_s, 3)
            why = "moves overlap" if self._overlaps and servos.all_together else "PTP is not ALLON"
            yield f"servos that arrive up to {seconds:g} s before others, as {why}, here arrive together"
        if self._overlaps:
            yield "a move begins before others have ended: a keyframe marks where they are then"
        if self._nowhere:
            yield f"servo {_listed(self._nowhere)}: the robot has none there"
        if turned := {one for one in self._ours if servos.directions[one] != facts.directions[one]}:
            yield f"DIR of servo {_listed(turned)} is not the usual: its counts are turned about {MIDDLE}"
        if any(gyro.port for gyro in board.gyros.values()):
            yield "what its gyros correct"
        aside = dict.fromkeys(str(one.get("statement", one["what"])).upper() for one in board.events)
        if others := [word for word in aside if word != "MOTOR"]:
            yield f"besides its moves there is {', '.join(others)}"


def _listed(servos: set[int]) -> str:
    return ", ".join(map(str, sorted(servos)))
