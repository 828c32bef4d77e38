"""A whole behaviour to generate code from: sensors, chart, motions and servo packets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NoReturn

import numpy as np

from posewright.arrays import Floats
from posewright.bodies import BodyState, JointCommands
from posewright.buses.dynamixel.packets import FULL_SPEED, SPEED_RAD_S, goals_in, packet_bytes
from posewright.codegen.behaviour.motion_sources import player_sources
from posewright.codegen.behaviour.reference import BehaviourReference
from posewright.codegen.behaviour.tables import PageTables
from posewright.codegen.behaviour.unit_source import UnitSource
from posewright.codegen.behaviour.wires import name_sensor_fields
from posewright.codegen.c import ChartUnitSpec, Options
from posewright.codegen.c.names import identifier
from posewright.codegen.unit import Executable, Records, SourceFile, read_package_sources
from posewright.controllers import Player
from posewright.controllers.behaviours import Behaviour
from posewright.documents import parse_document
from posewright.errors import FormatError, InputError, Where


@dataclass(frozen=True, eq=False)
class BehaviourUnitSpec:
    """A behaviour to be generated and proved; it takes one step a servo frame.

    A record of inputs has one `float64` for each number that the wires read from the body; the board itself
    has the clock and the motion that is played. A record of states is that of the chart, followed by `action`
    (the motion requested) and `playing` (the motion played or joined to), both by number and 0 for none, then
    `late`, the number of frames that the board has missed since the reset, up to 255, and `packet`, the servo
    packet of the frame. `status` is the chart's; 3 means that a sensor read no number at the first tick.
    After any status but 0 the robot comes to a stand until the reset.

    Attributes:
        behaviour: the behaviour.
        options: options of the C of its chart.

    Raises:
        InputError: the behaviour uses something that a board does not do.
    """

    behaviour: Behaviour
    options: Options = field(default_factory=Options)

    def __post_init__(self) -> None:
        """Raise an InputError for what a board does not do, such as gaits and some motions."""
        for name in self.behaviour.gaits:
            self._raise_error(
                f"the gait {name} walks", "gaits", name, hint="play motions instead: a board has no gaits"
            )
        for index, rule in enumerate(self.behaviour.outputs):
            if rule.at_once:
                hint = "leave at_once out: the action then begins after the present pass"
                self._raise_error("a rule plays at once", block="outputs", name=str(index), hint=hint)
            if rule.joints:
                joint_names = ", ".join(self.behaviour.robot.joint_names[joint] for joint in rule.joints)
                message = f"a rule moves {joint_names} separately"
                hint = "leave joints_deg out, or put the joints into the motion"
                self._raise_error(message, block="outputs", name=str(index), hint=hint)
        _ = self.tables  # raises for motions that a board does not play

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
        return ChartUnitSpec(self.behaviour.chart, self.options)

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

    @cached_property
    def input_dtype(self) -> np.dtype[np.void]:
        """The dtype of a record of sensor numbers."""
        fields = [(name, "<f8") for name in name_sensor_fields(self.behaviour).values()]
        return np.dtype(fields or [("nothing", "<f8")])  # a record without fields would have no bytes

    @cached_property
    def state_dtype(self) -> np.dtype[np.void]:
        """The dtype of a record of states."""
        behaviour_fields = [
            ("action", "u1"),
            ("playing", "u1"),
            ("late", "u1"),
            ("packet", "u1", (packet_bytes(len(self.tables.servo_ids)),)),
        ]
        return np.dtype([*self.chart.state_dtype.descr, *behaviour_fields])

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
        player_files = player_sources(self.tables, self.places_in_block("motions"))
        unit = UnitSource(
            self.behaviour,
            self.chart,
            self.state_dtype,
            self.input_dtype,
            places_in_block=self.places_in_block,
        )
        return (*chart_files, *sensing_files, *player_files, *unit.files())

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

    def ticks_from_player(self, states: Records) -> int:
        """Return the greatest distance of servo goals from those of `Player` with the same requests [ticks].

        Args:
            states: the states of a run from a reset on, with the fields `action`, the motion requested by its
                number, and `packet`, the servo packet.
        """
        behaviour = self.behaviour
        motion_names = self.tables.motion_names
        player = Player(behaviour.robot, behaviour.motions, behaviour.start_pose)
        greatest_distance = 0
        for action, packet in zip(states["action"].tolist(), states["packet"], strict=True):
            player.request(motion_names[action])
            player_ticks = np.rint(behaviour.robot.to_ticks(player.frames(1).angles[0])).astype(int).tolist()
            goals = goals_in(packet.tobytes())
            for servo, player_tick in zip(self.tables.servo_ids, player_ticks, strict=True):
                goal_position, _ = goals[servo]
                greatest_distance = max(greatest_distance, abs(player_tick - goal_position))
        return greatest_distance

    def random_inputs(self, n: int, seed: int) -> Records:
        """Return random records of sensor readings, `(n,)`: around thresholds, now and then not finite."""
        from posewright.codegen.behaviour.random_readings import draw_readings

        return draw_readings(self.behaviour, self.input_dtype, n, seed)
