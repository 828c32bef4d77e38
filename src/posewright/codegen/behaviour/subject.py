"""A whole behaviour as a unit: sensors, chart, motions and servo packets, one step a servo frame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
from posewright.codegen.behaviour.wires import slots_of
from posewright.codegen.c import ChartSubject, Options
from posewright.codegen.c.names import identifier
from posewright.codegen.unit import Executable, Records, SourceFile, shipped
from posewright.controllers import Player
from posewright.controllers.behaviours import Behaviour
from posewright.documents import Node, parse_document
from posewright.errors import FormatError, InputError, Where


@dataclass(frozen=True, eq=False)
class BehaviourSubject:
    """A behaviour to be generated and proved.

    Its record of inputs holds one `float64` for each number that its wires read of the body; the board itself
    has the clock and knows what is played. Its record of states is that of its chart, then `action` (the
    motion asked for) and `playing` (the one that is played, or gone to), both by number and 0 for none, then
    `late`, how many frames the board came too late for since the reset, up to 255, and `packet`, the frame's
    servo packet. `status` is the chart's; 3 says that at the first tick a sensor read
    no number: then, as after any other status but 0, the robot comes to stand and stays so until reset.

    Attributes:
        behaviour: the behaviour.
        options: how its chart is written as C.

    Raises:
        InputError: the behaviour asks for what a board cannot do.
    """

    behaviour: Behaviour
    options: Options = field(default_factory=Options)

    def __post_init__(self) -> None:
        for name in self.behaviour.gaits:
            self._refuse(
                f"the gait {name} walks", "gaits", name, "play motions instead: a board has no gaits"
            )
        for number, rule in enumerate(self.behaviour.outputs):
            if rule.joints:
                names = ", ".join(self.behaviour.robot.joint_names[joint] for joint in rule.joints)
                hint = "leave joints_deg out, or put the joints into the motion"
                self._refuse(f"{names} go their own way", "outputs", str(number), hint)
        _ = self.tables

    def _refuse(self, what: str, block: str, name: str, hint: str) -> NoReturn:
        raise InputError(f"{what}, which a board does not do", where=self.places(block).get(name), hint=hint)

    @property
    def name(self) -> str:
        """Of the behaviour, as an identifier of C."""
        return identifier(self.behaviour.name).lower()

    @cached_property
    def chart(self) -> ChartSubject:
        """Its chart."""
        return ChartSubject(self.behaviour.chart, self.options)

    @cached_property
    def tables(self) -> PageTables:
        """Its motions in whole numbers."""
        behaviour = self.behaviour
        tables = PageTables.of(
            behaviour.robot, behaviour.motions, behaviour.start_pose, self.places("motions")
        )
        packet_bytes(len(tables.ids))
        return tables

    @cached_property
    def inputs(self) -> np.dtype[np.void]:
        """One record of sensors' numbers."""
        names = [(name, "<f8") for name in slots_of(self.behaviour).values()]
        return np.dtype(names or [("nothing", "<f8")])

    @cached_property
    def states(self) -> np.dtype[np.void]:
        """One record of states."""
        own = [
            ("action", "u1"),
            ("playing", "u1"),
            ("late", "u1"),
            ("packet", "u1", (packet_bytes(len(self.tables.ids)),)),
        ]
        return np.dtype([*self.chart.states.descr, *own])

    @property
    def documents(self) -> Mapping[str, str]:
        """All native documents the behaviour was read from."""
        return self.behaviour.documents

    def places(self, block: str) -> Mapping[str, Where]:
        """Return where the entries of a block of the document stand; those of a list by their number."""
        path = self.behaviour.path
        text = None if path is None else self.behaviour.documents.get(path.name)
        if text is None:
            return {}
        node = parse_document(text, path).fields().get(block)
        return {} if node is None else {name: entry.where for name, entry in _entries(node)}

    def sources(self) -> tuple[SourceFile, ...]:
        """Return the C sources."""
        chart = tuple(file for file in self.chart.sources() if not file.name.startswith("unit."))
        unit = UnitSource(self.behaviour, self.chart, self.states, self.inputs, places=self.places)
        sensing = shipped(__package__, ("sensing.h", "sensing.c"))
        return (*chart, *sensing, *player_sources(self.tables, self.places("motions")), *unit.files())

    def reference(self) -> Executable:
        """Return the behaviour itself, its motions played in whole numbers."""
        return BehaviourReference(self.behaviour, self.tables, self.chart, self.inputs, self.states)

    def record_of(self, state: BodyState, chance: float = 0.0) -> Records:
        """Return the record of what a body reads now, `(1,)`.

        Raises:
            BodyError: the body has not the sensors the behaviour reads.
        """
        record = np.zeros(1, self.inputs)
        for slot, name in slots_of(self.behaviour).items():
            record[name] = slot.value(state, self.behaviour.robot, chance)
        return record

    def commands_of(self, packet: bytes, before: Floats | None = None) -> JointCommands:
        """Return what a servo packet commands: one frame.

        Args:
            packet: with goals and speeds.
            before: where the servos were before `(n_joints,)` [rad]: none goes faster from there than it is
                told to. Without it they are where they are sent.

        Raises:
            FormatError: the packet is damaged, says something else, or is not to all servos of the robot.
        """
        robot, goals = self.behaviour.robot, goals_in(packet)
        if sorted(goals) != sorted(self.tables.ids):
            what = f"the packet is to the servos {', '.join(map(str, sorted(goals)))}"
            raise FormatError(what, hint=f"{robot.name} has {', '.join(map(str, sorted(self.tables.ids)))}")
        told = np.array([goals[servo] for servo in self.tables.ids], dtype=np.float64)
        angles = robot.from_ticks(told[:, 0])
        if before is not None:
            way = np.where(told[:, 1] == FULL_SPEED, np.inf, told[:, 1] * SPEED_RAD_S * robot.frame_period_s)
            angles = before + np.clip(angles - before, -way, way)
        return JointCommands(angles[np.newaxis])

    def ticks_from_player(self, states: Records) -> int:
        """Return how many ticks servos were at most from where `control.Player` sends them, asked the same.

        Args:
            states: of a run from a reset on.
        """
        behaviour, names = self.behaviour, self.tables.names
        player = Player(behaviour.robot, behaviour.motions, behaviour.start_pose)
        most = 0
        for action, packet in zip(states["action"].tolist(), states["packet"], strict=True):
            player.request(names[action])
            wanted = np.rint(behaviour.robot.to_ticks(player.frames(1).angles[0])).astype(int).tolist()
            goals = goals_in(packet.tobytes())
            sent = (goals[servo][0] for servo in self.tables.ids)
            most = max(most, *(abs(one - other) for one, other in zip(wanted, sent, strict=True)))
        return most

    def drawn_inputs(self, n: int, seed: int) -> Records:
        """Return records as sensors might read them, `(n,)`: around thresholds, now and then no number."""
        from posewright.codegen.behaviour.drawing import drawn

        return drawn(self.behaviour, self.inputs, n, seed)


def _entries(node: Node) -> Iterator[tuple[str, Node]]:
    if isinstance(node.value, dict):
        yield from node.fields().items()
    else:
        yield from ((str(number), entry) for number, entry in enumerate(node.items()))
