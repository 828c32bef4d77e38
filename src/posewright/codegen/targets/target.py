"""A target: what generated code is built for, and how it gets onto the board."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from posewright.codegen.unit import SourceFile, Subject


class TargetImage(Protocol):
    """What was built."""

    @property
    def elf(self) -> Path:
        """The program or library, with its names."""

    @property
    def parts(self) -> Mapping[str, tuple[int, int]]:
        """Flash and RAM by part, in bytes; empty where nobody counts them."""


class Target(Protocol):
    """Something that units are generated, built and flashed for; one folder of `targets/` each."""

    @property
    def name(self) -> str:
        """As a person names it: `arduino-uno`."""

    def sources(self, subject: Subject) -> tuple[SourceFile, ...]:
        """Return the files that go with the subject's: the board's own, and the user's, which are kept.

        Raises:
            InputError: the target cannot keep what the document promises.
        """

    def build(self, folder: Path) -> TargetImage | tuple[Path, ...]:
        """Compile what was generated into a folder; return the image, or what is flashed and then the ELF.

        Raises:
            UnavailableError: a compiler is missing; the hint names the package.
            InputError: the folder holds nothing that was generated for it, or it does not fit.
        """

    def flash_command(self, image: Path, port: str | None) -> Sequence[str]:
        """Return the command that puts an image, the first that was built, onto a real board.

        Raises:
            InputError: nothing can be flashed, or no port was named and it needs one.
        """
