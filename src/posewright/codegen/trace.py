"""Links between generated lines and the elements of the document."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

from posewright.codegen.unit import Element, SourceFile
from posewright.documents import Node


@dataclass(frozen=True)
class LineRange:
    """Successive generated lines of one element.

    Attributes:
        file: name of the file.
        first: first line, from 1.
        last: last line.
        element: the element.
    """

    file: str
    first: int
    last: int
    element: Element

    def __str__(self) -> str:
        lines = f"{self.first}" if self.first == self.last else f"{self.first}-{self.last}"
        document_line = f", line {self.element.line} of the document" if self.element.line else ""
        return f"{self.file}:{lines}: {self.element.kind} {self.element.name}{document_line}"

    def to_dict(self) -> dict[str, Any]:
        """Return the range as plain data, fit for JSON."""
        return {
            "file": self.file,
            "first": self.first,
            "last": self.last,
            "kind": self.element.kind,
            "name": self.element.name,
            "line": self.element.line,
        }

    @classmethod
    def read(cls, node: Node) -> LineRange:
        """Return the range of the plain data of `to_dict`; raise a DocumentError if it is none."""
        entries = node.fields(required=("file", "first", "last", "kind", "name", "line"), optional=())
        line = None if entries["line"].value is None else entries["line"].integer(low=1)
        return cls(
            entries["file"].text(),
            first=entries["first"].integer(low=1),
            last=entries["last"].integer(low=1),
            element=Element(entries["kind"].text(), entries["name"].text(), line),
        )


def line_ranges(files: Iterable[SourceFile]) -> tuple[LineRange, ...]:
    """Return the ranges of all lines that have an element."""
    ranges_with_element = []
    for file in files:
        for element, numbered_elements in groupby(enumerate(file.elements, 1), key=itemgetter(1)):
            line_numbers = [number for number, _ in numbered_elements]
            if element is not None:
                ranges_with_element.append(
                    LineRange(file.name, first=line_numbers[0], last=line_numbers[-1], element=element)
                )
    return tuple(ranges_with_element)
