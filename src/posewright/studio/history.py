"""A history: a value, and every step that led to it, to be undone and done again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from posewright.errors import InputError

T = TypeVar("T")

MOST_STEPS = 1000
"""So many steps can be undone; what they share is kept once."""


@dataclass(frozen=True)
class Step(Generic[T]):
    """A change that was made.

    Attributes:
        before: what an undo brings back.
        gesture: of one drag of the mouse; its steps are one to undo. Empty for a change of its own.
    """

    label: str
    before: T = field(repr=False)
    after: T = field(repr=False)
    gesture: str = ""


class Undoable(Protocol):
    """The part of a history that does not depend on the type of its value."""

    @property
    def undo_label(self) -> str | None:
        """What `undo` would take back; None for nothing."""

    @property
    def redo_label(self) -> str | None:
        """What `redo` would do again; None for nothing."""

    def undo(self) -> None:
        """Take the last step back; an `InputError` where there is none."""

    def redo(self) -> None:
        """Do again what was undone last; an `InputError` where nothing was."""


class History(Generic[T]):
    """A value that does not change, followed by others, and back.

    Args:
        now: the value at first, which counts as saved.
        on_change: called after each change with the values before and after it.
    """

    def __init__(self, now: T, on_change: Callable[[T, T], None] | None = None) -> None:
        self.now = now
        self._saved = now
        self.on_change = on_change
        self._done: list[Step[T]] = []
        self._undone: list[Step[T]] = []

    @property
    def is_dirty(self) -> bool:
        """Whether it is not as it was saved or read."""
        return self.now is not self._saved

    @property
    def undo_label(self) -> str | None:
        """What `undo` would take back; None for nothing."""
        return self._done[-1].label if self._done else None

    @property
    def redo_label(self) -> str | None:
        """What `redo` would do again; None for nothing."""
        return self._undone[-1].label if self._undone else None

    def change(self, label: str, after: T, gesture: str = "") -> bool:
        """Go on to another value; return whether it is another. Changes of one gesture are undone as one."""
        before = self.now
        if after is before:
            return False
        if gesture and self._done and self._done[-1].gesture == gesture:
            before = self._done.pop().before
        self._done.append(Step(label, before, after, gesture))
        del self._done[:-MOST_STEPS]
        self._undone.clear()
        self._show(after)
        return True

    def undo(self) -> None:
        """Take the last step back; an `InputError` where there is none."""
        if not self._done:
            raise InputError("there is nothing to undo")
        step = self._done.pop()
        self._undone.append(step)
        self._show(step.before)

    def redo(self) -> None:
        """Do again what was undone last; an `InputError` where nothing was."""
        if not self._undone:
            raise InputError("there is nothing to redo")
        step = self._undone.pop()
        self._done.append(step)
        self._show(step.after)

    def mark_saved(self, value: T) -> None:
        """Say that this value, which may not be the one now, is saved."""
        self._saved = value

    def _show(self, value: T) -> None:
        before = self.now
        self.now = value
        if self.on_change is not None:
            self.on_change(before, value)
