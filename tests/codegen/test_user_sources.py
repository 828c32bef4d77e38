"""What is the user's stays right when the chart changes, or what is wrong with it is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from posewright.codegen import build, generate
from posewright.codegen.generating import Generated, read_unit_spec
from posewright.codegen.targets.cm900.board import EmulatedCm900
from posewright.errors import InputError

from .conftest import need_tool

CHART = """\
chart: lights
period_s: 0.01
inputs: {%s}
events: [%s]
outputs: {%s}
initial: red
states:
  red: {entry: {lamp: true}, transitions: [{when: button, go: green}]}
  green: {entry: {lamp: false}, transitions: [{when: not button, go: red}]}
"""


def lights(
    folder: Path,
    target: str,
    *,
    inputs: str = "button: bool",
    outputs: str = "lamp: bool",
    events: str = "",
) -> Generated:
    """Generate a chart into a folder that may hold another one."""
    chart = folder / "lights.chart.yaml"
    chart.write_text(CHART % (inputs, events, outputs))
    return generate(chart, folder, target, unchecked=True)


def test_hooks_of_a_cm900_read_the_same_input_after_another_came_before_it(tmp_path: Path) -> None:
    need_tool("arm-none-eabi-gcc")
    pytest.importorskip("unicorn", reason="the extra `boards` is not installed")
    lights(tmp_path, "cm900")
    hooks = tmp_path / "board_hooks.c"
    shown = "board_set_pin(BOARD_PORT_B, 12U, state[UNIT_OUT_LAMP] != 0U);"
    assert shown in hooks.read_text()
    hooks.write_text(hooks.read_text().replace("(void)state;", shown))
    made = lights(tmp_path, "cm900", inputs="day: uint16, button: bool")
    assert [warning for warning in made.warnings if "UNIT_IN_DAY" in warning] == list(made.warnings)
    assert "board_hooks.c lacks UNIT_IN_DAY: add `" in made.warnings[0]
    board = EmulatedCm900(build(tmp_path).elf)
    seen = []
    for measured in (0, 4095, 0):
        board.chip.analogue[0] = measured
        board.advance(0.05)
        seen.append(board.chip.output("B", 12))
    assert seen == [True, False, True]


def test_an_event_of_a_cm900_comes_once_while_its_pin_stays_high(tmp_path: Path) -> None:
    need_tool("arm-none-eabi-gcc")
    pytest.importorskip("unicorn", reason="the extra `boards` is not installed")
    chart = tmp_path / "count.chart.yaml"
    chart.write_text(
        "chart: count\nperiod_s: 0.01\nevents: [press]\noutputs: {presses: uint8}\ninitial: on\n"
        "states: {on: {transitions: [{on: press, do: {presses: presses + 1}}]}}\n"
    )
    generate(chart, tmp_path, "cm900", unchecked=True)
    hooks = tmp_path / "board_hooks.c"
    shown = "board_set_pin(BOARD_PORT_B, 12U, state[UNIT_OUT_PRESSES] == 2U);"
    hooks.write_text(hooks.read_text().replace("(void)state;", shown))
    board = EmulatedCm900(build(tmp_path).elf)
    seen = []
    for measured in (4095, 0, 4095, 0, 4095):
        board.chip.analogue[0] = measured
        board.advance(0.05)
        seen.append(board.chip.output("B", 12))
    assert seen == [False, False, True, True, False]


def test_a_name_that_is_gone_is_told_and_does_not_compile(tmp_path: Path) -> None:
    need_tool("arm-none-eabi-gcc")
    lights(tmp_path, "cm900", inputs="day: bool, button: bool")
    made = lights(tmp_path, "cm900")
    assert made.warnings == ("board_hooks.c has UNIT_IN_DAY, which lights does not have: remove it",)
    assert made.to_dict()["warnings"] == list(made.warnings)
    with pytest.raises(InputError, match="UNIT_IN_DAY"):
        build(tmp_path)


def test_hooks_that_count_bytes_are_told_of(tmp_path: Path) -> None:
    lights(tmp_path, "cm900")
    hooks = tmp_path / "board_hooks.c"
    hooks.write_text(hooks.read_text().replace("input[UNIT_IN_BUTTON]", "input[0]"))
    lacking, counting = lights(tmp_path, "cm900").warnings
    assert "lacks UNIT_IN_BUTTON" in lacking
    assert "input[0]" in counting


def test_pins_that_are_missing_or_left_over_are_told_with_the_line_to_add(tmp_path: Path) -> None:
    assert lights(tmp_path, "arduino-uno").warnings == ()
    made = lights(tmp_path, "arduino-uno", outputs="lamp: bool, night: bool", events="press")
    lacking = [warning for warning in made.warnings if "lacks" in warning]
    assert lacking == list(made.warnings)
    assert "board_pins.h lacks out_night: add `static constexpr auto out_night = DigitalOut(12);`" in lacking
    assert any("on_press" in warning for warning in lacking)
    pins = tmp_path / "board_pins.h"
    pins.write_text(pins.read_text() + "\n".join(line.split("`")[1] for line in lacking))
    assert lights(tmp_path, "arduino-uno", outputs="lamp: bool, night: bool", events="press").warnings == ()
    made = lights(tmp_path, "arduino-uno", outputs="lamp: bool, night: bool")
    assert made.warnings == ("board_pins.h has on_press, which lights does not have: remove it",)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("DigitalIn(2)", "DigitalIn(99)", "in_button is on a pin"),
        ("DigitalIn(2)", "DigitalIn(1)", "in_button is on a pin"),
        ("DigitalOut(13)", "DigitalOut(0)", "out_lamp is on a pin"),
        ("DigitalOut(13)", "PwmOut(4, 1.0f, 0.0f)", "out_lamp is on a pin"),
        ("DigitalOut(13)", "DigitalOut(2)", "out_lamp is on a pin that is used for something else"),
        ("DigitalIn(2)", "AnalogueIn(6, 1.0f, 0.0f)", "in_button is on a pin"),
    ],
)
def test_a_wrong_pin_does_not_compile(tmp_path: Path, old: str, new: str, said: str) -> None:
    need_tool("avr-gcc")
    lights(tmp_path, "arduino-uno")
    pins = tmp_path / "board_pins.h"
    assert old in pins.read_text()
    pins.write_text(pins.read_text().replace(old, new))
    with pytest.raises(InputError, match=said):
        build(tmp_path)


def test_files_of_another_target_are_told_of(tmp_path: Path) -> None:
    lights(tmp_path, "host")
    assert "host.c" in lights(tmp_path, "arduino-uno").removed
    made = lights(tmp_path, "cm900")
    assert f"{tmp_path.name}.ino" in made.removed
    assert [warning.split()[0] for warning in made.warnings] == ["board_pins.h", "board_hooks.cpp"]


def test_a_behaviours_header_tells_its_motions_by_number_and_the_units_of_its_sensors() -> None:
    header = next(file.text for file in read_unit_spec("document_mealy").sources() if file.name == "unit.h")
    assert "#define UNIT_STATE_ACTION " in header
    assert "the motion asked for: 0 none, 1 " in header
    assert "[m] */" in header


def test_names_that_are_alike_in_capitals_stay_apart(tmp_path: Path) -> None:
    lights(tmp_path, "host", inputs="button: bool, Button: bool")
    header = (tmp_path / "unit.h").read_text()
    assert "#define UNIT_IN_button 0U" in header
    assert "#define UNIT_IN_Button 1U" in header
