"""A behaviour's C compiled for this computer, called through ctypes, and made-up behaviours to compile."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from posewright.codegen.behaviour import BehaviourUnitSpec
from posewright.codegen.unit import Records, SourceFile
from posewright.controllers.behaviours import Behaviour, read_behaviour

from .conftest import need_tool

FLAGS = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror", "-ffp-contract=off")


def library(folder: Path, sources: Iterable[SourceFile]) -> ctypes.CDLL:
    """Compile sources into a library, without a single warning."""
    sources = tuple(sources)
    for file in sources:
        (folder / file.name).write_text(file.text)
    names = [file.name for file in sources if file.name.endswith(".c")]
    command = (need_tool("gcc"), *FLAGS, "-shared", "-fPIC", "-o", "unit.so", *names, "-lm")
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(folder / "unit.so"))


@dataclass
class HostUnit:
    """A behaviour's unit on this computer."""

    unit_spec: BehaviourUnitSpec
    c: ctypes.CDLL

    @classmethod
    def of(cls, behaviour: Behaviour, folder: Path) -> HostUnit:
        unit_spec = BehaviourUnitSpec(behaviour)
        unit = cls(unit_spec, library(folder, unit_spec.sources()))
        unit.c.unit_reset()
        return unit

    def run(self, inputs: Records) -> Records:
        found = np.zeros(len(inputs), self.unit_spec.state_dtype)
        inputs = np.ascontiguousarray(inputs)
        for k in range(len(inputs)):
            given = inputs.ctypes.data + k * inputs.itemsize
            self.c.unit_step(ctypes.c_void_p(given), ctypes.c_void_p(found.ctypes.data + k * found.itemsize))
        return found

    def packet(self) -> bytes:
        size = self.unit_spec.state_dtype["packet"].itemsize
        room = (ctypes.c_uint8 * size)()
        assert self.c.unit_packet(room) == size
        return bytes(room)


def mismatches(one: Records, other: Records) -> list[int]:
    """Return the frames in which two runs are not the same, byte for byte."""
    return [k for k in range(len(one)) if one[k].tobytes() != other[k].tobytes()]


CHART = """\
chart: tiny
kind: mealy
period_s: 0.1
priority: ordered
otherwise: stay
inputs: {INPUTS}
events: [EVENTS]
outputs: {go_on: bool, goal_deg: {int: [0, 180]}, count: {int: [0, 250]}, OUTPUTS}
initial: going
initial_values: {go_on: 0, goal_deg: 90, count: 0, STARTS}
states:
  going:
    - {when: GUARD, do: {go_on: 1, COPIES}, go: going}
    - {when: not (GUARD), do: {go_on: 0, COPIES}, go: going}
COUNTS
"""

BEHAVIOUR = """\
behaviour: tiny
robot: robotis_bioloid
chart: tiny.chart.yaml
start_pose: walk_ready
wait_s: WAIT
motions: {walk: {motion: walk_forward}, left: {motion: turn_left}}
sensors:
  compass: {kind: compass, mount: imu}
  tilt: {kind: accelerometer, mount: imu, range_m_s2: 20}
  ring: {kind: range_scan, mount: head, max_range_m: 5, beams: 72, start_deg: -180, step_deg: 5}
  fan: {kind: range_scan, mount: head, max_range_m: 4, beams: 31, start_deg: -60, step_deg: 4}
inputs:
WIRES
outputs:
  - {when: go_on and goal_deg > 45, play: walk}
  - {when: go_on, play: left}
  - {otherwise: true, play: null}
"""


def tiny(
    folder: Path,
    wires: dict[str, tuple[str, str]],
    *,
    guard: str,
    events: dict[str, str] | None = None,
    wait_s: float = 0.0,
) -> Behaviour:
    """Return a behaviour whose chart gives every input back as an output `o_NAME` and counts its events."""
    events = events or {}
    zeros = {"bool": "0", "float": "0.0", "float32": "0.0"}
    changes = {
        "INPUTS": ", ".join(f"{name}: {kind}" for name, (kind, _) in wires.items()),
        "EVENTS": ", ".join(events),
        "OUTPUTS": ", ".join(f"o_{name}: {kind}" for name, (kind, _) in wires.items()),
        "STARTS": ", ".join(f"o_{name}: {zeros.get(kind, '0')}" for name, (kind, _) in wires.items()),
        "GUARD": guard,
        "COPIES": ", ".join(f"o_{name}: {name}" for name in wires),
        "COUNTS": "\n".join(
            f"    - {{on: {name}, do: {{count: 'min(count + 1, 250)'}}, go: going}}" for name in events
        ),
    }
    chart = CHART if not events else CHART.replace("kind: mealy", "kind: statechart")
    chart = chart if events else chart.replace("events: [EVENTS]\n", "")
    for word, meant in changes.items():
        chart = chart.replace(word, meant)
    entries = [f"  {name}: {entry}" for name, (_, entry) in wires.items()]
    entries += [f"  {name}: {entry}" for name, entry in events.items()]
    (folder / "tiny.chart.yaml").write_text(chart)
    text = BEHAVIOUR.replace("WIRES", "\n".join(entries)).replace("WAIT", str(wait_s))
    (folder / "tiny.behaviour.yaml").write_text(text)
    return read_behaviour(folder / "tiny.behaviour.yaml")
