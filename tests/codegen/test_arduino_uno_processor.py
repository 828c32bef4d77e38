"""A unit on an emulated ATmega328P does what the interpreter does, and its needs are measured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from posewright.charts import parse_chart, read_chart
from posewright.codegen.c import ChartUnitSpec
from posewright.codegen.proof.input_generation import chart_stream
from posewright.codegen.proof.proving import verify
from posewright.codegen.proof.reference import InterpreterRun
from posewright.codegen.targets.arduino_uno import UnoProcessor
from posewright.codegen.targets.arduino_uno.processor import read_part_sizes
from posewright.codegen.unit import Executable, SourceFile
from posewright.errors import BodyError, InputError

from .conftest import need_tool

EXAMPLES = Path("examples/charts")
DOCUMENT = EXAMPLES / "document" / "obstacle_mealy.chart.yaml"


@dataclass(frozen=True)
class Written:
    """A unit of one input byte and one state byte whose step somebody has written by hand."""

    step: str
    more: str = ""
    name: str = "written"

    @property
    def input_dtype(self) -> np.dtype[np.void]:
        return np.dtype([("x", "u1")])

    @property
    def state_dtype(self) -> np.dtype[np.void]:
        return np.dtype([("status", "u1"), ("y", "u1")])

    @property
    def documents(self) -> dict[str, str]:
        return {}

    def sources(self) -> tuple[SourceFile, ...]:
        header = ("#include <stdint.h>", "#define UNIT_INPUT_BYTES 1U", "#define UNIT_STATE_BYTES 2U")
        header += ("void unit_reset(void);", "void unit_step(const uint8_t *input, uint8_t *state);")
        step = "uint8_t written_step(uint8_t x);"
        chart = (*header, step, self.more, step.rstrip(";"), "{", self.step, "}")
        unit = ('#include "unit.h"', step, "void unit_reset(void) {}")
        unit += ("void unit_step(const uint8_t *input, uint8_t *state)", "{")
        unit += ("    state[0] = 0U;", "    state[1] = written_step(input[0]);", "}")
        return SourceFile("unit.h", header), SourceFile("unit.c", unit), SourceFile("written.c", chart)

    def reference(self) -> Executable:
        raise NotImplementedError


@pytest.fixture(autouse=True)
def _tools() -> None:
    need_tool("avr-gcc")
    need_tool("simavr")


@pytest.fixture(scope="module")
def document() -> Iterator[UnoProcessor]:
    need_tool("avr-gcc")
    need_tool("simavr")
    with UnoProcessor(ChartUnitSpec(read_chart(DOCUMENT))) as processor:
        yield processor


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*/*.chart.yaml")), ids=lambda path: path.parent.name)
def test_an_example_runs_on_the_processor_as_in_the_interpreter(path: Path) -> None:
    unit_spec = ChartUnitSpec(read_chart(path))
    inputs = chart_stream(unit_spec.format, covering=False).take_records(150, 1)
    with UnoProcessor(unit_spec) as processor:
        states = processor.run(inputs)
    expected = InterpreterRun(unit_spec.format).run(inputs)
    assert states.tobytes() == expected.tobytes()


def test_a_run_goes_on_where_the_one_before_ended_and_a_reset_begins_anew(document: UnoProcessor) -> None:
    inputs = chart_stream(ChartUnitSpec(read_chart(DOCUMENT)).format, covering=False).take_records(300, 2)
    document.reset()
    whole = document.run(inputs)
    document.reset()
    parts = [document.run(inputs[:100]), document.run(inputs[100:100]), document.run(inputs[100:])]
    assert np.concatenate(parts).tobytes() == whole.tobytes()


def test_the_documents_machine_keeps_within_what_was_promised(document: UnoProcessor) -> None:
    inputs = chart_stream(ChartUnitSpec(read_chart(DOCUMENT)).format, covering=False).take_records(5000, 3)
    document.run(inputs)
    needs = document.footprint()
    assert needs.flash_bytes <= 41 * 4
    assert needs.ram_bytes <= 4 + 2
    assert needs.step_cycles_worst is not None
    assert needs.step_cycles_mean is not None
    assert 20 < needs.step_cycles_mean <= needs.step_cycles_worst <= 150
    assert needs.image_flash_bytes is not None
    assert needs.flash_bytes < needs.image_flash_bytes < 1000


def test_the_documents_machine_is_verified_on_the_processor_and_this_computer() -> None:
    need_tool("gcc")
    found = verify(ChartUnitSpec(read_chart(DOCUMENT)), "arduino-uno", steps=20_000, seed=7)
    assert (found.same, found.steps, found.mismatches) == (True, 20_000, 0)
    assert found.transitions_taken == found.transitions > 0
    assert found.footprint is not None
    assert found.footprint.step_cycles_worst is not None
    assert found.footprint.step_cycles_worst <= 150


def test_cycles_are_those_from_the_first_instruction_to_the_return() -> None:
    # 10 one-cycle instructions, and `ldi` and `ret` of 1 and 4 cycles (AVR instruction set manual)
    nops = "__asm__ volatile(" + '"nop\\n\\t" ' * 10 + "); (void)x; return 7U;"
    with UnoProcessor(Written(nops)) as processor:
        states = processor.run(np.zeros(5, processor.unit_spec.input_dtype))
        needs = processor.footprint()
    assert list(states["y"]) == [7] * 5
    assert (needs.step_cycles_mean, needs.step_cycles_worst) == (15.0, 15)


def test_the_worst_step_and_the_deepest_stack_are_found() -> None:
    loop = "uint8_t k; for (k = 0U; k < x; k++) { room[k % 100U] = k; } return room[0];"
    with UnoProcessor(Written(f"volatile uint8_t room[100]; {loop}")) as processor:
        inputs = np.zeros(50, processor.unit_spec.input_dtype)
        processor.run(inputs)
        short = processor.footprint()
        inputs["x"][17] = 99
        processor.run(inputs)
        needs = processor.footprint()
    assert short.step_cycles_worst is not None
    assert needs.step_cycles_worst is not None
    assert needs.step_cycles_worst > short.step_cycles_worst + 99 * 4
    assert needs.stack_bytes is not None
    assert 100 < needs.stack_bytes < 130


def test_a_step_that_does_not_end_is_an_error_with_its_number() -> None:
    with UnoProcessor(Written('while (x == 5U) { __asm__ volatile(""); } return x;')) as processor:
        inputs = np.zeros(9, processor.unit_spec.input_dtype)
        inputs["x"][6] = 5
        with pytest.raises(BodyError, match=r"no answer within the time for a step \(step 6\)"):
            processor.run(inputs)


def test_a_stack_that_grows_into_the_variables_is_an_error() -> None:
    more = "static volatile uint8_t kept[1000];"
    step = "volatile uint8_t room[1200]; room[x] = x; kept[x] = x; return (uint8_t)(room[x] + kept[x]);"
    with (
        UnoProcessor(Written(step, more)) as processor,
        pytest.raises(BodyError, match="the stack has grown into the variables"),
    ):
        processor.run(np.zeros(1, processor.unit_spec.input_dtype))


@pytest.mark.parametrize(
    ("more", "step", "told"),
    [
        (
            "static volatile uint8_t kept[2100];",
            "kept[x] = x; return kept[0];",
            "bytes of RAM, an Arduino UNO has 2048",
        ),
        (
            "extern const uint8_t big[32700];"
            'const uint8_t big[32700] __attribute__((section(".progmem.data"))) = {1U};',
            "return *(const volatile uint8_t *)&big[x];",
            "bytes of flash, an Arduino UNO has 32256",
        ),
    ],
    ids=["RAM", "flash"],
)
def test_what_does_not_fit_is_refused_with_both_numbers(more: str, step: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        UnoProcessor(Written(step, more))


def test_code_that_does_not_compile_is_refused_with_the_compilers_words() -> None:
    with pytest.raises(InputError, match=r"written\.c:\d+:\d+: error: .*undeclared"):
        UnoProcessor(Written("return nobody;"))


def test_a_chart_without_inputs_counts_its_ticks() -> None:
    chart = (
        "chart: idler\nperiod_s: 0.1\noutputs: {n: uint8}\ninitial: a\nstates: {a: {during: [{n: n + 3}]}}\n"
    )
    with UnoProcessor(ChartUnitSpec(parse_chart(chart))) as processor:
        states = processor.run(np.zeros(100, processor.unit_spec.input_dtype))
    assert list(states["n"][:3]) == [3, 6, 9]
    assert states["n"][-1] == 255


def test_a_map_file_is_told_by_object_and_section() -> None:
    link_map = """\
Discarded input sections

 .text.unused   0x00000000       0x50 mealy.o

Linker script and memory map

 .text.step     0x00000080       0x1c mealy.o
 .progmem.data  0x000000a0        0x8 mealy.o
 .rodata.name_that_is_longer_than_its_column
                0x00800100        0x5 mealy.o
 .bss           0x00800105        0x3 /usr/lib/libgcc.a(_div.o)
 .debug_info    0x00000000      0x100 mealy.o
"""
    parts = dict(read_part_sizes(link_map))
    assert parts["mealy.o"] == (0x1C + 8 + 5, 5)
    assert parts["mealy.o:.text.step"] == (0x1C, 0)
    assert parts["_div.o"] == (0, 3)
