"""The sketch of a chart runs on an emulated Arduino UNO: its pins, its tick, its serial line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from posewright.charts import parse_chart, read_chart
from posewright.codegen.c import ChartUnitSpec
from posewright.codegen.hil.board_unit import BoardUnit
from posewright.codegen.proof.input_generation import chart_stream
from posewright.codegen.proof.reference import InterpreterRun
from posewright.codegen.targets.arduino_uno import ArduinoUno, EmulatedUno, with_avr_options
from posewright.errors import BodyError, InputError

from .conftest import need_tool

DOCUMENT = Path("examples/charts/document/obstacle_mealy.chart.yaml")
BLINK = """\
chart: blink
period_s: 0.05
outputs: {lamp: bool}
initial: dark
states:
  dark:
    entry: {lamp: false}
    transitions: [{after_s: 0.5, go: lit}]
  lit:
    entry: {lamp: true}
    transitions: [{after_s: 0.2, go: dark}]
"""
DIAL = """\
chart: dial
period_s: 0.01
inputs: {turned: {float32: [-1, 1]}, exact: {float: [0, 10]}, steps: {int: [0, 100]}}
events: [press]
outputs: {speed: {int: [0, 100]}, seen: float32, doubled: float, presses: uint8}
initial: on
states:
  on:
    during: [{speed: steps, seen: turned, doubled: exact * 2}]
    transitions: [{on: press, do: {presses: presses + 1}}]
"""
SHARES = """\
chart: shares
period_s: 0.05
inputs: {parts: {int: [0, 100]}}
outputs: {lamp: bool, share: {int: [0, 255]}}
initial: on
states:
  on: {during: [{lamp: true, share: 100 - 100 % parts}]}
