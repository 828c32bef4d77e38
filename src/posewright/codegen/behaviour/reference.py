"""What a behaviour on a board is proved against: the behaviour itself, its motions in whole numbers."""

from __future__ import annotations

import numpy as np

from posewright.arrays import Floats
from posewright.bodies import BodyState, Reading
from posewright.buses.dynamixel.packets import goal_positions
from posewright.codegen.behaviour.integer_player import PagePlayer
from posewright.codegen.behaviour.tables import PageTables
from posewright.codegen.behaviour.wires import Slot, slots_of
from posewright.codegen.c import ChartSubject
from posewright.codegen.unit import Records
from posewright.control import Schedule
from posewright.controllers.behaviours import Behaviour, BehaviourRunner
from posewright.errors import BodyError

NO_NUMBER = 3
"""The status of a behaviour whose sensor reads no number at the first tick."""


class BehaviourReference:
    """Runs a behaviour as a board does, one record a servo frame.

    Args:
        behaviour: the behaviour.
        tables: its motions.
        chart: its chart, which says how a state is recorded.
        inputs: one record of inputs.
        states: one record of states.
    """

    def __init__(
        self,
        behaviour: Behaviour,
        tables: PageTables,
        chart: ChartSubject,
        inputs: np.dtype[np.void],
        states: np.dtype[np.void],
    ) -> None:
        self._behaviour, self._chart = behaviour, chart
        self._inputs, self._states = inputs, states
        self._runner = BehaviourRunner(behaviour)
        self._schedule = Schedule(behaviour.chart.period_s, behaviour.robot.frame_period_s)
        self._player = PagePlayer(tables)
        self._numbers = {name: number for number, name in enumerate(tables.names)}
        self._slots = slots_of(behaviour)
        self.reset()

    def reset(self) -> None:
        """Go back to before the first frame."""
        self._runner.restart()
        self._player.restart()
        self._record = np.zeros(1, self._states)
        self._frame = self._ticks = self._due = self._status = 0
        self._action: str | None = None

    def run(self, inputs: Records) -> Records:
        """Take one frame for each record of inputs and return the state after each."""
        found = np.zeros(len(inputs), self._states)
        for number, record in enumerate(inputs):
            found[number] = self._step(record)
        return found

    def close(self) -> None:
        """Nothing to let go of."""

    def _step(self, given: np.void) -> np.void:
        if self._frame == self._due:
            self._tick(given)
            self._ticks += 1
            self._due = self._schedule.frame_of(self._ticks)
        self._player.frame()
        self._frame += 1
        record = self._record
        record["status"] = self._status
        record["action"] = self._numbers[self._action]
        record["playing"] = self._numbers[self._player.playing]
        packet = goal_positions(self._player.tables.ids, self._player.ticks, self._player.speed)
        record["packet"] = np.frombuffer(packet, dtype=np.uint8)
        found: np.void = record[0]
        return found

    def _tick(self, given: np.void) -> None:
        if not self._status:
            try:
                tick = self._runner.step(self._state(given), self._player.playing, chance=self._chance(given))
            except BodyError:
                self._status, self._action = NO_NUMBER, None
            else:
                self._action = tick.action.name
                if tick.chart.started:
                    packed = self._chart.format.pack_snapshot(tick.chart)
                    for field in packed.dtype.names or ():
                        self._record[field] = packed[field]
        self._player.request(self._action)

    def _state(self, given: np.void) -> BodyState:
        """Return the body that reads what a record holds."""
        robot = self._behaviour.robot
        positions, efforts = np.zeros(len(robot.joints)), np.zeros(len(robot.joints))
        channels: dict[str, dict[int | None, float]] = {}
        for slot, name in self._slots.items():
            number = float(given[name])
            if slot.kind == "channel":
                channels.setdefault(slot.name, {})[slot.index] = number
            elif slot.kind != "chance":
                (positions if slot.kind == "joint" else efforts)[robot.index(slot.name)] = number
        sensors: dict[str, Reading] = {name: _reading(parts) for name, parts in channels.items()}
        time_s = self._frame * robot.frame_period_s
        return BodyState(time_s=time_s, positions=positions, efforts=efforts, sensors=sensors)

    def _chance(self, given: np.void) -> float:
        name = self._slots.get(Slot("chance"))
        return 0.0 if name is None else float(given[name])


def _reading(parts: dict[int | None, float]) -> Reading:
    """Return a channel of which some numbers are known."""
    if None in parts:
        return parts[None]
    numbers: Floats = np.zeros(max(int(index or 0) for index in parts) + 1)
    for index, number in parts.items():
        numbers[int(index or 0)] = number
    return numbers
