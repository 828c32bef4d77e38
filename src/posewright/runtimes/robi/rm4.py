"""RM4: the text form of Robi's programs.

    <medit>...<block name="wave" /></medit>               the editor's: where it draws the block
    <mem_w size="2" adr="0x00000a04">0x0000,0x0050</mem_w>   writes words from an address on
    <calc><mem_r size="2" adr="0x00000e5c"/><const data="472"/><sub/><eq/><jump adr="0x000001f4"/></calc>
    <call adr="0x00000120"/> <return/> <jump adr="0x00000000"/>

There is no public specification and no sample: this is what the documents show (mcc.mbsrv.net/robox,
2014-2024; micono.cocolog-nifty.com, 2014-08; the description of Robi 2's posture control, 2024). Tags that
they do not name are kept and listed in `Rm4Program.remarks`. `adr` of a jump or call is a byte of the file;
one in the blank space before a tag means the tag. Robi 2 has the same commands in a binary file, STARTUP.BIN.
"""

from __future__ import annotations

import dataclasses
import difflib
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from posewright.errors import FormatError, Where
from posewright.runtimes.robi.program import (
    ADDRESS_LABEL,
    BLANK,
    ENCODING,
    ONLY_INSIDE_CALC,
    Op,
    Rm4Program,
    Tag,
    excerpt,
    find_misplaced_tags,
)

MAX_BYTES = 1 << 24
"""Robi 2's whole STARTUP.BIN has under 3 MB; the addresses that documents show of it end at 0x0028369a."""

MAX_ERRORS = 20
MAX_REMARKS = 100

WORD_RANGE = (-0x8000, 0xFFFF)
"""Smallest and largest value of a `<const>`: a word of 16 bits, written with or without a sign."""

MIN_JUMP_DIGITS = 7
"""Fewest digits in the address of a jump, so that the address of a target that moves still fits in them."""

USUAL_DIGITS = frozenset({4, 8})
"""Numbers of digits in addresses that the documents show."""

WORD_BYTES = 2
"""The size for which an empty `size=""` stands, which the documents show once: all known cells are words."""

