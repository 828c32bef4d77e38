"""A chart may call its things as C, AVR libc and Arduino call theirs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from posewright.charts import parse_chart
from posewright.codegen import build, generate
from posewright.codegen.c import ChartUnitSpec

from .conftest import need_tool

WORDS = """
INT8_MAX UINT8_MAX INT32_MIN UINT8_C WCHAR_MAX SIZE_MAX M_PI NAN INFINITY HUGE_VAL NULL EOF
EXIT_SUCCESS isnan isinf signbit fpclassify signgam math_errhandling offsetof errno memcpy memset
PRIu8 SCNd16 _BV _x uint8_t int8_t size_t bool linux unix main unit this new class double static
volatile asm PORTB PINB DDRB SREG ADC TCNT1 PB0 WDIE F_CPU ADC_vect TIMER1_COMPA_vect cli sei
pgm_read_byte RCC GPIOA USART1 B0 B1 B11111111 A0 I1 PIN_A0 LED_BUILTIN HIGH LOW INPUT OUTPUT PI
TWO_PI DEFAULT SERIAL byte word boolean bit setup loop delay digitalRead Serial String out chart
status queue active in_ tick
"""
NASTY = tuple(WORDS.split())

TARGETS = [("host", "cc"), ("arduino-uno", "avr-g++"), ("cm900", "arm-none-eabi-gcc")]


def nasty_chart(names: tuple[str, ...]) -> str:
    """Return a chart in which everything is called so: the names go round from one kind to the next."""
    inputs, outputs, local, events, values = [names[k::5] for k in range(5)]
    done = {one: f"{one} + 1" for one in (*outputs, *local)} | {"said": values[1]}
    heard: list[dict[str, object]] = [{"on": one, "go": one} for one in events]
    asked = {"when": f"{' > 0 or '.join(inputs)} > 0", "go": "first", "do": done}
    others = {one: {"transitions": [{"when": "go_on", "go": "first"}]} for one in events}
    return json.dumps(
        {
            "chart": "nasty",
            "period_s": 0.1,
            "inputs": {"go_on": "bool", **dict.fromkeys(inputs, "int8")},
            "outputs": {"said": {"enum": [*values]}, **dict.fromkeys(outputs, "int8")},
            "locals": dict.fromkeys(local, "uint16"),
            "events": [*events],
            "initial": "first",
            "states": {"first": {"transitions": [*heard, asked]}, **others},
        }
    )


@pytest.mark.parametrize(("target", "tool"), TARGETS)
@pytest.mark.parametrize("turn", range(5))
def test_things_called_as_macros_and_types_are_compile(
    target: str, tool: str, turn: int, tmp_path: Path
) -> None:
    need_tool(tool)
    names = (*NASTY[turn:], *NASTY[:turn])  # each name is of each kind in some turn
    generate(ChartUnitSpec(parse_chart(nasty_chart(names))), tmp_path, target, unchecked=True)
    assert build(tmp_path).image.exists()


@pytest.mark.parametrize(
    ("name", "board"),
    [(name, TARGETS[0]) for name in ("int8", "size", "host", "M_PI", "isnan", "unit", "math")]
    + [("board_hooks", TARGETS[1]), ("startup", TARGETS[2])],
)
def test_charts_called_as_headers_types_and_files_are_compile(
    name: str, board: tuple[str, str], tmp_path: Path
) -> None:
    need_tool(board[1])
    text = f"chart: {name}\nperiod_s: 0.1\ninputs: {{a: bool}}\noutputs: {{o: int8}}\ninitial: s\nstates:\n"
    text += "  s: {transitions: [{when: a, go: s, do: {o: o + 1}}]}\n"
    generate(ChartUnitSpec(parse_chart(text)), tmp_path, board[0], unchecked=True)
    assert build(tmp_path).image.exists()
