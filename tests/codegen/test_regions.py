"""Charts with regions become straight C: small, fast, and the same as the interpreter, step by step."""

from __future__ import annotations

import ctypes
import json
import subprocess
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from posewright.charts import Chart, parse_chart
from posewright.charts.machine import Interpreter
from posewright.codegen.c import ChartUnitSpec
from posewright.codegen.proof.input_generation import chart_stream
from posewright.codegen.proof.verification import Comparison, Mismatch
from posewright.codegen.targets.arduino_uno.processor import FLAGS, UnoProcessor
from posewright.codegen.targets.host import HostLibrary
from posewright.codegen.toolchains import STRICT
from posewright.codegen.unit import SourceFile

from .conftest import need_tool

MAX_FLASH_BYTES = 500
MAX_STEP_CYCLES = 2500
"""What issue 31 asks of a chart of three regions and eight transitions on an AVR (Show 8)."""

STEPS = 10_000

LIGHTS = """
chart: lights
period_s: 0.1
inputs: {night: bool, level: {int: [0, 255]}}
events: [button]
outputs: {cars: {enum: [red, green, amber]}, walkers: {enum: [wait, walk]}, lamp: bool, count: uint8}
initial_values: {cars: red, walkers: wait, lamp: false, count: 0}
regions:
  street:
    initial: cars_red
    states:
      cars_red: {entry: {cars: red}, transitions: [{after_s: 2, when: in(idle), go: cars_green}]}
      cars_green: {entry: {cars: green}, transitions: [{after_s: 5, when: in(asked), go: cars_amber}]}
      cars_amber: {entry: {cars: amber}, transitions: [{after_s: 1, go: cars_red}]}
  crossing:
    initial: idle
    states:
      idle: {transitions: [{on: button, go: asked}]}
      asked: {entry: {lamp: true}, exit: {lamp: false}, transitions: [{when: in(cars_red), go: walking}]}
      walking:
        entry: {walkers: walk}
        exit: {walkers: wait}
        transitions: [{after_s: 3, do: {count: 'min(count + 1, 255)'}, go: idle}]
  display:
    initial: bright
    states:
      bright: {transitions: [{when: night and level < 50, go: dim}]}
      dim: {transitions: [{when: not night or level > 60, go: bright}]}
"""

LIGHTS_BY_HAND = """
#include <stdbool.h>
#include <stdint.h>
struct inputs { bool night; uint8_t level; bool button; };
struct lights {
    uint8_t cars, walkers; bool lamp; uint8_t count;
    uint8_t street, crossing; bool dim; uint8_t street_ticks, walking_ticks;
};
enum { CARS_RED = 1, CARS_GREEN, CARS_AMBER };
enum { IDLE, ASKED, WALKING };
void lights_init(struct lights *l)
{
    l->cars = 0; l->walkers = 0; l->lamp = false; l->count = 0;
    l->street = 0; l->crossing = IDLE; l->dim = false; l->street_ticks = 0; l->walking_ticks = 0;
}
static void drive(struct lights *l, uint8_t state)
{
    l->street = state; l->cars = (uint8_t)(state - CARS_RED); l->street_ticks = 0;
}
void lights_step(struct lights *l, const struct inputs *in)
{
    const uint8_t crossing = l->crossing, street = l->street;
    if (street == 0) {
        drive(l, CARS_RED);
    } else {
        if (l->street_ticks < 50) l->street_ticks++;
        if (crossing == WALKING && l->walking_ticks < 30) l->walking_ticks++;
        switch (street) {
        case CARS_RED: if (l->street_ticks >= 20 && crossing == IDLE) drive(l, CARS_GREEN); break;
        case CARS_GREEN: if (l->street_ticks >= 50 && crossing == ASKED) drive(l, CARS_AMBER); break;
        default: if (l->street_ticks >= 10) drive(l, CARS_RED); break;
        }
    }
    if (crossing == ASKED && street == CARS_RED) {
        l->lamp = false; l->walkers = 1; l->crossing = WALKING;
    } else if (crossing == WALKING && l->walking_ticks >= 30) {
        l->walkers = 0; l->walking_ticks = 0; l->crossing = IDLE;
        if (l->count < 255) l->count++;
    }
    if (!l->dim) {
        if (in->night && in->level < 50) l->dim = true;
    } else if (!in->night || in->level > 60) {
        l->dim = false;
    }
    if (in->button && l->crossing == IDLE) {
        l->lamp = true; l->crossing = ASKED;
    }
}
"""
"""The same chart as an engineer writes it, without a generator."""

