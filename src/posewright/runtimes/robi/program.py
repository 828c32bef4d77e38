"""An RM4 program: its tags in order, and for each jump the tag it goes to.

In an RM4 file a jump contains the byte at which its target begins in the file (micono.cocolog-nifty.com,
2014-08), so inserting a byte before the target breaks it. Here a jump refers to its target tag, and `render`
computes the byte anew. An address keeps its number of digits, so no tag changes its length and one pass is
enough. All other bytes are kept.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from posewright.errors import InputError

ENCODING = "cp932"
"""Of names in the text: Shift-JIS as in Windows; no second byte of a character is <, > or a quote."""

BLANK = b" \t\r\n"
ADDRESS_LABEL = re.compile("L[0-9a-f]{8}")
"""The form of a label that is made from the tag's address because the tag has no name."""


class Op(StrEnum):
    """The operation of a tag, by its name.

    `VERBATIM` is not code (the editor's `<medit>` data, comments); `UNKNOWN` is a tag, or a tag with an
    attribute, that no document names. Both are kept byte for byte.
    """

    VERBATIM = "text"
    UNKNOWN = "unknown"
    FWRITE = "fwrite"
    MEM_W = "mem_w"
    MEM_R = "mem_r"
    CALC = "calc"
    END_CALC = "/calc"
    CONST = "const"
    ADD = "add"
    SUB = "sub"
    MUL = "mul"
    EQ = "eq"
    NE = "ne"
    GT = "gt"
    GE = "ge"
    LT = "lt"
    LE = "le"
    JUMP = "jump"
    CALL = "call"
    RETURN = "return"


ARITHMETIC = frozenset({Op.ADD, Op.SUB, Op.MUL})
TESTS = frozenset({Op.EQ, Op.NE, Op.GT, Op.GE, Op.LT, Op.LE})
ONLY_INSIDE_CALC = ARITHMETIC | TESTS | {Op.MEM_R, Op.CONST, Op.END_CALC}
_ONLY_OUTSIDE_CALC = frozenset({Op.CALC, Op.CALL, Op.RETURN, Op.FWRITE})


@dataclass(frozen=True, slots=True)
class Tag:
    """One tag, with its content if it has any.

    Attributes:
        op: its operation.
        raw: its bytes.
        blank_before: the blank space before it.
        size: the size of the memory words it reads or writes [byte].
        address: the address of the memory it reads or writes; of a jump without target, the address in the
            file.
        values: the values of a block that is written, or of a `<const>`; only the latter may be negative.
        target: key of the tag that a jump or call goes to; -1 if none is set.
        gap_bytes: number of blank bytes between the address of a jump and its target; usually 0.
        address_span: begin and end of the address in `raw`.
        name: the name of the editor's block, as a label.
        label: the label in a listing.
        key: identifies the tag within its program.
    """

    op: Op
    raw: bytes
    blank_before: bytes = b""
    size: int = 0
    address: int = 0
    values: tuple[int, ...] = ()
    target: int = -1
    gap_bytes: int = 0
    address_span: tuple[int, int] = (0, 0)
    name: str = ""
    label: str = ""
    key: int = -1

    def __repr__(self) -> str:
        return f"Tag({self.key}: {excerpt(self.raw)})"


def excerpt(raw: bytes) -> str:
    """Return the beginning of some bytes of a program as text for a message."""
    text = raw[:60].decode(ENCODING, "replace")
    return text[:40] + ("..." if len(text) > 40 or len(raw) > 60 else "")


