"""The reference of a behaviour on a board: the behaviour itself with its motions in integer arithmetic."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from posewright.arrays import Floats
from posewright.bodies import BodyState, Reading
from posewright.buses.dynamixel.packets import goal_positions
from posewright.codegen.behaviour.board_performer import BoardPerformer
from posewright.codegen.behaviour.tables import PageTables
from posewright.codegen.behaviour.wires import SensorField, name_sensor_fields
from posewright.codegen.c import ChartUnitSpec
from posewright.codegen.unit import Records
from posewright.control import Schedule
from posewright.controllers.behaviours import Behaviour, BehaviourRunner
from posewright.controllers.behaviours.outputs import STAND
from posewright.controllers.walker import Walker
from posewright.errors import BodyError
from posewright.gaits import VelocityCommand

VELOCITY_FIELDS = {
    "forward_m_s": "walk_forward_m_s",
    "left_m_s": "walk_left_m_s",
    "turn_rad_s": "walk_turn_rad_s",
}
"""Fields of a record of states for the velocities requested of gaits, by field of `VelocityCommand`."""

NO_NUMBER = 3
"""The status of a behaviour whose sensor reads no number at the first tick."""


class BehaviourReference:
    """Runs a behaviour as a board does, one record a servo frame.

    Args:
        behaviour: the behaviour.
        tables: its motions.
        chart: its chart, which has the format of state records.
        state_dtype: dtype of a record of states.
    """

    def __init__(
        self,
        behaviour: Behaviour,
        tables: PageTables,
        chart: ChartUnitSpec,
        state_dtype: np.dtype[np.void],
    ) -> None:
        """Create the runner of the chart and the performer of its actions, before their first frame."""
        self._behaviour = behaviour
        self._chart = chart
        self._state_dtype = state_dtype
        self._behaviour_runner = BehaviourRunner(behaviour)
        self._schedule = Schedule(behaviour.chart.period_s, behaviour.robot.frame_period_s)
        walkers = {name: Walker(gait, behaviour.robot) for name, gait in behaviour.gaits.items()}
        self._servo_ids = tables.servo_ids
        self._performer = BoardPerformer(tables, walkers)
        action_names = (*tables.motion_names, *behaviour.gaits)
        self._action_numbers = {name: number for number, name in enumerate(action_names)}
        self._sensor_fields = name_sensor_fields(behaviour)
        self.reset()

    def reset(self) -> None:
        """Go back to before the first frame."""
        self._behaviour_runner.restart()
        self._performer.restart()
        self._state_record = np.zeros(1, self._state_dtype)  # of the last frame
        self._frame_index = 0  # of the next servo frame
        self._n_ticks = 0  # of the chart
        self._next_tick_frame = 0  # index of the frame with the chart's next tick
        self._status = 0
        self._action = STAND  # that the last tick requested

    def run(self, inputs: Records) -> Records:
        """Take one frame for each record of inputs and return the state after each."""
        states = np.zeros(len(inputs), self._state_dtype)
        for index, record in enumerate(inputs):
            states[index] = self._step(record)
        return states

    def close(self) -> None:
        """Do nothing: there is nothing to release."""

    def _step(self, inputs: np.void) -> np.void:
        """Take one frame, with a tick of the chart if one is due, and return the record of states."""
        if self._frame_index == self._next_tick_frame:
            self._tick(inputs)
            self._n_ticks += 1
            self._next_tick_frame = self._schedule.frame_of(self._n_ticks)
        self._performer.advance_frame(lambda: self._body_state(inputs))
        self._frame_index += 1
        record = self._state_record
        record["status"] = self._status
        record["action"] = self._action_numbers[self._action.name]
        record["playing"] = self._action_numbers[self._performer.playing]
        if self._behaviour.gaits:
            velocity = self._action.velocity or VelocityCommand()
            for name, speed in velocity.by_name.items():
                record[VELOCITY_FIELDS[name]] = speed
        packet = goal_positions(self._servo_ids, self._performer.ticks, self._performer.speed)
        record["packet"] = np.frombuffer(packet, dtype=np.uint8)
        state: np.void = record[0]
        return state

    def _tick(self, inputs: np.void) -> None:
        """Take a tick of the chart and request its action; after a failure, to stand still."""
        if not self._status:
            self._step_chart(inputs)
        self._performer.request(self._action)

    def _step_chart(self, inputs: np.void) -> None:
        """Take a tick of the chart; set the action and the state record, or the status if the tick fails."""
        chance_field = self._sensor_fields.get(SensorField("chance"))
        chance = 0.0 if chance_field is None else float(inputs[chance_field])
        try:
            tick = self._behaviour_runner.step(
                self._body_state(inputs), self._performer.playing, chance=chance
            )
        except BodyError:
            self._status = NO_NUMBER
            self._action = STAND
            return
        self._action = tick.action
        if tick.chart.started:
            chart_record = self._chart.format.pack_snapshot(tick.chart)
            for field in chart_record.dtype.names or ():
                self._state_record[field] = chart_record[field]

    def _body_state(self, inputs: np.void) -> BodyState:
        """Return the present state of a body that has the sensor readings of a record of inputs."""
        return body_state_of(self._behaviour, self._sensor_fields, inputs, self._frame_index)


def body_state_of(
    behaviour: Behaviour, sensor_fields: Mapping[SensorField, str], inputs: np.void, frame: int
) -> BodyState:
    """Return the state of a body that has the sensor readings of a record of inputs.

    Args:
        behaviour: the behaviour.
        sensor_fields: the name of each field of the record.
        inputs: the record.
        frame: index of the servo frame, which gives the time.
    """
    robot = behaviour.robot
    positions = np.zeros(len(robot.joints))
    efforts = np.zeros(len(robot.joints))
    channels: dict[str, dict[int | None, float]] = {}
    for sensor_field, field_name in sensor_fields.items():
        number = float(inputs[field_name])
        if sensor_field.kind == "channel":
            channels.setdefault(sensor_field.name, {})[sensor_field.index] = number
        elif sensor_field.kind == "joint":
            positions[robot.index(sensor_field.name)] = number
        elif sensor_field.kind == "load":
            efforts[robot.index(sensor_field.name)] = number
    sensors: dict[str, Reading] = {name: _combine_numbers(numbers) for name, numbers in channels.items()}
    time_s = frame * robot.frame_period_s
    return BodyState(time_s=time_s, positions=positions, efforts=efforts, sensors=sensors)


def _combine_numbers(numbers: dict[int | None, float]) -> Reading:
    """Return the reading of a channel: an array of its numbers by index, with 0 where one is missing.

    A channel with a single number has it under the index None; then the reading is that number.
    """
    if None in numbers:
        return numbers[None]
    reading: Floats = np.zeros(max(int(index or 0) for index in numbers) + 1)
    for index, number in numbers.items():
        reading[int(index or 0)] = number
    return reading