WORKSHOP = """
chart: workshop
period_s: 0.1
inputs: {hot: bool, load: {int: [0, 9]}}
events: [start, stop, resume, jam]
local_events: [chilled]
outputs:
  motor: {enum: [still, slow, fast]}
  fan: bool
  alarm: bool
  parts: uint8
  order: {int: [0, 9999]}       # tells the order of actions
initial: idle
states:
  idle:
    entry: {motor: still, fan: false}
    transitions:
      - {on: start, go: working}
      - {on: resume, go: {deep_history: working}}
  working:
    exit: {order: 'min(order * 10 + 1, 9999)'}
    transitions:
      - {on: stop, go: idle}
      - {on: done.working, do: {alarm: false}, go: idle}
      - {on: jam, do: {order: 'min(order * 10 + 2, 9999)'}}
    regions:
      machining:
        exit: {order: 'min(order * 10 + 3, 9999)'}
        initial: turning
        states:
          turning:
            initial: rough
            transitions: [{when: load > 7, go: idle}]
            states:
              rough:
                entry: {motor: fast}
                transitions: [{after_s: 0.5, when: in(running), go: fine}]
              fine:
                entry: {motor: slow}
                exit: {parts: 'min(parts + 1, 255)'}
                transitions: [{after_s: 0.3, go: rough}, {when: 'parts >= 4', go: finished}]
          finished: {final: true}
      cooling:
        initial: running
        states:
          running:
            entry: {fan: true}
            during: {order: 'min(order + 1, 9999)'}
            transitions:
              - {when: 'held(hot, 0.3 s)', go: paused}
              - {when: in(finished), go: cooled}
              - {on: jam, do: {order: 'min(order * 10 + 4, 9999)'}}
          paused:
            entry: {fan: false, alarm: in(fine)}
            transitions: [{when: not hot, do: {raise: chilled}, go: running}]
          cooled: {final: true}
      counting:
        initial: even
        states:
          even: {transitions: [{on: chilled, go: odd}]}
          odd:
            - {on: chilled, go: even}
            - {when: load == 3, go: counted}
            - {on: stop, go: counted}
          counted: {final: true}
"""
"""Nested states, deep history, exits across regions, `done`, raised events, preemption, orders of actions."""


@pytest.fixture(scope="module")
def lights() -> ChartUnitSpec:
    return ChartUnitSpec(parse_chart(LIGHTS))


def build_by_hand(folder: Path, compiler: str, *options: str) -> Path:
    source = folder / "by_hand.c"
    source.write_text(LIGHTS_BY_HAND)
    target = folder / "by_hand.o"
    subprocess.run([need_tool(compiler), *options, str(source), "-o", str(target)], check=True)
    return target


