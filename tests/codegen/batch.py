"""Many units as one, so that a board is built and started once for all of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from posewright.codegen.c.offsets import IN, offset_constants, offset_lines
from posewright.codegen.unit import Executable, Records, SourceFile, UnitSpec

_OWN = re.compile(
    r"^ *(?:static\b[^(=;\[]*?\b(\w+) *[(=;\[]|# *define (\w+)|typedef [^{;]*?(\w+);|} (\w+);)", re.MULTILINE
)
"""What a C file defines for itself: functions, variables, constants and types."""
_NAMES = re.compile(r"\b(unit_reset|unit_load|unit_step|UNIT_\w+)\b")


@dataclass(frozen=True, eq=False)
class BatchSubject:
    """Units side by side; the first byte of an input record says which one takes the tick."""

    members: Sequence[UnitSpec]
    name: str = "batch"

    @cached_property
    def input_dtype(self) -> np.dtype[np.void]:
        """Which member, and its input record, filled up."""
        size = max(one.input_dtype.itemsize for one in self.members)
        return np.dtype([("member", "u1"), ("record", "u1", (size,))])

    @cached_property
    def state_dtype(self) -> np.dtype[np.void]:
        """The member's state record, filled up."""
        size = max(one.state_dtype.itemsize for one in self.members)
        return np.dtype([("status", "u1"), ("rest", "u1", (size - 1,))])

    @property
    def documents(self) -> dict[str, str]:
        """None: they are drawn."""
        return {}

    def reference(self) -> Executable:
        """A batch is no chart: its members are proved."""
        raise NotImplementedError

    def sources(self) -> tuple[SourceFile, ...]:
        """Return the sources of all, each with names of its own, and the unit that asks one of them."""
        headers: list[SourceFile] = []
        together: list[str] = []  # the compiler takes as long to start as to compile a small file
        for number, member in enumerate(self.members):
            for source in member.sources():
                lines = tuple(_renamed(line, number) for line in source.lines)
                if source.name.endswith(".c"):
                    together += _private("\n".join(lines), f"{source.name[0]}{number}").splitlines()
                else:
                    headers.append(SourceFile(re.sub(r"^unit", f"unit_{number}", source.name), lines))
        return (*headers, SourceFile("members.c", tuple(together)), self._header(), self._unit())

    def _header(self) -> SourceFile:
        sizes = {"INPUT_BYTES": self.input_dtype.itemsize, "STATE_BYTES": self.state_dtype.itemsize}
        lines = ["#ifndef UNIT_H", "#define UNIT_H", "#include <stdint.h>", '#define UNIT_NAME "batch"']
        lines += ["#define UNIT_PERIOD_US 100000UL"]
        lines += [f"#define UNIT_{name} {size}U" for name, size in sizes.items()]
        lines += offset_lines(self.input_dtype, offset_constants(self.input_dtype, IN), {})
        lines += ["void unit_reset(void);", "void unit_load(const uint8_t *state);"]
        lines += ["void unit_step(const uint8_t *input, uint8_t *state);", "#endif"]
        return SourceFile("unit.h", tuple(lines))

    def _unit(self) -> SourceFile:
        numbers = range(len(self.members))
        lines = ['#include "unit.h"', "#include <string.h>"]
        lines += [f"void unit_{k}_reset(void);" for k in numbers]
        lines += [f"void unit_{k}_step(const uint8_t *input, uint8_t *state);" for k in numbers]
        lines += ["void unit_reset(void)", "{", *(f"    unit_{k}_reset();" for k in numbers), "}"]
        lines += ["void unit_load(const uint8_t *state)", "{", "    (void)state;", "}"]
        lines += ["void unit_step(const uint8_t *input, uint8_t *state)", "{"]
        lines += ["    (void)memset(state, 0, UNIT_STATE_BYTES);", "    switch (input[0]) {"]
        for k in numbers:
            lines += [f"    case {k}U:", f"        unit_{k}_step(&input[1], state);", "        break;"]
        lines += ["    default:", "        break;", "    }", "}"]
        return SourceFile("unit.c", tuple(lines))


def _private(text: str, mark: str) -> str:
    """Return a C file whose own names no other file of the batch has."""
    own = "|".join(sorted({name for found in _OWN.findall(text) for name in found if name}))
    return re.sub(rf"(?<![.>\w])({own})\b", rf"\1_{mark}", text) if own else text


def _renamed(line: str, number: int) -> str:
    line = line.replace('"unit.h"', f'"unit_{number}.h"')
    return _NAMES.sub(lambda found: found[0][:4] + f"_{number}" + found[0][4:], line)


@dataclass(frozen=True, eq=False)
class Member:
    """One unit of a batch, as if it were alone."""

    batch: BatchSubject
    executable: Executable
    number: int

    def reset(self) -> None:
        """Reset all of them."""
        self.executable.reset()

    def run(self, inputs: Records) -> Records:
        """Let this one take a tick for each record."""
        unit_spec = self.batch.members[self.number]
        records = np.zeros(len(inputs), self.batch.input_dtype)
        records["member"] = self.number
        size = unit_spec.input_dtype.itemsize
        records["record"][:, :size] = np.ascontiguousarray(inputs).view(np.uint8).reshape(-1, size)
        states = np.ascontiguousarray(self.executable.run(records)).view(np.uint8)
        own = states.reshape(len(inputs), -1)[:, : unit_spec.state_dtype.itemsize]
        return np.ascontiguousarray(own).view(unit_spec.state_dtype)[:, 0]

    def close(self) -> None:
        """Nothing: the batch is closed as one."""