@dataclass(frozen=True)
class Rm4Program:
    """A program; to edit it, edit its listing.

    Attributes:
        tags: the tags in the order of the file.
        blank_after: the blank space after the last tag.
        path: the path of its file.
        remarks: oddities of the file.
    """

    tags: tuple[Tag, ...]
    blank_after: bytes = b""
    path: Path | None = None
    remarks: tuple[str, ...] = field(default=(), compare=False)

    def __repr__(self) -> str:
        return f"Rm4Program({len(self.tags)} tags, {self.n_bytes} bytes)"

    @cached_property
    def positions(self) -> Mapping[int, int]:
        """The byte at which each tag begins, by its key."""
        positions: dict[int, int] = {}
        end = 0
        for tag in self.tags:
            begin = end + len(tag.blank_before)
            positions[tag.key] = begin
            end = begin + len(tag.raw)
        return positions

    @property
    def n_bytes(self) -> int:
        """The length of its file."""
        return sum(len(tag.blank_before) + len(tag.raw) for tag in self.tags) + len(self.blank_after)

    @cached_property
    def tags_by_key(self) -> Mapping[int, Tag]:
        """Each tag by its key."""
        return {tag.key: tag for tag in self.tags}

    @cached_property
    def labels(self) -> Mapping[int, str]:
        """The unique label of each tag that has one, by its key.

        A tag has the label of a listing, or else the name of the editor's block before it, or else, if a jump
        goes to it, a label made from its address.
        """
        labels = {tag.key: tag.label for tag in self.tags if tag.label}
        used_labels = set(labels.values())
        name_counts = Counter[str]()
        block_name = ""  # of the editor's block that begins at the next tag of code
        for tag in self.tags:
            if tag.op is Op.VERBATIM:
                block_name = tag.name or block_name
                continue
            if block_name and tag.key not in labels:
                label = block_name
                while label in used_labels:
                    name_counts[block_name] += 1
                    label = f"{block_name}_{name_counts[block_name] + 1}"
                used_labels.add(label)
                labels[tag.key] = label
            block_name = ""
        for tag in self.tags:
            if tag.target >= 0 and tag.target not in labels:
                labels[tag.target] = f"L{self.positions[tag.target]:08x}"
        return labels

    def render(self) -> bytes:
        """Return its file: the original bytes, with new addresses of targets that have moved."""
        return b"".join(tag.blank_before + self.render_tag(tag) for tag in self.tags) + self.blank_after

    def render_tag(self, tag: Tag) -> bytes:
        """Return the bytes of a tag, with the address of its target.

        The address keeps its number of digits. The original bytes stay if they lead to the target already.
        """
        if tag.target < 0:
            return tag.raw
        begin, end = tag.address_span
        n_digits = end - begin - len("0x")
        gap_bytes = min(tag.gap_bytes, len(self.tags_by_key[tag.target].blank_before))
        address = self.positions[tag.target] - gap_bytes
        if int(tag.raw[begin:end], 16) == address:
            return tag.raw
        return tag.raw[:begin] + f"0x{address:0{n_digits}x}".encode() + tag.raw[end:]

    def tag_at(self, address: int) -> Tag:
        """Return the tag that begins at a byte of the file.

        Raises:
            InputError: no tag begins there.
        """
        for tag in self.tags:
            position = self.positions[tag.key]
            if position == address:
                return tag
            if position > address:
                hint = f"the next begins at 0x{position:08x}: {excerpt(tag.raw)}"
                raise InputError(f"no tag begins at 0x{address:08x}", hint=hint)
        raise InputError(f"no tag begins at 0x{address:08x}", hint="the last one begins before it")


def mark_inside_calc(tags: Iterable[Tag]) -> Iterator[bool]:
    """Yield for each tag whether it is between <calc> and </calc>."""
    is_inside = False
    for tag in tags:
        if tag.op is Op.END_CALC:
            is_inside = False
        yield is_inside
        if tag.op is Op.CALC:
            is_inside = True


class MisplacedTag(NamedTuple):
    """A tag that is inside or outside of <calc> where it must not be, or a <calc> that is not closed."""

    tag: Tag
    problem: str
    hint: str


def find_misplaced_tags(tags: Iterable[Tag]) -> Iterator[MisplacedTag]:
    """Yield the tags that are in the wrong place, each with the problem and a hint."""
    open_calc: Tag | None = None
    for tag in tags:
        if tag.op is Op.MEM_W and tag.values and open_calc is not None:
            hint = 'there <mem_w size="2" adr="..."/> stores what was computed'
            yield MisplacedTag(tag, "<mem_w> with values inside <calc>", hint)
        elif tag.op is Op.MEM_W and not tag.values and open_calc is None:
            hint = 'there it is <mem_w size="2" adr="...">0x0000,...</mem_w>'
            yield MisplacedTag(tag, "<mem_w> without values outside <calc>", hint)
        elif tag.op in ONLY_INSIDE_CALC and open_calc is None:
            problem = f"<{tag.op}> outside <calc>"
            yield MisplacedTag(tag, problem, hint="it belongs between <calc> and </calc>")
        elif tag.op in _ONLY_OUTSIDE_CALC and open_calc is not None:
            yield MisplacedTag(tag, f"<{tag.op}> inside <calc>", hint="</calc> comes first")
        if tag.op is Op.CALC:
            open_calc = tag
        elif tag.op is Op.END_CALC:
            open_calc = None
    if open_calc is not None:
        yield MisplacedTag(open_calc, "<calc> is not closed", hint="expected </calc> at its end")
