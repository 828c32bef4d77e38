"""RM4: the text form of Robi's programs.

    <medit>...<block name="wave" /></medit>               the editor's: where it draws the block
    <mem_w size="2" adr="0x00000a04">0x0000,0x0050</mem_w>   writes words from an address on
    <calc><mem_r size="2" adr="0x00000e5c"/><const data="472"/><sub/><eq/><jump adr="0x000001f4"/></calc>
    <call adr="0x00000120"/> <return/> <jump adr="0x00000000"/>

No specification is public, and no sample: this is what the documents show (mcc.mbsrv.net/robox, 2014-2024;
micono.cocolog-nifty.com, 2014-08; the description of Robi 2's posture control, 2024). What they do not
name is kept and told in `Program.remarks`. `adr` of a jump or call is a byte of the file; one that leads to
the blank space before a tag means the tag. Robi 2 has the same commands in a binary file, STARTUP.BIN.
"""

from __future__ import annotations

import dataclasses
import difflib
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from posewright.errors import FormatError, Where
from posewright.runtimes.robi.program import (
    BLANK,
    ENCODING,
    INSIDE,
    MADE_LABEL,
    Node,
    Op,
    Program,
    misplaced,
    shown,
)

MOST_BYTES = 1 << 24
"""Robi 2's whole STARTUP.BIN has under 3 MB; addresses shown of it end at 0x0028369a."""

MOST_ERRORS, MOST_REMARKS = 20, 100
"""So many of what is wrong with one file, and of what is odd about it, are told."""

WORD_RANGE = (-0x8000, 0xFFFF)
"""Of a `<const>`: a word of 16 bits, written with its sign or without."""

