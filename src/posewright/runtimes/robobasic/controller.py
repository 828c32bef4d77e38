"""A RoboBASIC program as a controller: it runs between two pulses, then the servos are sent on."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from operator import itemgetter

import numpy as np

from posewright.arrays import Flags, Floats
from posewright.bodies import BodyState, Decision, JointCommands
from posewright.control import Controller, Seed
from posewright.robots import Robot
from posewright.runtimes.robobasic.ad_ports import PortSensor, read_plugs
from posewright.runtimes.robobasic.board import EVENT, Board
from posewright.runtimes.robobasic.inputs import BodyInputs, ScriptedInput
from posewright.runtimes.robobasic.machine import Machine, Program, StopReason
from posewright.runtimes.robobasic.servos import Servos, board_facts, board_servos

SILENT_S = 2.0
"""So long a program may go on without moving, changing a variable or being told anything [s]; ours."""

GYRO_AXES = {1: 1, 2: 0, 3: 1, 4: 0}
"""Which axis of the base a gyro on a port feels: 1 and 3 pitch, 2 and 4 roll, as public programs use them for
ankles and hips: `GYROSET G6A, 2, 1, 1, 1`, or `4, 3, 3, 3`."""


class RoboBasicController(Controller):
    """Lets a RoboBASIC program drive a RoboNova-1.

    What happens is in the decisions, and so in a recording, as events `robobasic`: `loop` when a loop came
    round that is in no routine, `waits`, `end`, `error`, `running`, and what the board tells: `motor`, `out`,
    `print`, `music`, `sent`, ... After the end the servos finish their moves and stay.

    Args:
        robot: its servos have the board's numbers as IDs.
        program: what is run.
        script: what comes to the ports, and when.
        breakpoints: addresses before which it stops.
        speed_counts_s: counts a second at SPEED 1; the board's by default.
        seed: of RND.
        plugged: sensors by their AD ports; by default where they usually are, or the program's labels say.

    Attributes:
        machine: the program's state: variables, where it is, why it stopped.

    Raises:
        InputError: the robot's servos are not the board's.
    """

    def __init__(
        self,
        robot: Robot,
        program: Program,
        *,
        script: Sequence[ScriptedInput] = (),
        breakpoints: Collection[int] = (),
        speed_counts_s: float | None = None,
        seed: Seed = 0,
        plugged: Mapping[int, PortSensor] | None = None,
    ) -> None:
        self.robot = robot
        self.program = program
        self._script = tuple(script)
        self._breakpoints = tuple(breakpoints)
        self._speed_counts_s = speed_counts_s
        self._ids = [*board_servos(robot)]
        self._places = sorted({at: name for name, at in program.labels.items()}.items())
        self._names = {line.label.upper(): line.label for line in program.source.lines if line.label}
        self.last_frame = -1
        self._plugged = read_plugs((), program.source) if plugged is None else plugged
        self._eeprom: dict[int, int] = {}
        self._seed = seed
        self._earlier_frames = 0  # those of tries before the last restart
        self._frame = 0
        self.restart()

    def restart(self) -> None:
        """Begin anew, as when the robot is switched off and on: the EEPROM alone is kept."""
        self._earlier_frames += self._frame
        self.inputs = BodyInputs(self.robot, self._script, plugged=self._plugged)
        servos = Servos({}, self.robot.frame_period_s, self._speed_counts_s)
        board = Board(servos, self.inputs, eeprom=self._eeprom, chance=np.random.default_rng(self._seed))
        self.machine = Machine(self.program, board, breakpoints=self._breakpoints)
        self._frame = 0
        self._silent = 0
        self._begun = False
        self._ended: StopReason | None = None
        self._label: str | None = None
        self._looped: set[int] = set()
        self._farthest = 0
        self._before: tuple[object, ...] = ()
        self._events: list[tuple[str, Mapping[str, object]]] = []

    def ends_at(self, until_s: float) -> None:
        """Take in when the run ends at the latest [s]: a program that still runs then is told."""
        if math.isfinite(until_s):  # whoever runs it refuses what is not
            self.last_frame = round(until_s / self.robot.frame_period_s)

    @property
    def silent_frames(self) -> int:
        """After so many frames of silence a program waits."""
        return max(1, round(SILENT_S / self.robot.frame_period_s))

    @property
    def is_over(self) -> bool:
        """Whether nothing more will happen: the program is over, or waits for what will not come."""
        waits = self._silent >= self.silent_frames and self.inputs.is_exhausted
        return (self.machine.stopped is not None or waits) and not self.machine.board.servos.is_moving

    @property
    def label(self) -> str:
        """The label above the statement that comes next; empty above the first."""
        return self._label_at(self.machine.at)

    def next(self, state: BodyState, n: int) -> JointCommands:
        """Return a frame, or as many as pass before the program looks at anything again."""
        if not self._begun:
            self._begin(state)
        rows: list[Floats] = []
        free, decision = None, None
        for _ in range(n):
            self._run(state)
            asked, wanted = self._free(), self._decision()
            rows.append(self._angles(state))
            free = asked if not rows[1:] else free
            decision = decision or wanted
            if wanted is not None or not self._is_blind():
                break
        return JointCommands(np.array(rows), free=free, decision=decision)

    def _begin(self, state: BodyState) -> None:
        self._begun = True
        counts = self.robot.to_ticks(state.positions)
        for servo, count in zip(self._ids, counts, strict=True):
            if math.isfinite(count):
                self.machine.board.servos.positions[servo] = float(count)

    def _is_blind(self) -> bool:
        """Whether the program sees nothing before the next pulse: it waits in DELAY."""
        if self.machine.board.gyros:
            return False
        ahead = self.machine.clock_us >= (self._frame + 1) * self.machine.pulse_us
        return ahead and self.machine.stopped is None

    def _run(self, state: BodyState) -> None:
        machine = self.machine
        self.inputs.see(state, self._frame * self.robot.frame_period_s)
        self._frame += 1
        runs = machine.stopped is None
        if runs:
            self._ended = None  # somebody may have gone on from a breakpoint
            machine.run_until(self._frame * machine.pulse_us)
        self._events += [(EVENT, one) for one in machine.board.events]
        machine.board.events.clear()
        if runs:
            self._look()
        machine.board.servos.pulse()
        if machine.stopped is not self._ended:
            self._tell_end()

    def _look(self) -> None:
        """Tell of loops that came round, and of a program that waits."""
        machine = self.machine
        for at in machine.rounds.keys() - self._looped:
            self._looped.add(at)
            self._tell("loop", line=self.program.lines[at], label=self._label_at(at))
        self._farthest = max(self._farthest, machine.at)
        now = tuple(machine.values), machine.board.effects, machine.board.servos.is_moving, self._farthest
        delayed = machine.clock_us > (self._frame + 1) * machine.pulse_us
        if now != self._before or now[2] or not self.inputs.is_exhausted:
            self._silent = 0
        elif not delayed:
            self._silent += 1
            if self._silent == self.silent_frames:
                self._tell("waits", line=machine.line, label=self.label, looks_at=self._polled())
        self._before = now
        frame_of_run = self._earlier_frames + self._frame
        if frame_of_run == self.last_frame and self._silent < self.silent_frames:
            self._tell("running", line=machine.line, label=self.label)

    def _polled(self) -> list[str]:
        """Return the ports that were looked at, servos left out."""
        return sorted(port for port in self.machine.board.seen if not port.startswith("MOTORIN"))

    def _label_at(self, address: int) -> str:
        at = bisect_right(self._places, address, key=itemgetter(0)) - 1
        return self._names.get(self._places[at][1], "") if at >= 0 else ""

    def _tell_end(self) -> None:
        machine = self.machine
        self._ended = machine.stopped
        if machine.stopped is StopReason.ERROR:
            self._tell("error", line=machine.line, label=self.label, message=str(machine.error))
        elif machine.stopped is not None:
            self._tell("end", line=machine.line, label=self.label, reason=machine.stopped.value)

    def _tell(self, what: str, **particulars: object) -> None:
        self._events.append((EVENT, {"what": what, **particulars}))

    def _free(self) -> Flags | None:
        driven = self.machine.board.servos.driven
        free = np.array([driven[servo] is False for servo in self._ids])
        return free if free.any() else None

    def _angles(self, state: BodyState) -> Floats:
        servos = self.machine.board.servos
        counts = np.array([servos.positions[servo] for servo in self._ids])
        if self.machine.board.gyros:
            counts = counts + self._corrections(state)
        low, high = board_facts().counts
        return self.robot.from_ticks(np.clip(counts, low, high))

    def _corrections(self, state: BodyState) -> Floats:
        """Return what the gyros add, in counts of the robot: against the turn that they feel."""
        facts, found = board_facts(), np.zeros(len(self._ids))
        turning = state.sensors.get("imu.angular_velocity")
        if turning is None:
            return found
        rates = np.degrees(np.asarray(turning, dtype=np.float64)) / 100.0
        for place, servo in enumerate(self._ids):
            gyro = self.machine.board.gyros.get(servo)
            if gyro is not None and (axis := GYRO_AXES.get(gyro.port)) is not None:
                counts = facts.gyro_counts * gyro.sense / 255.0 * float(rates[axis])
                limited = float(np.clip(counts, -facts.gyro_limit_counts, facts.gyro_limit_counts))
                turned = gyro.turned != (self.machine.board.servos.directions[servo] == 0)
                found[place] = -limited if turned else limited
        return found

    def _decision(self) -> Decision | None:
        label = self.label
        if label == self._label and not self._events:
            return None
        self._label = label
        events, self._events = tuple(self._events), []
        seen = dict(sorted(self.machine.board.seen.items()))
        self.machine.board.seen.clear()
        return Decision(label or "the first lines", seen, self.machine.variables, events=events)
