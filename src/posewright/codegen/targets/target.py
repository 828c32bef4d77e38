"""A target: what generated code is built for, and how it gets onto the board."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from posewright.codegen.unit import SourceFile, Subject


class Target(Protocol):
    """Something that units are generated, built and flashed for; one folder of `targets/` each."""

    @property
    def name(self) -> str:
        """As a person names it: `arduino-uno`."""

    @property
    def about(self) -> str:
        """What it is, in a few words, for lists."""

    def sources(self, subject: Subject) -> tuple[SourceFile, ...]:
        """Return the board's own files that go with those of the unit: its main program, drivers, hooks."""

    def build(self, folder: Path) -> tuple[Path, ...]:
        """Compile what was generated into a folder; return the images, the one to flash first.

        Raises:
            UnavailableError: a compiler is missing; the hint names the package.
            InputError: the folder holds nothing that was generated for it.
        """

    def flash_command(self, image: Path, port: str | None) -> Sequence[str]:
        """Return the command that puts an image onto a real board.

        Raises:
            InputError: it needs a port and there is none, or nothing can be flashed.
        """
