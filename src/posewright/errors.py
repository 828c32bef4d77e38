"""Everything Posewright raises on purpose.

PosewrightError
├── InputError               something a person handed in is wrong
│   ├── DocumentError        a native YAML document: robot, motion, chart, behaviour, trial
│   ├── FormatError          a foreign file: which byte or line, what stood there, what would be right
│   ├── ExpressionError      a guard or an action that does not parse or does not type
│   ├── UnreachableError     a point that a leg cannot reach, or a head cannot look at
│   └── UnknownNameError     no joint, page, state, sensor, layout, ... of that name
├── LossError                a conversion would lose something and was not allowed to
├── UnsafeCommandError       a command that must not reach a body
├── BodyError                a body does not answer, or answers what it must not
├── OutputError              a file cannot be written where it was asked for
├── UnavailableError         this machine cannot do it: no display, no way to draw
└── MissingExtraError        a feature needs an optional dependency that is not installed

A message says what was wrong, `where` says where, `hint` says what would have been right. Names
in them come from files and may hold anything: the text of an error has its control characters written out.
Where several things are wrong with one document, its first error has the `others`, and a line for each.
"""

from __future__ import annotations

import difflib
import os
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path


def visible(text: str) -> str:
    """Return a text with its control characters, which could steer a terminal, written out as their codes."""
    return text if text.isprintable() else "".join(map(_visible_sign, text))


def _visible_sign(sign: str) -> str:
    if sign.isprintable() or unicodedata.category(sign) == "Zs":  # a space of any width steers nothing
        return sign
    code = ord(sign)
    return f"\\x{code:02x}" if code < 1 << 8 else f"\\u{code:04x}" if code < 1 << 16 else f"\\U{code:08x}"


MOST_TOLD = 1000
"""So many characters of a message are shown, half of them its last: a word in a file may be of any length."""


def _shortened(text: str) -> str:
    half = MOST_TOLD // 2
    return text if len(text) <= MOST_TOLD else f"{text[:half]} ... {text[-half:]}"


@dataclass(frozen=True)
class Where:
    """A place in a file: a line and column counted from 1, or a byte offset counted from 0."""

    path: Path | None = None
    line: int | None = None
    column: int | None = None
    offset: int | None = None

    def __str__(self) -> str:
        name = str(self.path) if self.path is not None else "input"
        if self.line is not None:
            column = f":{self.column}" if self.column is not None else ""
            return f"{name}:{self.line}{column}"
        return name if self.offset is None else f"{name}, byte {self.offset}"


class PosewrightError(Exception):
    """The root of every error raised on purpose.

    Attributes:
        others: what else is wrong with the same document.
    """

    def __init__(self, message: str, *, where: Where | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint
        self.others: tuple[PosewrightError, ...] = ()

    @property
    def errors(self) -> tuple[PosewrightError, ...]:
        """This error and the others of the same document."""
        return self, *self.others

    def __str__(self) -> str:
        return "\n".join(error._line() for error in self.errors)

    def _line(self) -> str:
        place = f"{self.where}: " if self.where is not None else ""
        advice = f" ({_shortened(self.hint)})" if self.hint else ""
        return visible(f"{place}{_shortened(self.message)}{advice}")


class InputError(PosewrightError):
    """Something a person handed in is wrong."""


class DocumentError(InputError):
    """A native YAML document is not what it should be."""


class FormatError(InputError):
    """A foreign file is damaged, or is of another kind than was asked for."""


class ExpressionError(InputError):
    """A guard or an action does not parse, or mixes types."""


class UnreachableError(InputError):
    """A point that no joint angles lead to; the message says which, and by how much it is out of reach."""


class UnknownNameError(InputError):
    """There is nothing of that name; the hint names the nearest that exist."""

    @classmethod
    def among(
        cls, kind: str, name: object, known: Iterable[str], *, where: Where | None = None
    ) -> UnknownNameError:
        """Build the error for an unknown `name`, suggesting the nearest of the `known` ones."""
        names, part = sorted(known), str(name).strip().casefold()
        near = difflib.get_close_matches(str(name), names, n=3)
        near = near or [one for one in names if len(part) > 2 and part in one.casefold()][:3]
        if near:
            hint = "did you mean " + " or ".join(near) + "?"
        else:
            shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
            hint = f"there is {shown}" if names else "there is none"
        return cls(f"no {kind} is called {str(name)!r}", where=where, hint=hint)


class LossError(PosewrightError):
    """A conversion would lose something and was not allowed to.

    Attributes:
        losses: everything that would be lost, in words.
    """

    def __init__(
        self,
        message: str,
        *,
        where: Where | None = None,
        hint: str | None = None,
        losses: Sequence[str] = (),
    ) -> None:
        super().__init__(message, where=where, hint=hint)
        self.losses = tuple(losses)


class UnsafeCommandError(PosewrightError):
    """A command that must not reach a body."""


class BodyError(PosewrightError):
    """A body does not answer, or answers what it must not."""


class OutputError(PosewrightError):
    """A file cannot be written where it was asked for."""

    @classmethod
    def at(cls, path: Path, reason: str) -> OutputError:
        """Build the error for a file at `path`, its hint what would be right there."""
        if os.path.isdir(path):  # noqa: PTH112 -- says no, where Path raises, of a name that is too long
            hint = "name a file, not a folder"
        elif not os.path.isdir(path.parent):  # noqa: PTH112 -- as above
            hint = f"there is no folder {path.parent}; make it, or name another"
        else:
            hint = "a folder you may write to, on a disk with room"
        return cls(f"cannot write here: {reason}", where=Where(path=path), hint=hint)


class UnavailableError(PosewrightError):
    """This machine cannot do what is asked: it has no display, or no way to draw."""


class MissingExtraError(PosewrightError):
    """A feature needs an optional dependency that is not installed."""

    @classmethod
    def for_extra(cls, feature: str, extra: str) -> MissingExtraError:
        """Build the error that tells which extra brings `feature`."""
        return cls(f"{feature} needs an optional dependency", hint=f"pip install 'posewright[{extra}]'")
