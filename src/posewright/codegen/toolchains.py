"""Compilers and other tools: finding them, running them with a time limit, and the packages they come in."""

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

HOST_COMPILERS = ("cc", "gcc", "clang")
"""Names of the compilers for this computer, the preferred one first."""

_AVR = "gcc-avr avr-libc arduino-core-avr"
_ARM = "gcc-arm-none-eabi libnewlib-arm-none-eabi"
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
"""The Debian packages of programs and libraries."""

_OTHER_SOURCES = {"opencm9.04_ld": "it comes with ROBOTIS' package of the OpenCM9.04 for the Arduino IDE"}

STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-pedantic", "-ffp-contract=off")
"""Flags under which generated code compiles without warnings; products and sums are not contracted.

Only tests add `-Werror`, since a user's chart may have contradictory conditions, about which gcc warns.
"""

TOOL_TIMEOUT_S = 120.0
"""Time limit of a tool [s]."""

_MAX_LINES = 6
_MISSING_TOOL = re.compile(r"cannot execute \W*([\w.+-]+)")
"""A compiler's message about a missing assembler or linker."""


class TooLargeError(InputError):
    """Generated code does not fit the flash or the RAM of a board."""


_ERROR_LINE = re.compile(r"error:|will not fit|not within region|overflowed by")


class CompileError(InputError):
    """A compiler or linker reports errors.

    Attributes:
        log: its complete output.
        error_lines: the lines with errors, which the text of this exception includes.
    """

    def __init__(self, message: str, log: str, error_lines: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.log = log
        self.error_lines = tuple(error_lines)

    def __str__(self) -> str:
        return "\n".join((super().__str__(), *map(escape_unprintable, self.error_lines)))


@dataclass(frozen=True)
class Compiler:
    """A compiler on this computer.

    Attributes:
        path: path of the program.
        version: first line of the output of `--version`.
    """

    path: str
    version: str


@cache
def find_compiler() -> Compiler:
    """Return the compiler for this computer.

    Raises:
        UnavailableError: there is none; the hint names the Debian package.
    """
    path = next(filter(None, map(shutil.which, HOST_COMPILERS)), None) or find_program(HOST_COMPILERS[0])
    version_lines = run_tool(path, "--version").splitlines()
    return Compiler(path, version_lines[0] if version_lines else path)


def find_program(name: str) -> str:
    """Return the path of a program.

    Raises:
        UnavailableError: it is not on this computer; the hint names the Debian package.
    """
    path = shutil.which(name)
    if path is None:
        raise missing_tool_error(name)
    return path


def missing_tool_error(name: str) -> UnavailableError:
    """Return the error for a missing program or library, with the package to install."""
    hint = _OTHER_SOURCES.get(name) or f"apt install {PACKAGES.get(name, name)}"
    return UnavailableError(f"there is no {name} on this computer", hint=hint)


def run_tool(name: str, *arguments: str | Path, folder: Path | None = None) -> str:
    """Run a program and return its output.

    Args:
        name: name or path of the program.
        *arguments: its arguments.
        folder: its working directory.

    Raises:
        UnavailableError: it is missing, cannot be run, or takes longer than two minutes.
        CompileError: it reports errors.
    """
    command = [find_program(name), *map(str, arguments)]
    try:
        process = subprocess.run(
            command,
            cwd=folder,
            timeout=TOOL_TIMEOUT_S,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UnavailableError(f"{name} does not run: {error}", hint="reinstall it") from error
    if process.returncode:
        log = (process.stderr + process.stdout).strip()
        missing_tool = _MISSING_TOOL.search(log)
        if missing_tool:
            raise missing_tool_error(missing_tool[1])
        lines = [line for line in log.splitlines() if line.strip()]
        error_lines = [line for line in lines if _ERROR_LINE.search(line)] or lines
        raise CompileError(f"{Path(name).name} found errors", log, error_lines[:_MAX_LINES])
    return process.stdout


def compile_sources(compiler: Compiler, sources: Iterable[Path], flags: Sequence[str], out: Path) -> None:
    """Compile C files for this computer into `out`; raises as `run_tool` does."""
    run_tool(compiler.path, *flags, "-o", out, *sources, "-lm")


def cache_folder(name: str) -> Path:
    """Return a folder for files that can be made again (XDG Base Directory Specification)."""
    xdg_cache = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (xdg_cache if xdg_cache.is_absolute() else Path.home() / ".cache") / "posewright" / name