_SPACE = re.compile(rb"[ \t\r\n]*")
_OPENING_TAG = re.compile(rb"<(?P<name>/?[A-Za-z_][\w.:-]*)(?P<attributes>[^<>]*?)(?P<slash>/?)>")
_ATTRIBUTE = re.compile(rb"\s+([A-Za-z_][\w.:-]*)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_ADDRESS = re.compile(rb"0x[0-9a-fA-F]{1,9}")
_NUMBER = re.compile(rb"0x[0-9a-fA-F]{1,8}|-?[0-9]{1,9}")
_EMPTY_SIZE = re.compile(rb"<mem_[rw]\s[^<>]*\bsize\s*=\s*(?:\"\"|'')")
_BLOCK = re.compile(rb"<block\b[^<>]*?\sname\s*=\s*\"([^\"<>]*)\"")
_COMMENTS = {b"<!--": b"-->", b"<?": b"?>"}

_ATTRIBUTES: dict[Op, tuple[str, ...]] = {
    Op.MEM_W: ("size", "adr"),
    Op.MEM_R: ("size", "adr"),
    Op.CONST: ("data",),
    Op.JUMP: ("adr",),
    Op.CALL: ("adr",),
    Op.FWRITE: ("filename", "adr"),
}


class _Attribute(NamedTuple):
    """The value of a tag's attribute, and where it begins in the tag."""

    text: bytes
    offset: int


_OPERATIONS = {str(op): op for op in Op if op not in {Op.VERBATIM, Op.UNKNOWN}}


def read_program(data: bytes, path: Path | None = None) -> Rm4Program:
    """Read a program, after a check that it is RM4 text at all.

    Raises:
        FormatError: the file is damaged, or has an unknown format, such as that of STARTUP.BIN.
    """
    if data.strip(BLANK) and (b"\0" in data or not data.lstrip(BLANK).startswith(b"<")):
        raise FormatError(
            "this is not RM4 text; if it is Robi 2's STARTUP.BIN, it has the same commands in binary form",
            where=Where(path=path, offset=0),
            hint="binary programs cannot be read, but `posewright robi patch` can change any file",
        )
    return read_rm4(data, path)


def read_rm4(data: bytes, path: Path | None = None) -> Rm4Program:
    """Read a program in its text form.

    Raises:
        FormatError: with line and byte, for every tag that is wrong; a jump into a tag or into the editor's
            data names both places.
    """
    if len(data) > MAX_BYTES:
        raise FormatError(f"the program is larger than {MAX_BYTES:,} bytes", where=Where(path=path))
    return _Rm4Reader(data, path).read()


def read_tag(raw: bytes) -> Tag:
    """Read a single tag; a jump has no target yet, but an `address`.

    Raises:
        FormatError: the tag is wrong, or there is more than one.
    """
    reader = _Rm4Reader(raw, path=None)
    tags = list(reader.read_tags())
    raise_all(reader.errors)
    if len(tags) != 1 or tags[0].raw != raw:
        raise FormatError(f"{excerpt(raw)} is not one tag", hint="expected a single tag with its content")
    return tags[0]


def format_tag(op: Op, *, size: int = 2, address: int = 0, values: Sequence[int] = ()) -> bytes:
    """Return a tag as the documents write it; a `<mem_w>` with values is a block."""
    if op is Op.MEM_W and values:
        value_list = ",".join(f"0x{value:0{2 * size}x}" for value in values)
        return f'<{op} size="{size}" adr="0x{address:08x}">{value_list}</{op}>'.encode()
    if op in {Op.MEM_R, Op.MEM_W}:
        return f'<{op} size="{size}" adr="0x{address:08x}"/>'.encode()
    if op in {Op.JUMP, Op.CALL}:
        return f'<{op} adr="0x{address:08x}"/>'.encode()
    if op is Op.CONST:
        return f'<{op} data="{values[0]}"/>'.encode()
    if op in {Op.CALC, Op.END_CALC}:
        return f"<{op}>".encode()
    return f"<{op}/>".encode()


# Single tags. Errors have their place in the tag as `where.offset`.


def _read_complete_tag(raw: bytes) -> Tag:
    """Return the tag of bytes that begin and end like one."""
    if raw.startswith(tuple(_COMMENTS)):
        return Tag(Op.VERBATIM, raw)
    opening = _OPENING_TAG.match(raw)
    if opening is None:
        raise _error_at(0, f"{excerpt(raw)} is not a tag", 'expected <name adr="..."/>')
    name = opening["name"].decode("ascii")
    if name == "medit":
        return Tag(Op.VERBATIM, raw, name=_block_label(raw))
    if name not in _OPERATIONS:
        return Tag(Op.UNKNOWN, raw)
    return _read_operation(_OPERATIONS[name], raw, opening)


def _read_operation(op: Op, raw: bytes, opening: re.Match[bytes]) -> Tag:
    """Return the tag of an operation; one with other attributes than the documents show is `Op.UNKNOWN`.

    Args:
        op: the operation.
        raw: the bytes of the tag, with its content and closing tag if it has them.
        opening: the match of `_OPENING_TAG` at the beginning of the tag.

    Raises:
        FormatError: an attribute is missing or has a wrong value, or there is content where none belongs.
    """
    attributes = _read_attributes(opening)
    expected_names = _ATTRIBUTES.get(op, ())
    if not set(attributes) <= set(expected_names):
        return Tag(Op.UNKNOWN, raw)
    for name in expected_names:
        if name not in attributes:
            form = " ".join(f"{expected}=..." for expected in expected_names)
            raise _error_at(0, f"<{op}> has no {name}", f"expected <{op} {form}")
    closing = raw.rfind(b"<")
    content = raw[opening.end() : closing] if closing > 0 else b""
    if content.strip(BLANK) and op is not Op.MEM_W:
        raise _error_at(opening.end(), f"{excerpt(content)} inside <{op}>", f"expected <{op} .../>")
    tag = Tag(op, raw)
    if op is Op.CONST:
        value = _read_number(attributes["data"], *WORD_RANGE, name="data")
        return dataclasses.replace(tag, values=(value,))
    if "size" in attributes:
        size = WORD_BYTES
        if attributes["size"].text:
            size = _read_number(attributes["size"], low=1, high=2, name="size")
        values: tuple[int, ...] = ()
        if op is Op.MEM_W and opening.end() < len(raw):
            values = tuple(_read_values(content, opening.end(), size))
        tag = dataclasses.replace(tag, size=size, values=values)
    if "adr" in attributes:
        attribute = attributes["adr"]
        min_digits = MIN_JUMP_DIGITS if op in {Op.JUMP, Op.CALL} else 1
        address = _read_address(attribute, min_digits)
        span = (attribute.offset, attribute.offset + len(attribute.text))
        tag = dataclasses.replace(tag, address=address, address_span=span)
    return tag


def _read_attributes(opening: re.Match[bytes]) -> dict[str, _Attribute]:
    """Return the attributes of a tag by name."""
    attributes: dict[str, _Attribute] = {}
    text = opening["attributes"]
    start = opening.start("attributes")
    end = 0
    while match := _ATTRIBUTE.match(text, end):
        name = match[1].decode("ascii")
        if name in attributes:
            raise _error_at(start + match.start(1), f"{name} is given twice", "expected it once")
        value_group = 2 if match[2] is not None else 3  # in double or in single quotes
        attributes[name] = _Attribute(match[value_group], start + match.start(value_group))
        end = match.end()
    remainder = text[end:].strip(BLANK)
    if remainder:
        raise _error_at(start + end, f"{excerpt(remainder)} is not an attribute", 'expected name="value"')
    return attributes


def _read_address(attribute: _Attribute, min_digits: int) -> int:
    """Return the address in an attribute: `0x` and hexadecimal digits, at least `min_digits`."""
    text = attribute.text
    if not _ADDRESS.fullmatch(text) or len(text) < len("0x") + min_digits or int(text, 16) > 0xFFFFFFFF:
        message = f"the address is {excerpt(text)}" if text else "the address is empty"
        raise _error_at(attribute.offset, message, "expected 0x and eight digits, as in 0x00000a00")
    return int(text, 16)


def _read_number(attribute: _Attribute, low: int, high: int, *, name: str) -> int:
    """Return the number of an attribute, from `low` to `high`; `name` is for the error."""
    text = attribute.text
    if _NUMBER.fullmatch(text):
        value = int(text, 16 if text.startswith(b"0x") else 10)
        if low <= value <= high:
            return value
    message = f"{name} is {excerpt(text)}" if text else f"{name} is empty"
    expected = "1 or 2" if (low, high) == (1, 2) else f"{low} to {high}"
    raise _error_at(attribute.offset, message, f"expected {expected}")


def _read_values(content: bytes, offset: int, size: int) -> Iterator[int]:
    """Yield the values of a block, which are separated by commas.

    Args:
        content: the text between opening and closing tag.
        offset: where the content begins in the tag.
        size: the size of each value [byte].
    """
    max_value = (1 << 8 * size) - 1
    for part in content.split(b","):
        text = part.strip(BLANK)
        value = _Attribute(text, offset + part.find(text))
        yield _read_number(value, low=0, high=max_value, name="a value")
        offset += len(part) + len(",")


def _block_label(raw: bytes) -> str:
    """Return the name of the editor's block as a label: letters, digits and `_`, unlike `L00000000`."""
    match = _BLOCK.search(raw)
    if match is None:
        return ""
    name = re.sub(r"\W+", "_", match[1].decode(ENCODING, "replace")).strip("_")
    return f"_{name}" if name[:1].isdigit() or ADDRESS_LABEL.fullmatch(name) else name


def _error_at(offset: int, message: str, hint: str) -> FormatError:
    return FormatError(message, where=Where(offset=offset), hint=hint)


def raise_all(errors: Sequence[FormatError]) -> None:
    """Raise the first of some errors, with the others, if there is one."""
    if errors:
        errors[0].other_errors = tuple(errors[1:MAX_ERRORS])
        raise errors[0]


# Files.


class _Rm4Reader:
    """Reads a file: first its tags, then checks their places, then resolves the jumps."""

    def __init__(self, data: bytes, path: Path | None) -> None:
        self.errors: list[FormatError] = []
        self._file_bytes = data
        self._path = path
        self._line_starts: list[int] = []
        self._remarks: list[str] = []

    def read(self) -> Rm4Program:
        """Return the program.

        Raises:
            FormatError: with all others, what is wrong with it.
        """
        tags = list(self.read_tags())
        raise_all(self.errors)
        if not tags:
            where = Where(path=self._path)
            raise FormatError("the program has no tags", where=where, hint="expected at least one")
        blank_after = self._file_bytes[len(self._file_bytes.rstrip(BLANK)) :]
        unresolved = Rm4Program(tuple(tags), blank_after)  # its jumps have no targets yet
        starts = [unresolved.positions[tag.key] for tag in tags]
        for misplaced in islice(find_misplaced_tags(tags), MAX_ERRORS):
            self._report(unresolved.positions[misplaced.tag.key], misplaced.problem, misplaced.hint)
        raise_all(self.errors)
        for i, tag in enumerate(tags):
            if tag.op in {Op.JUMP, Op.CALL} and len(self.errors) < MAX_ERRORS:
                tags[i] = self._resolve_jump(tag, starts[i], tags, starts)
            self._remark_oddities(tags[i], starts[i])
        raise_all(self.errors)
        return Rm4Program(tuple(tags), blank_after, self._path, remarks=tuple(self._remarks))

    def read_tags(self) -> Iterator[Tag]:
        """Yield the tags; errors go to `errors`, and reading goes on at the next tag."""
        data = self._file_bytes
        previous_end = 0
        key = 0
        while len(self.errors) < MAX_ERRORS:
            begin = _SPACE.match(data, previous_end).end()  # type: ignore[union-attr]  # always matches
            if begin == len(data):
                return
            end: int | None = None
            try:
                end = self._find_end(begin)
                tag = self._read_tag(begin, end)
                yield dataclasses.replace(tag, blank_before=data[previous_end:begin], key=key)
                previous_end = end
                key += 1
            except FormatError as error:
                self.errors.append(error)
                # go on at the next tag: after the wrong tag if its end was found, else inside of it
                previous_end = data.find(b"<", begin + 1 if end is None else end)
                if previous_end < 0:
                    return

    def _find_end(self, begin: int) -> int:
        """Return where the tag that begins at a byte ends, including its content and closing tag.

        <calc> and </calc> are tags of their own, since other tags are between them.

        Raises:
            FormatError: no tag begins there, or it is not closed.
        """
        data = self._file_bytes
        closing = next((end for start, end in _COMMENTS.items() if data.startswith(start, begin)), b"")
        if not closing:
            opening = _OPENING_TAG.match(data, begin)
            if opening is None:
                raise self._no_tag_error(begin)
            tag_name, _attributes, self_closing_slash = opening.groups()
            if self_closing_slash or tag_name in {b"calc", b"/calc"}:
                return opening.end()
            closing = b"</" + tag_name + b">"
            name = tag_name.decode("ascii").removeprefix("/")
            if name not in _OPERATIONS and name != "medit":
                # An unknown tag includes its text, but no tags inside it.
                next_tag = data.find(b"<", opening.end())
                has_closing_tag = data.startswith(closing, next_tag)
                return next_tag + len(closing) if has_closing_tag else opening.end()
            if tag_name.startswith(b"/"):
                raise self._error(begin, f"{excerpt(opening[0])} closes nothing", "remove it")
        closing_begin = data.find(closing, begin + 2)
        if closing_begin < 0:
            message = f"{excerpt(data[begin : begin + 40].split(b'>')[0])}> is not closed"
            raise self._error(begin, message, f"expected {closing.decode('latin-1')} at its end, or <.../>")
        return closing_begin + len(closing)

    def _no_tag_error(self, begin: int) -> FormatError:
        """Return the error of bytes that do not begin a tag."""
        context = self._file_bytes[begin : begin + 60]
        text = context.split(b"<")[0] or context
        if context.startswith(b"<"):
            message = f"{excerpt(text)} is not a tag"
        else:
            message = f"text between tags: {excerpt(text.strip(BLANK))}"
        hint = 'expected <name adr="..."/>, and between tags only blank space'
        return self._error(begin, message, hint)

    def _read_tag(self, begin: int, end: int) -> Tag:
        """Return the tag between two bytes of the file; errors are located in the file."""
        try:
            return _read_complete_tag(self._file_bytes[begin:end])
        except FormatError as error:
            offset = error.where.offset if error.where is not None else None
            raise self._error(begin + (offset or 0), error.message, error.hint or "") from None

    def _resolve_jump(self, tag: Tag, begin: int, tags: Sequence[Tag], starts: Sequence[int]) -> Tag:
        """Return a jump or call with its target; report an address that no tag follows.

        Args:
            tag: the jump or call.
            begin: where it begins in the file.
            tags: all tags of the file.
            starts: where each of them begins.
        """
        jump = f"<{tag.op}> to 0x{tag.address:08x}"  # for messages
        target = bisect_left(starts, tag.address)  # index of the first tag at or after the address
        previous = target - 1  # of the tag before it
        if target and tag.address < starts[previous] + len(tags[previous].raw):
            tag_text = excerpt(tags[previous].raw)
            message = f"{jump} leads into the middle of {tag_text}, {self._place(starts[previous])}"
            hint = f"expected 0x{starts[previous]:08x}, where that tag begins, or a later one"
            self._report(begin, message, hint)
            return tag
        if target == len(tags):
            hint = f"the last one begins at 0x{starts[-1]:08x}, {self._place(starts[-1])}"
            self._report(begin, f"{jump} leads behind the last tag", hint)
            return tag
        gap_bytes = starts[target] - tag.address
        if tags[target].op in ONLY_INSIDE_CALC:
            message = (
                f"{jump} leads to {excerpt(tags[target].raw)} inside <calc>, where the stack is empty then"
            )
            self._remark(begin, message)
        if gap_bytes:
            message = f"{jump} leads to blank space; the tag after it, {gap_bytes} bytes on, is meant"
            self._remark(begin, message)
        return dataclasses.replace(tag, target=target, gap_bytes=gap_bytes, address=0)

    def _remark_oddities(self, tag: Tag, begin: int) -> None:
        """Add remarks about an empty size, an address of unusual length, and an unknown tag."""
        if tag.op in {Op.MEM_R, Op.MEM_W} and _EMPTY_SIZE.match(tag.raw):
            self._remark(begin, f"<{tag.op}> has an empty size: {WORD_BYTES} bytes, a word, are assumed")
        span_begin, span_end = tag.address_span
        n_digits = span_end - span_begin - len("0x")
        has_address = span_end > span_begin
        if has_address and n_digits not in USUAL_DIGITS:
            address = excerpt(tag.raw[span_begin:span_end])
            self._remark(begin, f"the address {address} has {n_digits} digits, not 8")
        if tag.op is Op.UNKNOWN and len(self._remarks) < MAX_REMARKS:
            name = re.split(rb"[^\w.:/-]", tag.raw[1:], maxsplit=1)[0].decode("latin-1")
            similar = difflib.get_close_matches(name[:40], _OPERATIONS, n=1)
            hint = f" (did you mean {similar[0]}?)" if similar and similar[0] != name else ""
            consequence = "it is kept, and is an error when it is run"
            self._remark(begin, f"no document names {excerpt(tag.raw)}{hint}; {consequence}")

    # Errors and remarks.

    def _place(self, byte: int) -> str:
        return f"line {self._line_of(byte)}, byte {byte}"

    def _line_of(self, byte: int) -> int:
        if not self._line_starts:
            self._line_starts = [0, *(match.end() for match in re.finditer(b"\n", self._file_bytes))]
        return bisect_right(self._line_starts, byte)

    def _error(self, byte: int, message: str, hint: str) -> FormatError:
        where = Where(path=self._path, line=self._line_of(byte))
        return FormatError(f"byte {byte}: {message}", where=where, hint=hint)

    def _report(self, byte: int, message: str, hint: str) -> None:
        self.errors.append(self._error(byte, message, hint))

    def _remark(self, byte: int, message: str) -> None:
        if len(self._remarks) < MAX_REMARKS:
            where = Where(path=self._path, line=self._line_of(byte))
            self._remarks.append(f"{where}: byte {byte}: {message}")
