"""The exceptions of Posewright.

PosewrightError
├── InputError               the user's input is wrong
│   ├── DocumentError        a native YAML document: robot, motion, chart, behaviour, trial
│   ├── FormatError          a file of another format: which byte or line, what it holds, what is accepted
│   ├── ExpressionError      a guard or an action that does not parse or has a type error
│   ├── UnreachableError     a point that a leg cannot reach, or a head cannot look at
│   └── UnknownNameError     no joint, page, state, sensor, layout, ... has that name
├── LossError                a conversion would lose something and `allow_loss` is not set
├── UnsafeCommandError       a command that must not reach a body
│   └── UnsafeMotionError    a motion that its robot cannot do, or that could harm it
├── BodyError                a body does not answer, or gives an invalid answer
├── OutputError              a file cannot be written at the given path
├── UnavailableError         this machine cannot do it: no display, no way to draw
└── MissingExtraError        a feature needs an optional dependency that is not installed

`message` says what is wrong, `where` is the place in a file, and `hint` says what is accepted. Names in them
come from files and may hold any character, so the text of an error has its control characters escaped.
If several things are wrong with one document, the first error carries the rest in `other_errors`, and its
text has one line for each of them, up to twenty.
"""

from __future__ import annotations

import difflib
import math
import os
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path


def escape_unprintable(text: str) -> str:
    r"""Return a text with its control characters, which could control a terminal, escaped as `\x1b`."""
    return text if text.isprintable() else "".join(map(_escape_character, text))


def _escape_character(character: str) -> str:
    if character.isprintable() or unicodedata.category(character) == "Zs":  # spaces of any width are harmless
        return character
    code = ord(character)
    if code < 1 << 8:
        return f"\\x{code:02x}"
    if code < 1 << 16:
        return f"\\u{code:04x}"
    return f"\\U{code:08x}"


MAX_MESSAGE_LENGTH = 1000
"""Longest message, in characters: a longer one, which quotes a long word of a file, loses its middle."""


MAX_MESSAGE_LINES = 21
"""Most lines of a message about several errors: twenty of them, and how many more there are."""


def _shorten(text: str) -> str:
    if len(text) <= MAX_MESSAGE_LENGTH:
        return text
    half = MAX_MESSAGE_LENGTH // 2
    return f"{text[:half]} ... {text[-half:]}"


@dataclass(frozen=True)
class Where:
    """A place in a file: a line and column counted from 1, or a byte offset counted from 0."""

    path: Path | None = None
    line: int | None = None
    column: int | None = None
    offset: int | None = None

    def __str__(self) -> str:
        name = _shorten(str(self.path)) if self.path is not None else "input"
        if self.line is not None:
            column = f":{self.column}" if self.column is not None else ""
            return f"{name}:{self.line}{column}"
        return name if self.offset is None else f"{name}, byte {self.offset}"


