r"""Listings: a program with one instruction a line and labels for addresses; the assembler reads them back.

    between "\r\n"                              ; the blank space before a tag, except the first
    inside "\r\n\t"                             ; the blank space before a tag inside <calc>
    00000000              text "<medit><block name=\"wave\" /></medit>"
    00000028  wave:
    00000028              mem_w 2 0x0a04 = 0x0000, 0x0050       ; ID2
    00000060              calc
    00000068                mem_r 2 0x0e5c                      ; word number
    0000008d                const 472
    000000a1                sub
    000000a9                eq
    000000b0                jump wave
    000000cc              endcalc
    000000d5              return
    end "\r\n"                                  ; the blank space after the last tag

A line is `[address] [label:] [instruction]`, and `;` begins a comment. Addresses and comments are for the
reader only; leave them as they are when you add or remove lines. The instructions:

    calc  endcalc  add  sub  mul  eq  ne  gt  ge  lt  le  return
    const NUMBER          mem_r SIZE ADDRESS        mem_w SIZE ADDRESS [= VALUE, VALUE, ...]
                          ADDRESS is a number or a name in memory_map.yaml: posture, position of ID 3
    jump LABEL  call LABEL    LABEL-2 is two bytes of blank space before the label
    text "..."            bytes as they are: editor's data, comments, tags that no document names, <fwrite>
    blank "..."           the blank space before the next tag;  raw "..."  the spelling of the next tag

Strings may go on in the next lines, are in Shift-JIS, and know \" \\ \r \n \t \x00. A `raw` that disagrees
with its instruction is ignored, so an instruction that you change is written as in the documents. A label of
letters, digits and `_` stays with the program; one like `L0000002a`, made from an address, is made anew.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path

from posewright.errors import FormatError, UnknownNameError, Where
from posewright.runtimes.robi.memory import memory_map
from posewright.runtimes.robi.program import (
    ADDRESS_LABEL,
    BLANK,
    ENCODING,
    Op,
    Rm4Program,
    Tag,
    excerpt,
    find_misplaced_tags,
    mark_inside_calc,
)
from posewright.runtimes.robi.rm4 import (
    MAX_BYTES,
    MAX_ERRORS,
    WORD_RANGE,
    format_tag,
    raise_all,
    read_tag,
)

_OPERATIONS_ALONE = {
    "endcalc" if op is Op.END_CALC else str(op): op
    for op in Op
    if op not in {Op.VERBATIM, Op.UNKNOWN, Op.FWRITE, Op.MEM_R, Op.MEM_W, Op.CONST, Op.JUMP, Op.CALL}
}
"""Operations without operands, by instruction."""

_STRING_DIRECTIVES = ("between", "inside", "blank", "raw", "text", "end")
_INSTRUCTIONS = (*_OPERATIONS_ALONE, "const", "mem_r", "mem_w", "jump", "call", *_STRING_DIRECTIVES)
_MARGIN_WIDTH = 14
"""Columns between the address and an instruction."""

_CALC_MARGIN_WIDTH = 16
"""The same inside <calc>."""

_COMMENT_COLUMN = 56

_UNKNOWN_OPERAND = "?"
"""Stands for the missing operand of a jump; it is no label, so `_resolve_jump` reports it."""

_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_CODE = re.compile(r'(?:[^";]|"(?:[^"\\\n]|\\.)*")*')
_LINE = re.compile(r"(?:[0-9a-fA-F]{8}(?=\s|$))?\s*(?:([^\W\d]\w*)\s*:)?\s*(.*)", re.DOTALL)
_JUMP_OPERAND = re.compile(r"([^\W\d]\w*)(?:-([0-9]{1,6}))?")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\r": "\\r", "\n": "\\n", "\t": "\\t"}
_ESCAPED_CHARACTERS = {escape[1]: character for character, escape in _ESCAPES.items()}
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|[^x])")


# From program to listing.


def format_listing(program: Rm4Program) -> str:
    """Return the listing of a program; `assemble` makes the same bytes from it."""
    return "".join(f"{line}\n" for line in _format_lines(program))


def _format_lines(program: Rm4Program) -> Iterator[str]:
    """Yield the lines of a listing: the usual blanks, each tag, and what follows the last one."""
    inside_flags = list(mark_inside_calc(program.tags))
    between_blank = _find_usual_blank(program.tags, inside_flags, inside_calc=False)
    inside_blank = _find_usual_blank(program.tags, inside_flags, inside_calc=True)
    yield f"between {_quote(between_blank)}"
    yield f"inside {_quote(inside_blank)}"
    for i, (tag, is_inside) in enumerate(zip(program.tags, inside_flags, strict=True)):
        usual_blank = inside_blank if is_inside else between_blank
        if i == 0:
            usual_blank = b""  # most files begin with a tag
        if tag.blank_before != usual_blank:
            yield f"blank {_quote(tag.blank_before)}"
        yield from _format_tag_lines(program, tag, inside_calc=is_inside)
    if program.blank_after:
        yield f"end {_quote(program.blank_after)}"


def _find_usual_blank(tags: Iterable[Tag], inside_flags: Iterable[bool], *, inside_calc: bool) -> bytes:
    """Return the most frequent blank space before tags inside or outside of <calc>.

    The first tag of the file does not count. Of equally frequent ones the last in the order of bytes is
    taken.
    """
    counts = Counter[bytes]()
    for i, (tag, is_inside) in enumerate(zip(tags, inside_flags, strict=True)):
        if i > 0 and is_inside is inside_calc:
            counts[tag.blank_before] += 1
    return max(counts, key=lambda blank: (counts[blank], blank), default=b"\n")


def _format_tag_lines(program: Rm4Program, tag: Tag, *, inside_calc: bool) -> Iterator[str]:
    """Yield the lines of a tag: its label, its spelling if that is unusual, and its instruction."""
    address = f"{program.positions[tag.key]:08x}"
    if tag.key in program.labels:
        yield f"{address}  {program.labels[tag.key]}:"
    indentation = " " * (_CALC_MARGIN_WIDTH if inside_calc else _MARGIN_WIDTH)
    raw = program.render_tag(tag)
    if tag.op in {Op.VERBATIM, Op.UNKNOWN, Op.FWRITE}:
        first, *following = raw.splitlines(keepends=True) or [b""]
        yield f"{address}{indentation}text {_quote(first)}"
        continuation = " " * len(f"{address}{indentation}text ")
        for line in following:
            yield f"{continuation}{_quote(line)}"
        return
    if raw != _standard_spelling(tag, raw):
        yield f"raw {_quote(raw)}"
    code = f"{address}{indentation}{_format_instruction(program, tag)}"
    comment = _format_memory_comment(tag)
    yield f"{code:<{_COMMENT_COLUMN}}; {comment}" if comment else code


def _format_instruction(program: Rm4Program, tag: Tag) -> str:
    """Return a tag as an instruction: `mem_w 2 0x0a00 = 0x0001`."""
    if tag.op is Op.END_CALC:
        return "endcalc"
    if tag.op is Op.CONST:
        return f"const {tag.values[0]}"
    if tag.op in {Op.MEM_R, Op.MEM_W}:
        values = ", ".join(f"0x{value:0{2 * tag.size}x}" for value in tag.values)
        return f"{tag.op} {tag.size} 0x{tag.address:04x}" + (f" = {values}" if values else "")
    if tag.op in {Op.JUMP, Op.CALL}:
        target = program.tags_by_key[tag.target]
        gap_bytes = min(tag.gap_bytes, len(target.blank_before))
        return f"{tag.op} {program.labels[target.key]}" + (f"-{gap_bytes}" if gap_bytes else "")
    return str(tag.op)


def _format_memory_comment(tag: Tag) -> str:
    """Return the names of the first and last word of the memory that a tag accesses."""
    if tag.op not in {Op.MEM_R, Op.MEM_W}:
        return ""
    last_address = tag.address + tag.size * max(0, len(tag.values) - 1)
    names = memory_map().names
    addresses = dict.fromkeys((tag.address, last_address))  # one if both are the same
    return " .. ".join(names[address] for address in addresses if address in names)


def _standard_spelling(tag: Tag, raw: bytes) -> bytes:
    """Return a tag as the documents write it; a jump has the address in `raw`."""
    address = tag.address
    if tag.op in {Op.JUMP, Op.CALL}:
        begin, end = tag.address_span
        address = int(raw[begin:end], 16)
    return format_tag(tag.op, size=tag.size, address=address, values=tag.values)


def _quote(raw: bytes) -> str:
    """Return bytes as a quoted string: as Shift-JIS text, or byte by byte if that does not give them back."""
    try:
        text = raw.decode(ENCODING)
    except UnicodeDecodeError:
        text = ""
    if text.encode(ENCODING) == raw:
        characters = [_escape(character, is_plain=character.isprintable()) for character in text]
    else:  # also where a character has two codes
        characters = [_escape(character, is_plain=character < "\x7f") for character in raw.decode("latin-1")]
    return '"' + "".join(characters) + '"'


def _escape(character: str, *, is_plain: bool) -> str:
    """Return a character as the listing writes it in quotes; `is_plain` allows printable ones as they are."""
    if character in _ESCAPES:
        return _ESCAPES[character]
    if is_plain and character >= " ":
        return character
    code = bytes([ord(character)]) if ord(character) < 256 else character.encode(ENCODING)
    return "".join(f"\\x{byte:02x}" for byte in code)


# From listing to program.


def assemble(
    listing: str, path: Path | None = None, library: Callable[[str], str | None] = lambda _: None
) -> Rm4Program:
    """Return the program of a listing.

    Args:
        listing: its text.
        path: the path of its file, for errors.
        library: returns the listing of a subroutine by its label, or None; subroutines that the listing goes
            to and does not contain are added.

    Raises:
        FormatError: with line, for every line that is wrong.
        UnknownNameError: a jump goes to an unknown label.
    """
    assembler = _Assembler(path)
    assembler.read(listing)
    assembler.read_subroutines(library)
    return assembler.program()


@dataclasses.dataclass(slots=True)
class _OpenString:
    """A directive whose string may go on in the next line: its keyword, its bytes so far, and its line."""

    keyword: str
    parts: list[bytes]
    line: int


class _Assembler:
    """Reads listings line by line; jumps get their targets when all labels are known."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._line_errors: list[FormatError] = []
        self._line_number = 0
        self._tags: list[Tag] = []
        self._tag_lines: list[int] = []  # the line of each tag in its listing
        self._jump_operands: list[str] = []  # by tag; empty for other tags
        self._tag_key_of_label: dict[str, int] = {}  # key of the tag below each label
        self._label_lines: dict[str, int] = {}
        # blank space before a tag unless `blank` states another: outside of <calc>, and inside
        self._usual_blanks = {"between": b"\n", "inside": b"\n  "}
        self._next_tag_settings: dict[str, bytes] = {}  # `raw` and `blank` of the next tag
        self._inside_calc = False
        self._blank_after = b""  # after the last tag
        self._open_string: _OpenString | None = None

    def read(self, listing: str) -> None:
        """Read a listing and add its tags to those read before.

        Raises:
            FormatError: with all others, lines that are wrong.
        """
        self._next_tag_settings.clear()
        n_previous = len(self._tags)
        for number, line in enumerate(listing.split("\n"), 1):
            if len(self._line_errors) >= MAX_ERRORS:
                break
            self._line_number = number
            try:
                self._read_line(line)
            except FormatError as error:
                self._line_errors.append(error)
                self._open_string = None
        if len(self._line_errors) < MAX_ERRORS:
            try:
                self._finish_string()
            except FormatError as error:
                self._line_errors.append(error)
                self._open_string = None
        raise_all(self._line_errors)
        if n_previous == len(self._tags):
            hint = "a program has at least one"
            raise FormatError("the listing has no instruction", where=Where(path=self._path), hint=hint)
        last_label = next(reversed(self._tag_key_of_label), "")
        if self._tag_key_of_label.get(last_label) == len(self._tags):
            message = f"no tag follows the label {last_label}"
            raise self._error(message, "put the label before a tag", self._label_lines[last_label])
        for misplaced in islice(find_misplaced_tags(self._tags[n_previous:]), MAX_ERRORS):
            tag_line = self._tag_lines[misplaced.tag.key]
            self._line_errors.append(self._error(misplaced.problem, misplaced.hint, tag_line))
        raise_all(self._line_errors)

    def read_subroutines(self, library: Callable[[str], str | None]) -> None:
        """Add the subroutines of a library that jumps go to, and those that these go to.

        Raises:
            FormatError: a subroutine repeats a label.
        """
        for operand in self._jump_operands:  # grows while subroutines are added
            match = _JUMP_OPERAND.fullmatch(operand)
            if match is None or match[1] in self._tag_key_of_label:
                continue
            label = match[1]
            listing = library(label)
            if listing is None:
                continue
            try:
                self.read(listing)
            except FormatError as error:
                message = f"the shipped program {label} cannot be added after this one: {error.message}"
                hint = "give that label another name in this listing"
                raise FormatError(message, where=Where(path=self._path), hint=hint) from error

    def program(self) -> Rm4Program:
        """Return the program of all tags.

        Raises:
            FormatError: a jump is wrong, or the program is too large.
            UnknownNameError: a jump goes to an unknown label.
        """
        labels = {
            key: label for label, key in self._tag_key_of_label.items() if not ADDRESS_LABEL.fullmatch(label)
        }
        tags = tuple(self._resolve_jump(tag, labels.get(tag.key, "")) for tag in self._tags)
        program = Rm4Program(tags, self._blank_after, self._path)
        if program.n_bytes > MAX_BYTES:
            message = f"the program is larger than {MAX_BYTES:,} bytes"
            raise FormatError(message, where=Where(path=self._path))
        return program

    def _resolve_jump(self, tag: Tag, label: str) -> Tag:
        """Return a tag with its label and, if it is a jump or call, its target."""
        operand = self._jump_operands[tag.key]
        if not operand:
            return dataclasses.replace(tag, label=label)
        where = Where(path=self._path, line=self._tag_lines[tag.key])
        match = _JUMP_OPERAND.fullmatch(operand)
        if match is None:
            hint = f"expected {tag.op} LABEL"
            raise FormatError(f"{operand[:40]} is not a label", where=where, hint=hint)
        target_label = match[1]
        if target_label not in self._tag_key_of_label:
            raise UnknownNameError.among("label", target_label, self._tag_key_of_label, where=where)
        target = self._tags[self._tag_key_of_label[target_label]]
        gap_bytes = int(match[2] or 0)  # as in LABEL-2
        if gap_bytes > len(target.blank_before):
            hint = f"there are {len(target.blank_before)} blank bytes before it"
            raise FormatError(f"{operand} leads into the middle of another tag", where=where, hint=hint)
        return dataclasses.replace(tag, target=target.key, gap_bytes=gap_bytes, label=label, address=0)

    # Lines.

    def _read_line(self, line: str) -> None:
        """Read a line of the listing: a label, an instruction, or a further part of a string."""
        code = _remove_comment(line).strip()
        if code.startswith('"') and self._open_string is not None:
            self._open_string.parts.append(self._read_string(code))
            return
        self._finish_string()
        match = _LINE.fullmatch(code)
        label, instruction = (match[1], match[2]) if match else (None, code)
        if label is not None:
            if label in self._tag_key_of_label:
                message = f"the label {label} is already defined in line {self._label_lines[label]}"
                raise self._error(message, "give each label its own name")
            self._tag_key_of_label[label] = len(self._tags)
            self._label_lines[label] = self._line_number
        if not instruction:
            return
        keyword, _, operand = instruction.partition(" ")
        operand = operand.strip()
        if keyword in _STRING_DIRECTIVES:
            self._open_string = _OpenString(keyword, [self._read_string(operand)], self._line_number)
        else:
            self._add_tag(self._read_instruction(keyword, operand), operand)

    def _read_instruction(self, keyword: str, operand: str) -> Tag:
        """Return the tag of an instruction; a jump or call has no target yet."""
        if keyword in _OPERATIONS_ALONE and not operand:
            return read_tag(format_tag(_OPERATIONS_ALONE[keyword]))
        if keyword in {"jump", "call"}:
            return read_tag(format_tag(Op(keyword)))
        if keyword == "const":
            return read_tag(format_tag(Op.CONST, values=[self._read_integer(operand, *WORD_RANGE)]))
        if keyword in {"mem_r", "mem_w"}:
            return self._read_memory_access(Op(keyword), operand)
        if keyword in _OPERATIONS_ALONE:
            raise self._error(f"{operand[:40]} after {keyword}", f"{keyword} has no operand")
        error = UnknownNameError.among("instruction", keyword[:40], _INSTRUCTIONS)
        raise self._error(error.message, error.hint or "")

    def _read_memory_access(self, op: Op, operand: str) -> Tag:
        """Return the tag of `mem_r SIZE ADDRESS` or `mem_w SIZE ADDRESS = VALUE, ...`."""
        location, equals, value_list = operand.partition("=")
        fields = location.split(None, 1)
        if len(fields) != 2 or (equals and op is Op.MEM_R):
            values_form = " [= VALUE, VALUE, ...]" if op is Op.MEM_W else ""
            raise self._error(f"{op} {operand[:40]}", f"expected {op} SIZE ADDRESS{values_form}")
        size = self._read_integer(fields[0], low=1, high=2)
        address = self._read_address(fields[1].strip())
        max_value = (1 << 8 * size) - 1
        min_value = -(1 << 8 * size - 1)  # values below 0 are stored in two's complement
        values: list[int] = []
        if equals:
            for text in value_list.split(","):
                values.append(self._read_integer(text, min_value, max_value) & max_value)
        return read_tag(format_tag(op, size=size, address=address, values=values))

    def _read_address(self, text: str) -> int:
        """Return an address: a number, or that of a named word of the memory."""
        if text[:1].isdigit() or text[:1] == "-":
            return self._read_integer(text, low=0, high=0xFFFFFFFF)
        addresses = memory_map().addresses
        if text not in addresses:
            error = UnknownNameError.among("word of the memory", text[:40], addresses)
            raise self._error(
                error.message, error.hint or "expected an address, or a name in memory_map.yaml"
            )
        return addresses[text]

    def _read_integer(self, text: str, low: int, high: int) -> int:
        """Return a number in a range, written with decimal or hexadecimal digits."""
        text = text.strip()
        if re.fullmatch(r"-?[0-9]{1,9}|0x[0-9a-fA-F]{1,8}", text, re.ASCII):
            value = int(text, 16 if text.startswith("0x") else 10)
            if low <= value <= high:
                return value
        raise self._error(f"{text[:40] or 'nothing'} is not a valid number here", f"expected {low} to {high}")

    def _add_tag(self, tag: Tag, jump_operand: str = "") -> None:
        """Add a tag, with the `raw` and `blank` that precede it."""
        raw = self._next_tag_settings.pop("raw", b"")
        if raw:
            tag = _apply_spelling(tag, raw)
        if tag.op is Op.END_CALC:
            self._inside_calc = False
        usual_blank = self._usual_blanks["inside" if self._inside_calc else "between"] if self._tags else b""
        blank = self._next_tag_settings.pop("blank", usual_blank)
        if tag.op is Op.CALC:
            self._inside_calc = True
        self._tags.append(dataclasses.replace(tag, blank_before=blank, key=len(self._tags)))
        self._tag_lines.append(self._line_number)
        is_jump = tag.op in {Op.JUMP, Op.CALL}
        self._jump_operands.append((jump_operand or _UNKNOWN_OPERAND) if is_jump else "")

    # Strings.

    def _finish_string(self) -> None:
        """Apply the directive whose string has ended before this line, if there is one.

        A `text` becomes a tag; `raw` and `blank` wait for the next tag; `between`, `inside` and `end` set the
        blank space of further tags. Errors name the line of the directive.
        """
        string = self._open_string
        if string is None:
            return
        self._open_string = None
        current_line = self._line_number
        self._line_number = string.line  # for errors
        value = b"".join(string.parts)
        if string.keyword == "text":
            self._next_tag_settings.pop("raw", None)
            self._add_tag(self._read_text_tag(value))
        elif string.keyword == "raw":
            self._next_tag_settings["raw"] = value
        elif value.strip(BLANK):
            message = f"{string.keyword} contains {excerpt(value.strip(BLANK))}"
            raise self._error(message, "expected blank space: spaces, \\t \\r \\n")
        elif string.keyword == "end":
            self._blank_after = value
        elif string.keyword == "blank":
            self._next_tag_settings["blank"] = value
        else:
            self._usual_blanks[string.keyword] = value
        self._line_number = current_line

    def _read_text_tag(self, raw: bytes) -> Tag:
        """Return the tag of a `text` line, which may not be a jump, as that needs a label."""
        try:
            tag = read_tag(raw)
        except FormatError as error:
            raise self._error(error.message, error.hint or "") from None
        if tag.op in {Op.JUMP, Op.CALL}:
            hint = f"expected {tag.op} LABEL, so that it keeps its target"
            raise self._error(f"{excerpt(raw)} as text", hint)
        return tag

    def _read_string(self, quoted: str) -> bytes:
        """Return the bytes of a quoted string."""
        if not _STRING.fullmatch(quoted):
            hint = r'expected "...", with \" \\ \r \n \t \x00 in it'
            raise self._error(f"{quoted[:40]} is not a string", hint)
        text = quoted[1:-1]
        parts: list[bytes] = []
        end = 0
        for escape in _ESCAPE.finditer(text):
            parts.append(self._encode(text[end : escape.start()]))
            parts.append(self._decode_escape(escape[1]))
            end = escape.end()
        parts.append(self._encode(text[end:]))
        return b"".join(parts)

    def _decode_escape(self, code: str) -> bytes:
        """Return the byte of an escape sequence without its backslash."""
        if code[0] == "x":
            return bytes([int(code[1:], 16)])
        if code not in _ESCAPED_CHARACTERS:
            raise self._error(f"\\{code} in a string", r"expected \" \\ \r \n \t \x00")
        return _ESCAPED_CHARACTERS[code].encode("ascii")

    def _encode(self, text: str) -> bytes:
        """Return a text in Shift-JIS."""
        if "\\" in text:
            raise self._error(r"\x without two digits in a string", r"expected \x00")
        try:
            return text.encode(ENCODING)
        except UnicodeEncodeError as error:
            character = text[error.start]
            hint = "leave it out, or write its bytes as \\x00"
            raise self._error(f"{character} is not in Shift-JIS", hint) from None

    def _error(self, message: str, hint: str, line: int | None = None) -> FormatError:
        """Return an error at a line, or at the current one."""
        where = Where(path=self._path, line=self._line_number if line is None else line)
        return FormatError(message, where=where, hint=hint)


def _apply_spelling(tag: Tag, raw: bytes) -> Tag:
    """Return a tag with the spelling `raw` if that has the same meaning; otherwise the tag as it is."""
    try:
        spelt = read_tag(raw)
    except FormatError:
        return tag
    has_same_operands = (tag.op, tag.size, tag.values) == (spelt.op, spelt.size, spelt.values)
    is_jump = tag.op in {Op.JUMP, Op.CALL}
    has_same_address = is_jump or tag.address == spelt.address
    return spelt if has_same_operands and has_same_address else tag


def _remove_comment(line: str) -> str:
    match = _CODE.match(line)
    end = match.end() if match else 0
    return line[:end] if line[end : end + 1] == ";" else line  # an open string is reported later
