"""A history: a value with the steps that led to it, which can be undone and redone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from posewright.errors import InputError

T = TypeVar("T")

MAX_STEPS = 1000
"""The number of steps that can be undone."""


@dataclass(frozen=True)
class Step(Generic[T]):
    """A change.

    Attributes:
        label: name of the change in the menu.
        before: the value before it.
        after: the value after it.
        gesture: identifies the drag of which it is a part; empty for a single change.
    """

    label: str
    before: T = field(repr=False)
    after: T = field(repr=False)
    gesture: str = ""


class Undoable(Protocol):
    """The part of a history that does not depend on the type of its value."""

    @property
    def undo_label(self) -> str | None:
        """Label of the step that `undo` would undo; None if there is none."""

    @property
    def redo_label(self) -> str | None:
        """Label of the step that `redo` would redo; None if there is none."""

    def undo(self) -> None:
        """Undo the last step, or raise InputError if there is none."""

    def redo(self) -> None:
        """Redo the step that was undone last, or raise InputError if there is none."""


class History(Generic[T]):
    """An immutable value that steps replace, with undo and redo.

    Args:
        now: the first value, which counts as saved.
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
        """Whether the value differs from the one saved or read last."""
        return self.now is not self._saved

    @property
    def undo_label(self) -> str | None:
        """Label of the step that `undo` would undo; None if there is none."""
        return self._done[-1].label if self._done else None

    @property
    def redo_label(self) -> str | None:
        """Label of the step that `redo` would redo; None if there is none."""
        return self._undone[-1].label if self._undone else None

    def change(self, label: str, after: T, gesture: str = "") -> bool:
        """Replace the value; return whether it is another one. Changes of one gesture become one step."""
        before = self.now
        if after is before:
            return False
        if gesture and self._done and self._done[-1].gesture == gesture:
            before = self._done.pop().before
        self._done.append(Step(label, before, after, gesture))
        del self._done[:-MAX_STEPS]
        self._undone.clear()
        self._replace(after)
        return True

    def undo(self) -> None:
        """Undo the last step, or raise InputError if there is none."""
        if not self._done:
            raise InputError("there is nothing to undo")
        step = self._done.pop()
        self._undone.append(step)
        self._replace(step.before)

    def redo(self) -> None:
        """Redo the step that was undone last, or raise InputError if there is none."""
        if not self._undone:
            raise InputError("there is nothing to redo")
        step = self._undone.pop()
        self._done.append(step)
        self._replace(step.after)

    def mark_saved(self, value: T) -> None:
        """Record that a value, which may not be the current one, is saved."""
        self._saved = value

    def _replace(self, value: T) -> None:
        before = self.now
        self.now = value
        if self.on_change is not None:
            self.on_change(before, value)
