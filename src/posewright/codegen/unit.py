"""Units: generated code of a chart or a behaviour, behind the same interface, and what runs them.

Generated code has the same interface for charts and behaviours:

```c
/* unit.h */
#define UNIT_NAME "obstacle_mealy"
#define UNIT_PERIOD_US 100000UL     /* time between two ticks */
#define UNIT_INPUT_BYTES 3U         /* of one record of inputs */
#define UNIT_STATE_BYTES 5U         /* of one record of states */
void unit_reset(void);
void unit_step(const uint8_t *input, uint8_t *state);   /* one tick */
```

Records are packed and little-endian, as NumPy's structured arrays of `inputs` and `states` are in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Records: TypeAlias = NDArray[np.void]
"""Records of a structured dtype, one a tick, `(n_ticks,)`."""


@dataclass(frozen=True)
class Element:
    """An element of a document, for which a line was generated.

    Attributes:
        kind: `state`, `transition`, `expression`, `variable`, `event`, `promise`, `motion`, ...
        name: the name of the element: `walking`, `walking -> turning_left`.
        line: the line of the document, from 1; None where it is not known.
    """

    kind: str
    name: str
    line: int | None = None


@dataclass(frozen=True)
class SourceFile:
    """A generated file.

    Attributes:
        name: path relative to the folder it is written into.
        lines: its text, without line ends.
        elements: the element of each line, None for lines of no element, `(n_lines,)`.
        keep: whether it belongs to the user, so that an existing file is not overwritten.
    """

    name: str
    lines: tuple[str, ...]
    elements: tuple[Element | None, ...] = ()
    keep: bool = False

    @property
    def text(self) -> str:
        """The lines as one text."""
        return "\n".join(self.lines) + "\n"


def field_offset(record_dtype: np.dtype[np.void], field_name: str) -> int:
    """Return the offset of a field from the begin of its record [bytes]."""
    fields: Mapping[str, Any] = record_dtype.fields or {}
    _field_dtype, offset, *_title = fields[field_name]
    return int(offset)


def read_package_sources(package: str, names: Iterable[str]) -> tuple[SourceFile, ...]:
    """Read C files that ship in a package."""
    folder = resources.files(package)
    return tuple(SourceFile(name, tuple((folder / name).read_text("utf-8").splitlines())) for name in names)


class UnitSpec(Protocol):
    """A chart, or a behaviour with its motions, for which code is generated and verified."""

    @property
    def name(self) -> str:
        """Name of the chart or behaviour as an identifier of C."""

    @property
    def input_dtype(self) -> np.dtype[np.void]:
        """The dtype of a record of inputs: packed, little-endian."""

    @property
    def state_dtype(self) -> np.dtype[np.void]:
        """The dtype of a record of the state after a tick: packed, little-endian; `status`, u1, is first."""

    @property
    def documents(self) -> Mapping[str, str]:
        """Texts of the documents it was read from, by name, for the comment at the top of a file."""

    def sources(self) -> tuple[SourceFile, ...]:
        """Return the C sources, `unit.h` and `unit.c` among them.

        Raises:
            InputError: C or the target cannot do what the document requires; the hint says what to change.
        """

    def reference(self) -> Executable:
        """Return the executable with which others are compared: the interpreter."""


class Executable(Protocol):
    """Runs a unit: the interpreter, a library on this computer, an emulated board."""

    def reset(self) -> None:
        """Return to the state before the first tick."""

    def run(self, inputs: Records) -> Records:
        """Take one tick for each record of inputs, from the present state, and return the states."""

    def close(self) -> None:
        """Release processes and files."""


class PartSize(NamedTuple):
    """The memory that a part of an image takes.

    Attributes:
        flash_bytes: code, constants and first values of variables.
        ram_bytes: variables, without the stack.
    """

    flash_bytes: int
    ram_bytes: int


@dataclass(frozen=True)
class Footprint:
    """Memory and time that a unit needs on a target.

    Attributes:
        flash_bytes: code and constants of the unit itself.
        ram_bytes: variables of the unit itself.
        image_flash_bytes: code and constants with the board's own code.
        image_ram_bytes: variables with the board's own, without the stack.
        stack_bytes: greatest depth measured; None where it was not measured.
        step_cycles_mean: mean of the ticks measured, in `step_unit`.
        step_cycles_worst: greatest of the ticks measured, in `step_unit`; it is not a bound.
        step_unit: `cycles`, or `instructions` where the emulator counts these, one as one cycle.
        parts: flash and RAM by part of the image; None where they were not counted.
    """

    flash_bytes: int
    ram_bytes: int
    image_flash_bytes: int | None = None
    image_ram_bytes: int | None = None
    stack_bytes: int | None = None
    step_cycles_mean: float | None = None
    step_cycles_worst: int | None = None
    step_unit: str = "cycles"
    parts: Mapping[str, PartSize] | None = None


@runtime_checkable
class Measured(Executable, Protocol):
    """An executable that measures its footprint."""

    def footprint(self) -> Footprint:
        """Return the footprint, with the times of the steps taken so far."""


class EmulatedBoard(Protocol):
    """A board with a serial line. An emulated board's time advances by `advance` only."""

    def send(self, data: bytes) -> None:
        """Send bytes to the board."""

    def advance(self, seconds: float) -> bytes:
        """Advance the board's time, or wait, and return the bytes that it sent meanwhile."""

    def press_reset(self) -> None:
        """Press the board's reset button."""

    def close(self) -> None:
        """Switch the board off, or release it."""
