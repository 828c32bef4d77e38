"""A target: what generated code is built for, and how it gets onto the board."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from posewright.codegen.unit import SourceFile, Subject, read_package_sources
from posewright.documents import write_atomically

BOARD_QUEUE = 64
"""Raised events that may wait at once on a board; more RAM is not given to what sound charts never do."""


@dataclass(frozen=True)
class Built:
    """What was built.

    Attributes:
        image: what is flashed, or loaded.
        elf: the same with its names.
        parts: flash and RAM by part, in bytes; empty where nobody counts them.
    """

    image: Path
    elf: Path
    parts: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def flash_bytes(self) -> int:
        """Code, constants and first values of variables."""
        return sum(flash for flash, _ in self.parts.values())

    @property
    def ram_bytes(self) -> int:
        """Variables, without the stack."""
        return sum(ram for _, ram in self.parts.values())


class Target(Protocol):
    """Something that units are generated, built and flashed for; one folder of `targets/` each."""

    def fitted(self, subject: Subject) -> Subject:
        """Return a subject as it is written for the target's compiler and memory."""

    def sources(self, subject: Subject) -> tuple[SourceFile, ...]:
        """Return the files that go with the subject's: the board's own, and the user's, which are kept.

        Raises:
            InputError: the target cannot keep what the document promises.
        """

    def build(self, folder: Path) -> Built:
        """Compile what was generated into a folder.

        Raises:
            UnavailableError: a compiler is missing; the hint names the package.
            CompileError: it refuses a file.
            InputError: the folder holds nothing that was generated for it, or it does not fit.
        """

    def flash_command(self, image: Path, port: str | None) -> Sequence[str]:
        """Return the command that puts a built image onto a real board.

        Raises:
            InputError: nothing can be flashed, or no port was named and it needs one.
        """


def serial_link() -> tuple[SourceFile, ...]:
    """Return a board's half of the serial line."""
    return read_package_sources("posewright.codegen.targets", ("link.h", "link.c"))


def write_sources(sources: Iterable[SourceFile], folder: Path) -> None:
    """Write files into a folder; those that belong to the user only where they are missing.

    Raises:
        OutputError: they cannot be written there.
    """
    for file in sources:
        path = folder / file.name
        if not (file.keep and path.exists()):
            write_atomically(path, file.text.encode(), durable=False)


def built(target: Target, subject: Subject, folder: Path) -> Built:
    """Return what a subject becomes when it is generated and built in a folder."""
    subject = target.fitted(subject)
    write_sources((*subject.sources(), *target.sources(subject)), folder)
    return target.build(folder)