class PosewrightError(Exception):
    """The base class of all exceptions of Posewright.

    Attributes:
        message: what is wrong.
        where: the place in a file, if it is known.
        hint: what is accepted instead, if there is something to say.
        other_errors: further errors in the same document.
    """

    def __init__(self, message: str, *, where: Where | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint
        self.other_errors: tuple[PosewrightError, ...] = ()

    @property
    def errors(self) -> tuple[PosewrightError, ...]:
        """This error and all further errors of the same document."""
        return self, *self.other_errors

    def __str__(self) -> str:
        errors = self.errors
        if len(errors) <= MAX_MESSAGE_LINES:
            return "\n".join(error._format_line() for error in errors)
        lines = [error._format_line() for error in errors[: MAX_MESSAGE_LINES - 1]]
        return "\n".join([*lines, f"and {len(errors) - len(lines)} more"])

    def _format_line(self) -> str:
        place = f"{self.where}: " if self.where is not None else ""
        advice = f" ({_shorten(self.hint)})" if self.hint else ""
        return escape_unprintable(f"{place}{_shorten(self.message)}{advice}")


class InputError(PosewrightError):
    """The user's input is wrong."""


class DocumentError(InputError):
    """A native YAML document is invalid."""


class FormatError(InputError):
    """A file of another format is damaged, or is of a different kind than required."""


class ExpressionError(InputError):
    """A guard or an action does not parse, or has a type error."""


class UnreachableError(InputError):
    """No joint angles reach a point; the message names the point and how far out of reach it is.

    Attributes:
        part: the joint or the foot that does not get there; empty if it is unknown.
        excess_m: how much too far or too near the point is [m]; NaN if it is unknown.
    """

    def __init__(
        self,
        message: str,
        *,
        where: Where | None = None,
        hint: str | None = None,
        part: str = "",
        excess_m: float = math.nan,
    ) -> None:
        super().__init__(message, where=where, hint=hint)
        self.part = part
        self.excess_m = excess_m


MAX_SUGGESTIONS = 3
"""Greatest number of similar names that a message suggests."""

MIN_FRAGMENT_LENGTH = 3
"""A shorter name is part of too many names to suggest those."""

MAX_LISTED_NAMES = 12
"""Greatest number of existing names that a message lists."""


class UnknownNameError(InputError):
    """Nothing has that name; the hint suggests similar names that exist."""

    @classmethod
    def among(
        cls,
        kind: str,
        name: object,
        existing_names: Iterable[str],
        *,
        owner: str = "",
        where: Where | None = None,
    ) -> UnknownNameError:
        """Build the error for an unknown name, with the most similar of the existing names as its hint.

        Args:
            kind: what the name stands for, for the message: `joint`.
            name: the name that does not exist.
            existing_names: the names that exist.
            owner: what the names belong to, with its preposition: `of sony_ers7`.
            where: the place of the name in a file.
        """
        names = sorted(existing_names)
        similar = difflib.get_close_matches(str(name), names, n=MAX_SUGGESTIONS)
        fragment = str(name).strip().casefold()
        if not similar and len(fragment) >= MIN_FRAGMENT_LENGTH:
            similar = [candidate for candidate in names if fragment in candidate.casefold()]
            similar = similar[:MAX_SUGGESTIONS]
        if similar:
            hint = "did you mean " + " or ".join(similar) + "?"
        elif names:
            hint = f"choose from {', '.join(names[:MAX_LISTED_NAMES])}"
            hint += ", ..." if len(names) > MAX_LISTED_NAMES else ""
        else:
            hint = "there are none"
        message = f"unknown {kind} {str(name)!r}"
        return cls(f"{message} {owner}" if owner else message, where=where, hint=hint)


class LossError(PosewrightError):
    """A conversion would lose something, and losses are not allowed.

    Attributes:
        losses: a description of each loss.
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


class UnsafeMotionError(UnsafeCommandError):
    """A motion that its robot cannot do, or that could harm it, was to be written for it or played on it.

    Attributes:
        faults: a sentence for each error that `motion check` reports.
    """

    def __init__(
        self,
        message: str,
        *,
        where: Where | None = None,
        hint: str | None = None,
        faults: Sequence[str] = (),
    ) -> None:
        super().__init__(message, where=where, hint=hint)
        self.faults = tuple(faults)


class BodyError(PosewrightError):
    """A body does not answer, or gives an invalid answer."""


class UserCodeError(PosewrightError):
    """Code of a user or an installed package raised an exception, or returned something of a wrong type."""


class OutputError(PosewrightError):
    """A file cannot be written at the given path."""

    @classmethod
    def at(cls, path: Path, reason: str) -> OutputError:
        """Build the error for a file at `path`, with a hint on how to choose a better path."""
        if os.path.isdir(path):  # noqa: PTH112 -- Path raises for a name that is too long
            hint = "name a file, not a folder"
        elif not os.path.isdir(path.parent):  # noqa: PTH112 -- as above
            hint = f"there is no folder {path.parent}; create it or name another"
        else:
            hint = "name a folder you may write to, on a disk with free space"
        return cls(f"cannot write here: {reason}", where=Where(path=path), hint=hint)


class UnavailableError(PosewrightError):
    """This machine lacks what the operation needs: a display, or a way to draw."""


class MissingExtraError(PosewrightError):
    """A feature needs an optional dependency that is not installed."""

    @classmethod
    def for_extra(cls, feature: str, extra: str) -> MissingExtraError:
        """Build the error that names the extra to install for `feature`."""
        return cls(f"{feature} needs an optional dependency", hint=f"pip install 'posewright[{extra}]'")
