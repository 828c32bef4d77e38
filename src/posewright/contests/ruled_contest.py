"""The common part of contests whose rules are one record that is read from a document."""

from __future__ import annotations

from pathlib import Path
from typing import Generic, Protocol, TypeVar

import numpy as np

from posewright.documents import parse_document, read_record, read_text
from posewright.errors import InputError

SPARE_S = 1.0
"""Time that a run may last beyond the rules' limit, so that the referee is the one who ends it [s]."""


class _NamedRules(Protocol):
    @property
    def rules(self) -> str: ...

    @property
    def title(self) -> str: ...


R = TypeVar("R", bound=_NamedRules)


class RuledContest(Generic[R]):
    """A contest's rules, with their text, name and title.

    Args:
        kind: the class of the rules, a record.
        document: the path of the shipped rules of 2013; those of another year are beside it.
        text: other rules to read instead; None for the shipped ones.
        year: the year of the shipped rules.

    Raises:
        DocumentError: the text is not a document of such rules.
    """

    needs_contacts = False

    def __init__(self, kind: type[R], document: Path, text: str | None, year: int = 2013) -> None:
        """Read the rules."""
        if year != 2013:
            document = document.with_name(document.name.replace(".rules", f"_{year}.rules"))
        self.rules_text = read_text(document) if text is None else text
        self.rules = read_record(parse_document(self.rules_text, document if text is None else None), kind)
        self.name = self.rules.rules
        self.title = self.rules.title

    def __repr__(self) -> str:
        return f"<{type(self).__name__} by {self.name}>"


def create_field_generator(seed: int, layout: str) -> np.random.Generator:
    """Return the random generator of a field that is drawn by a seed.

    Raises:
        InputError: a layout is named, though the contest has none, or the seed is negative.
    """
    if layout not in {"", "random"}:
        raise InputError(f"the contest has no layout {layout!r}", hint="its field is drawn by the seed")
    if seed < 0:
        raise InputError(f"the seed {seed} is negative", hint="use 0 or more")
    return np.random.default_rng(seed)
