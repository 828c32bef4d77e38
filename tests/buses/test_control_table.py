"""The control tables are the manual's, and what is written to a register is what is read from it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.buses.dynamixel.answers import fault_kinds
from posewright.buses.dynamixel.control_table import (
    Access,
    Area,
    ControlTable,
    Register,
    StatusError,
    baud_rate_of,
    baud_rates,
    baud_register_value,
    control_table,
    control_tables,
    name_of_model,
    table_of_model,
)
from posewright.buses.dynamixel.packets import GOAL_POSITION
from posewright.errors import InputError, UnknownNameError

TABLES = list(control_tables().values())
REGISTERS = [one for table in TABLES for one in table.registers.values()]
WRITTEN = [one for one in REGISTERS if one.access is Access.READ_WRITE]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.device)
def test_no_two_registers_share_a_byte_and_the_eeprom_comes_first(table: ControlTable) -> None:
    ordered = sorted(table.registers.values(), key=lambda one: one.address)
    assert all(one.address + one.size <= then.address for one, then in pairwise(ordered))
    assert [one.area for one in ordered] == sorted((one.area for one in ordered), key=[*Area].index)
    assert table_of_model(table.model_number) is table


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.device)
def test_what_a_new_servo_holds_is_within_what_may_be_written(table: ControlTable) -> None:
    known = [one for one in table.registers.values() if one.initial is not None]
    assert all(one.low <= (one.initial or 0) <= one.high < 1 << 8 * one.size for one in known)


def test_single_registers_are_where_the_manual_has_them() -> None:
    ax12, axs1 = control_table("AX-12A"), control_table("AX-S1")
    assert ax12.register("goal_position").address == GOAL_POSITION
    assert (ax12.register("punch").address, ax12.size) == (48, 50)
    assert ax12.register("torque_limit").initial == ax12.register("max_torque").initial == 1023
    assert axs1.register("id").initial == 100
    assert axs1.register("center_distance").access is Access.READ


@given(st.sampled_from(WRITTEN), st.data())
def test_a_value_comes_back_from_its_bytes(register: Register, data: st.DataObject) -> None:
    value = data.draw(st.integers(register.low, register.high))
    encoded = register.encode(value)
    assert len(encoded) == register.size
    assert register.decode(encoded) == value


@given(st.sampled_from(WRITTEN), st.integers(1, 1 << 40))
def test_a_value_out_of_its_range_has_no_bytes(register: Register, beyond: int) -> None:
    for value in (register.low - beyond, register.high + beyond):
        with pytest.raises(InputError, match=f"{register.name} cannot be {value}"):
            register.encode(value)


def test_what_can_only_be_read_has_no_bytes_to_write() -> None:
    for register in REGISTERS:
        if register.access is Access.READ:
            with pytest.raises(InputError, match="cannot be written"):
                register.encode(0)


def test_a_name_that_is_no_register_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="did you mean goal_position"):
        control_table("AX-12A").register("goal_positon")
    with pytest.raises(UnknownNameError, match="AX-12A"):
        control_table("AX-12")


def test_every_listed_rate_is_that_of_its_value_within_what_a_uart_bears() -> None:
    for value, rate in baud_rates().items():
        assert (baud_rate_of(value), baud_register_value(rate)) == (rate, value)
        assert rate == pytest.approx(2_000_000 / (value + 1), rel=0.03)  # the manual's formula and its note
    assert baud_rate_of(0) == 2_000_000
    with pytest.raises(InputError, match="57600"):
        baud_register_value(57601)


def test_error_bits_read_as_words_and_as_faults_of_a_body() -> None:
    assert StatusError(0x24).words == "overheating, overload"  # the manual's example
    assert [kind.value for kind in fault_kinds(0x7F)] == ["overheated", "overloaded", "voltage out of range"]
    assert fault_kinds(0x5A) == ()  # what it was told was wrong, not the servo


def test_an_ax_18a_has_the_registers_of_an_ax_12a_and_an_mx_64_is_named_only() -> None:
    """Source: ROBOTIS e-Manual, pages of AX-18A and MX-64."""
    assert control_table("AX-18A").has_registers_of(control_table("AX-12A"))
    assert not control_table("AX-S1").has_registers_of(control_table("AX-12A"))
    assert [name_of_model(number) for number in (12, 18, 310, 999)] == [
        "AX-12A",
        "AX-18A",
        "MX-64",
        "model 999",
    ]
    assert table_of_model(310) is None
