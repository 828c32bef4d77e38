"""Bytes and cycles of the thesis's machine on an emulated UNO, generated and written by hand.

All run the same 20,000 ticks and must agree in each of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.figure import Figure
from posewright.charts import read_chart
from posewright.codegen.c import ChartUnitSpec, Options
from posewright.codegen.c.truth_table import Style
from posewright.codegen.proof.proving import input_stream
from posewright.codegen.targets.arduino_uno import UnoProcessor
from posewright.codegen.unit import Executable, Footprint, Records, SourceFile
from posewright.errors import UnavailableError

HERE = Path(__file__).parent
CHART = HERE.parent / "examples" / "charts" / "document" / "obstacle_mealy.chart.yaml"
STEPS = 20_000
STATES = 4


@dataclass(frozen=True)
class HandWritten:
    """The thesis's machine with a source written by hand."""

    generated: ChartUnitSpec

    @property
    def name(self) -> str:
        """The name of the machine."""
        return self.generated.name

    @property
    def input_dtype(self) -> np.dtype[np.void]:
        """The record of its inputs."""
        return self.generated.input_dtype

    @property
    def state_dtype(self) -> np.dtype[np.void]:
        """The record of its states."""
        return self.generated.state_dtype

    @property
    def documents(self) -> Mapping[str, str]:
        """No documents."""
        return {}

    def sources(self) -> tuple[SourceFile, ...]:
        """Return the generated files, with the source replaced by the one written by hand."""
        name = f"{self.name}.c"
        by_hand = tuple((HERE / "hand_written_mealy.c").read_text().splitlines())
        other_files = tuple(file for file in self.generated.sources() if file.name != name)
        return (*other_files, SourceFile(name, by_hand, (None,) * len(by_hand)))

    def reference(self) -> Executable:
        """Return the interpreter of the chart."""
        return self.generated.reference()


def figures() -> list[Figure]:
    """Return flash per state, RAM beyond inputs and outputs, and cycles, by style and by hand."""
    chart = read_chart(CHART)
    switch = ChartUnitSpec(chart, Options(style=Style.SWITCH))
    kinds = {"table": ChartUnitSpec(chart), "switch": switch, "by hand": HandWritten(switch)}
    inputs = input_stream(switch).take_records(STEPS, seed=1)
    footprints: dict[str, Footprint] = {}
    states: dict[str, Records] = {}
    try:
        for name, unit_spec in kinds.items():
            processor = UnoProcessor(unit_spec)
            try:
                states[name] = processor.run(inputs)
                footprints[name] = processor.footprint()
            finally:
                processor.close()
    except UnavailableError as error:
        return [Figure("a state on an UNO", None, note=str(error))]
    assert all((subject_states == states["by hand"]).all() for subject_states in states.values()), (
        "not the same states"
    )
    rows = []
    for name, footprint in footprints.items():
        cycles = f"{footprint.step_cycles_mean:.0f} cycles a step, {footprint.step_cycles_worst} at most"
        aim = 30.0 if name == "table" else None
        rows.append(
            Figure(f"flash a state, {name}", footprint.flash_bytes / STATES, "bytes", below=aim, note=cycles)
        )
    return rows
