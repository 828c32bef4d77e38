"""The interface of targets, for which code is generated, build_unit and flashed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from posewright.codegen.unit import PartSize, SourceFile, UnitSpec, read_package_sources
from posewright.documents import write_atomically

BOARD_QUEUE = 64
"""Greatest number of waiting events on a board, which sound charts never reach."""


@dataclass(frozen=True)
class BuildResult:
    """The result of a build.

    Attributes:
        image: the file that is flashed, or loaded.
        elf: the same with symbols.
        parts: flash and RAM by part [bytes]; empty where they are not counted.
    """

    image: Path
    elf: Path
    parts: Mapping[str, PartSize] = field(default_factory=dict)

    @property
    def flash_bytes(self) -> int:
        """Code, constants and first values of variables."""
        return sum(size.flash_bytes for size in self.parts.values())

    @property
    def ram_bytes(self) -> int:
        """Variables, without the stack."""
        return sum(size.ram_bytes for size in self.parts.values())


class Target(Protocol):
    """A target for which units are generated, build_unit and flashed; each has a folder in `targets/`."""

    def adapt(self, unit_spec: UnitSpec) -> UnitSpec:
        """Return a unit specification with the options for the target's compiler and memory."""

    def sources(self, unit_spec: UnitSpec) -> tuple[SourceFile, ...]:
        """Return the files besides the unit's: the board's own, and the user's, which are not overwritten.

        Raises:
            InputError: the target cannot run the unit.
        """

    def build(self, folder: Path) -> BuildResult:
        """Compile the files generated in a folder.

        Raises:
            UnavailableError: a compiler is missing; the hint names the package.
            CompileError: the compiler reports errors.
            InputError: nothing was generated for the target in the folder, or the image does not fit.
        """

    def flash_command(self, image: Path, port: str | None) -> Sequence[str]:
        """Return the command that flashes a build_unit image onto a real board.

        Raises:
            InputError: the target cannot be flashed, or needs a port.
        """


def serial_link() -> tuple[SourceFile, ...]:
    """Return the board's code of the serial line."""
    return read_package_sources("posewright.codegen.targets", ("link.h", "link.c"))


def write_sources(sources: Iterable[SourceFile], folder: Path) -> None:
    """Write files into a folder; the user's files only where they are missing.

    Raises:
        OutputError: they cannot be written there.
    """
    for file in sources:
        path = folder / file.name
        if not (file.keep and path.exists()):
            write_atomically(path, file.text.encode(), durable=False)


def build_unit(target: Target, unit_spec: UnitSpec, folder: Path) -> BuildResult:
    """Generate a unit into a folder, build it, and return the result."""
    unit_spec = target.adapt(unit_spec)
    write_sources((*unit_spec.sources(), *target.sources(unit_spec)), folder)
    return target.build(folder)
