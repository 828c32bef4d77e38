"""What each generated line is for: from a line to its element of the document, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from posewright.codegen.unit import Element, SourceFile


@dataclass(frozen=True)
class Place:
    """Lines that follow one another and are for one element.

    Attributes:
        file: its name.
        first: line, counted from 1; `last` is among them.
    """

    file: str
    first: int
    last: int
    element: Element

    def __str__(self) -> str:
        lines = f"{self.first}" if self.first == self.last else f"{self.first}-{self.last}"
        where = f", line {self.element.line} of the document" if self.element.line else ""
        return f"{self.file}:{lines}: {self.element.kind} {self.element.name}{where}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data, fit for JSON."""
        element = self.element
        told = {"kind": element.kind, "name": element.name, "line": element.line}
        return {"file": self.file, "first": self.first, "last": self.last, **told}

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Place:
        """Return it from plain data."""
        element = Element(data["kind"], data["name"], data["line"])
        return cls(data["file"], data["first"], data["last"], element)


def places_in(files: Iterable[SourceFile]) -> tuple[Place, ...]:
    """Return all lines of files that are for an element of the document."""
    found = []
    for file in files:
        for element, run in groupby(enumerate(file.elements, 1), key=lambda one: one[1]):
            numbers = [number for number, _ in run]
            if element is not None:
                found.append(Place(file.name, numbers[0], numbers[-1], element))
    return tuple(found)
