"""Boards for tests: `link.c` itself, compiled for this computer, with a unit that the interpreter steps."""

from __future__ import annotations

import ctypes
import os
import pty
import select
import subprocess
import threading
import tty
from pathlib import Path
from typing import Any

import numpy as np

import posewright.codegen.targets
from posewright.codegen.unit import Executable, Records, UnitSpec
from posewright.recordings.falls import tilt
from posewright.runs import Outcome

TARGETS = Path(posewright.codegen.targets.__file__).parent

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
    made = folder / f"{name}.so"
    if made.exists():
        return made
    (folder / "unit.h").write_text(
        UNIT_H.format(name=name, period=period_us, inputs=inputs, states=states), encoding="utf-8"
    )
    (folder / "beside.c").write_text(BESIDE, encoding="utf-8")
    own = f"-I{folder}"
    files = (str(TARGETS / "link.c"), str(folder / "beside.c"))
    command = ("gcc", *STRICT, "-shared", "-fPIC", f"-I{TARGETS}", own, *files, "-o", str(made))
    subprocess.run(command, check=True)
    return made


class HostBoard:
    """`link.c` with a unit: bytes in, bytes out, no time of its own."""

    def __init__(self, library: Path, unit: Executable, inputs: np.dtype[Any], states: np.dtype[Any]) -> None:
        self.unit, self.input_dtype, self.state_dtype = unit, inputs, states
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
        record, sequence = ctypes.create_string_buffer(max(1, self.input_dtype.itemsize)), ctypes.c_uint8()
        if self._c.link_take(record, ctypes.byref(sequence)):
            self.steps += 1
            given = np.frombuffer(record.raw[: self.input_dtype.itemsize], self.input_dtype)
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


class Wrong:
    """An interpreter that takes no step at one of its ticks."""

    def __init__(self, right: Executable, tick: int) -> None:
        self._right, self._tick, self._ticks = right, tick, 0
        self._last: Records | None = None

    def reset(self) -> None:
        self._right.reset()

    def run(self, inputs: Records) -> Records:
        self._ticks += 1
        if self._ticks != self._tick or self._last is None:
            self._last = self._right.run(inputs)
        else:
            self._last = self._last.copy()
            self._last["active"] ^= 0xFF
        return self._last

    def close(self) -> None:
        self._right.close()


def host_board(folder: Path, unit_spec: UnitSpec, unit: Executable | None = None) -> HostBoard:
    """Return a board of this computer's with a chart on it."""
    library = compile_link(
        folder, unit_spec.name, unit_spec.input_dtype.itemsize, unit_spec.state_dtype.itemsize
    )
    return HostBoard(library, unit or unit_spec.reference(), unit_spec.input_dtype, unit_spec.state_dtype)


def stands(outcome: Outcome) -> bool:
    """Return whether the robot has stood all the time: it neither leant far nor sank."""
    base = outcome.recording.robot().base
    return bool(np.degrees(tilt(base)).max() < 30.0 and base[:, 2].min() > 0.9 * base[0, 2])


class Plugged:
    """A board at a pseudo-terminal: what a program sees of it is a serial port."""

    def __init__(self, board: HostBoard) -> None:
        self._board = board
        self._end, self._other = pty.openpty()
        tty.setraw(self._other)
        self.port = os.ttyname(self._other)
        self._is_in = True
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Plugged:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_in = False
        self._thread.join()
        os.close(self._end)
        os.close(self._other)

    def _serve(self) -> None:
        while self._is_in:
            if select.select([self._end], [], [], 0.02)[0]:
                self._board.send(os.read(self._end, 1024))
            if told := self._board.advance(0.0):
                os.write(self._end, told)
