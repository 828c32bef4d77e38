"""A writer of lines of C, each with its element of the document."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from posewright.codegen.unit import Element, SourceFile

INDENT = "    "


def comment(text: str) -> str:
    """Return a text as a comment of C, in which nothing can end the comment."""
    printable = "".join(character if character.isprintable() else " " for character in text)
    inner = " ".join(printable.split())
    inner = inner.replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?")
    if inner.endswith("\\"):
        inner += " "
    return f"/* {inner} */"


class CWriter:
    """Collects lines of C.

    Attributes:
        lines: the lines so far.
        elements: the element of the document for each line.
        element: the element of the lines written now.
        depth: levels of indentation of the lines written now.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.elements: list[Element | None] = []
        self.element: Element | None = None
        self.depth = 0

    def line(self, text: str = "") -> None:
        """Write one line."""
        self.lines.append(INDENT * self.depth + text if text else "")
        self.elements.append(self.element if text else None)

    def write(self, lines: Iterable[str]) -> None:
        """Write several lines."""
        for text in lines:
            self.line(text)

    @contextmanager
    def traced_to(self, element: Element | None) -> Iterator[None]:
        """Attribute the lines that are written in the context to an element of the document."""
        previous = self.element
        self.element = element
        yield
        self.element = previous

    @contextmanager
    def block(self, head: str, tail: str = "}") -> Iterator[None]:
        """Write a block in braces after `head`; the lines written in the context are its content."""
        self.line(f"{head} {{" if head else "{")  # without a head, a block of its own
        self.depth += 1
        yield
        self.depth -= 1
        self.line(tail)

    @contextmanager
    def function(self, head: str) -> Iterator[None]:
        """Write a function; the lines written in the context are its body."""
        self.line(head)
        with self.block(""):
            yield
        self.line()

    @contextmanager
    def indented_block(self) -> Iterator[None]:
        """Write the second half of a block whose head is already written, as after `} else {`."""
        self.depth += 1
        yield
        self.depth -= 1
        self.line("}")

    def remove_last_line(self) -> None:
        """Remove the line that was written last."""
        self.lines.pop()
        self.elements.pop()

    def include(self, writer: CWriter) -> None:
        """Append the lines of another writer."""
        self.lines += [INDENT * self.depth + line if line else "" for line in writer.lines]
        self.elements += writer.elements

    def file(self, name: str) -> SourceFile:
        """Return the lines as a file."""
        return SourceFile(name, tuple(self.lines), tuple(self.elements))


_DEFINITION = re.compile(r"^static [^=(\[]*?(\w+)(?=\(|\[)", re.MULTILINE)


def without_unused(writer: CWriter) -> CWriter:
    """Return the lines without static functions and tables that are not used after them.

    The lines are split into parts, each a function, a table or other declarations; a part ends at an empty
    line outside of a function. Only later parts can mention it, as C requires, so the parts are visited from
    the last to the first.
    """
    parts: list[list[int]] = [[]]  # for each part, the indices of its lines in `writer.lines`
    for index, line in enumerate(writer.lines):
        next_line = writer.lines[index + 1] if index + 1 < len(writer.lines) else ""
        if line or next_line.startswith(" "):  # an empty line after a function's declarations ends no part
            parts[-1].append(index)
        elif parts[-1]:
            parts.append([])
    used_parts: list[list[int]] = []  # from the last to the first
    mentioned_names: set[str] = set()  # all words of the parts in `used_parts`
    for part in reversed([part for part in parts if part]):
        text = "\n".join(writer.lines[index] for index in part)
        definition = _DEFINITION.search(text)
        if definition is None or definition[1] in mentioned_names:
            used_parts.append(part)
            mentioned_names |= {*re.findall(r"\w+", text)}
    result = CWriter()
    for part in reversed(used_parts):
        result.lines += [*(writer.lines[index] for index in part), ""]
        result.elements += [*(writer.elements[index] for index in part), None]
    return result
