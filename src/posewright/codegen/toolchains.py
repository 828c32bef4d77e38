"""Compilers and their like: found, run with a time limit, and what to install if they are not here."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from posewright.errors import InputError, UnavailableError, escape_unprintable

HOST = ("cc", "gcc", "clang")
"""Names of the compilers for this computer, the preferred one first."""

_AVR, _ARM = "gcc-avr avr-libc arduino-core-avr", "gcc-arm-none-eabi libnewlib-arm-none-eabi"
PACKAGES = {
    **dict.fromkeys(("cc", "gcc", "gcov"), "gcc"),
    **dict.fromkeys(("avr-gcc", "avr-g++", "avr-gcc-ar"), _AVR),
    **dict.fromkeys(("avr-nm", "avr-objcopy", "avr-size"), "binutils-avr"),
    **dict.fromkeys(("arm-none-eabi-gcc", "arm-none-eabi-objcopy"), _ARM),
    "as": "binutils",
    "avrdude": "avrdude",
    "Arduino core": "arduino-core-avr",
    "libsimavr": "libsimavr-dev libelf-dev",
}
"""The Debian packages that bring a program or a library."""

_ELSEWHERE = {"opencm9.04_ld": "it comes with ROBOTIS' package of the OpenCM9.04 for the Arduino IDE"}

STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-pedantic", "-ffp-contract=off")
"""Flags that everything generated has to be clean under; no product and sum are made one.

Tests add `-Werror`. A user's chart may hold conditions that contradict themselves, and gcc says so.
"""

PATIENCE_S = 120.0
"""Time after which a compiler is taken to hang [s]."""

_MOST_LINES = 6
_NOT_THERE = re.compile(r"cannot execute \W*([\w.+-]+)")
"""What a compiler says when the assembler or linker that it calls is missing."""


class TooLargeError(InputError):
    """What was generated does not fit the flash or the RAM of a board."""


_TELLING = re.compile(r"error:|will not fit|not within region|overflowed by")


class CompileError(InputError):
    """A compiler or linker refuses what it was given; the whole of what it says is `log`.

    Attributes:
        told: the lines of it that say what is wrong; each is a line of the error's text.
    """

    def __init__(self, message: str, log: str, told: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.log = log
        self.told = tuple(told)

    def __str__(self) -> str:
        return "\n".join((super().__str__(), *map(escape_unprintable, self.told)))


@dataclass(frozen=True)
class Compiler:
    """A compiler on this computer.

    Attributes:
        version: the first line of what it says of itself.
    """

    path: str
    version: str


@cache
def find_compiler() -> Compiler:
    """Return the compiler for this computer.

    Raises:
        UnavailableError: there is none; the hint names the Debian package that brings one.
    """
    path = next(filter(None, map(shutil.which, HOST)), None) or program(HOST[0])
    said = run_tool(path, "--version").splitlines()
    return Compiler(path, said[0] if said else path)


def program(name: str) -> str:
    """Return where a program is.

    Raises:
        UnavailableError: it is not on this computer; the hint names the Debian package that brings it.
    """
    found = shutil.which(name)
    if found is None:
        raise missing(name)
    return found


def missing(name: str) -> UnavailableError:
    """Return the error that says that a program or library is not here, and which package brings it."""
    hint = _ELSEWHERE.get(name) or f"apt install {PACKAGES.get(name, name)}"
    return UnavailableError(f"there is no {name} on this computer", hint=hint)


def run_tool(name: str, *arguments: str | Path, folder: Path | None = None) -> str:
    """Run a program and return what it printed.

    Raises:
        UnavailableError: it is not here, cannot be run, or takes longer than two minutes.
        CompileError: it refuses what it was given.
    """
    command = [program(name), *map(str, arguments)]
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            timeout=PATIENCE_S,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UnavailableError(f"{name} does not run: {error}", hint="install it anew") from error
    if done.returncode:
        said = (done.stderr + done.stdout).strip()
        lacks = _NOT_THERE.search(said)
        if lacks:
            raise missing(lacks[1])
        every = [line for line in said.splitlines() if line.strip()]
        lines = [line for line in every if _TELLING.search(line)] or every
        raise CompileError(f"{Path(name).name} found errors", said, lines[:_MOST_LINES])
    return done.stdout


def compile_sources(compiler: Compiler, sources: Iterable[Path], flags: Sequence[str], out: Path) -> None:
    """Compile C files for this computer into `out`; raises as `run_tool`."""
    run_tool(compiler.path, *flags, "-o", out, *sources, "-lm")


def cache_folder(room: str) -> Path:
    """Return where things are kept that can be made again (XDG Base Directory Specification)."""
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (given if given.is_absolute() else Path.home() / ".cache") / "posewright" / room
