"""A behaviour: a chart wired to a robot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from posewright.arrays import Floats
from posewright.charts import Chart
from posewright.controllers.behaviours.inputs import InputWire
from posewright.controllers.behaviours.outputs import OutputRule
from posewright.gaits import Gait
from posewright.motions import Motion
from posewright.robots import Robot, SensorSpec, html_table


@dataclass(frozen=True, eq=False)
class Behaviour:
    """Sensors to a chart's inputs, its outputs to motions.

    Attributes:
        name: of the behaviour.
        robot: whose behaviour it is.
        chart: the logic.
        sensors: all the body must have: those of the robot's card and further ones.
        inputs: one wire for each input of the chart, in its order.
        outputs: what is played; the first rule that holds counts.
        motions: what can be played, by name, and what these lead to.
        gaits: what can be walked, by name; no name is both.
        start_pose: where it begins, `(n_joints,)` [rad].
        wait_s: how long the robot stands before the chart's first step [s].
        documents: texts of all native documents it was read from: below its own folder by path, others by
            file name, motions that were handed in as `given/<name>.motion.yaml`.
        path: the file it was read from.
        warnings: what is doubtful about it, in words: outputs that nothing has set when they are first read.
    """

    name: str
    robot: Robot
    chart: Chart
    sensors: tuple[SensorSpec, ...]
    inputs: tuple[InputWire, ...]
    outputs: tuple[OutputRule, ...]
    motions: Mapping[str, Motion]
    start_pose: Floats
    wait_s: float = 0.0
    gaits: Mapping[str, Gait] = field(default_factory=dict)
    documents: Mapping[str, str] = field(default_factory=dict)
    path: Path | None = None
    warnings: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Behaviour({self.name!r}, {self.robot.name}, chart {self.chart.name!r})"

    def _repr_html_(self) -> str:
        rows = [("input", wire.name, wire.wired_to) for wire in self.inputs]
        rows += [("output", rule.condition, f"{rule.play or 'stand'}{rule.numbers}") for rule in self.outputs]
        return html_table(repr(self), ("", "chart", "robot"), rows, opened=True)
