"""Runs a Robi program, instruction by instruction, on a memory.

What a tag does is as the documents show it. Where they are silent it is so, and this is ours:

* A number is a word of 16 bits in two's complement, as the memory's words are, so every word that is read has
  one meaning: results wrap, tests see a sign. A byte is read as 0 to 255, and written from a word's low half.
* `<sub/>` takes the top from what is below it: `mem_r X, const k, sub` leaves X - k, as the documents use it.
* A test looks at the top and leaves it there; the last test decides about the next `<jump>`. `<mem_w>` takes
  the top off. Beginning a `<calc>`, and a jump, empty the stack and forget the test.
* `<return/>` where nothing was called ends the program, as does its last tag.

A tag is one instruction, `<calc>` and `</calc>` too. `<fwrite>` and tags that no document names are refused
when they are reached. Calls go 3 deep in Robi 1 (mcc.mbsrv.net/robox/240506); of Robi 2 it is not known.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from posewright.errors import InputError, Where
from posewright.runtimes.robi.memory import signed
from posewright.runtimes.robi.program import Node, Op, Program, in_calc, shown

CALL_DEPTH = 32
"""So many calls may be open; ours. In a Robi 1 a fourth stops the robot (mcc.mbsrv.net/robox/240506)."""


class Ram(Protocol):
    """A memory of bytes; a word has its low byte first."""

    def read(self, address: int, size: int) -> int:
        """Return the unsigned value of 1 or 2 bytes, or raise InputError."""
        ...

    def write(self, address: int, size: int, value: int) -> None:
        """Write 1 or 2 bytes, or raise InputError."""
        ...


class ProgramError(InputError):
    """A program does what cannot be done.

    Attributes:
        address: of the tag, in the file.
        label: the last one at or before it; empty where there is none.
    """

    def __init__(
        self, message: str, *, address: int, label: str, where: Where | None = None, hint: str | None = None
    ) -> None:
        super().__init__(message, where=where, hint=hint)
        self.address, self.label = address, label


class StopReason(StrEnum):
    """Why a program stopped."""

    BUDGET = "budget"
    BREAKPOINT = "breakpoint"
    RETURNED = "returned"
    END = "end"


@dataclass(frozen=True, slots=True)
class Stop:
    """Where a program stopped: before which tag, and after how many instructions of this run.

    Attributes:
        address: of that tag in the file; of the file's end, where it has ended.
        label: the last one at or before it; empty where there is none.
    """

    reason: StopReason
    address: int
    label: str
    n_done: int

    def __repr__(self) -> str:
        return f"Stop({self.reason} at 0x{self.address:08x} {self.label or '-'}, {self.n_done} done)"


_ARITHMETIC: dict[Op, Callable[[int, int], int]] = {
    Op.ADD: lambda below, top: below + top,
    Op.SUB: lambda below, top: below - top,
    Op.MUL: lambda below, top: below * top,
}
_TESTS: dict[Op, Callable[[int], bool]] = {
    Op.EQ: lambda top: top == 0,
    Op.NE: lambda top: top != 0,
    Op.GT: lambda top: top > 0,
    Op.GE: lambda top: top >= 0,
    Op.LT: lambda top: top < 0,
    Op.LE: lambda top: top <= 0,
}


class ProgramMachine:
    """A program, a memory, and how far it has got.

    Args:
        program: what is run; later edits of it are other programs.
        memory: what it reads and writes.

    Attributes:
        stack: what `<calc>` has computed, the top last.
        calls: from where was called, the latest last, as addresses in the file.
    """

    def __init__(self, program: Program, memory: Ram) -> None:
        self.program, self.memory = program, memory
        code = [node for node in program.nodes if node.op is not Op.KEPT]
        self._index = _starts(program)
        self._code = [
            (self._step_of(node, inside=inside), node)
            for node, inside in zip(code, in_calc(code), strict=True)
        ]
        self._by_address: dict[int, int] = {}
        self._addresses = [program.positions[node.key] for node in code]
        labels = sorted((program.positions[key], label) for key, label in program.labels.items())
        self._label_starts, self._labels = [at for at, _ in labels], [label for _, label in labels]
        self.stack: list[int] = []
        self._test: bool | None = None
        self._at = 0
        self._open: list[int] = []
        self._broke_at = -1
        self._ended: StopReason | None = None

    @property
    def address(self) -> int:
        """Of the tag that comes next, in the file; the file's length where none does."""
        return self._addresses[self._at] if self._at < len(self._code) else self.program.n_bytes

    @property
    def label(self) -> str:
        """The last label at or before that tag."""
        at = bisect_right(self._label_starts, self.address)
        return self._labels[at - 1] if at else ""

    @property
    def calls(self) -> tuple[int, ...]:
        """From where was called, the latest last, as addresses in the file."""
        return tuple(self._addresses[at - 1] for at in self._open)

    def run(self, budget: int, breakpoints: Collection[int] = ()) -> Stop:
        """Run at most `budget` instructions, from where it stopped last.

        Args:
            budget: the most instructions.
            breakpoints: addresses of tags in the file before which it stops; the next run goes on from there.

        Raises:
            ProgramError: it cannot go on; it still stands at that instruction.
            InputError: no tag begins at a breakpoint.
        """
        stops = {self._index_at(address) for address in breakpoints}
        skipped, self._broke_at = self._broke_at, -1
        code, n_code, n_done = self._code, len(self._code), 0
        while self._ended is None and self._at < n_code and n_done < budget:
            if self._at in stops and (n_done or self._at != skipped):
                self._broke_at = self._at
                return self._stop(StopReason.BREAKPOINT, n_done)
            step, node = code[self._at]
            step(node)
            n_done += 1
        if self._ended is None and self._at == n_code:
            self._end()
        self._broke_at = -1 if n_done else skipped
        return self._stop(self._ended or StopReason.BUDGET, n_done)

    def _index_at(self, address: int) -> int:
        if address not in self._by_address:
            self._by_address[address] = self._index[self.program.node_at(address).key]
        return self._by_address[address]

    def _stop(self, reason: StopReason, n_done: int) -> Stop:
        return Stop(reason, self.address, self.label, n_done)

    def _end(self) -> None:
        if self._open:
            called = self.calls[-1]
            what = f"the program ends inside what was called from 0x{called:08x}"
            raise self._error(what, "a <return/> is missing")
        self._ended = StopReason.END

    def _step_of(self, node: Node, *, inside: bool) -> Callable[[Node], None]:
        if node.op is Op.MEM_W:
            return self._block if node.values else self._store
        if node.op is Op.JUMP:
            return self._jump_if if inside else self._jump
        if node.op in _ARITHMETIC:
            return self._compute
        if node.op in _TESTS:
            return self._compare
        return {
            Op.CALC: self._begin,
            Op.END_CALC: self._begin,
            Op.MEM_R: self._load,
            Op.CONST: self._const,
            Op.CALL: self._call,
            Op.RETURN: self._return,
        }.get(node.op, self._refuse)

    def _begin(self, _: Node) -> None:
        self.stack.clear()
        self._test = None
        self._at += 1

    def _load(self, node: Node) -> None:
        try:
            value = self.memory.read(node.address, node.size)
        except InputError as error:
            raise self._error(error.message, error.hint) from error
        self.stack.append(signed(value))
        self._at += 1

    def _const(self, node: Node) -> None:
        self.stack.append(signed(node.values[0]))
        self._at += 1

    def _compute(self, node: Node) -> None:
        if len(self.stack) < 2:
            told = f"<{node.op}/> needs two values, and there {_count(len(self.stack))}"
            raise self._error(told, "<mem_r> and <const> put values there")
        top = self.stack.pop()
        self.stack[-1] = signed(_ARITHMETIC[node.op](self.stack[-1], top))
        self._at += 1

    def _compare(self, node: Node) -> None:
        self._test = _TESTS[node.op](self._top(node))
        self._at += 1

    def _store(self, node: Node) -> None:
        self._write(node.address, node.size, self._top(node))
        self.stack.pop()
        self._at += 1

    def _top(self, node: Node) -> int:
        if not self.stack:
            hint = "<mem_r> and <const> put values there"
            raise self._error(f"<{node.op}/> needs a value, and there is none", hint)
        return self.stack[-1]

    def _block(self, node: Node) -> None:
        for i, value in enumerate(node.values):
            self._write(node.address + i * node.size, node.size, value)
        self._at += 1

    def _write(self, address: int, size: int, value: int) -> None:
        try:
            self.memory.write(address, size, value & (0xFF if size == 1 else 0xFFFF))
        except InputError as error:
            raise self._error(error.message, error.hint) from error

    def _jump_if(self, node: Node) -> None:
        if self._test is None:
            raise self._error("<jump/> inside <calc> with no test before it", "a test is <eq/>, <gt/>, ...")
        if self._test:
            self._jump(node)
        else:
            self._at += 1

    def _jump(self, node: Node) -> None:
        self._at = self._index[node.target]
        self.stack.clear()
        self._test = None

    def _call(self, node: Node) -> None:
        if len(self._open) >= CALL_DEPTH:
            hint = f"at most {CALL_DEPTH} may be open at once; a <return/> closes one"
            raise self._error(f"{CALL_DEPTH + 1} calls deep", hint)
        self._open.append(self._at + 1)
        self._jump(node)

    def _return(self, _: Node) -> None:
        if self._open:
            self._at = self._open.pop()
        else:
            self._ended = StopReason.RETURNED

    def _refuse(self, node: Node) -> None:
        hint = "what it does is not known; leave it out to run the rest"
        raise self._error(f"{shown(node.raw)} is not an instruction whose meaning a document tells", hint)

    def _error(self, what: str, hint: str | None) -> ProgramError:
        place = f"0x{self.address:08x}" + (f" ({self.label})" if self.label else "")
        return ProgramError(
            f"at {place}: {what}",
            address=self.address,
            label=self.label,
            where=Where(path=self.program.path) if self.program.path else None,
            hint=hint,
        )


def _starts(program: Program) -> dict[int, int]:
    """Return for each node's key which instruction is the first at or after it."""
    found, n_code = {}, 0
    for node in program.nodes:
        found[node.key] = n_code
        n_code += node.op is not Op.KEPT
    return found


def _count(number: int) -> str:
    return "is one" if number == 1 else "is none"
