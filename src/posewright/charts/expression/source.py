"""The text of an expression that knows where in its document it stands."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NoReturn

from posewright.errors import ExpressionError, Where

SHOWN = 60
"""Characters of an expression quoted in a message."""


@dataclass(frozen=True)
class Source:
    """An expression as written.

    `where` is its first character's place: with a column where that is known, without one where the
    document folds the text over several lines.
    """

    text: str
    where: Where = field(default_factory=Where)

    def at(self, offset: int) -> Where:
        """Return the place of the character `offset` characters in."""
        if self.where.line is None:
            return replace(self.where, line=1, column=offset + 1)
        if self.where.column is None:
            return self.where
        return replace(self.where, column=self.where.column + offset)

    def fail(self, offset: int, message: str, *, hint: str | None = None) -> NoReturn:
        """Raise an ExpressionError that points at the character `offset` characters in."""
        shown = self.text if len(self.text) <= SHOWN else self.text[: SHOWN - 3] + "..."
        raise ExpressionError(f"{message} in `{shown}`", where=self.at(offset), hint=hint)
