"""The CM-900 as a target: the files of a program, its build, and the command that flashes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from posewright.codegen.c import ChartUnitSpec
from posewright.codegen.c.offsets import IN, OUT, STATE, offset_constants
from posewright.codegen.targets.target import BOARD_QUEUE, BuildResult, serial_link
from posewright.codegen.unit import SourceFile, UnitSpec, read_package_sources
from posewright.errors import InputError

from .toolchain import compile_sources, link_image, write_binary

BOARD_SOURCES = ("startup.c", "board.c", "board.h", "registers.h", "main.c", "cm900.ld")
HOOKS = "board_hooks.c"

_SENSOR_CHANNELS = (0, 1, 4, 5, 6, 7, 8, 9)
"""Analogue channels of a CM-900 that the serial line does not use: board.h."""

_HAS_COME = """\
/* An event comes at the tick at which its pin has got past THRESHOLD, and no more while it stays there. */
static uint8_t has_come(uint8_t channel, bool *was_past)
{
    const bool is_past = board_analogue(channel) > THRESHOLD;
    const bool comes = is_past && !*was_past;

    *was_past = is_past;
    return comes ? 1U : 0U;
}

"""


def c_files(sources: Iterable[SourceFile]) -> list[str]:
    """Return the names of the C files among sources."""
    return [file.name for file in sources if file.name.endswith(".c")]


class Cm900:
    """A CM-900 as a `Target`; its builds have flash and RAM by part."""

    name = "cm900"

    def adapt(self, unit_spec: UnitSpec) -> UnitSpec:
        """Return a chart with a queue that leaves RAM for other variables; a behaviour as it is."""
        if not isinstance(unit_spec, ChartUnitSpec) or unit_spec.options.max_queued_events is not None:
            return unit_spec
        return replace(unit_spec, options=replace(unit_spec.options, max_queued_events=BOARD_QUEUE))

    def sources(self, unit_spec: UnitSpec) -> tuple[SourceFile, ...]:
        """Return the board's own files and the user's.

        Raises:
            InputError: a file of the unit has the name of one of the board's.
        """
        fixed_files = (*read_package_sources(__package__, BOARD_SOURCES), *serial_link())
        board_files = (*fixed_files, SourceFile(HOOKS, tuple(_hook_lines(unit_spec)), keep=True))
        conflicts = {file.name for file in unit_spec.sources()} & {file.name for file in board_files}
        if conflicts:
            raise InputError(
                f"a generated file and one of the board's are both called {', '.join(sorted(conflicts))}",
                hint="give the chart or behaviour another name",
            )
        return board_files

    def build(self, folder: Path) -> BuildResult:
        """Build the program of a folder: `image.elf`, `image.bin` and `image.map` in its `build`.

        Raises:
            CompileError: a file does not compile.
            InputError: a file is missing, or the image does not fit the chip.
            UnavailableError: there is no compiler.
        """
        names = sorted(path.name for path in folder.glob("*.c"))
        if "startup.c" not in names or "unit.c" not in names:
            raise InputError(
                f"there is no program for a CM-900 in {folder}", hint="posewright board generate makes one"
            )
        compile_sources(folder, names)
        linked = link_image(folder, names, "image")
        return replace(linked, image=write_binary(linked.elf))

    def flash_command(self, image: Path, port: str | None) -> tuple[str, ...]:
        """Return the command that flashes a built program onto a real board over USB.

        It is the loader of ROBOTIS, with the arguments of `tools.opencm_ld.upload.pattern` in platform.txt of
        github.com/ROBOTIS-GIT/OpenCM9.04: port, speed, file, 1 to start it, `opencm`. Not certain: that
        file is of the OpenCM9.04, whose USB port calls itself a CM-900 as the older board's does. With an
        ST-Link `st-flash --reset write image.bin 0x08003000` does the same and leaves the bootloader alone.

        Raises:
            InputError: no port was named.
        """
        if port is None:
            raise InputError("a CM-900 is flashed over a serial port", hint="--port /dev/ttyACM0, or COM3")
        return ("opencm9.04_ld", port, "57600", str(image), "1", "opencm")


class _RecordField(NamedTuple):
    """A field of a record: its name and its type."""

    name: str
    dtype: np.dtype[np.generic]


def _list_fields(record_dtype: np.dtype[np.void]) -> list[_RecordField]:
    """Return the fields of a record in order."""
    fields = record_dtype.fields
    if not fields:
        return []
    return [_RecordField(name, fields[name][0]) for name in record_dtype.names or ()]


def _hook_lines(unit_spec: UnitSpec) -> Iterator[str]:
    """Yield the lines of `board_hooks.c`, a proposal for the user to change."""
    fields = _list_fields(unit_spec.input_dtype)
    events = unit_spec.chart.events if isinstance(unit_spec, ChartUnitSpec) else ()
    constants = offset_constants(unit_spec.input_dtype, IN)
    read_lines = list(_read_lines(fields, constants, events))
    name = unit_spec.name
    yield f"/* Yours: where {name} gets its inputs from, and what it does. It is never written over."
    yield " *"
    yield " * As it comes, inputs are read from analogue channels, PA0, PA1, PA4 to PA7, PB0, PB1 in turn:"
    yield " * one of a single byte is 1 where that is past THRESHOLD, an event at the tick at which it has"
    yield " * got there. A wider one is what was measured, 0 to 4095 for 0 to 3.3 V, until you turn it into"
    yield " * what unit.h says of it. While hooks_are_filled is false nothing moves; the lamp blinks fast."
    yield " */"
    yield from ('#include "board.h"', "", "#include <string.h>", "")
    are_single_bytes = all(field.dtype.itemsize == 1 for field in fields)
    is_filled = len(fields) <= len(_SENSOR_CHANNELS) and are_single_bytes
    note = "" if is_filled else " /* say true once every input is right */"
    yield from (f"const bool hooks_are_filled = {str(is_filled).lower()};{note}", "")
    if read_lines:
        yield from ("#define THRESHOLD 2048U /* of 4095, which is 3.3 V */", "")
    if any("has_come" in line for line in read_lines):
        yield from _HAS_COME.splitlines()
    yield from ("void hook_begin(void)", "{")
    for channel in _SENSOR_CHANNELS[: len(fields)]:
        port, pin = ("A", channel) if channel < 8 else ("B", channel - 8)
        yield f"    board_pin_mode(BOARD_PORT_{port}, {pin}U, BOARD_PIN_ANALOGUE);"
    yield from ("}", "", "/* Fill a record of inputs. */", "void hook_inputs(uint8_t *input)", "{")
    yield from read_lines or ["    (void)input; /* there are none */"]
    yield from (
        "}",
        "",
        "/*",
        " * Do what a record of states says; unit.h has names for its bytes. For example:",
        " *",
    )
    yield f" *   board_set_pin(BOARD_PORT_B, 12U, state[{_choose_example_constant(unit_spec)}] != 0U);"
    yield " *"
    yield " * after a board_pin_mode(BOARD_PORT_B, 12U, BOARD_PIN_OUTPUT) in hook_begin."
    yield from (" */", "void hook_tick(const uint8_t *state)", "{", "    (void)state;", "}")


def _choose_example_constant(unit_spec: UnitSpec) -> str:
    """Return the C constant with the offset of a byte in a record of states, for an example in a comment.

    It is that of the first output of a single byte, else that of the status.
    """
    outputs = unit_spec.chart.outputs if isinstance(unit_spec, ChartUnitSpec) else ()
    constants = offset_constants(unit_spec.state_dtype, STATE, dict.fromkeys(outputs, OUT))
    sizes = {field.name: field.dtype.itemsize for field in _list_fields(unit_spec.state_dtype)}
    example = next((name for name in outputs if sizes.get(name) == 1), next(iter(constants)))
    return constants[example]


def _read_lines(
    fields: Sequence[_RecordField], constants: Mapping[str, str], events: Sequence[str]
) -> Iterator[str]:
    """Yield the lines of C that fill a record of inputs from analogue channels.

    Args:
        fields: the fields of the record.
        constants: the constant of C with the offset of each field.
        events: names of the fields that are events, which come when their pin gets past a threshold.
    """
    n_events = 0  # so far
    for index, (name, dtype) in enumerate(fields):
        if name in events and index < len(_SENSOR_CHANNELS):
            channel = _SENSOR_CHANNELS[index]
            yield f"    static bool was_past_{n_events};"
            yield f"    input[{constants[name]}] = has_come({channel}U, &was_past_{n_events});"
            n_events += 1
        else:
            yield from _read_input_lines(constants[name], dtype, index)


def _read_input_lines(offset: str, dtype: np.dtype[np.generic], index: int) -> list[str]:
    """Return the lines that fill one input from an analogue channel; with zeros if no channel is left.

    Args:
        offset: the constant of C with the offset of the input in its record.
        dtype: type of the input in the record.
        index: index of the input, and of its channel in `_SENSOR_CHANNELS`.
    """
    is_number = dtype.kind in "uif" and not dtype.shape
    if index >= len(_SENSOR_CHANNELS) or not is_number:
        return [f"    memset(&input[{offset}], 0, {dtype.itemsize}U); /* from nowhere yet */"]
    measured = f"board_analogue({_SENSOR_CHANNELS[index]}U)"
    if dtype.itemsize == 1:
        return [f"    input[{offset}] = ({measured} > THRESHOLD) ? 1U : 0U;"]
    c_types = {"f4": "float", "f8": "double", "i2": "int16_t", "u2": "uint16_t", "i4": "int32_t"}
    kind_and_size = f"{dtype.kind}{dtype.itemsize}"
    c_type = c_types.get(kind_and_size, f"uint{8 * dtype.itemsize}_t")
    return [
        "    {",
        f"        {c_type} measured = ({c_type}){measured};",
        f"        memcpy(&input[{offset}], &measured, sizeof(measured));",
        "    }",
    ]