def size_of_code(object_path: Path) -> int:
    sections = subprocess.run(
        [need_tool("avr-size"), str(object_path)], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    n_text_bytes, n_data_bytes, *_ = sections[1].split()
    return int(n_text_bytes) + int(n_data_bytes)


def test_three_regions_on_an_avr_are_small_fast_and_near_a_hand_written_chart(
    lights: ChartUnitSpec, tmp_path: Path
) -> None:
    need_tool("avr-gcc")
    assert len(lights.lowered.transitions) == 8
    by_hand_bytes = size_of_code(build_by_hand(tmp_path, "avr-gcc", *FLAGS, "-c"))
    with UnoProcessor(lights) as uno:
        reference = lights.reference()
        for episode in (next(chart_stream(lights.format).episodes(seed)) for seed in range(4)):
            uno.reset()
            reference.reset()
            assert (uno.run(episode) == reference.run(episode)).all()
        footprint = uno.footprint()
    assert footprint.flash_bytes <= MAX_FLASH_BYTES
    assert footprint.flash_bytes <= 2 * by_hand_bytes
    assert footprint.step_cycles_worst is not None
    assert footprint.step_cycles_worst <= MAX_STEP_CYCLES


def test_the_hand_written_chart_is_the_same_chart(lights: ChartUnitSpec, tmp_path: Path) -> None:
    library = ctypes.CDLL(str(build_by_hand(tmp_path, "gcc", "-O1", "-shared", "-fPIC")))
    memory = ctypes.create_string_buffer(16)
    library.lights_init(memory)
    interpreter = Interpreter(lights.chart)
    snapshot = interpreter.initial()
    random = np.random.default_rng(1)
    for _ in range(5000):
        night, level, button = bool(random.integers(2)), int(random.integers(256)), random.random() < 0.05
        library.lights_step(memory, bytes([night, level, button]))
        snapshot = interpreter.step(snapshot, {"night": night, "level": level, "button": bool(button)})
        cars, walkers, lamp, count = memory.raw[:4]
        outputs = snapshot.outputs
        assert ("red", "green", "amber")[cars] == outputs["cars"]
        assert ("wait", "walk")[walkers] == outputs["walkers"]
        assert (bool(lamp), count) == (outputs["lamp"], outputs["count"])


def mismatch_of(spec: ChartUnitSpec, steps: int) -> Mismatch | None:
    """Return how the C on this computer differs from the interpreter with random inputs."""
    need_tool("gcc")
    with closing(HostLibrary(spec)) as library:
        comparison = Comparison(spec.reference(), {"host": library})
        comparison.run(chart_stream(spec.format, covering=False).episodes(1), steps, lambda *_: None)
        return comparison.mismatch()


@pytest.mark.parametrize("text", [LIGHTS, WORKSHOP], ids=["lights", "workshop"])
def test_charts_with_regions_do_what_the_interpreter_does(text: str) -> None:
    assert mismatch_of(ChartUnitSpec(parse_chart(text)), STEPS) is None


def test_the_workshop_has_what_is_rare_in_regions() -> None:
    code = "\n".join(ChartUnitSpec(parse_chart(WORKSHOP)).generator.body.lines)
    preempted = "if ((taken != 0U) && (taken_counting != 0U))"
    actions_in_order_of_leaves = "if ((due != 0U) && (taken_cooling != 0U))"
    states_before_the_microstep = "alarm = (chart->state_machining == WORKSHOP_STATE_FINE)"
    completion = "(next_machining == WORKSHOP_STATE_FINISHED) && (next_cooling == WORKSHOP_STATE_COOLED)"
    restored = "next_machining = chart->history_0_machining"
    for rare in (preempted, actions_in_order_of_leaves, states_before_the_microstep, completion, restored):
        assert rare in code, rare


CHART_OF_REGIONS = """
chart: crossing_over
period_s: 0.1
inputs: {n: {int: [0, 9]}}
outputs: {order: {int: [0, 999]}}
regions:
  a:
    exit: {order: '(order * 10 + 1) % 1000'}
    initial: a1
    states:
      a1: {transitions: [{when: n == 1, go: a2}, {when: n == 2, go: b2}]}
      a2: {transitions: [{when: n == 3, go: a1}, {when: n == 4, go: [a1, b2]}]}
  b:
    entry: {order: '(order * 10 + 2) % 1000'}
    initial: b1
    states: {b1: {transitions: [{when: n == 5, go: b2}]}, b2: {transitions: [{when: n == 7, go: a2}]}}
"""


def test_transitions_between_the_regions_of_a_chart_do_what_the_interpreter_does() -> None:
    assert mismatch_of(ChartUnitSpec(parse_chart(CHART_OF_REGIONS)), 2000) is None


DURING = """
chart: during
period_s: 0.1
steps: completion
inputs: {go: bool}
local_events: [ping]
outputs: {level: {int: [0, 5]}}
initial: a
states:
  a: {during: {level: 3}, transitions: [{when: level == 3, go: b}]}
  b: {during: [{if: go, do: {raise: ping}}], transitions: [{on: ping, go: a}]}
"""


def test_during_alone_sets_off_no_transition_in_the_same_tick() -> None:
    """docs/chart-semantics.md, the steps of a tick, 5: raised events follow `during`, and nothing else."""
    assert mismatch_of(ChartUnitSpec(parse_chart(DURING)), 1000) is None


TEXTS = """
#include <stdio.h>
#include "lights_states.h"
int main(void)
{
    lights_t chart;
    lights_inputs_t in = {0};
    lights_init(&chart);
    (void)lights_step(&chart, &in);
    puts(lights_state_text(chart.state_street));
    puts(lights_state_text(chart.state_crossing));
    puts(lights_state_text(LIGHTS_STATE_DIM));
    puts(lights_state_text(99U));
    return 0;
}
"""


def test_a_state_has_a_text_that_costs_nothing_unless_it_is_used(
    lights: ChartUnitSpec, tmp_path: Path
) -> None:
    for source in lights.sources():
        (tmp_path / source.name).write_text(source.text)
    (tmp_path / "texts.c").write_text(TEXTS)
    flags = [flag for flag in STRICT if not flag.startswith("-W")] + ["-Wall", "-Werror"]
    command = [need_tool("gcc"), *flags, "texts.c", "lights.c", "-o", "texts"]
    subprocess.run(command, cwd=tmp_path, check=True)
    printed = subprocess.run([tmp_path / "texts"], check=True, capture_output=True, text=True).stdout
    assert printed.splitlines() == ["cars_red", "idle", "dim", ""]
    sizes = []
    for header in ("lights.h", "lights_states.h"):
        (tmp_path / "user.c").write_text(
            f'#include "{header}"\nvoid reset(lights_t *c) {{ lights_init(c); }}\n'
        )
        compiler = need_tool("avr-gcc")
        subprocess.run([compiler, *FLAGS, "-Werror", "-c", "user.c"], cwd=tmp_path, check=True)
        sizes.append(size_of_code(tmp_path / "user.o"))
    assert sizes[0] == sizes[1]


@dataclass(frozen=True, eq=False)
class EditedSpec(ChartUnitSpec):
    """A chart of whose C one place is changed by hand."""

    old: str = ""
    new: str = ""

    def sources(self) -> tuple[SourceFile, ...]:
        header, source, *further_files = super().sources()
        assert self.old in source.text
        lines = source.text.replace(self.old, self.new, 1).splitlines()
        return (header, SourceFile(source.name, tuple(lines)), *further_files)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("next_cooling = WORKSHOP_STATE_PAUSED", "next_cooling = 0U", id="target"),
        pytest.param("taken = 2U; /* preempted */", "", id="preemption"),
        pytest.param("chart->history_0_cooling = chart->state_cooling", "(void)0", id="history"),
    ],
)
def test_a_bug_planted_in_the_c_of_regions_is_found(old: str, new: str) -> None:
    assert mismatch_of(EditedSpec(parse_chart(WORKSHOP), old=old, new=new), 2000) is not None


def crossed_regions(n_regions: int) -> Chart:
    """Return a chart of regions with six states each, of which every one leaves all regions."""
    regions = {}
    for region in range(n_regions):
        names = [f"s{region}_{number}" for number in range(6)]
        states = {
            name: {
                "exit": {"lamp": True},
                "transitions": [{"when": "n > 4", "go": names[number - 1]}, {"when": "n == 4", "go": "off"}],
            }
            for number, name in enumerate(names)
        }
        regions[f"r{region}"] = {"initial": names[0], "states": states}
    document = {
        "chart": "crossed",
        "period_s": 0.1,
        "inputs": {"n": {"int": [0, 9]}},
        "outputs": {"lamp": "bool"},
        "initial": "on_",
        "states": {"off": {"transitions": [{"when": "n == 1", "go": "on_"}]}, "on_": {"regions": regions}},
    }
    return parse_chart(json.dumps(document))


def test_the_c_grows_with_the_number_of_regions_and_not_with_its_square() -> None:
    few, many = (len(ChartUnitSpec(crossed_regions(number)).generator.body.lines) for number in (4, 16))
    assert many < 5 * few
    assert mismatch_of(ChartUnitSpec(crossed_regions(4)), 1000) is None
