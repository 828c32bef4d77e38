"""The memory of a Robi: the notes' addresses, words in two's complement, nothing written outside."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.errors import DocumentError, InputError, UnknownNameError
from posewright.runtimes.robi.memory import RobiMemory, memory_map, read_memory_map

SIZE = 0x2000


@pytest.mark.parametrize(
    ("name", "number", "address"),
    [
        ("position", 1, 0x0A00),
        ("position", 2, 0x0A04),
        ("position", 21, 0x0A50),
        ("torque", 21, 0x0A52),
        ("led", 1, 0x0A70),
        ("led", 7, 0x0A7C),
        ("mapped_position", 1, 0x0AC0),
        ("mapped_position", 2, 0x0AC2),
        ("measured", 4, 0x0D86),
        ("measured", 9, 0x0D90),
        ("led_table", 1, 0x0E20),
        ("word", 1, 0x0E5C),
        ("posture", 1, 0x0F82),
        ("return_value", 1, 0x0FA8),
        ("table_measured", 1, 0x1020),
        ("table_measured", 2, 0x1040),
    ],
)
def test_cells_lie_where_the_notes_say(name: str, number: int, address: int) -> None:
    assert memory_map()[name].address_of(number) == address


def test_the_parameter_block_of_id_2_is_the_one_the_notes_print() -> None:
    memory = RobiMemory()
    words = [memory.read(0x1040 + 2 * i, 2) for i in range(9)]
    assert words == [0x0D82, 0x0C04, 0x0C06, 0x0D02, 0x0100, 0x0019, 0x8001, 0x7FFF, 0x0000]
    assert [memory.read(0x0E20 + 2 * i, 2) for i in range(7)] == [0x0C70 + 2 * i for i in range(7)]
    assert (memory.read(0x0AEA, 2), memory.read(0x0AEE, 2)) == (70, 50)


def test_every_cell_has_a_source_that_is_told() -> None:
    known = memory_map()
    assert all(cell.source and set(cell.source) <= set(known.sources) for cell in known.cells.values())
    assert known["time"].source == ("ours",)


def test_an_address_is_told_by_name() -> None:
    known = memory_map()
    assert known.names[0x0D86] == "measured of ID 4"
    assert known.names[0x0A7C] == "led of mouth"
    assert known.names[0x0F82] == "posture"
    assert 0x0400 not in known.names


@given(address=st.integers(0, SIZE - 2), value=st.integers(0, 0xFFFF))
def test_a_word_is_read_as_it_was_written_low_byte_first(address: int, value: int) -> None:
    memory = RobiMemory()
    before = bytes(memory)
    memory.write(address, 2, value)
    after = bytes(memory)
    assert memory.read(address, 2) == value
    assert (memory.read(address, 1), memory.read(address + 1, 1)) == (value & 0xFF, value >> 8)
    assert after[:address] == before[:address]
    assert after[address + 2 :] == before[address + 2 :]


@given(number=st.integers(2, 21), value=st.integers(-0x8000, 0x7FFF))
def test_positions_are_in_twos_complement(number: int, value: int) -> None:
    memory = RobiMemory()
    memory.set("position", value, number)
    assert memory.get("position", number) == value
    assert memory.read(0x0A00 + 4 * (number - 1), 2) == value % 0x10000


def test_the_notes_own_word_is_minus_107_degrees() -> None:
    memory = RobiMemory()
    memory.write(0x0A08, 2, 0xFBD2)
    assert memory.get("position", 3) == -1070


@pytest.mark.parametrize(
    ("address", "size", "value", "message"),
    [
        (SIZE, 1, 0, "outside"),
        (SIZE - 1, 2, 0, "outside"),
        (-1, 1, 0, "outside"),
        (0, 4, 0, "1 byte or 2"),
        (0, 1, 256, "does not fit"),
        (0, 2, -1, "two's complement"),
    ],
)
def test_what_does_not_fit_is_refused_and_changes_nothing(
    address: int, size: int, value: int, message: str
) -> None:
    memory = RobiMemory()
    before = bytes(memory)
    with pytest.raises(InputError, match=message):
        memory.write(address, size, value)
    assert bytes(memory) == before


def test_names_and_numbers_that_are_not_there_are_refused() -> None:
    memory = RobiMemory()
    with pytest.raises(UnknownNameError, match="posture"):
        memory.get("postur")
    with pytest.raises(InputError, match=r"1\.\.21"):
        memory.get("position", 22)
    with pytest.raises(InputError, match="-32768"):
        memory.set("position", 0x8000, 2)


def test_a_map_whose_cells_overlap_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "map.yaml"
    path.write_text(
        "memory: mine\nsize: 0x100\nsources: {a: me}\ncells:\n"
        "  one: {address: 0x10, source: a, about: one}\n  two: {address: 0x11, source: a, about: two}\n"
    )
    with pytest.raises(DocumentError, match="belongs to one"):
        read_memory_map(path)
