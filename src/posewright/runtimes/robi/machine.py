"""Runs an RM4 program on a memory, instruction by instruction.

Tags work as the documents show. Where they are silent, these are our choices:

* A number is a word of 16 bits in two's complement, like the words of the memory: results wrap around, and
  tests see a sign. A byte is read as 0 to 255, and written from the low half of a word.
* `<sub/>` subtracts the top from the value below it: `mem_r X, const k, sub` leaves X - k, as the documents
  use it.
* A test looks at the top and leaves it there; the last test decides about the next `<jump>`. `<mem_w>`
  removes the top. `<calc>` and jumps empty the stack and forget the test.
* `<return/>` outside of any call ends the program, and so does its last tag.

Each tag is one instruction, including `<calc>` and `</calc>`. `<fwrite>`, and tags that no document names,
are errors when they are reached. A Robi 1 allows 3 open calls (mcc.mbsrv.net/robox/240506); for a Robi 2 the
number is not known.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from posewright.errors import InputError, Where
from posewright.runtimes.robi.memory import signed
from posewright.runtimes.robi.program import Op, Rm4Program, Tag, excerpt, mark_inside_calc

CALL_DEPTH = 32
"""Largest number of open calls; our choice. In a Robi 1 a fourth stops the robot."""


class ByteMemory(Protocol):
    """A memory of bytes; a word has its low byte first."""

    def read(self, address: int, size: int) -> int:
        """Return the unsigned value of 1 or 2 bytes, or raise InputError."""
        ...

    def write(self, address: int, size: int, value: int) -> None:
        """Write 1 or 2 bytes, or raise InputError."""
        ...


class RobiProgramError(InputError):
    """A program does something impossible.

    Attributes:
        address: the address of the tag, in the file.
        label: the last one at or before it; may be empty.
    """

    def __init__(
        self, message: str, *, address: int, label: str, where: Where | None = None, hint: str | None = None
    ) -> None:
        super().__init__(message, where=where, hint=hint)
        self.address = address
        self.label = label


class RobiStopReason(StrEnum):
    """Why a run of the machine stopped."""

    BUDGET = "budget"
    BREAKPOINT = "breakpoint"
    RETURNED = "returned"
    END = "end"


@dataclass(frozen=True, slots=True)
class MachineStop:
    """The end of one run of the machine.

    Attributes:
        reason: the reason of the stop.
        address: the address of the next tag in the file; the file's length at the end.
        label: the last one at or before it; may be empty.
        n_done: instructions of this run.
    """

    reason: RobiStopReason
    address: int
    label: str
    n_done: int

    def __repr__(self) -> str:
        return f"MachineStop({self.reason} at 0x{self.address:08x} {self.label or '-'}, {self.n_done} done)"


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
_PUT_VALUES = "<mem_r> and <const> put values there"


class ProgramMachine:
    """The state of a running program.

    Args:
        program: the program.
        memory: the memory that it reads and writes.

    Attributes:
        program: the program.
        memory: the memory that it reads and writes.
        stack: the stack of `<calc>`, the top last.
    """

    def __init__(self, program: Rm4Program, memory: ByteMemory) -> None:
        self.program = program
        self.memory = memory
        self.stack: list[int] = []
        instruction_tags = [tag for tag in program.tags if tag.op is not Op.VERBATIM]
        # the method that executes an instruction, and its tag
        self._instructions = [
            (self._select_handler(tag, inside_calc=inside_calc), tag)
            for tag, inside_calc in zip(instruction_tags, mark_inside_calc(instruction_tags), strict=True)
        ]
        self._addresses = [program.positions[tag.key] for tag in instruction_tags]
        self._index_by_key = _first_instructions(program)
        self._index_by_address: dict[int, int] = {}
        labels = sorted((program.positions[key], label) for key, label in program.labels.items())
        self._label_addresses = [address for address, _ in labels]
        self._labels = [label for _, label in labels]
        self._next_index = 0  # of the next instruction
        self._test_result: bool | None = None  # of the last test in `<calc>`, for the jump after it
        self._return_indices: list[int] = []  # of the instructions after the open calls
        self._paused_at_index: int | None = None  # at whose breakpoint the last run stopped
        self._end_reason: RobiStopReason | None = None

    @property
    def address(self) -> int:
        """The address of the next tag in the file; the file's length at the end."""
        return (
            self._addresses[self._next_index]
            if self._next_index < len(self._addresses)
            else self.program.n_bytes
        )

    @property
    def label(self) -> str:
        """The last label at or before the next tag."""
        index = bisect_right(self._label_addresses, self.address)
        return self._labels[index - 1] if index else ""

    @property
    def calls(self) -> tuple[int, ...]:
        """The addresses of the open calls in the file, the latest last."""
        return tuple(self._addresses[index - 1] for index in self._return_indices)

    def run(self, max_instructions: int, breakpoints: Collection[int] = ()) -> MachineStop:
        """Run the program until it ends, waits at a breakpoint or has executed enough instructions.

        Args:
            max_instructions: after so many instructions it stops with the reason `BUDGET`.
            breakpoints: addresses of tags in the file before which it stops; the next run goes on from there.

        Raises:
            RobiProgramError: an instruction is impossible; it stays the next one.
            InputError: no tag begins at a breakpoint.
        """
        stop_indices = {self._index_at(address) for address in breakpoints}
        previous_pause = self._paused_at_index
        self._paused_at_index = None
        instructions = self._instructions
        n_instructions = len(instructions)
        n_done = 0
        while self._end_reason is None and self._next_index < n_instructions and n_done < max_instructions:
            continues_from_pause = n_done == 0 and self._next_index == previous_pause
            if self._next_index in stop_indices and not continues_from_pause:
                self._paused_at_index = self._next_index
                return self._describe_stop(RobiStopReason.BREAKPOINT, n_done)
            execute, tag = instructions[self._next_index]
            execute(tag)
            n_done += 1
        if self._end_reason is None and self._next_index == n_instructions:
            if self._return_indices:
                message = f"the program ends inside what was called from 0x{self.calls[-1]:08x}"
                raise self._error(message, "a <return/> is missing")
            self._end_reason = RobiStopReason.END
        if not n_done:  # it is still paused there
            self._paused_at_index = previous_pause
        return self._describe_stop(self._end_reason or RobiStopReason.BUDGET, n_done)

    def _index_at(self, address: int) -> int:
        """Return the index of the first instruction at or after the tag at an address."""
        if address not in self._index_by_address:
            self._index_by_address[address] = self._index_by_key[self.program.tag_at(address).key]
        return self._index_by_address[address]

    def _describe_stop(self, reason: RobiStopReason, n_done: int) -> MachineStop:
        return MachineStop(reason, self.address, self.label, n_done)

    # Instructions.

    def _select_handler(self, tag: Tag, *, inside_calc: bool) -> Callable[[Tag], None]:
        """Return the method that executes a tag."""
        if tag.op is Op.MEM_W:
            return self._write_block if tag.values else self._store
        if tag.op is Op.JUMP:
            return self._jump_if if inside_calc else self._jump
        if tag.op in _ARITHMETIC:
            return self._compute
        if tag.op in _TESTS:
            return self._test
        handlers = {
            Op.CALC: self._clear_calc,
            Op.END_CALC: self._clear_calc,
            Op.MEM_R: self._load,
            Op.CONST: self._push_constant,
            Op.CALL: self._call,
            Op.RETURN: self._return,
        }
        return handlers.get(tag.op, self._reject)

    def _clear_calc(self, _: Tag) -> None:
        """Drop the numbers and the test result of a calculation, at its beginning and at its end."""
        self.stack.clear()
        self._test_result = None
        self._next_index += 1

    def _load(self, tag: Tag) -> None:
        """Push a number of the memory on the stack."""
        try:
            value = self.memory.read(tag.address, tag.size)
        except InputError as error:
            raise self._error(error.message, error.hint) from error
        self.stack.append(signed(value))
        self._next_index += 1

    def _push_constant(self, tag: Tag) -> None:
        self.stack.append(signed(tag.values[0]))
        self._next_index += 1

    def _compute(self, tag: Tag) -> None:
        """Replace the two top values of the stack by the result of an operator."""
        if len(self.stack) < 2:
            present = "is one" if self.stack else "is none"
            raise self._error(f"<{tag.op}/> needs two values, and there {present}", _PUT_VALUES)
        top = self.stack.pop()
        self.stack[-1] = signed(_ARITHMETIC[tag.op](self.stack[-1], top))
        self._next_index += 1

    def _test(self, tag: Tag) -> None:
        self._test_result = _TESTS[tag.op](self._top(tag))
        self._next_index += 1

    def _store(self, tag: Tag) -> None:
        self._write(tag.address, tag.size, self._top(tag))
        self.stack.pop()
        self._next_index += 1

    def _top(self, tag: Tag) -> int:
        if not self.stack:
            raise self._error(f"<{tag.op}/> needs a value, and there is none", _PUT_VALUES)
        return self.stack[-1]

    def _write_block(self, tag: Tag) -> None:
        for i, value in enumerate(tag.values):
            self._write(tag.address + i * tag.size, tag.size, value)
        self._next_index += 1

    def _write(self, address: int, size: int, value: int) -> None:
        try:
            self.memory.write(address, size, value & (0xFF if size == 1 else 0xFFFF))
        except InputError as error:
            raise self._error(error.message, error.hint) from error

    def _jump_if(self, tag: Tag) -> None:
        """Jump if the last test was true, otherwise go on."""
        if self._test_result is None:
            raise self._error("<jump/> inside <calc> with no test before it", "a test is <eq/>, <gt/>, ...")
        if self._test_result:
            self._jump(tag)
        else:
            self._next_index += 1

    def _jump(self, tag: Tag) -> None:
        self._next_index = self._index_by_key[tag.target]
        self.stack.clear()
        self._test_result = None

    def _call(self, tag: Tag) -> None:
        """Jump to a subroutine, and remember the instruction after the call for its return."""
        if len(self._return_indices) >= CALL_DEPTH:
            hint = f"at most {CALL_DEPTH} may be open at once; a <return/> closes one"
            raise self._error(f"{CALL_DEPTH + 1} calls deep", hint)
        self._return_indices.append(self._next_index + 1)
        self._jump(tag)

    def _return(self, _: Tag) -> None:
        if self._return_indices:
            self._next_index = self._return_indices.pop()
        else:
            self._end_reason = RobiStopReason.RETURNED

    def _reject(self, tag: Tag) -> None:
        hint = "remove it to run the other instructions"
        message = f"{excerpt(tag.raw)} is an instruction without a documented meaning"
        raise self._error(message, hint)

    def _error(self, message: str, hint: str | None) -> RobiProgramError:
        """Return an error of the next instruction."""
        location = f"0x{self.address:08x}" + (f" ({self.label})" if self.label else "")
        return RobiProgramError(
            f"at {location}: {message}",
            address=self.address,
            label=self.label,
            where=Where(path=self.program.path) if self.program.path else None,
            hint=hint,
        )


def _first_instructions(program: Rm4Program) -> dict[int, int]:
    """Return by each tag's key the index of the first instruction at or after it."""
    indices: dict[int, int] = {}
    n_instructions = 0
    for tag in program.tags:
        indices[tag.key] = n_instructions
        if tag.op is not Op.VERBATIM:
            n_instructions += 1
    return indices
