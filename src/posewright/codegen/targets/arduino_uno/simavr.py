"""The process that emulates an ATmega328P, with its commands and answers."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import TracebackType
from typing import IO

from posewright.codegen.targets.arduino_uno.toolchain import build_simulator
from posewright.errors import BodyError

AnswerLines = list[list[str]]
"""The lines of an answer before the last, split into words."""


class Simavr:
    """An emulated processor; `simulator.c` documents the commands.

    Args:
        image: an ELF image.

    Raises:
        UnavailableError: the emulator cannot be built here.
        BodyError: it cannot read the image.
    """

    def __init__(self, image: Path) -> None:
        self._process = subprocess.Popen(
            [build_simulator(), image], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._read_answer()

    def send_command(self, command: str, data: bytes = b"") -> tuple[list[str], AnswerLines]:
        """Send a command and return the words of the last line of its answer, and the lines before it.

        Raises:
            BodyError: the emulator reports an error, or has ended.
        """
        try:
            self._input.write(command.encode() + b"\n" + data)
            self._input.flush()
        except (OSError, ValueError) as error:
            raise BodyError("the emulated board is switched off") from error
        return self._read_answer()

    def read_bytes(self, n_bytes: int) -> bytes:
        """Return the bytes that follow an answer."""
        return self._output.read(n_bytes)

    def close(self) -> None:
        """End the process of the emulator, and close its pipes."""
        if self._process.poll() is None:
            self._process.terminate()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None and not pipe.closed:
                try:
                    pipe.close()
                except BrokenPipeError:  # unread commands
                    continue

    def __enter__(self) -> Simavr:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def _input(self) -> IO[bytes]:
        assert self._process.stdin is not None  # noqa: S101  # created with a pipe
        return self._process.stdin

    @property
    def _output(self) -> IO[bytes]:
        assert self._process.stdout is not None  # noqa: S101  # created with a pipe
        return self._process.stdout

    def _read_answer(self) -> tuple[list[str], AnswerLines]:
        """Return the words of the emulator's final line, and the lines before it.

        Raises:
            BodyError: the emulator reports an error or has ended.
        """
        earlier_lines: AnswerLines = []
        while True:
            line = self._output.readline().decode("ascii", "replace")
            words = line.split()
            if words and words[0] == "ok":
                return words[1:], earlier_lines
            if not words or words[0] == "error":  # no words: the emulator has ended
                self.close()
                reason = line.removeprefix("error ").strip() or "it has ended"
                raise BodyError(f"the emulated Arduino UNO does not answer: {reason}")
            earlier_lines.append(words)
