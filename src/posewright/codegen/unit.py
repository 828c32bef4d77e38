"""A unit: what is generated, run on a processor and proved there, be it a chart or a whole behaviour.

Generated code always offers the same four names, so that whatever runs it knows nothing of charts:

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
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Records: TypeAlias = NDArray[np.void]
"""Records of a structured dtype, one a tick, `(n_ticks,)`."""


@dataclass(frozen=True)
class Element:
    """What a generated line is for: an element of a document.

    Attributes:
        kind: what it is: `state`, `transition`, `expression`, `variable`, `event`, `promise`, `motion`, ...
        name: of it, as a person would say it: `walking`, `walking -> turning_left`.
        line: where it stands in the document, counted from 1; None where that is not known.
    """

    kind: str
    name: str
    line: int | None = None


@dataclass(frozen=True)
class SourceFile:
    """A generated file.

    Attributes:
        name: relative to the folder it is written into.
        lines: its text, without line ends.
        elements: what each line is for; None for lines that belong to nothing in particular, `(n_lines,)`.
        keep: whether it belongs to the user once it is there: it is written where it is missing only.
    """

    name: str
    lines: tuple[str, ...]
    elements: tuple[Element | None, ...] = ()
    keep: bool = False

    @property
    def text(self) -> str:
        """Its text."""
        return "\n".join(self.lines) + "\n"


def shipped(package: str, names: Iterable[str]) -> tuple[SourceFile, ...]:
    """Return C files that are in a package."""
    room = resources.files(package)
    return tuple(SourceFile(name, tuple((room / name).read_text("utf-8").splitlines())) for name in names)


class Subject(Protocol):
    """What can be generated and proved: a chart, or a behaviour with all it plays."""

    @property
    def name(self) -> str:
        """Of the chart or behaviour, as an identifier of C."""

    @property
    def inputs(self) -> np.dtype[np.void]:
        """One record of inputs: packed, little-endian."""

    @property
    def states(self) -> np.dtype[np.void]:
        """One record of what is compared after a tick: packed, little-endian; it begins with `status`, u1."""

    @property
    def documents(self) -> Mapping[str, str]:
        """Texts of the documents it comes from, by name, for the note of what made a file."""

    def sources(self) -> tuple[SourceFile, ...]:
        """Return the C sources, `unit.h` and `unit.c` among them.

        Raises:
            InputError: the target cannot keep what the document promises; the hint says what to change.
        """

    def reference(self) -> Executable:
        """Return what it is proved against: the interpreter."""


class Executable(Protocol):
    """Something that runs a unit: the interpreter, a library on this computer, an emulated board."""

    def reset(self) -> None:
        """Go back to before the first tick."""

    def run(self, inputs: Records) -> Records:
        """Take one tick for each record of inputs and return the state after each, going on from before."""

    def close(self) -> None:
        """Let go of processes and files."""


@dataclass(frozen=True)
class Footprint:
    """What a unit needs on a target.

    Attributes:
        flash_bytes: code and constants of the unit itself; `image_flash_bytes` with the board's own code.
        ram_bytes: variables of the unit itself; `image_ram_bytes` with the board's own, without the stack.
        stack_bytes: deepest seen while it ran; None where that cannot be seen.
        step_cycles_mean: of one tick; instructions where the emulator counts no cycles.
        counts: what the steps are counted in: `cycles` or `instructions`.
        parts: flash and RAM by part, for the map of who uses what.
    """

    flash_bytes: int
    ram_bytes: int
    image_flash_bytes: int | None = None
    image_ram_bytes: int | None = None
    stack_bytes: int | None = None
    step_cycles_mean: float | None = None
    step_cycles_worst: int | None = None
    counts: str = "cycles"
    parts: Mapping[str, tuple[int, int]] | None = None


class Measured(Executable, Protocol):
    """An executable that knows what it needs."""

    def footprint(self) -> Footprint:
        """Return what it needs, with the steps taken so far."""


class EmulatedBoard(Protocol):
    """A board with a serial line whose time goes on only when it is told to; a real board waits instead."""

    def send(self, data: bytes) -> None:
        """Put bytes on the line to the board."""

    def advance(self, seconds: float) -> bytes:
        """Let the board's time go on and return what it has sent meanwhile."""

    def press_reset(self) -> None:
        """Press the board's reset button."""

    def close(self) -> None:
        """Switch it off."""
