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
        value: the first value, before which nothing can be undone.
        on_change: called after each change with the values before and after it.
        saved_value: the value that counts as saved; None for the first value.

    Attributes:
        value: the current value.
    """

    def __init__(
        self, value: T, on_change: Callable[[T, T], None] | None = None, saved_value: T | None = None
    ) -> None:
        self.value = value
        self._saved_value = value if saved_value is None else saved_value
        self.on_change = on_change
        self._done_steps: list[Step[T]] = []
        self._undone_steps: list[Step[T]] = []

    @property
    def is_dirty(self) -> bool:
        """Whether the value differs from the one saved or read last."""
        return self.value is not self._saved_value

    @property
    def undo_label(self) -> str | None:
        """Label of the step that `undo` would undo; None if there is none."""
        return self._done_steps[-1].label if self._done_steps else None

    @property
    def redo_label(self) -> str | None:
        """Label of the step that `redo` would redo; None if there is none."""
        return self._undone_steps[-1].label if self._undone_steps else None

    def change(self, label: str, new_value: T, gesture: str = "") -> bool:
        """Replace the value as a new step, after which nothing can be redone.

        Args:
            label: name of the change in the menu.
            new_value: the new value.
            gesture: identifies a drag; its consecutive changes become one step. Empty for a single change.

        Returns:
            Whether the new value is another object than the current one; if not, there is no step.
        """
        before = self.value
        if new_value is before:
            return False
        if gesture and self._done_steps and self._done_steps[-1].gesture == gesture:
            before = self._done_steps.pop().before  # one step from the drag's start to the new value
        self._done_steps.append(Step(label, before, new_value, gesture))
        del self._done_steps[:-MAX_STEPS]
        self._undone_steps.clear()
        self._replace(new_value)
        return True

    def undo(self) -> None:
        """Undo the last step, or raise InputError if there is none."""
        if not self._done_steps:
            raise InputError("there is nothing to undo")
        step = self._done_steps.pop()
        self._undone_steps.append(step)
        self._replace(step.before)

    def redo(self) -> None:
        """Redo the step that was undone last, or raise InputError if there is none."""
        if not self._undone_steps:
            raise InputError("there is nothing to redo")
        step = self._undone_steps.pop()
        self._done_steps.append(step)
        self._replace(step.after)

    def mark_saved(self, value: T) -> None:
        """Record that a value, which may not be the current one, is saved."""
        self._saved_value = value

    def _replace(self, value: T) -> None:
        before = self.value
        self.value = value
        if self.on_change is not None:
            self.on_change(before, value)
