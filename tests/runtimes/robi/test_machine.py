"""Programs run as their tags say; errors are reported with address and label."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.errors import InputError
from posewright.runtimes.robi.listing import assemble
from posewright.runtimes.robi.machine import (
    CALL_DEPTH,
    MachineStop,
    ProgramMachine,
    RobiProgramError,
    RobiStopReason,
    signed,
)
from posewright.runtimes.robi.rm4 import read_rm4

from .texts import FakeRam, Text, reference_run, texts

MOST = 300


def outcome(data: bytes, most: int = MOST, step: int = MOST) -> tuple[str, list[tuple[int, int, int]], int]:
    """Run a program, `step` instructions at a time, and tell of it as the reference does."""
    memory = FakeRam()
    machine = ProgramMachine(read_rm4(data), memory)
    done = 0
    try:
        while done < most:
            stop = machine.run(min(step, most - done))
            done += stop.n_done
            if stop.reason is not RobiStopReason.BUDGET:
                return str(stop.reason), memory.trace, done
    except RobiProgramError:
        return "error", memory.trace, -1
    return "budget", memory.trace, done


@settings(max_examples=80)
@given(text=texts(), step=st.sampled_from((1, 7, MOST)))
def test_a_program_does_what_the_reference_does(text: Text, step: int) -> None:
    end, trace, n_steps = reference_run(text.items, MOST)
    found = outcome(text.data(), MOST, step)
    assert found[:2] == (end, trace)
    assert end == "error" or found[2] == n_steps


def run(text: str, budget: int = 1000) -> tuple[FakeRam, MachineStop]:
    memory = FakeRam()
    return memory, ProgramMachine(assemble(text), memory).run(budget)


WORD_NUMBER, POSTURE = 0x0E5C, 0x0F82
DISPATCH = """
        calc
          mem_r 2 0x0e5c                 ; the word that was recognised
          const 472                      ; "explain Robi Ride"
          sub
          eq
          jump ride
        endcalc
        mem_w 2 0x0f82 = 0x0000
        return
ride:   mem_w 2 0x0f82 = 0x0003
        return
