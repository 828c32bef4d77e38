"""Plain YAML: the part of YAML that most documents keep to, read at thirty times the speed of the rest.

Block mappings and lists by indentation, lists and mappings in brackets, words, numbers, texts in quotes,
folded paragraphs, comments. What else YAML has (anchors, tags, ...) is not refused but handed back: whoever
asked reads it with the whole of YAML. Nothing is read here in another way than that reads it.
"""

from __future__ import annotations

import re
from typing import Any, NoReturn

from posewright.documents.plain_scalars import BLOCK_WORD, FLOW_WORD, is_text, paragraph_at, scalar_at
from posewright.documents.plain_tree import NotPlainError, PlainList, PlainMap

MAX_LEVELS = 64

_ODD = re.compile("[^\n -~\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_MARK = re.compile(r"^(?:---|\.\.\.|%)", re.MULTILINE)
_LINE = re.compile(r"^( *)(?=[^ \n#])", re.MULTILINE)
_REST = re.compile(r" *(?: #[^\n]*)?(?:\n|\0)")
_BETWEEN = re.compile(r"(?: *(?:(?<=[ \n])#[^\n]*)?\n)* *")
_DASH = re.compile(r"-(?: +|(?=\n|\0))")
_KEY = re.compile(r"""(?:([A-Za-z_][\w.]*)|"([^"\\\n]*)"|'([^'\n]*)') *:(?=[ \n\0])""", re.ASCII)


def parse_plain(text: str) -> PlainMap:
    """Return the mapping that a document in plain YAML is.

    Raises:
        NotPlainError: it is more than plain YAML, or less.
    """
    text = text.replace("\r\n", "\n")
    odd = _ODD.search(text) or _MARK.search(text)
    if odd is not None:
        raise NotPlainError("a sign or a mark that is not plain", text.count("\n", 0, odd.start()) + 1)
    return _Reader(text).document()


class _Reader:
    """Walks over the lines of a block; within brackets, over characters."""

    def __init__(self, text: str) -> None:
        self.text = text + "\0"
        self.lines: list[tuple[int, int, int]] = []  # column, offset, number
        number, last = 0, 0
        for match in _LINE.finditer(text):
            number += text.count("\n", last, match.start())
            last = match.start()
            self.lines.append((match.end() - last, match.end(), number))
        self.lines.append((-1, len(text), number))
        self.at = 0
        self.line = 0
        self.line_start = 0

    def fail(self, message: str, line: int | None = None) -> NoReturn:
        raise NotPlainError(message, (self.lines[self.at][2] if line is None else line) + 1)

    def document(self) -> PlainMap:
        column = self.lines[0][0]
        found = self.block(column, 1) if column >= 0 else None
        if self.lines[self.at][0] >= 0:
            self.fail("the indentation fits nothing above")
        if not isinstance(found, PlainMap):
            self.fail("no named entries", 0)
        return found

    # -- blocks

    def block(self, column: int, level: int) -> PlainMap | PlainList:
        if level > MAX_LEVELS:
            self.fail(f"nested deeper than {MAX_LEVELS} levels")
        if _DASH.match(self.text, self.lines[self.at][1]):
            return self.sequence(column, level)
        return self.mapping(column, level)

    def mapping(self, column: int, level: int) -> PlainMap:
        found = PlainMap(flow=False)
        while self.lines[self.at][0] == column:
            _, start, number = self.lines[self.at]
            match = _KEY.match(self.text, start)
            if match is None:
                self.fail("expected `key: value`")
            key = match[match.lastindex or 1]
            if key in found or (match.lastindex == 1 and not is_text(key)):
                self.fail(
                    f"the key {key!r} is there twice" if key in found else f"the key {key!r} is no text"
                )
            self.line, self.line_start = number, start - column
            value, line, at = self.value(match.end(), column, level, dashes=True)
            found[key] = value
            found.data[key] = (number, column, line, at)
        return found

    def sequence(self, column: int, level: int) -> PlainList:
        found = PlainList(flow=False)
        while self.lines[self.at][0] == column:
            _, start, number = self.lines[self.at]
            dash = _DASH.match(self.text, start)
            if dash is None:
                break
            inner = dash.end()
            self.line, self.line_start = number, start - column
            if _DASH.match(self.text, inner) or _KEY.match(self.text, inner):
                deeper = column + inner - start
                self.lines[self.at] = (deeper, inner, number)
                found.data[len(found)] = (number, deeper)
                found.append(self.block(deeper, level + 1))
            else:
                value, line, at = self.value(inner, column, level, dashes=False)
                found.data[len(found)] = (line, at)
                found.append(value)
        return found

    def value(self, offset: int, column: int, level: int, *, dashes: bool) -> tuple[Any, int, int]:
        """Return what stands after a colon or a dash, with its line and column."""
        if _REST.match(self.text, offset):
            return self.below(column, level, dashes=dashes)
        while self.text[offset] == " ":
            offset += 1
        return self.inline(offset, column, level)

    def inline(self, offset: int, column: int, level: int) -> tuple[Any, int, int]:
        text = self.text
        line, at = self.line, offset - self.line_start
        value: Any
        if text[offset] in "[{":
            value, end = self.flow(offset, level + 1)
        elif text[offset] in ">|":
            value, end = paragraph_at(text, offset, column, self.line + 1)
        else:
            value, end = scalar_at(text, offset, BLOCK_WORD, self.line + 1)
        rest = _REST.match(text, end)
        if rest is None:
            self.fail(f"{text[end : end + 20].split(chr(10))[0]!r} stands where a line should end", self.line)
        self.at += 1
        while self.lines[self.at][1] < end:
            self.at += 1
        if self.lines[self.at][0] > column:
            self.fail("deeper than what it could belong to")
        return value, line, at

    def below(self, column: int, level: int, *, dashes: bool) -> tuple[Any, int, int]:
        self.at += 1
        deeper, start, number = self.lines[self.at]
        if deeper > column and self.text[start] in "[{":
            self.line, self.line_start = number, start - deeper
            return self.inline(start, column, level)
        if deeper > column:
            return self.block(deeper, level + 1), number, deeper
        if dashes and deeper == column and _DASH.match(self.text, start):
            return self.sequence(column, level + 1), number, deeper
        return None, number, deeper

    # -- brackets

    def skip(self, offset: int) -> int:
        """Return where the next sign stands, over blanks, line ends and comments."""
        match = _BETWEEN.match(self.text, offset)
        end = match.end() if match is not None else offset
        lines = self.text.count("\n", offset, end)
        if lines:
            self.line += lines
            self.line_start = self.text.rindex("\n", offset, end) + 1
        return end

    def flow(self, offset: int, level: int) -> tuple[PlainMap | PlainList, int]:
        if level > MAX_LEVELS:
            self.fail(f"nested deeper than {MAX_LEVELS} levels", self.line)
        return self.flow_map(offset, level) if self.text[offset] == "{" else self.flow_list(offset, level)

    def flow_value(self, offset: int, level: int) -> tuple[Any, int]:
        if self.text[offset] in "[{":
            return self.flow(offset, level + 1)
        return scalar_at(self.text, offset, FLOW_WORD, self.line + 1)

    def flow_list(self, offset: int, level: int) -> tuple[PlainList, int]:
        found = PlainList(flow=True)
        offset = self.skip(offset + 1)
        while self.text[offset] != "]":
            found.data[len(found)] = (self.line, offset - self.line_start)
            value, offset = self.flow_value(offset, level)
            found.append(value)
            offset = self.comma(offset, "]")
        return found, offset + 1

    def flow_map(self, offset: int, level: int) -> tuple[PlainMap, int]:
        found = PlainMap(flow=True)
        offset = self.skip(offset + 1)
        while self.text[offset] != "}":
            line, at = self.line, offset - self.line_start
            key, offset = scalar_at(self.text, offset, FLOW_WORD, self.line + 1)
            if not isinstance(key, str) or key in found:
                self.fail(f"the key {key!r} is there twice or is no text", self.line)
            while self.text[offset] == " ":
                offset += 1
            value, there = None, (line, at)
            if self.text[offset] == ":" and self.text[offset + 1] in " \n":
                offset = self.skip(offset + 1)
                there = (self.line, offset - self.line_start)
                if self.text[offset] not in ",}":
                    value, offset = self.flow_value(offset, level)
            found[str(key)] = value
            found.data[str(key)] = (line, at, *there)
            offset = self.comma(offset, "}")
        return found, offset + 1

    def comma(self, offset: int, end: str) -> int:
        offset = self.skip(offset)
        if self.text[offset] == ",":
            return self.skip(offset + 1)
        if self.text[offset] != end:
            shown = "the end" if self.text[offset] == "\0" else repr(self.text[offset])
            self.fail(f"expected `,` or `{end}`, found {shown}", self.line)
        return offset
