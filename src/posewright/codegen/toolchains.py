"""Compilers: where they are on this computer, run with a time limit, and what to install if they are not."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from posewright.errors import PosewrightError, UnavailableError

HOST, AVR, ARM = ("cc", "gcc", "clang"), ("avr-gcc",), ("arm-none-eabi-gcc",)
"""Names of the compilers for this computer, an AVR and a Cortex-M, the preferred one first."""

PACKAGES = {
    "cc": "gcc",
    "avr-gcc": "gcc-avr avr-libc",
    "arm-none-eabi-gcc": "gcc-arm-none-eabi libnewlib-arm-none-eabi",
}
"""The Debian packages that bring a compiler."""

STRICT = (
    *("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror"),
    "-ffp-contract=off",
)
"""Flags that everything generated has to be clean under; no product and sum are made one."""

PATIENCE_S = 120.0
"""Time after which a compiler is taken to hang [s]."""


class CompileError(PosewrightError):
    """A compiler refuses what was generated, which is a fault of ours; the whole of what it says is `log`."""

    def __init__(self, message: str, log: str) -> None:
        super().__init__(message)
        self.log = log

    def __str__(self) -> str:
        return f"{self.message}\n{self.log}"


@dataclass(frozen=True)
class Compiler:
    """A compiler on this computer.

    Attributes:
        version: the first line of what it says of itself.
    """

    path: str
    version: str


@cache
def find_compiler(names: tuple[str, ...] = HOST) -> Compiler:
    """Return the first of these compilers that is on this computer.

    Raises:
        UnavailableError: none is; the hint names the Debian package that brings one.
    """
    for name in names:
        path = shutil.which(name)
        if path is not None:
            said = _run([path, "--version"], path).stdout.splitlines()
            return Compiler(path, said[0] if said else name)
    package = PACKAGES.get(names[0], names[0])
    raise UnavailableError(f"there is no C compiler {names[0]} here", hint=f"apt install {package}")


def compile_sources(compiler: Compiler, sources: Iterable[Path], flags: Sequence[str], out: Path) -> None:
    """Compile C files into `out`.

    Raises:
        CompileError: it refuses them.
        UnavailableError: it cannot be run, or takes longer than two minutes.
    """
    command = [compiler.path, *flags, "-o", str(out), *map(str, sources), "-lm"]
    done = _run(command, compiler.path)
    if done.returncode:
        raise CompileError(f"{compiler.path} refuses generated code", done.stderr + done.stdout)


def _run(command: Sequence[str], name: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=PATIENCE_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UnavailableError(f"{name} does not run: {error}", hint="install it anew") from error
