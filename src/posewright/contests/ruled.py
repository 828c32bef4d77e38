"""What contests have in common whose rules are one record read from a document."""

from __future__ import annotations

from pathlib import Path
from typing import Generic, Protocol, TypeVar

import numpy as np

from posewright.documents import parse_document, read_record, read_text
from posewright.errors import InputError

SPARE_S = 1.0
"""Time a run may last beyond what the rules allow, so that the referee is the one who ends it [s]."""


class _Named(Protocol):
    @property
    def rules(self) -> str: ...

    @property
    def title(self) -> str: ...


R = TypeVar("R", bound=_Named)


class Ruled(Generic[R]):
    """The rules, their text, and what they are called; read from the text of others where one is given."""

    needs_contacts = False

    def __init__(self, kind: type[R], document: Path, text: str | None, year: int = 2013) -> None:
        if year != 2013:
            document = document.with_name(document.name.replace(".rules", f"_{year}.rules"))
        self.rules_text = read_text(document) if text is None else text
        self.rules = read_record(parse_document(self.rules_text, document if text is None else None), kind)
        self.name, self.title = self.rules.rules, self.rules.title

    def __repr__(self) -> str:
        return f"<{type(self).__name__} by {self.name}>"


def drawn_by(seed: int, layout: str) -> np.random.Generator:
    """Return what draws a field that has no layouts.

    Raises:
        InputError: one is named, or the seed is negative.
    """
    if layout not in {"", "random"}:
        raise InputError(f"the contest has no layout {layout!r}", hint="its field is drawn by the seed")
    if seed < 0:
        raise InputError(f"the seed {seed} is negative", hint="0 or more")
    return np.random.default_rng(seed)
