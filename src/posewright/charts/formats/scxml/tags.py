"""Elements to be written, and the text they become."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

INDENT = "  "
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\t": "&#9;", "\r": "&#13;"}


@dataclass(frozen=True)
class Tag:
    """An element to be written; an attribute that is None is left out."""

    name: str
    attributes: Mapping[str, str | None] = field(default_factory=dict)
    children: tuple[Tag, ...] = ()

    def lines(self, indent: str = "") -> Iterable[str]:
        """Yield the lines that it takes."""
        said = "".join(
            f' {key}="{escaped(text)}"' for key, text in self.attributes.items() if text is not None
        )
        if not self.children:
            yield f"{indent}<{self.name}{said}/>"
            return
        yield f"{indent}<{self.name}{said}>"
        for child in self.children:
            yield from child.lines(indent + INDENT)
        yield f"{indent}</{self.name}>"


def escaped(text: str) -> str:
    """Return text as it may stand in an attribute, without the signs that XML has no place for."""
    kept = (letter for letter in text if letter >= " " or letter in _ESCAPES)
    return "".join(_ESCAPES.get(letter, letter) for letter in kept)


def yes(holds: bool) -> str | None:
    """Return what an attribute says that is there only where something holds."""
    return "true" if holds else None
