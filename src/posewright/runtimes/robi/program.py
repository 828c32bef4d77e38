"""A Robi program: its tags in their order, and for each jump the tag it goes to.

In an RM4 file a jump names the byte at which its target begins, counted in the file itself
(micono.cocolog-nifty.com, 2014-08), so a byte more or less before the target breaks it. Here a jump knows
its target, and `render` computes the byte anew. An address keeps the number of digits it was written with,
so no tag changes its length and one pass lays everything out. All else keeps its bytes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path

from posewright.errors import InputError

ENCODING = "cp932"
"""Of names in the text: Shift-JIS as Windows has it; no second byte of a character is <, > or a quote."""

BLANK = b" \t\r\n"
MADE_LABEL = re.compile("L[0-9a-f]{8}")
"""How a label is called where nobody named it: by its address."""


class Op(StrEnum):
    """What a tag does, by its name.

    `KEPT` is no code (the editor's `<medit>` data, comments), `UNKNOWN` a tag, or one with an attribute, that
    no document names. Both are kept byte for byte.
    """

    KEPT = "text"
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
INSIDE = ARITHMETIC | TESTS | {Op.MEM_R, Op.CONST, Op.END_CALC}
_OUTSIDE = frozenset({Op.CALC, Op.CALL, Op.RETURN, Op.FWRITE})


@dataclass(frozen=True, slots=True)
class Node:
    """One tag, with what stands in it where it has a body.

    Attributes:
        raw: its bytes.
        before: the blank space before it.
        size: of the memory words it reads or writes [byte].
        address: of the memory it reads or writes; of a jump that has no target yet, what was written.
        values: of a block that is written, or of a `<const>`; unsigned but for the latter.
        target: key of the node that a jump or call goes to, or -1.
        slack: so many blank bytes before its target a jump was written to lead.
        hole: where in `raw` the address stands.
        name: what the editor calls the block, as a label.
        label: what a person calls this node in a listing.
        key: tells it from the others of its program, and stays with it.
    """

    op: Op
    raw: bytes
    before: bytes = b""
    size: int = 0
    address: int = 0
    values: tuple[int, ...] = ()
    target: int = -1
    slack: int = 0
    hole: tuple[int, int] = (0, 0)
    name: str = ""
    label: str = ""
    key: int = -1

    def __repr__(self) -> str:
        return f"Node({self.key}: {shown(self.raw)})"


def shown(raw: bytes) -> str:
    """Return the beginning of some bytes of a program as a message shows it."""
    text = raw[:60].decode(ENCODING, "replace")
    return text[:40] + ("..." if len(text) > 40 or len(raw) > 60 else "")


@dataclass(frozen=True)
class Program:
    """A program; who edits it edits its listing.

    Attributes:
        nodes: its tags.
        tail: the blank space after the last.
        path: where it was read.
        remarks: what is odd about the file, and was read all the same.
    """

    nodes: tuple[Node, ...]
    tail: bytes = b""
    path: Path | None = None
    remarks: tuple[str, ...] = field(default=(), compare=False)

    def __repr__(self) -> str:
        return f"Program({len(self.nodes)} tags, {self.n_bytes} bytes)"

    @cached_property
    def positions(self) -> Mapping[int, int]:
        """The byte at which each node begins, by its key."""
        found, end = {}, 0
        for node in self.nodes:
            found[node.key] = end + len(node.before)
            end = found[node.key] + len(node.raw)
        return found

    @property
    def n_bytes(self) -> int:
        """How long its file is."""
        return sum(len(node.before) + len(node.raw) for node in self.nodes) + len(self.tail)

    @cached_property
    def by_key(self) -> Mapping[int, Node]:
        """Each node by its key."""
        return {node.key: node for node in self.nodes}

    @cached_property
    def labels(self) -> Mapping[int, str]:
        """The label of each node that has one, by its key; no two are alike.

        A node has a person's label, else the name of the editor's block that comes before it, else, where a
        jump leads to it, its address.
        """
        found = {node.key: node.label for node in self.nodes if node.label}
        taken, count, name = set(found.values()), Counter[str](), ""
        for node in self.nodes:
            if node.op is Op.KEPT:
                name = node.name or name
                continue
            if name and node.key not in found:
                found[node.key] = _unique(name, taken, count)
            name = ""
        for node in self.nodes:
            if node.target >= 0 and node.target not in found:
                found[node.target] = f"L{self.positions[node.target]:08x}"
        return found

    def render(self) -> bytes:
        """Return its file: the bytes it was read from, and new addresses where targets have moved."""
        return b"".join(node.before + self.text_of(node) for node in self.nodes) + self.tail

    def text_of(self, node: Node) -> bytes:
        """Return the bytes of a node, with the address of its target."""
        if node.target < 0:
            return node.raw
        begin, end = node.hole
        slack = min(node.slack, len(self.by_key[node.target].before))
        address = self.positions[node.target] - slack
        if int(node.raw[begin:end], 16) == address:
            return node.raw
        return node.raw[:begin] + f"0x{address:0{end - begin - 2}x}".encode() + node.raw[end:]

    def node_at(self, address: int) -> Node:
        """Return the node that begins at a byte of the file, or raise InputError."""
        for node in self.nodes:
            if self.positions[node.key] >= address:
                if self.positions[node.key] == address:
                    return node
                hint = f"the next begins at 0x{self.positions[node.key]:08x}: {shown(node.raw)}"
                raise InputError(f"no tag begins at 0x{address:08x}", hint=hint)
        raise InputError(f"no tag begins at 0x{address:08x}", hint="the last one begins before it")


def _unique(name: str, taken: set[str], count: Counter[str]) -> str:
    made = name
    while made in taken:
        count[name] += 1
        made = f"{name}_{count[name] + 1}"
    taken.add(made)
    return made


def in_calc(nodes: Iterable[Node]) -> Iterator[bool]:
    """Yield for each node whether it stands between <calc> and </calc>."""
    inside = False
    for node in nodes:
        inside = inside and node.op is not Op.END_CALC
        yield inside
        inside = inside or node.op is Op.CALC


def misplaced(nodes: Iterable[Node]) -> Iterator[tuple[Node, str, str]]:
    """Yield the nodes that must not stand where they do, with what is wrong and what would be right."""
    calc: Node | None = None
    for node in nodes:
        if node.op is Op.MEM_W and bool(node.values) is (calc is not None):
            yield node, *_MEM_W[bool(node.values)]
        elif node.op in INSIDE and calc is None:
            yield node, f"<{node.op}> outside <calc>", "it stands between <calc> and </calc>"
        elif node.op in _OUTSIDE and calc is not None:
            yield node, f"<{node.op}> inside <calc>", "</calc> comes first"
        if node.op is Op.CALC:
            calc = node
        elif node.op is Op.END_CALC:
            calc = None
    if calc is not None:
        yield calc, "<calc> is not closed", "right is </calc> at its end"


_MEM_W = {
    True: ("<mem_w> with values inside <calc>", 'there <mem_w size="2" adr="..."/> stores what was computed'),
    False: (
        "<mem_w> without values outside <calc>",
        'there it is <mem_w size="2" adr="...">0x0000,...</mem_w>',
    ),
}