"""


def written(text: str, folder: Path) -> ChartUnitSpec:
    """Generate the sketch of a chart into a folder."""
    unit_spec = with_avr_options(ChartUnitSpec(parse_chart(text)))
    assert isinstance(unit_spec, ChartUnitSpec)
    for source in (*unit_spec.sources(), *ArduinoUno().sources(unit_spec)):
        (folder / source.name).write_text(source.text)
    return unit_spec


@contextmanager
def board(folder: Path) -> Iterator[EmulatedUno]:
    """Build the sketch in a folder and switch a board with it on."""
    emulated = EmulatedUno(ArduinoUno().build(folder).elf)
    try:
        yield emulated
    finally:
        emulated.close()


@pytest.fixture(autouse=True)
def _tools() -> None:
    need_tool("avr-gcc")
    need_tool("simavr")


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ChartUnitSpec]:
    need_tool("avr-gcc")
    folder = tmp_path_factory.mktemp("obstacle_mealy")
    unit_spec = written(DOCUMENT.read_text(), folder)
    return ArduinoUno().build(folder).elf, unit_spec


@pytest.fixture
def robot(document: tuple[Path, ChartUnitSpec]) -> Iterator[EmulatedUno]:
    emulated = EmulatedUno(document[0])
    yield emulated
    emulated.close()


def test_a_lamp_on_pin_13_blinks_when_the_chart_says(tmp_path: Path) -> None:
    written(BLINK, tmp_path)
    with board(tmp_path) as uno:
        uno.advance(3.0)
        edges = [(edge.time_s, edge.level) for edge in uno.edges if edge.pin == 13]
    start = edges[0][0] - 0.5
    assert 0.0 < start < 0.002
    expected = [(0.5, True), (0.7, False), (1.2, True), (1.4, False), (1.9, True), (2.1, False), (2.6, True)]
    assert [level for _, level in edges[:7]] == [level for _, level in expected]
    assert [time - start for time, _ in edges[:7]] == pytest.approx([time for time, _ in expected], abs=0.001)


def test_numbers_come_from_volts_and_go_out_as_pwm_and_events_are_edges(tmp_path: Path) -> None:
    unit_spec = written(DIAL, tmp_path)
    hooks = (tmp_path / "board_hooks.cpp").read_text()
    hook = "void hook_tick(const uint8_t *state)\n{\n    Serial.write(state, UNIT_STATE_BYTES);"
    (tmp_path / "board_hooks.cpp").write_text(hooks.replace("void hook_tick(const uint8_t *state)\n{", hook))
    with board(tmp_path) as uno:
        for channel, volts in enumerate((1.25, 3.75, 2.5)):
            uno.set_analogue(channel, volts)
        pin = int(re.search(r"on_press = DigitalIn\((\d+)\)", (tmp_path / "board_pins.h").read_text())[1])  # type: ignore[index]
        uno.set_pin(pin, False)
        uno.advance(0.055)
        for _ in range(3):
            uno.set_pin(pin, True)
            uno.advance(0.025)  # longer than a tick: one event all the same
            uno.set_pin(pin, False)
            uno.advance(0.025)
        uno.advance(0.0045)
        sent = uno.advance(0.01)
        duty = uno.pwm(9)
    state = np.frombuffer(sent[-unit_spec.state_dtype.itemsize :], unit_spec.state_dtype)[0]
    assert state["presses"] == 3
    assert state["seen"] == pytest.approx(-0.5, abs=0.005)
    assert state["doubled"] == pytest.approx(15.0, abs=0.05)
    assert state["speed"] == pytest.approx(50, abs=1)
    assert duty == pytest.approx(0.5, abs=0.01)


def test_pins_of_the_documents_machine_lead_it_through_its_states(robot: EmulatedUno) -> None:
    for pin in (2, 4, 7):
        robot.set_pin(pin, False)
    robot.advance(0.15)
    assert (robot.pin(13), robot.pin(12)) == (True, True)  # straight on
    robot.set_pin(4, True)
    told = robot.advance(0.1)
    assert b" ms turning_right s1=1 s0=0\r\n" in told
    assert (robot.pin(13), robot.pin(12)) == (True, False)
    assert robot.advance(0.5) == b""  # nothing changes, nothing is told
    robot.set_pin(4, False)
    robot.set_pin(7, True)
    assert b" ms turning_left s1=0 s0=1\r\n" in robot.advance(0.1)


def test_a_computer_on_the_line_gives_the_inputs_and_the_board_answers_as_the_interpreter(
    robot: EmulatedUno, document: tuple[Path, ChartUnitSpec]
) -> None:
    unit_spec = document[1]
    inputs = chart_stream(unit_spec.format, covering=False).take_records(60, 4)
    robot.advance(0.05)
    unit = BoardUnit(robot, unit_spec, 0.1)
    states = []
    for k, record in enumerate(inputs):
        unit.wait_until(0.1 * k)
        states.append(unit.step(record))
    expected = InterpreterRun(unit_spec.format).run(inputs)
    assert [state.tobytes() for state in states if state is not None] == [one.tobytes() for one in expected]


def test_once_the_computer_is_silent_for_two_seconds_outputs_stand_until_a_new_greeting(
    robot: EmulatedUno, document: tuple[Path, ChartUnitSpec]
) -> None:
    for pin in (2, 4, 7):
        robot.set_pin(pin, False)
    unit = BoardUnit(robot, document[1], 0.1)
    record = np.zeros(1, document[1].input_dtype)[0]
    unit.step(record)
    robot.set_pin(4, True)
    robot.advance(1.5)
    assert (robot.pin(13), robot.pin(12)) == (True, True)
    robot.send(b"noise \xa5\x02\x07\x03\x00")  # no word from the computer
    assert robot.advance(0.8) != b""  # says hello: it begins anew
    assert (robot.pin(13), robot.pin(12)) == (False, False)
    robot.advance(1.0)
    assert (robot.pin(13), robot.pin(12)) == (False, False)  # what its pins say moves nothing
    again = BoardUnit(robot, document[1], 0.1)
    again.step(record)
    assert (robot.pin(13), robot.pin(12)) == (True, True)
    assert again.parity.to_dict() == {"ticks": 1, "mismatches": 0, "missed": 0, "late": 0, "pace": 1.0}


def test_a_computer_that_greets_a_board_in_mid_run_finds_it_before_its_first_tick(
    robot: EmulatedUno, document: tuple[Path, ChartUnitSpec]
) -> None:
    robot.advance(0.25)  # walks by itself
    unit = BoardUnit(robot, document[1], 0.1)
    robot.advance(3.0)  # waits: nobody has let it move, so that nobody can be missed
    assert (robot.pin(13), robot.pin(12)) == (False, False)
    assert unit.step(np.zeros(1, document[1].input_dtype)[0]) is not None
    assert not unit.parity.mismatches
    assert unit.counts.faults == 0


def test_outputs_stand_once_the_chart_has_failed(tmp_path: Path) -> None:
    written(SHARES, tmp_path)
    hooks = (tmp_path / "board_hooks.cpp").read_text()
    hook = "void hook_stand()\n{\n"
    (tmp_path / "board_hooks.cpp").write_text(
        hooks.replace(hook, f'{hook}    Serial.println(F("stands"));\n')
    )
    with board(tmp_path) as uno:
        uno.set_analogue(0, 3.0)
        uno.advance(0.2)
        assert uno.pin(13)
        assert uno.pwm(9) == pytest.approx(60 / 255, abs=0.01)
        uno.set_analogue(0, 0.0)
        told = uno.advance(0.5)
        assert not uno.pin(13)
        assert uno.pwm(9) == 0.0
        assert told.count(b"stands") == 1
        assert b"! the chart stopped: division by zero" in told
        uno.set_analogue(0, 3.0)
        uno.advance(0.5)
        assert not uno.pin(13)


def test_a_tick_that_hangs_is_ended_by_the_watchdog_and_outputs_stand_from_then_on(tmp_path: Path) -> None:
    written(BLINK, tmp_path)
    hooks = (tmp_path / "board_hooks.cpp").read_text()
    hook = "void hook_tick(const uint8_t *state)\n{\n"
    hang = "    while (digitalRead(2) == HIGH) {\n    }\n"
    (tmp_path / "board_hooks.cpp").write_text(hooks.replace(hook, hook + hang))
    with board(tmp_path) as uno:
        uno.set_pin(2, False)
        uno.advance(0.6)
        assert uno.pin(13)
        uno.set_pin(2, True)
        uno.advance(0.2)
        uno.set_pin(13, None)
        assert b"! a tick hung: reset the board" in uno.advance(4.5)
        uno.set_pin(2, False)
        uno.advance(1.0)
        assert not uno.pin(13)
        uno.press_reset()
        uno.advance(0.6)
        assert uno.pin(13)


def test_a_reset_in_mid_run_begins_anew_with_a_hello(robot: EmulatedUno) -> None:
    hello = robot.advance(0.25)
    assert hello.startswith(b"\xa5")
    robot.press_reset()
    assert robot.advance(0.25)[:32] == hello[:32]


def test_the_same_commands_give_the_same_bytes_and_edges(document: tuple[Path, ChartUnitSpec]) -> None:
    def seen() -> tuple[bytes, list[object]]:
        uno = EmulatedUno(document[0])
        sent = uno.advance(0.123)
        uno.set_pin(2, True)
        uno.send(b"\x00noise\xa5\x01")
        sent += uno.advance(0.4)
        uno.close()
        return sent, list(uno.edges)

    assert seen() == seen()


def test_a_board_that_is_switched_off_says_so(document: tuple[Path, ChartUnitSpec]) -> None:
    uno = EmulatedUno(document[0])
    uno.close()
    with pytest.raises(BodyError, match="switched off"):
        uno.advance(0.1)


def test_flashing_takes_avrdude_and_a_port() -> None:
    command = ArduinoUno().flash_command(Path("blink.hex"), "/dev/ttyACM0")
    expected = "avrdude -p atmega328p -c arduino -P /dev/ttyACM0 -b 115200 -D -U flash:w:blink.hex:i"
    assert " ".join(command) == expected
    with pytest.raises(InputError, match="serial port"):
        ArduinoUno().flash_command(Path("blink.hex"), None)


def test_a_folder_without_a_sketch_and_a_sketch_that_does_not_compile_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a sketch"):
        ArduinoUno().build(tmp_path)
    written(BLINK, tmp_path)
    pins = (tmp_path / "board_pins.h").read_text()
    (tmp_path / "board_pins.h").write_text(pins.replace("out_lamp", "out_lump"))
    with pytest.raises(InputError, match="out_lamp"):
        ArduinoUno().build(tmp_path)


def test_only_pins_and_hooks_belong_to_the_user() -> None:
    unit_spec = ChartUnitSpec(read_chart(DOCUMENT))
    kept = {source.name for source in ArduinoUno().sources(unit_spec) if source.keep}
    assert kept == {"board_pins.h", "board_hooks.cpp"}


def test_a_sketch_holds_nothing_for_events_and_numbers_that_its_chart_has_not() -> None:
    def sketch(text: str) -> dict[str, str]:
        sources = ArduinoUno().sources(ChartUnitSpec(parse_chart(text)))
        return {source.name: "\n".join(source.lines) for source in sources}

    plain, full = sketch(DOCUMENT.read_text()), sketch(DIAL)
    assert {*full} - {*plain} == {"board_records.h", "dial.ino"}
    assert full["board_wiring.cpp"].count("static Edges") == 1
    assert "Edges" not in plain["board_wiring.cpp"]
