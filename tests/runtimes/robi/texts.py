"""Random RM4 programs, written here without the code that is tested, and a reference to run them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from posewright.errors import InputError
from posewright.runtimes.robi.machine import ProgramMachine, RobiProgramError
from posewright.runtimes.robi.program import Rm4Program

SCRATCH = 0x1F00
"""From here on nothing is watched."""

Item = tuple[Any, ...]
"""`("block", size, address, values)`, `("calc", ops)`, `("jump", goal)`, `("call", goal)`, `("return",)`,
`("medit", raw)`."""

TESTS = {
    "eq": lambda v: v == 0,
    "ne": lambda v: v != 0,
    "gt": lambda v: v > 0,
    "ge": lambda v: v >= 0,
    "lt": lambda v: v < 0,
    "le": lambda v: v <= 0,
}


class FakeRam:
    """A memory of 8 KB that remembers what was written."""

    def __init__(self) -> None:
        self.bytes = bytearray(0x2000)
        self.trace: list[tuple[int, int, int]] = []

    def read(self, address: int, size: int) -> int:
        self._check(address, size)
        return int.from_bytes(self.bytes[address : address + size], "little")

    def write(self, address: int, size: int, value: int) -> None:
        self._check(address, size)
        self.bytes[address : address + size] = value.to_bytes(size, "little")
        if address < SCRATCH:
            self.trace.append((address, size, value))

    def _check(self, address: int, size: int) -> None:
        if address + size > len(self.bytes):
            raise InputError(f"nothing is at 0x{address:04x}", hint="the memory ends at 0x1fff")


@dataclass
class Text:
    """A program: what it says, the blank space before each tag, how far before its goal a jump leads."""

    items: list[Item]
    blanks: list[str]
    tail: str = ""
    slack: int = 0
    starts: list[int] = field(default_factory=list)

    def data(self) -> bytes:
        """Lay it out; a goal is an item, or one past the last, where a last <return/> stands."""
        tags, firsts = flat(self.items)
        blanks = [self.blanks[i % len(self.blanks)].encode() if i else b"" for i in range(len(tags))]
        self.starts, at = [], 0
        for blank, (raw, goal) in zip(blanks, tags, strict=True):
            self.starts.append(at + len(blank))
            at = self.starts[-1] + len(raw) + (0 if goal is None else 9)  # ten digits stand for the @
        out = b""
        for blank, (raw, goal) in zip(blanks, tags, strict=True):
            if goal is not None:
                first = firsts[goal]
                address = self.starts[first] - min(self.slack, len(blanks[first]))
                out += blank + raw.replace(b"@", f"0x{address:08x}".encode())
            else:
                out += blank + raw
        return out + self.tail.encode()


def flat(items: Sequence[Item]) -> tuple[list[tuple[bytes, int | None]], list[int]]:
    """Return all tags, and which of them each item begins with."""
    tags, firsts = [], []
    for item in (*items, ("return",)):
        firsts.append(len(tags))
        tags += written(item)
    return tags, firsts


def written(item: Item) -> list[tuple[bytes, int | None]]:
    """Return the tags of an item, an address as @, and to which item it leads."""
    kind = item[0]
    if kind == "calc":
        return [(b"<calc>", None), *(tag for op in item[1] for tag in written(op)), (b"</calc>", None)]
    if kind == "block":
        values = ",".join(f"0x{value:0{2 * item[1]}x}" for value in item[3])
        return [(f'<mem_w size="{item[1]}" adr="0x{item[2]:08x}">{values}</mem_w>'.encode(), None)]
    if kind in {"mem_r", "mem_w"}:
        return [(f'<{kind} size="{item[1]}" adr="0x{item[2]:08x}"/>'.encode(), None)]
    if kind in {"jump", "call"}:
        return [(f'<{kind} adr="@"/>'.encode(), item[1])]
    if kind == "medit":
        return [(item[1], None)]
    data = f' data="{item[1]}"' if kind == "const" else ""
    return [(f"<{kind}{data}/>".encode(), None)]


def reference_run(  # noqa: PLR0912 -- a branch for each kind of tag
    items: Sequence[Item], most: int, depth: int = 32
) -> tuple[str, list[tuple[int, int, int]], int]:
    """Run a program by what its items say: how it ended, what was written, after how many tags."""
    code: list[Item] = []
    firsts = []
    for item in (*items, ("return",)):
        firsts.append(len(code))
        if item[0] == "calc":
            code += [("calc",), *(("calc " + op[0], *op[1:]) for op in item[1]), ("calc",)]
        elif item[0] != "medit":
            code.append(item)
    memory, pc, calls, done = FakeRam(), 0, [], 0
    stack: list[int] = []
    test = None
    while done < most:
        op, (kind, *rest) = code[pc], code[pc]
        pc, done = pc + 1, done + 1
        try:
            if kind == "block":
                for i, value in enumerate(op[3]):
                    memory.write(op[2] + i * op[1], op[1], value)
            elif kind in {"calc", "jump"}:
                stack, test = [], None
                pc = firsts[rest[0]] if rest else pc
            elif kind == "call":
                if len(calls) == depth:
                    raise IndexError
                calls.append(pc)
                stack, test, pc = [], None, firsts[rest[0]]
            elif kind == "return":
                if not calls:
                    return "returned", memory.trace, done
                pc = calls.pop()
            elif kind == "calc mem_r":
                stack.append(word_of(memory.read(op[2], op[1])))
            elif kind == "calc const":
                stack.append(word_of(op[1]))
            elif kind == "calc mem_w":
                memory.write(op[2], op[1], stack.pop() % 256 ** op[1])
            elif kind == "calc jump":
                if test is None:
                    raise IndexError
                if test:
                    stack, test, pc = [], None, firsts[op[1]]
            elif kind[5:] in TESTS:
                test = TESTS[kind[5:]](stack[-1])
            else:
                top, below = stack.pop(), stack.pop()
                stack.append(word_of({"add": below + top, "sub": below - top, "mul": below * top}[kind[5:]]))
        except IndexError:
            return "error", memory.trace, done - 1
    return "budget", memory.trace, done


def word_of(value: int) -> int:
    return value % 0x10000 - (0x10000 if value % 0x10000 >= 0x8000 else 0)


SIZES = st.sampled_from((1, 2))
ADDRESSES = st.integers(0x0100, 0x0120)  # few, so that programs read what they have written
MEDIT = st.sampled_from(
    (
        b'<medit>x=1<block name="wave" /></medit>',
        '<medit><block name="歩行4S" x="3"/>\r\n"; <jump adr=""/></medit>'.encode("cp932"),
        b"<medit/>",
        b"<!-- <calc> -->",
        b"<medit>\x81</medit>",
        b'<medit><block name="wave" /></medit>',
        b'<medit><block name="L0000002a" /></medit>',
    )
)
BLANKS = st.lists(st.sampled_from(("", "\n", "\r\n", "\n\n", "\r\n\t", " ")), min_size=1, max_size=5)


@st.composite
def texts(draw: st.DrawFn) -> Text:
    """Draw a program; whoever reads it must find no fault with it, though running it may."""
    n = draw(st.integers(1, 8))
    goals = st.integers(0, n)
    blocks = SIZES.flatmap(
        lambda size: st.tuples(
            st.just("block"),
            st.just(size),
            ADDRESSES,
            st.lists(st.integers(0, 256**size - 1), min_size=1, max_size=3),
        )
    )
    sound = st.tuples(
        st.sampled_from((("mem_r", 2, 0x110), ("mem_r", 1, 0x100), ("const", 472), ("const", -1))),
        st.tuples(st.just("const"), st.integers(-0x8000, 0xFFFF)),
        st.tuples(st.sampled_from(("add", "sub", "mul"))),
        st.tuples(st.sampled_from(tuple(TESTS))),
        st.one_of(st.tuples(st.just("jump"), goals), st.tuples(st.just("mem_w"), SIZES, ADDRESSES)),
    ).map(list)
    wild = st.lists(
        st.one_of(
            st.tuples(st.sampled_from(("mem_r", "mem_w")), SIZES, ADDRESSES),
            st.tuples(st.just("const"), st.integers(-0x8000, 0xFFFF)),
            st.tuples(st.sampled_from(("add", "sub", "mul", *TESTS))),
            st.tuples(st.just("jump"), goals),
        ),
        max_size=5,
    )
    calcs = st.tuples(st.just("calc"), st.one_of(sound, sound, wild))
    others = st.one_of(
        st.tuples(st.sampled_from(("jump", "call")), goals),
        st.just(("return",)),
        st.tuples(st.just("medit"), MEDIT),
    )
    items = draw(st.lists(st.one_of(blocks, calcs, others), min_size=n, max_size=n))
    tail = draw(st.sampled_from(("", "\n", "\r\n\r\n")))
    return Text(items, draw(BLANKS), tail, draw(st.integers(0, 3)))


def watched_run(program: Rm4Program, most: int) -> tuple[str, list[tuple[int, int, int]]]:
    """Run a program; return how it ended, and what it wrote where it is watched."""
    memory = FakeRam()
    try:
        return str(ProgramMachine(program, memory).run(most).reason), memory.trace
    except RobiProgramError:
        return "error", memory.trace


def assert_same_doing(program: Rm4Program, edited: Rm4Program, times: int) -> None:
    """What the edited program, with at most `times` as many tags to run, writes is what the other wrote."""
    how, trace = watched_run(program, 400)
    how_then, trace_then = watched_run(edited, 400 * times)
    if how == "budget":
        assert trace_then[: len(trace)] == trace
    else:
        assert (how_then, trace_then) == (how, trace)
