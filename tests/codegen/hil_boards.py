"""Boards for tests: `link.c` itself, compiled for this computer, with a chart that the interpreter steps."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

import posewright.codegen.targets
from posewright.charts import Chart, EnumType, Interpreter, Snapshot, Type
from posewright.codegen.unit import Executable, Records, SourceFile

TARGETS = Path(posewright.codegen.targets.__file__).parent
CODES = {"bool": "u1", "int8": "i1", "uint8": "u1", "int16": "<i2", "uint16": "<u2", "int32": "<i4"}
CODES |= {"float32": "<f4", "float64": "<f8"}


class TestedChart:
    """A chart as a subject, by the letter of the contract and not by the generator."""

    __test__ = False

    def __init__(self, chart: Chart) -> None:
        self.chart, self.name = chart, chart.name
        self.machine = Interpreter(chart).machine
        nodes = (len(self.machine.nodes) + 7) // 8
        events = [(name, "u1") for name in chart.events]
        self.inputs = np.dtype([(k, CODES[v.storage]) for k, v in chart.inputs.items()] + events)
        kept = [(name, CODES[self.machine.types[name].storage]) for name in self.machine.registers]
        past = [(f"history {k}", "u1", (nodes,)) for k in range(len(self.machine.history))]
        self.states = np.dtype([("status", "u1"), ("active", "u1", (nodes,)), *kept, *past])
        self.documents: Mapping[str, str] = {}

    def sources(self) -> tuple[SourceFile, ...]:
        raise NotImplementedError

    def reference(self) -> Executable:
        return Interpreted(self)


class Interpreted:
    """The chart in the interpreter, record by record."""

    def __init__(self, subject: TestedChart, *, wrong_at: int = -1) -> None:
        self.subject, self.wrong_at = subject, wrong_at
        self.interpreter = Interpreter(subject.chart)
        self.reset()

    def reset(self) -> None:
        self.state = self.interpreter.initial()
        self.ticks = 0

    def run(self, inputs: Records) -> Records:
        return np.array([self._one(record) for record in inputs], self.subject.states)

    def close(self) -> None:
        pass

    def _one(self, record: np.void) -> tuple[object, ...]:
        chart = self.subject.chart
        given = {name: _value(kind, record[name]) for name, kind in chart.inputs.items()}
        given |= {name: bool(record[name]) for name in chart.events}
        self.state = self.interpreter.step(self.state, given)
        self.ticks += 1
        if self.ticks == self.wrong_at:
            self.state = self.interpreter.initial()
        return self._told(self.state)

    def _told(self, state: Snapshot) -> tuple[object, ...]:
        count = len(self.subject.machine.nodes)
        types = self.subject.machine.types
        values = (_code(types[name], value) for name, value in state.registers.items())
        past = (_bitmap(count, numbers) for numbers in state.history)
        return (0, _bitmap(count, (0, *state.numbers)), *values, *past)


def _value(kind: Type, stored: np.generic) -> object:
    return kind.values[int(stored)] if isinstance(kind, EnumType) else kind.fit(stored.item())


def _code(kind: Type, value: object) -> object:
    return kind.codes[str(value)] if isinstance(kind, EnumType) else value


def _bitmap(count: int, numbers: tuple[int, ...]) -> np.ndarray:
    bits = np.zeros((count + 7) // 8 * 8, np.uint8)
    bits[list(numbers)] = 1
    return np.packbits(bits, bitorder="little")


UNIT_H = """
#include <stdint.h>
#define UNIT_NAME "{name}"
#define UNIT_PERIOD_US {period}UL
#define UNIT_INPUT_BYTES {inputs}U
#define UNIT_STATE_BYTES {states}U
void unit_reset(void);
"""
BESIDE = """
#include "link.h"
#include "unit.h"
static void (*put)(uint8_t);
static void (*reset)(void);
void wire(void (*p)(uint8_t), void (*r)(void));
void wire(void (*p)(uint8_t), void (*r)(void)) { put = p; reset = r; }
void link_put(uint8_t byte) { put(byte); }
void unit_reset(void) { reset(); }
"""
STRICT = ("-std=c99", "-O1", "-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror")


def compile_link(folder: Path, name: str, inputs: int, states: int, period_us: int = 100_000) -> Path:
    """Compile `link.c` for a unit with records of so many bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "unit.h").write_text(
        UNIT_H.format(name=name, period=period_us, inputs=inputs, states=states), encoding="utf-8"
    )
    (folder / "beside.c").write_text(BESIDE, encoding="utf-8")
    made, own = folder / "link.so", f"-I{folder}"
    files = (str(TARGETS / "link.c"), str(folder / "beside.c"))
    command = ("gcc", *STRICT, "-shared", "-fPIC", f"-I{TARGETS}", own, *files, "-o", str(made))
    subprocess.run(command, check=True)
    return made


class HostBoard:
    """`link.c` with a unit: bytes in, bytes out, no time of its own."""

    def __init__(self, library: Path, unit: Executable, inputs: np.dtype, states: np.dtype) -> None:
        self.unit, self.inputs, self.states = unit, inputs, states
        self.out, self.steps, self.resets = bytearray(), 0, 0
        self.is_alive = True
        self._c = ctypes.CDLL(str(library))
        self._put = ctypes.CFUNCTYPE(None, ctypes.c_uint8)(self.out.append)
        self._reset = ctypes.CFUNCTYPE(None)(self._unit_reset)
        self._c.wire(self._put, self._reset)
        self._c.link_take.restype = self._c.link_is_greeted.restype = ctypes.c_bool
        self.press_reset()

    def send(self, data: bytes) -> None:
        for byte in data if self.is_alive else b"":
            self._c.link_receive(byte)
            self.work()

    def work(self) -> None:
        """Take the step that is asked for, if one is."""
        record, sequence = ctypes.create_string_buffer(max(1, self.inputs.itemsize)), ctypes.c_uint8()
        if self._c.link_take(record, ctypes.byref(sequence)):
            self.steps += 1
            given = np.frombuffer(record.raw[: self.inputs.itemsize], self.inputs)
            self._c.link_reply(sequence, self.unit.run(given)[0].tobytes())

    def advance(self, seconds: float) -> bytes:  # noqa: ARG002
        told = bytes(self.out)
        self.out.clear()
        return told

    def press_reset(self) -> None:
        self.out.clear()
        self.unit.reset()
        self._c.link_init()

    def close(self) -> None:
        self.is_alive = False

    def _unit_reset(self) -> None:
        self.resets += 1
        self.unit.reset()


def host_board(
    folder: Path, subject: TestedChart, make: Callable[..., Executable] = Interpreted
) -> HostBoard:
    """Return a board of this computer's with a chart on it."""
    sizes = (subject.inputs.itemsize, subject.states.itemsize)
    library = compile_link(folder, subject.name, *sizes)
    return HostBoard(library, make(subject), subject.inputs, subject.states)
