"""A whole behaviour to generate code from: sensors, chart, motions and servo packets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from posewright.arrays import Floats
from posewright.bodies import BodyState, JointCommands
from posewright.buses.dynamixel.packets import FULL_SPEED, SPEED_RAD_S, goals_in, packet_bytes
from posewright.codegen.behaviour.gait_sources import gait_sources
from posewright.codegen.behaviour.motion_sources import player_sources
from posewright.codegen.behaviour.reference import VELOCITY_FIELDS, BehaviourReference, body_state_of
from posewright.codegen.behaviour.tables import MAX_MOTIONS, PageTables
from posewright.codegen.behaviour.unit_source import UnitSource
from posewright.codegen.behaviour.wires import name_sensor_fields
from posewright.codegen.c import ChartUnitSpec, Options
from posewright.codegen.c.names import identifier
from posewright.codegen.unit import Executable, Records, SourceFile, read_package_sources
from posewright.control import Schedule
from posewright.control.loop import MAX_BLOCK_FRAMES
from posewright.controllers.behaviours import Behaviour
from posewright.controllers.behaviours.outputs import STAND, Action, choose_action
from posewright.controllers.behaviours.performer import Performer
from posewright.controllers.walker import Walker
from posewright.documents import parse_document
from posewright.errors import FormatError, InputError, Where
from posewright.gaits import BipedGait


@dataclass(frozen=True, eq=False)
class BehaviourUnitSpec:
    """A behaviour to be generated and proved; it takes one step a servo frame.

    A record of inputs has one `float64` for each number that the wires read from the body; the board itself
    has the clock and the motion that is played. A record of states is that of the chart, followed by `action`
    (the motion or gait requested) and `playing` (the one performed or joined to), both by number and 0 for
    none, the velocity requested where there are gaits, then `late`, the number of frames that the board has
    missed since the reset, up to 255, and `packet`, the servo packet of the frame. `status` is the chart's; 3
    means that a sensor read no number at the first tick. After any status but 0 the robot comes to a stand
    until the reset.

    Attributes:
        behaviour: the behaviour.
        options: options of the C of its chart.

    Raises:
        InputError: the behaviour uses something that a board does not do.
    """

    behaviour: Behaviour
    options: Options = field(default_factory=Options)

    def __post_init__(self) -> None:
        """Raise an InputError for what a board does not do, such as gaits of four legs and some motions."""
        for name, gait in self.behaviour.gaits.items():
            if not isinstance(gait, BipedGait):
                self._raise_error(f"the gait {name} walks on four legs", "gaits", name, hint="play motions")
        for index, rule in enumerate(self.behaviour.outputs):
            if rule.joints:
                joint_names = ", ".join(self.behaviour.robot.joint_names[joint] for joint in rule.joints)
                message = f"a rule moves {joint_names} separately"
                hint = "leave joints_deg out, or put the joints into the motion"
                self._raise_error(message, block="outputs", name=str(index), hint=hint)
        _ = self.tables  # raises for motions that a board does not play
        n_actions = len(self.behaviour.motions) + len(self.behaviour.gaits)
        if self.behaviour.gaits and n_actions > MAX_MOTIONS:
            raise InputError(
                f"there are {n_actions} motions and gaits, and a board has at most {MAX_MOTIONS}",
                hint="leave some out",
            )

    def _raise_error(self, problem: str, block: str, name: str, hint: str) -> NoReturn:
        """Raise the InputError for an entry of a block of the document, named as in `places`."""
        where = self.places_in_block(block).get(name)
        raise InputError(f"{problem}, which a board does not do", where=where, hint=hint)

    @property
    def name(self) -> str:
        """Name of the behaviour as an identifier of C."""
        return identifier(self.behaviour.name).lower()

    @cached_property
    def chart(self) -> ChartUnitSpec:
        """The chart of the behaviour."""
        field_names = tuple(name for name, *_ in self._further_fields)
        return ChartUnitSpec(self.behaviour.chart, self.options, further_fields=field_names)

    @cached_property
    def tables(self) -> PageTables:
        """The motions as tables of integers."""
        behaviour = self.behaviour
        tables = PageTables.from_motions(
            behaviour.robot,
            behaviour.motions,
            behaviour.start_pose,
            place_of_motion=self.places_in_block("motions"),
        )
        packet_bytes(len(tables.servo_ids))  # raises for more servos than a packet has room for
        return tables

    @property
    def gaits(self) -> Mapping[str, BipedGait]:
        """The gaits by name."""
        return {name: gait for name, gait in self.behaviour.gaits.items() if isinstance(gait, BipedGait)}

    @property
    def action_names(self) -> tuple[str | None, ...]:
        """The name of the motion or gait with each number; None for 0, which is standing still."""
        return (*self.tables.motion_names, *self.behaviour.gaits)

    @cached_property
    def input_dtype(self) -> np.dtype[np.void]:
        """The dtype of a record of sensor numbers."""
        fields = [(name, "<f8") for name in name_sensor_fields(self.behaviour).values()]
        return np.dtype(fields or [("nothing", "<f8")])  # a record without fields would have no bytes

    @cached_property
    def state_dtype(self) -> np.dtype[np.void]:
        """The dtype of a record of states."""
        return np.dtype([*self.chart.state_dtype.descr, *self._further_fields])

    @property
    def _further_fields(self) -> list[Any]:
        """The fields of a record of states after those of its chart, as `numpy.dtype` takes them."""
        return [
            ("action", "u1"),
            ("playing", "u1"),
            *((name, "<f8") for name in VELOCITY_FIELDS.values() if self.behaviour.gaits),
            ("late", "u1"),
            ("packet", "u1", (packet_bytes(len(self.tables.servo_ids)),)),
        ]

    @property
    def documents(self) -> Mapping[str, str]:
        """All native documents that the behaviour was read from."""
        return self.behaviour.documents

    def places_in_block(self, block: str) -> Mapping[str, Where]:
        """Return the places in the document of the entries of a block.

        Args:
            block: name of the block, such as `inputs`.

        Returns:
            The places by the names of the entries, or by their index in a list, `"0"` for the first one.
            Empty where there is no such block, or the behaviour was not read from a file.
        """
        path = self.behaviour.path
        text = None if path is None else self.behaviour.documents.get(path.name)
        if text is None:
            return {}
        node = parse_document(text, path).fields().get(block)
        if node is None:
            return {}
        if isinstance(node.value, dict):
            return {name: entry.where for name, entry in node.fields().items()}
        return {str(index): entry.where for index, entry in enumerate(node.items())}

    def sources(self) -> tuple[SourceFile, ...]:
        """Return the C sources."""
        # without the chart's own unit.h and unit.c, which those of the behaviour replace
        chart_files = (file for file in self.chart.sources() if not file.name.startswith("unit."))
        sensing_files = read_package_sources(__package__, ("sensing.h", "sensing.c"))
        gaits = self.gaits
        has_handover = bool(gaits) or any(rule.at_once for rule in self.behaviour.outputs)
        player_files = player_sources(self.tables, self.places_in_block("motions"), has_handover=has_handover)
        robot = self.behaviour.robot
        gait_files = gait_sources(robot, gaits, self.places_in_block("gaits")) if gaits else ()
        unit = UnitSource(
            self.behaviour,
            self.chart,
            self.state_dtype,
            self.input_dtype,
            places_in_block=self.places_in_block,
        )
        return (*chart_files, *sensing_files, *player_files, *gait_files, *unit.files())

    def reference(self) -> Executable:
        """Return the behaviour itself with its motions in integer arithmetic."""
        return BehaviourReference(self.behaviour, self.tables, self.chart, self.state_dtype)

    def input_record_of(self, state: BodyState, random_number: float = 0.0) -> Records:
        """Return the record of inputs for a state of the body, `(1,)`.

        Args:
            state: the state of the body.
            random_number: the value of `random` inputs in this tick, 0 to 1.

        Raises:
            BodyError: the body lacks a sensor that the behaviour reads.
        """
        record = np.zeros(1, self.input_dtype)
        for sensor_field, field_name in name_sensor_fields(self.behaviour).items():
            record[field_name] = sensor_field.read_number(state, self.behaviour.robot, random_number)
        return record

    def decode_packet(self, packet: bytes, previous: Floats | None = None) -> JointCommands:
        """Return the commands of a servo packet, one frame.

        Args:
            packet: a packet with goal positions and speeds for all servos.
            previous: the angles before it, `(n_joints,)` [rad], which limit the step of each servo by the
                speed in the packet; None for no limit.

        Raises:
            FormatError: the packet is damaged, of another kind, or not for all servos of the robot.
        """
        robot = self.behaviour.robot
        goals = goals_in(packet)
        if sorted(goals) != sorted(self.tables.servo_ids):
            raise FormatError(
                f"the packet is for the servos {', '.join(map(str, sorted(goals)))}",
                hint=f"{robot.name} has {', '.join(map(str, sorted(self.tables.servo_ids)))}",
            )
        positions, speeds = np.array([goals[servo] for servo in self.tables.servo_ids], dtype=np.float64).T
        angles = robot.from_ticks(positions)
        if previous is not None:
            is_full_speed = speeds == FULL_SPEED
            max_steps = np.where(is_full_speed, np.inf, speeds * SPEED_RAD_S * robot.frame_period_s)
            angles = previous + np.clip(angles - previous, -max_steps, max_steps)
        return JointCommands(angles[np.newaxis])

    def ticks_from_player(self, inputs: Records, states: Records) -> int:
        """Return how far servo goals are at most from those of `Performer` for the same actions [ticks].

        Args:
            inputs: the sensor readings of a run from a reset on.
            states: its states, with the action requested and the servo packet.
        """
        behaviour = self.behaviour
        robot = behaviour.robot
        walkers = {name: Walker(gait, robot) for name, gait in behaviour.gaits.items()}
        performer = Performer(robot, behaviour.motions, walkers, behaviour.start_pose)
        schedule = Schedule(behaviour.chart.period_s, robot.frame_period_s)
        sensor_fields = name_sensor_fields(behaviour)
        frame = 0
        n_ticks = 0
        greatest_distance = 0
        while frame < len(states):
            if frame == schedule.frame_of(n_ticks):
                n_ticks += 1
                performer.request(self._action_of(states[frame]))
            body_state = body_state_of(behaviour, sensor_fields, inputs[frame], frame)
            n_frames = min(schedule.frame_of(n_ticks) - frame, MAX_BLOCK_FRAMES)
            rows = performer.next(body_state, n_frames).angles[: len(states) - frame]
            performer_ticks = np.rint(robot.to_ticks(rows)).astype(int)
            for ticks, packet in zip(performer_ticks, states["packet"][frame:], strict=False):
                goals = goals_in(packet.tobytes())
                positions = np.array([goals[servo][0] for servo in self.tables.servo_ids])
                greatest_distance = max(greatest_distance, int(np.abs(ticks - positions).max()))
            frame += len(rows)
        return greatest_distance

    def _action_of(self, state: np.void) -> Action:
        """Return the action that was requested last, from a record of states."""
        chart_format = self.chart.format
        chart_record = state.tobytes()[: chart_format.state_dtype.itemsize]
        snapshot = chart_format.unpack(np.frombuffer(chart_record, chart_format.state_dtype)[0])
        has_started = bool(snapshot.configuration)
        return choose_action(self.behaviour.outputs, snapshot.outputs) if has_started else STAND

    def random_inputs(self, n: int, seed: int) -> Records:
        """Return random records of sensor readings, `(n,)`: around thresholds, now and then not finite."""
        from posewright.codegen.behaviour.random_readings import draw_readings

        return draw_readings(self.behaviour, self.input_dtype, n, seed)