"""


@pytest.mark.parametrize(("word", "posture"), [(472, 3), (471, 0), (473, 0), (0, 0), (0xFFFF, 0)])
def test_the_recognised_word_is_dispatched(word: int, posture: int) -> None:
    memory = FakeRam()
    memory.write(POSTURE, 2, 9)
    memory.write(WORD_NUMBER, 2, word)
    stop = ProgramMachine(assemble(DISPATCH), memory).run(100)
    assert stop.reason is RobiStopReason.RETURNED
    assert memory.read(POSTURE, 2) == posture


@pytest.mark.parametrize(
    ("code", "result"),
    [
        ("const 5\nconst 3\nsub", 2),
        ("const 3\nconst 5\nsub", 0xFFFE),
        ("const 0xfbd2\nconst -600\nsub", (-1070 + 600) & 0xFFFF),
        ("const 300\nconst 300\nmul", 90_000 & 0xFFFF),
        ("const 32767\nconst 1\nadd", 0x8000),
        ("const 65535", 0xFFFF),
    ],
)
def test_numbers_are_words_in_twos_complement(code: str, result: int) -> None:
    memory, _ = run(f"calc\n{code}\nmem_w 2 0x0100\nendcalc")
    assert memory.read(0x0100, 2) == result


@pytest.mark.parametrize(
    ("value", "taken"),
    [
        (0, {"eq", "ge", "le"}),
        (1, {"ne", "gt", "ge"}),
        (0x7FFF, {"ne", "gt", "ge"}),
        (0x8000, {"ne", "lt", "le"}),
        (0xFFFF, {"ne", "lt", "le"}),
    ],
)
def test_tests_compare_the_top_with_nought(value: int, taken: set[str]) -> None:
    for test in ("eq", "ne", "gt", "ge", "lt", "le"):
        memory, _ = run(
            f"calc\nconst {value}\n{test}\njump yes\nendcalc\nreturn\nyes: mem_w 1 0x0100 = 1\nreturn"
        )
        assert (memory.bytes[0x0100] == 1) is (test in taken)


def test_a_test_leaves_its_value_and_a_store_takes_it() -> None:
    memory, stop = run(
        "calc\nconst 7\nconst 1\neq\njump x\nmem_w 2 0x0100\nmem_w 2 0x0102\nendcalc\nx: return"
    )
    assert (memory.read(0x0100, 2), memory.read(0x0102, 2)) == (1, 7)
    assert stop.reason is RobiStopReason.RETURNED


def test_a_byte_is_read_without_a_sign_and_the_low_half_of_a_word_is_stored() -> None:
    memory, _ = run(
        "mem_w 1 0x0100 = 0xff\ncalc\nmem_r 1 0x0100\nconst 2\nmul\nmem_w 2 0x0110\n"
        "const -2\nmem_w 1 0x0120\nendcalc"
    )
    assert memory.read(0x0110, 2) == 510
    assert memory.bytes[0x0120:0x0122] == b"\xfe\0"


@given(st.integers(-(2**40), 2**40))
def test_a_word_keeps_its_sixteen_bits(value: int) -> None:
    assert -0x8000 <= signed(value) <= 0x7FFF
    assert (signed(value) - value) % 0x10000 == 0


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("calc\nadd\nendcalc", "needs two values, and there is none"),
        ("calc\nconst 1\nsub\nendcalc", "needs two values, and there is one"),
        ("calc\neq\nendcalc", "<eq/> needs a value"),
        ("calc\nmem_w 2 0x0100\nendcalc", "<mem_w/> needs a value"),
        ("calc\nconst 1\njump begin\nendcalc", "no test before it"),
        ("mem_w 2 0x2000 = 1", "nothing is at 0x2000"),
        ("mem_w 2 0x1ffe = 1, 2", "nothing is at 0x2000"),
        ("calc\nmem_r 2 0x1fff\nendcalc", "nothing is at 0x1fff"),
        ("calc\nconst 1\nmem_w 1 0x00010000\nendcalc", "nothing is at 0x10000"),
        ("call begin", "33 calls deep"),
        ('text "<div/>"', "<div/> is an instruction without a documented meaning"),
        (
            'text "<fwrite filename=\\"x\\" adr=\\"0x00000000\\"/>"',
            "is an instruction without a documented meaning",
        ),
        ("call fall\nreturn\nfall: calc\nendcalc", "ends inside what was called from 0x0000000d"),
    ],
)
def test_what_cannot_be_done_is_told_with_address_and_label(code: str, message: str) -> None:
    program = assemble(f'between ""\ninside ""\nbegin: calc\nendcalc\n{code}', Path("own.rm4"))
    machine = ProgramMachine(program, FakeRam())
    with pytest.raises(RobiProgramError) as caught:
        machine.run(1000)
    error = caught.value
    assert message in str(error)
    assert error.label in {"begin", "fall"}
    assert f"0x{error.address:08x} ({error.label})" in str(error)
    assert str(error).startswith("own.rm4: ")
    assert error.hint or "0x" in error.message
    with pytest.raises(RobiProgramError, match="at 0x"):
        machine.run(1)


def test_calls_go_as_deep_as_they_are_allowed_to() -> None:
    def nested(depth: int) -> str:
        return "\n".join(f"r{i}: call r{i + 1}\nreturn" for i in range(depth)) + f"\nr{depth}: return"

    assert run(nested(CALL_DEPTH))[1].reason is RobiStopReason.RETURNED
    with pytest.raises(RobiProgramError, match="33 calls deep") as caught:
        run(nested(CALL_DEPTH + 1))
    assert caught.value.label == "r32"


def test_a_call_comes_back_behind_itself() -> None:
    memory, stop = run("call one\ncall one\nmem_w 1 0x0102 = 9\nreturn\none: mem_w 1 0x0101 = 5\nreturn")
    assert [address for address, _, _ in memory.trace] == [0x101, 0x101, 0x102]
    assert stop.n_done == 8


def test_a_loop_for_ever_uses_its_budget_and_goes_on() -> None:
    memory = FakeRam()
    machine = ProgramMachine(
        assemble("loop: calc\nmem_r 2 0x0100\nconst 1\nadd\nmem_w 2 0x0100\nendcalc\njump loop"), memory
    )
    for n in range(1, 9):
        stop = machine.run(7 * 5)
        assert (stop.reason, stop.n_done, stop.label) == (RobiStopReason.BUDGET, 35, "loop")
        assert memory.read(0x0100, 2) == 5 * n
    assert machine.run(0) == MachineStop(RobiStopReason.BUDGET, stop.address, "loop", 0)


def test_a_jump_to_itself_is_no_hurry() -> None:
    assert run("here: jump here", 12345)[1].n_done == 12345


def test_a_program_that_has_ended_stays_ended() -> None:
    machine = ProgramMachine(assemble("mem_w 1 0x0100 = 1"), FakeRam())
    assert machine.run(10).reason is RobiStopReason.END
    assert machine.run(10).n_done == 0


def test_a_program_without_instructions_ends() -> None:
    assert run('text "<medit/>"')[1].reason is RobiStopReason.END


def test_it_stops_before_a_breakpoint_and_goes_on_from_there() -> None:
    program = assemble("loop: mem_w 1 0x0100 = 1\nmid: mem_w 1 0x0101 = 2\njump loop")
    memory = FakeRam()
    machine = ProgramMachine(program, memory)
    [mid] = [key for key, label in program.labels.items() if label == "mid"]
    at = program.positions[mid]
    for n in range(1, 5):
        stop = machine.run(100, {at})
        assert (stop.reason, stop.address, stop.label) == (RobiStopReason.BREAKPOINT, at, "mid")
        assert len(memory.trace) == 2 * n - 1
        assert stop.n_done == (1 if n == 1 else 3)


def test_a_breakpoint_where_the_budget_ended_still_stops() -> None:
    program = assemble("mem_w 1 0x0100 = 1\nmid: mem_w 1 0x0101 = 2\nreturn")
    machine = ProgramMachine(program, FakeRam())
    at = program.positions[1]
    assert machine.run(1, {at}).reason is RobiStopReason.BUDGET
    assert machine.run(1, {at}) == MachineStop(RobiStopReason.BREAKPOINT, at, "mid", 0)
    assert machine.run(9, {at}).reason is RobiStopReason.RETURNED


def test_a_breakpoint_before_the_editors_data_is_one_before_what_follows() -> None:
    program = assemble('mem_w 1 0x0100 = 1\ntext "<medit/>"\nnext: return')
    machine = ProgramMachine(program, FakeRam())
    assert machine.run(9, [program.positions[1]]).label == "next"


def test_a_breakpoint_in_a_tag_is_refused_with_the_next_one() -> None:
    machine = ProgramMachine(assemble("return\nreturn"), FakeRam())
    with pytest.raises(InputError, match=r"no tag begins at 0x00000003 .*0x0000000a: <return/>"):
        machine.run(9, [3])


def test_open_calls_are_shown() -> None:
    program = assemble("call one\nreturn\none: call two\nreturn\ntwo: jump two")
    machine = ProgramMachine(program, FakeRam())
    machine.run(10)
    assert machine.calls == (program.positions[0], program.positions[2])
    assert (machine.label, machine.stack) == ("two", [])