_SPACE = re.compile(rb"[ \t\r\n]*")
_HEAD = re.compile(rb"<(/?[A-Za-z_][\w.:-]*)([^<>]*?)(/?)>")
_ATTRIBUTE = re.compile(rb"\s+([A-Za-z_][\w.:-]*)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_ADDRESS = re.compile(rb"0x[0-9a-fA-F]{1,9}")
_NUMBER = re.compile(rb"0x[0-9a-fA-F]{1,8}|-?[0-9]{1,9}")
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
_NAMES = {str(op): op for op in Op if op not in {Op.KEPT, Op.UNKNOWN}}


def read_program(data: bytes, path: Path | None = None) -> Program:
    """Read a program in any form that is known: there is one.

    Raises:
        FormatError: the file is damaged, or of a form that nobody here knows, as STARTUP.BIN is.
    """
    if data.strip(BLANK) and (b"\0" in data or not data.lstrip(BLANK).startswith(b"<")):
        what = "this is no RM4 text; Robi 2's STARTUP.BIN, if it is that, has the same commands as bytes"
        hint = (
            "which byte is which command is not known here; `posewright robi patch` changes it all the same"
        )
        raise FormatError(what, where=Where(path=path, offset=0), hint=hint)
    return read_rm4(data, path)


def read_rm4(data: bytes, path: Path | None = None) -> Program:
    """Read a program in its text form.

    Raises:
        FormatError: with line and byte, for every tag that is wrong; a jump that leads into a tag or into the
            editor's data names both places.
    """
    if len(data) > MOST_BYTES:
        raise FormatError(f"larger than {MOST_BYTES:,} bytes", where=Where(path=path))
    return _Reader(data, path).program()


def read_tag(raw: bytes) -> Node:
    """Read one tag that is nothing else, from `<` to its end; a jump has no target yet, but an `address`.

    Raises:
        FormatError: it is wrong, or not one tag.
    """
    reader = _Reader(raw, None)
    found = list(reader.tags())
    raise_all(reader.errors)
    if len(found) != 1 or found[0].raw != raw:
        raise FormatError(
            f"{shown(raw)} is not one tag", hint="right is a single tag, with what belongs to it"
        )
    return found[0]


def _tag(raw: bytes) -> Node:
    """Return what is known to end where it must; an error has its byte in `raw`."""
    if raw.startswith(tuple(_COMMENTS)):
        return Node(Op.KEPT, raw)
    head = _HEAD.match(raw)
    if head is None:
        raise _wrong(0, f"{shown(raw)} is no tag", 'right is <name adr="..."/>')
    name = head[1].decode("ascii")
    if name == "medit":
        return Node(Op.KEPT, raw, name=_block_name(raw))
    if name not in _NAMES:
        return Node(Op.UNKNOWN, raw)
    return _known(_NAMES[name], raw, head)


def tag_text(op: Op, *, size: int = 2, address: int = 0, values: Sequence[int] = ()) -> bytes:
    """Return a tag as the documents write it; a `<mem_w>` with values is a block."""
    name, listed = str(op), ""
    if op in {Op.MEM_R, Op.MEM_W}:
        name += f' size="{size}" adr="0x{address:08x}"'
        listed = ",".join(f"0x{value:0{2 * size}x}" for value in values)
    elif op in {Op.JUMP, Op.CALL}:
        name += f' adr="0x{address:08x}"'
    elif op is Op.CONST:
        name += f' data="{values[0]}"'
    if listed:
        return f"<{name}>{listed}</{op}>".encode()
    return f"<{name}{'' if op in {Op.CALC, Op.END_CALC} else '/'}>".encode()


def _known(op: Op, raw: bytes, head: re.Match[bytes]) -> Node:
    found = _attributes(head)
    wanted = _ATTRIBUTES.get(op, ())
    if not set(found) <= set(wanted):
        return Node(Op.UNKNOWN, raw)
    for name in wanted:
        if name not in found:
            raise _wrong(0, f"<{op}> has no {name}", f"right is <{op} {' '.join(f'{n}=...' for n in wanted)}")
    body = raw[head.end() : raw.rfind(b"<")] if raw.rfind(b"<") > 0 else b""
    if body.strip(BLANK) and op is not Op.MEM_W:
        raise _wrong(head.end(), f"{shown(body)} inside <{op}>", f"right is <{op} .../>")
    node = Node(op, raw)
    if op is Op.CONST:
        return dataclasses.replace(node, values=(_number(*found["data"], *WORD_RANGE, "data"),))
    if "size" in found:
        size = _number(*found["size"], 1, 2, "size")
        values = tuple(_values(body, head.end(), size)) if op is Op.MEM_W and head.end() < len(raw) else ()
        node = dataclasses.replace(node, size=size, values=values)
    if "adr" in found:
        text, at = found["adr"]
        address = _address(text, at, at_least=7 if op in {Op.JUMP, Op.CALL} else 1)
        node = dataclasses.replace(node, address=address, hole=(at, at + len(text)))
    return node


def _attributes(head: re.Match[bytes]) -> dict[str, tuple[bytes, int]]:
    found: dict[str, tuple[bytes, int]] = {}
    text, at, done = head[2], head.start(2), 0
    while one := _ATTRIBUTE.match(text, done):
        name = one[1].decode("ascii")
        if name in found:
            raise _wrong(at + one.start(1), f"{name} is given twice", "once is enough")
        group = 2 if one[2] is not None else 3
        found[name] = (one[group], at + one.start(group))
        done = one.end()
    if text[done:].strip(BLANK):
        raise _wrong(at + done, f"{shown(text[done:].strip(BLANK))} is no attribute", 'right is name="value"')
    return found


def _address(text: bytes, at: int, *, at_least: int) -> int:
    if not _ADDRESS.fullmatch(text) or len(text) < at_least + 2 or int(text, 16) > 0xFFFFFFFF:
        what = f"the address is {shown(text)}" if text else "the address is empty"
        raise _wrong(at, what, "right is 0x and eight digits, as in 0x00000a00")
    return int(text, 16)


def _number(text: bytes, at: int, low: int, high: int, what: str) -> int:
    if _NUMBER.fullmatch(text):
        value = int(text, 16 if text.startswith(b"0x") else 10)
        if low <= value <= high:
            return value
    told = f"{what} is {shown(text)}" if text else f"{what} is empty"
    raise _wrong(at, told, f"right is {low} to {high}" if high > 2 else "right is 1 or 2")


def _values(body: bytes, at: int, size: int) -> Iterator[int]:
    for piece in body.split(b","):
        text = piece.strip(BLANK)
        yield _number(text, at + piece.find(text), 0, (1 << 8 * size) - 1, "a value")
        at += len(piece) + 1


def _block_name(raw: bytes) -> str:
    """Return the name of the editor's block as a label: letters, digits and `_`, and not like `L00000000`."""
    found = _BLOCK.search(raw)
    name = re.sub(r"\W+", "_", found[1].decode(ENCODING, "replace")).strip("_") if found else ""
    return f"_{name}" if name[:1].isdigit() or MADE_LABEL.fullmatch(name) else name


def _wrong(at: int, what: str, hint: str) -> FormatError:
    return FormatError(what, where=Where(offset=at), hint=hint)


def raise_all(errors: Sequence[FormatError]) -> None:
    """Raise the first of some errors, with the others, if there is one."""
    if errors:
        errors[0].other_errors = tuple(errors[1:MOST_ERRORS])
        raise errors[0]


class _Reader:
    """Reads a file: first its tags, then whether each may stand where it does, then where the jumps go."""

    def __init__(self, data: bytes, path: Path | None) -> None:
        self._data, self._path = data, path
        self._lines: list[int] = []
        self.errors: list[FormatError] = []
        self._remarks: list[str] = []

    def program(self) -> Program:
        nodes = list(self.tags())
        raise_all(self.errors)
        if not nodes:
            raise FormatError(
                "there is no tag in it", where=Where(path=self._path), hint="a program has tags"
            )
        tail = self._data[len(self._data.rstrip(BLANK)) :]
        plain = Program(tuple(nodes), tail)
        for node, what, hint in islice(misplaced(nodes), MOST_ERRORS):
            self._report(plain.positions[node.key], what, hint)
        raise_all(self.errors)
        starts = [plain.positions[node.key] for node in nodes]
        for i, node in enumerate(nodes):
            if node.op in {Op.JUMP, Op.CALL} and len(self.errors) < MOST_ERRORS:
                nodes[i] = self._aimed(node, starts[i], nodes, starts)
            self._remark_on(nodes[i], starts[i])
        raise_all(self.errors)
        return Program(tuple(nodes), tail, self._path, tuple(self._remarks))

    def tags(self) -> Iterator[Node]:
        data, at, key = self._data, 0, 0
        while len(self.errors) < MOST_ERRORS:
            begin = _SPACE.match(data, at).end()  # type: ignore[union-attr]  # it matches nothing, too
            if begin == len(data):
                return
            end = -1
            try:
                end = self._end(begin)
                yield dataclasses.replace(self._read(begin, end), before=data[at:begin], key=key)
                at, key = end, key + 1
            except FormatError as error:
                self.errors.append(error)
                at = data.find(b"<", max(begin + 1, end))
                if at < 0:
                    return

    def _end(self, at: int) -> int:
        """Return where the tag that begins at a byte ends, with its body and what closes it."""
        data = self._data
        head, closed = _HEAD.match(data, at), b""
        for opening, closing in _COMMENTS.items():
            if data.startswith(opening, at):
                head, closed = None, closing
        if head is None and not closed:
            found = data[at : at + 60].split(b"<")[0] or data[at : at + 60]
            is_tag = data[at : at + 1] == b"<"
            what = (
                f"{shown(found)} is no tag" if is_tag else f"text between tags: {shown(found.strip(BLANK))}"
            )
            raise self._error(at, what, 'right is <name adr="..."/>, and between tags only blank space')
        if head is not None:
            if head[3] or head[1] in {b"calc", b"/calc"}:
                return head.end()
            name = head[1].decode("ascii").removeprefix("/")
            if name not in _NAMES and name != "medit":
                return self._end_of_unknown(head)
            if head[1].startswith(b"/"):
                raise self._error(at, f"{shown(head[0])} closes nothing", "take it out")
            closed = b"</" + head[1] + b">"
        end = data.find(closed, at + 2)
        if end < 0:
            what = f"{shown(data[at : at + 40].split(b'>')[0])}> is not closed"
            raise self._error(at, what, f"right is {closed.decode('latin-1')} at its end, or <.../>")
        return end + len(closed)

    def _end_of_unknown(self, head: re.Match[bytes]) -> int:
        """Return where a tag ends that nobody knows: with its text, but not with tags that are in it."""
        closed = b"</" + head[1] + b">"
        following = self._data.find(b"<", head.end())
        return following + len(closed) if self._data.startswith(closed, following) else head.end()

    def _read(self, begin: int, end: int) -> Node:
        try:
            return _tag(self._data[begin:end])
        except FormatError as error:
            at = begin + ((error.where and error.where.offset) or 0)
            raise self._error(at, error.message, error.hint or "") from None

    def _aimed(self, node: Node, at: int, nodes: Sequence[Node], starts: Sequence[int]) -> Node:
        """Return a jump with its target."""
        i = bisect_left(starts, node.address)
        end = starts[i - 1] + len(nodes[i - 1].raw) if i else 0
        to = f"<{node.op}> to 0x{node.address:08x}"
        if node.address < end:
            what = f"{to} leads into {shown(nodes[i - 1].raw)}, {self._place(starts[i - 1])}"
            self._report(at, what, f"right is 0x{starts[i - 1]:08x}, where that begins, or a later tag")
        elif i == len(nodes):
            hint = f"the last one begins at 0x{starts[-1]:08x}, {self._place(starts[-1])}"
            self._report(at, f"{to} leads behind the last tag", hint)
        else:
            slack = starts[i] - node.address
            if nodes[i].op in INSIDE:
                self._remark(
                    at, f"{to} leads into a <calc>, to {shown(nodes[i].raw)}; its stack is empty then"
                )
            if slack:
                told = f"{to} leads to blank space; the tag after it, {slack} bytes on, is meant"
                self._remark(at, told)
            return dataclasses.replace(node, target=i, slack=slack, address=0)
        return node

    def _remark_on(self, node: Node, at: int) -> None:
        n_digits = node.hole[1] - node.hole[0] - 2
        if n_digits not in {-2, 4, 8}:
            self._remark(at, f"the address {shown(node.raw[slice(*node.hole)])} has {n_digits} digits, not 8")
        if node.op is Op.UNKNOWN and len(self._remarks) < MOST_REMARKS:
            name = re.split(rb"[^\w.:/-]", node.raw[1:], maxsplit=1)[0].decode("latin-1")
            near = difflib.get_close_matches(name[:40], _NAMES, n=1)
            hint = f" (did you mean {near[0]}?)" if near and near[0] != name else ""
            self._remark(
                at, f"no document names {shown(node.raw)}{hint}; it is kept, and refused when it is run"
            )

    def _place(self, at: int) -> str:
        return f"line {self._line(at)}, byte {at}"

    def _line(self, at: int) -> int:
        if not self._lines:
            self._lines = [0, *(match.end() for match in re.finditer(b"\n", self._data))]
        return bisect_right(self._lines, at)

    def _error(self, at: int, what: str, hint: str) -> FormatError:
        where = Where(path=self._path, line=self._line(at))
        return FormatError(f"byte {at}: {what}", where=where, hint=hint)

    def _report(self, at: int, what: str, hint: str) -> None:
        self.errors.append(self._error(at, what, hint))

    def _remark(self, at: int, what: str) -> None:
        if len(self._remarks) >= MOST_REMARKS:
            return
        self._remarks.append(f"{Where(path=self._path, line=self._line(at))}: byte {at}: {what}")
