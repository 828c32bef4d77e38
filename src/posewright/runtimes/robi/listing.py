r"""Listings: a program with one instruction a line and labels for addresses; the assembler reads them back.

    between "\r\n"                              ; what stands before a tag, but the first
    inside "\r\n\t"                             ; and before one inside <calc>
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
    end "\r\n"                                  ; what stands after the last tag

A line is `[address] [label:] [instruction]`, and `;` begins a comment. Addresses and comments are for the
reader and mean nothing: whoever adds or removes a line leaves them as they are. The instructions:

    calc  endcalc  add  sub  mul  eq  ne  gt  ge  lt  le  return
    const NUMBER          mem_r SIZE ADDRESS        mem_w SIZE ADDRESS [= VALUE, VALUE, ...]
                          ADDRESS is a number or a name in memory_map.yaml: posture, position of ID 3
    jump LABEL  call LABEL    LABEL-2 is two bytes of blank space before the label
    text "..."            bytes as they are: editor's data, comments, tags that no document names, <fwrite>
    blank "..."           what stands before the next tag;  raw "..."  how the next tag is written

Strings may go on in the next lines, are in Shift-JIS, and know \" \\ \r \n \t \x00. A `raw` that says
something else than its instruction is left out: whoever changes an instruction gets it as the documents
would write it. A label of letters, digits and `_` stays with the program; one like `L0000002a`, made from an
address, is made anew.
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
    BLANK,
    ENCODING,
    MADE_LABEL,
    Node,
    Op,
    Program,
    in_calc,
    misplaced,
    shown,
)
from posewright.runtimes.robi.rm4 import MOST_BYTES, MOST_ERRORS, WORD_RANGE, raise_all, read_tag, tag_text

_PLAIN = {
    "endcalc" if op is Op.END_CALC else str(op): op
    for op in Op
    if op not in {Op.KEPT, Op.UNKNOWN, Op.FWRITE, Op.MEM_R, Op.MEM_W, Op.CONST, Op.JUMP, Op.CALL}
}
_STRINGS = ("between", "inside", "blank", "raw", "text", "end")
_WORDS = (*_PLAIN, "const", "mem_r", "mem_w", "jump", "call", *_STRINGS)
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_CODE = re.compile(r'(?:[^";]|"(?:[^"\\\n]|\\.)*")*')
_LINE = re.compile(r"(?:[0-9a-fA-F]{8}(?=\s|$))?\s*(?:([^\W\d]\w*)\s*:)?\s*(.*)", re.DOTALL)
_GOAL = re.compile(r"([^\W\d]\w*)(?:-([0-9]{1,6}))?")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\r": "\\r", "\n": "\\n", "\t": "\\t"}
_UNESCAPED = {shown_as[1]: sign for sign, shown_as in _ESCAPES.items()}
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|[^x])")


def listing(program: Program) -> str:
    """Return a program as text, with names of words; `assemble` makes the same bytes of it."""
    return "".join(f"{line}\n" for line in _Lister(program).lines())


class _Lister:
    def __init__(self, program: Program) -> None:
        self._program = program

    def lines(self) -> Iterator[str]:
        program = self._program
        places = list(in_calc(program.nodes))
        blanks = {place: _usual(program.nodes, places, place) for place in (False, True)}
        yield f"between {_quoted(blanks[False])}"
        yield f"inside {_quoted(blanks[True])}"
        for i, (node, inside) in enumerate(zip(program.nodes, places, strict=True)):
            if node.before != (blanks[inside] if i else b""):
                yield f"blank {_quoted(node.before)}"
            yield from self._instruction(node, inside=inside)
        if program.tail:
            yield f"end {_quoted(program.tail)}"

    def _instruction(self, node: Node, *, inside: bool) -> Iterator[str]:
        address = f"{self._program.positions[node.key]:08x}"
        if node.key in self._program.labels:
            yield f"{address}  {self._program.labels[node.key]}:"
        lead = address + " " * (16 if inside else 14)
        raw = self._program.text_of(node)
        if node.op in {Op.KEPT, Op.UNKNOWN, Op.FWRITE}:
            first, *others = raw.splitlines(keepends=True) or [b""]
            yield f"{lead}text {_quoted(first)}"
            for other in others:
                yield f"{' ' * len(lead)}     {_quoted(other)}"
            return
        if raw != _canonical(node, raw):
            yield f"raw {_quoted(raw)}"
        comment = self._comment(node)
        told = lead + self._told(node)
        yield f"{told:<56}; {comment}" if comment else told

    def _told(self, node: Node) -> str:
        if node.op is Op.END_CALC:
            return "endcalc"
        if node.op is Op.CONST:
            return f"const {node.values[0]}"
        if node.op in {Op.MEM_R, Op.MEM_W}:
            values = ", ".join(f"0x{value:0{2 * node.size}x}" for value in node.values)
            return f"{node.op} {node.size} 0x{node.address:04x}" + (f" = {values}" if values else "")
        if node.op in {Op.JUMP, Op.CALL}:
            goal = self._program.by_key[node.target]
            slack = min(node.slack, len(goal.before))
            return f"{node.op} {self._program.labels[goal.key]}" + (f"-{slack}" if slack else "")
        return str(node.op)

    def _comment(self, node: Node) -> str:
        if node.op not in {Op.MEM_R, Op.MEM_W}:
            return ""
        last = node.address + node.size * max(0, len(node.values) - 1)
        names = memory_map().names
        return " .. ".join(names[one] for one in dict.fromkeys((node.address, last)) if one in names)


def _usual(nodes: Iterable[Node], places: Iterable[bool], place: bool) -> bytes:
    pairs = list(zip(nodes, places, strict=True))[1:]
    found = Counter(node.before for node, inside in pairs if inside is place)
    return max(found, key=lambda blank: (found[blank], blank), default=b"\n")


def _canonical(node: Node, raw: bytes) -> bytes:
    """Return the tag of an instruction as the documents write it; a jump has the address in `raw`."""
    address = int(raw[slice(*node.hole)], 16) if node.op in {Op.JUMP, Op.CALL} else node.address
    return tag_text(node.op, size=node.size, address=address, values=node.values)


def _quoted(raw: bytes) -> str:
    try:
        text = raw.decode(ENCODING)
    except UnicodeDecodeError:
        text = ""
    if text.encode(ENCODING) != raw:  # some characters have two codes there
        text = raw.decode("latin-1")
        return '"' + "".join(_escaped(sign, sign < "\x7f") for sign in text) + '"'
    return '"' + "".join(_escaped(sign, sign.isprintable()) for sign in text) + '"'


def _escaped(sign: str, plain: bool) -> str:
    if sign in _ESCAPES:
        return _ESCAPES[sign]
    return sign if plain and sign >= " " else "".join(f"\\x{byte:02x}" for byte in _bytes_of(sign))


def _bytes_of(sign: str) -> bytes:
    return bytes([ord(sign)]) if ord(sign) < 256 else sign.encode(ENCODING)


def assemble(
    text: str, path: Path | None = None, library: Callable[[str], str | None] = lambda _: None
) -> Program:
    """Read a listing.

    Args:
        text: the listing.
        path: where it was read.
        library: has listings that are put behind it, by labels which it goes to and does not have.

    Raises:
        FormatError: with line, for every line that is wrong.
        UnknownNameError: a jump goes to a label that is not there.
    """
    assembler = _Assembler(path)
    assembler.read(text)
    assembler.read_missing(library)
    return assembler.program()


class _Assembler:
    """Reads a listing line by line; jumps get their targets when all labels are known."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._errors: list[FormatError] = []
        self._number = 0
        self._blanks = {"between": b"\n", "inside": b"\n  "}
        self._next: dict[str, bytes] = {}
        self._nodes: list[Node] = []
        self._lines: list[int] = []
        self._goals: list[str] = []
        self._labels: dict[str, int] = {}
        self._labelled: dict[str, int] = {}
        self._tail = b""
        self._inside = False
        self._string: tuple[str, list[bytes], int] | None = None

    def read(self, text: str) -> None:
        """Read a listing, behind what was read before."""
        self._next.clear()
        begin = len(self._nodes)
        for number, line in enumerate(text.split("\n"), 1):
            self._try(self._read, number, line)
        self._try(self._close_string, self._number)
        raise_all(self._errors)
        if begin == len(self._nodes):
            raise FormatError("no instruction", where=Where(path=self._path), hint="a program has some")
        label = next(reversed(self._labels), "")
        if self._labels.get(label) == len(self._nodes):
            told = f"nothing follows the label {label}"
            raise self._wrong(told, "put it before a tag", self._labelled[label])
        for node, what, hint in islice(misplaced(self._nodes[begin:]), MOST_ERRORS):
            self._errors.append(self._wrong(what, hint, self._lines[node.key]))
        raise_all(self._errors)

    def read_missing(self, library: Callable[[str], str | None]) -> None:
        """Read from a library what is gone to and not there, and what that goes to."""
        for goal in self._goals:  # which grows meanwhile
            match = _GOAL.fullmatch(goal)
            text = library(match[1]) if match is not None and match[1] not in self._labels else None
            if match is not None and text is not None:
                try:
                    self.read(text)
                except FormatError as error:
                    what = f"{match[1]} ships and would stand behind this, but in it {error.message}"
                    hint = "give that label another name here"
                    raise FormatError(what, where=Where(path=self._path), hint=hint) from error

    def program(self) -> Program:
        """Return the program, or raise what is wrong with it."""
        names = {key: label for label, key in self._labels.items() if not MADE_LABEL.fullmatch(label)}
        nodes = [self._aimed(node, names.get(node.key, "")) for node in self._nodes]
        made = Program(tuple(nodes), self._tail, self._path)
        if made.n_bytes > MOST_BYTES:
            raise FormatError(f"larger than {MOST_BYTES:,} bytes", where=Where(path=self._path))
        return made

    def _try(self, read: Callable[..., None], number: int, *line: str) -> None:
        if len(self._errors) < MOST_ERRORS:
            self._number = number
            try:
                read(*line)
            except FormatError as error:
                self._errors.append(error)
                self._string = None

    def _aimed(self, node: Node, label: str) -> Node:
        goal = self._goals[node.key]
        if not goal:
            return dataclasses.replace(node, label=label)
        match = _GOAL.fullmatch(goal)
        where = Where(path=self._path, line=self._lines[node.key])
        if match is None:
            raise FormatError(f"{goal[:40]} is no label", where=where, hint=f"right is {node.op} LABEL")
        if match[1] not in self._labels:
            raise UnknownNameError.among("label", match[1], self._labels, where=where)
        target = self._nodes[self._labels[match[1]]]
        slack = int(match[2] or 0)
        if slack > len(target.before):
            hint = f"there are {len(target.before)} blank bytes before it"
            raise FormatError(f"{goal} leads into another tag", where=where, hint=hint)
        return dataclasses.replace(node, target=target.key, slack=slack, label=label, address=0)

    def _read(self, line: str) -> None:
        code = _without_comment(line).strip()
        if code.startswith('"') and self._string is not None:
            self._string[1].append(self._bytes(code))
            return
        self._close_string()
        match = _LINE.fullmatch(code)
        label, rest = (match[1], match[2]) if match else (None, code)
        if label is not None:
            if label in self._labels:
                told = f"the label {label} stands in line {self._labelled[label]}, too"
                raise self._wrong(told, "a label stands once")
            self._labels[label], self._labelled[label] = len(self._nodes), self._number
        if not rest:
            return
        word, _, operand = rest.partition(" ")
        if word in _STRINGS:
            self._string = (word, [self._bytes(operand.strip())], self._number)
        else:
            self._add(self._node(word, operand.strip()), operand.strip())

    def _node(self, word: str, operand: str) -> Node:
        if word in _PLAIN and not operand:
            return read_tag(tag_text(_PLAIN[word]))
        if word in {"jump", "call"}:
            return read_tag(tag_text(Op(word)))
        if word == "const":
            return read_tag(tag_text(Op.CONST, values=[self._integer(operand, *WORD_RANGE)]))
        if word in {"mem_r", "mem_w"}:
            return self._memory(Op(word), operand)
        if word in _PLAIN:
            raise self._wrong(f"{operand[:40]} after {word}", f"{word} stands alone")
        error = UnknownNameError.among("instruction", word[:40], _WORDS)
        raise self._wrong(error.message, error.hint or "")

    def _memory(self, op: Op, operand: str) -> Node:
        place, equals, listed = operand.partition("=")
        words = place.split(None, 1)
        if len(words) != 2 or (equals and op is Op.MEM_R):
            form = " [= VALUE, VALUE, ...]" if op is Op.MEM_W else ""
            raise self._wrong(f"{op} {operand[:40]}", f"right is {op} SIZE ADDRESS{form}")
        size, address = self._integer(words[0], 1, 2), self._address(words[1].strip())
        highest = (1 << 8 * size) - 1
        numbers = listed.split(",") if equals else []
        values = [self._integer(one, ~(highest >> 1), highest) & highest for one in numbers]
        return read_tag(tag_text(op, size=size, address=address, values=values))

    def _address(self, text: str) -> int:
        """Return the address that stands there, or that of the word of the memory with this name."""
        if text[:1].isdigit() or text[:1] == "-":
            return self._integer(text, 0, 0xFFFFFFFF)
        if text not in memory_map().addresses:
            error = UnknownNameError.among("word of the memory", text[:40], memory_map().addresses)
            raise self._wrong(
                error.message, error.hint or "right is an address, or a name of memory_map.yaml"
            )
        return memory_map().addresses[text]

    def _add(self, node: Node, goal: str = "") -> None:
        """Take up a node, with the `raw` and `blank` that were said of it."""
        raw = self._next.pop("raw", b"")
        if raw:
            node = self._written(node, raw)
        self._inside = self._inside and node.op is not Op.END_CALC
        blank = self._blanks["inside" if self._inside else "between"] if self._nodes else b""
        before = self._next.pop("blank", blank)
        self._inside = self._inside or node.op is Op.CALC
        self._nodes.append(dataclasses.replace(node, before=before, key=len(self._nodes)))
        self._lines.append(self._number)
        self._goals.append(goal or "?" if node.op in {Op.JUMP, Op.CALL} else "")

    def _written(self, node: Node, raw: bytes) -> Node:
        """Return the node as `raw` writes it, if that says the same."""
        try:
            other = read_tag(raw)
        except FormatError:
            return node
        same = (node.op, node.size, node.values) == (other.op, other.size, other.values)
        is_jump = node.op in {Op.JUMP, Op.CALL}
        return other if same and (is_jump or node.address == other.address) else node

    def _close_string(self) -> None:
        """Do what a directive says whose string may have gone on until here."""
        if self._string is None:
            return
        word, pieces, number = self._string
        self._string = None
        value, self._number, now = b"".join(pieces), number, self._number
        if word == "text":
            self._next.pop("raw", None)
            self._add(self._text(value))
        elif word == "raw":
            self._next["raw"] = value
        elif value.strip(BLANK):
            raise self._wrong(
                f"{word} holds {shown(value.strip(BLANK))}", "it is blank space: spaces, \\t \\r \\n"
            )
        elif word == "end":
            self._tail = value
        elif word == "blank":
            self._next["blank"] = value
        else:
            self._blanks[word] = value
        self._number = now

    def _text(self, raw: bytes) -> Node:
        try:
            node = read_tag(raw)
        except FormatError as error:
            raise self._wrong(error.message, error.hint or "") from None
        if node.op in {Op.JUMP, Op.CALL}:
            raise self._wrong(
                f"{shown(raw)} as text", f"right is {node.op} LABEL, so that it keeps its target"
            )
        return node

    def _bytes(self, quoted: str) -> bytes:
        if not _STRING.fullmatch(quoted):
            raise self._wrong(
                f"{quoted[:40]} is no string", r'right is "...", with \" \\ \r \n \t \x00 in it'
            )
        pieces, at, text = [], 0, quoted[1:-1]
        for escape in _ESCAPE.finditer(text):
            pieces.append(self._encoded(text[at : escape.start()]))
            pieces.append(self._unescaped(escape[1]))
            at = escape.end()
        pieces.append(self._encoded(text[at:]))
        return b"".join(pieces)

    def _unescaped(self, told: str) -> bytes:
        if told[0] == "x":
            return bytes([int(told[1:], 16)])
        if told not in _UNESCAPED:
            raise self._wrong(f"\\{told} in a string", r"known are \" \\ \r \n \t \x00")
        return _UNESCAPED[told].encode("ascii")

    def _encoded(self, text: str) -> bytes:
        if "\\" in text:
            raise self._wrong(r"\x without two digits in a string", r"right is \x00")
        try:
            return text.encode(ENCODING)
        except UnicodeEncodeError as error:
            sign = text[error.start]
            raise self._wrong(
                f"{sign} is not in Shift-JIS", "leave it out, or write its bytes as \\x00"
            ) from None

    def _integer(self, text: str, low: int, high: int) -> int:
        text = text.strip()
        if re.fullmatch(r"-?[0-9]{1,9}|0x[0-9a-fA-F]{1,8}", text, re.ASCII):
            value = int(text, 16 if text.startswith("0x") else 10)
            if low <= value <= high:
                return value
        raise self._wrong(f"{text[:40] or 'nothing'} is no number here", f"right is {low} to {high}")

    def _wrong(self, what: str, hint: str, line: int | None = None) -> FormatError:
        where = Where(path=self._path, line=self._number if line is None else line)
        return FormatError(what, where=where, hint=hint)


def _without_comment(line: str) -> str:
    code = _CODE.match(line)
    end = code.end() if code else 0
    return line[:end] if line[end : end + 1] == ";" else line  # a string that is not closed is told later
