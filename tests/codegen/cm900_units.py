"""Units written by hand for the tests of the CM-900: they count, calculate, hang."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from posewright.codegen.c.offsets import IN, STATE, offset_constants, offset_lines
from posewright.codegen.targets import write_sources
from posewright.codegen.targets.cm900.board import EmulatedCm900
from posewright.codegen.targets.cm900.target import Cm900
from posewright.codegen.unit import Executable, SourceFile, UnitSpec

HEADER = """\
#ifndef UNIT_H
#define UNIT_H
#include <stdint.h>
#define UNIT_NAME "{name}"
#define UNIT_PERIOD_US {period_us}UL
#define UNIT_INPUT_BYTES {inputs}U
#define UNIT_STATE_BYTES {states}U
{more}
void unit_reset(void);
void unit_step(const uint8_t *input, uint8_t *state);
#endif
"""

PACKETS = """\
#define UNIT_PACKET_BYTES 8U
uint16_t unit_packet(uint8_t *packet);
void unit_late(void);"""

COUNTING = """\
#include "unit.h"
static uint8_t steps, late;
void unit_reset(void) { steps = 0U; late = 0U; }
void unit_late(void) { late++; }
uint16_t unit_packet(uint8_t *packet)
{
    for (uint8_t k = 0U; k < 6U; k++) { packet[k] = k; }
    packet[6] = late;
    packet[7] = steps;
    return UNIT_PACKET_BYTES;
}
void unit_step(const uint8_t *input, uint8_t *state)
{
    steps++;
    WORK
    state[0] = 0U;
    state[1] = steps;
    state[2] = input[0];
}
"""
"""Its packets are 0 1 2 3 4 5, how often it was late, how many steps it took."""

COUNTS = np.dtype([("status", "u1"), ("steps", "u1"), ("input", "u1")])
BYTE = np.dtype([("input", "u1")])


class WrittenUnit:
    """A unit written by hand."""

    def __init__(
        self,
        source: str,
        inputs: np.dtype = BYTE,
        states: np.dtype = COUNTS,
        *,
        name: str = "written",
        period_us: int = 10_000,
        more: str = "",
    ) -> None:
        self.name, self.input_dtype, self.state_dtype = name, inputs, states
        self.documents: Mapping[str, str] = {}
        header = HEADER.format(
            name=name, period_us=period_us, inputs=inputs.itemsize, states=states.itemsize, more=more
        )
        header = header.replace("#endif", "\n".join([*self._offsets(), "#endif"]))
        self._files = {"unit.h": header, "unit.c": source}

    def _offsets(self) -> Iterator[str]:
        yield from offset_lines(self.input_dtype, offset_constants(self.input_dtype, IN), {})
        yield from offset_lines(self.state_dtype, offset_constants(self.state_dtype, STATE), {})

    def sources(self) -> tuple[SourceFile, ...]:
        return tuple(SourceFile(name, tuple(text.splitlines())) for name, text in self._files.items())

    def reference(self) -> Executable:
        raise NotImplementedError


def counting(work: str = "", period_us: int = 10_000, inputs: np.dtype = BYTE) -> WrittenUnit:
    """Return a unit that counts its steps and sends packets; `work` is what else a step does."""
    return WrittenUnit(COUNTING.replace("WORK", work), inputs, more=PACKETS, period_us=period_us)


def board_with(unit_spec: UnitSpec, folder: Path, changes: Mapping[str, tuple[str, str]] = {}) -> Path:
    """Build the image of a board, with a text of some files replaced by another; return the image."""
    target = Cm900()
    write_sources((*unit_spec.sources(), *target.sources(unit_spec)), folder)
    for name, (old, new) in changes.items():
        text = (folder / name).read_text()
        assert old in text
        (folder / name).write_text(text.replace(old, new))
    return target.build(folder).elf


def packets(board: EmulatedCm900) -> list[tuple[float, bytes]]:
    """Return when packets of the counting unit began to leave, and their bytes."""
    sent = board.bus()
    assert len(sent) % 8 == 0
    return [(sent[k][0] - 10e-6, bytes(byte for _, byte in sent[k : k + 8])) for k in range(0, len(sent), 8)]
