"""Setting up the servos of a robot before it moves: they are found, checked, configured, and switched on."""

from __future__ import annotations

import math
from collections.abc import Mapping

from posewright.buses.dynamixel.answers import PortGoneError
from posewright.buses.dynamixel.bus import Bus, joints_of
from posewright.buses.dynamixel.control_table import (
    Access,
    ControlTable,
    control_table,
    control_tables,
    name_of_model,
)
from posewright.buses.dynamixel.packets import GENTLE_SPEED
from posewright.errors import BodyError, InputError
from posewright.robots import Robot, Servo

MAX_READINGS = 10
"""How often a control table is read before it counts as unreadable."""

JITTER_TICKS = 12
"""Largest difference between two positions of a joint that stands still, or sags."""

ROUNDS = 2
"""How often servos are looked for."""

READ_BLOCK_BYTES = 26
"""Bytes of a control table that are read with one packet; longer answers are damaged more often."""

FULL_TORQUE = 1023
ANSWERS_ALL = 2
"""Register values: the full torque, and the status return level at which every instruction is answered."""

MIN_STIFFNESS_NM_RAD = 1e-9
"""Replaces a stiffness of 0, by which a slope cannot be computed [N m/rad]."""

MIN_SLOPE = 2
MAX_SLOPE = 128
"""e-Manual, AX-12A, Compliance Slope (28, 29): seven steps, 2, 4, 8, ... 128."""


Registers = Mapping[str, int]
"""Values of a servo's control table by the register's name."""


def nearest_slope(servo: Servo, stiffness_nm_rad: float) -> int:
    """Return the step of the compliance slope that is nearest to a stiffness [N m/rad]."""
    # the position error with full torque
    stiffness_nm_rad = max(stiffness_nm_rad, MIN_STIFFNESS_NM_RAD)
    exact_slope_ticks = servo.stall_torque_nm / (stiffness_nm_rad * servo.tick_rad)
    step = MIN_SLOPE
    while step < MAX_SLOPE and step * math.sqrt(2.0) < exact_slope_ticks:  # nearest as a ratio
        step *= 2
    return step


def card_slope(servo: Servo) -> int:
    """Return the step of the compliance slope for the stiffness on a servo's card."""
    return nearest_slope(servo, servo.stiffness)


def find_servos(bus: Bus, robot: Robot) -> None:
    """Check that every servo of a robot answers, and that all have the control table of an AX-12.

    Raises:
        BodyError: some do not answer, or have another control table; the message names all of them.
    """
    missing = dict(joints_of(robot))
    for _round in range(ROUNDS):  # half a packet may swallow the next one; other servos' packets end it
        missing = {servo_id: joint for servo_id, joint in missing.items() if not _answers(bus, servo_id)}
    if missing:
        names = ", ".join(f"{joint} (ID {servo_id})" for servo_id, joint in missing.items())
        hint = "check power, cable, IDs and baud rate: `posewright bus scan` lists the servos that answer"
        raise BodyError(f"no answer from {names}", hint=hint)
    require_supported_models(bus, robot)


def require_supported_models(bus: Bus, robot: Robot) -> None:
    """Raise a BodyError unless the servos of a robot are of models with the registers of an AX-12.

    Servos whose model is unknown are pinged; those that do not answer, or answer pings only, are not checked.

    Raises:
        BodyError: a servo is of another model; the message names all of them.
    """
    for servo_id in joints_of(robot):
        if servo_id in bus.models:
            continue
        try:
            bus.ping(servo_id)
        except PortGoneError:
            raise
        except BodyError:
            continue
    ax_table = control_table("AX-12A")
    supported = [table.device for table in control_tables().values() if table.has_registers_of(ax_table)]
    others = [
        f"{joint} (ID {servo_id}) has {name_of_model(bus.models[servo_id])}"
        for servo_id, joint in joints_of(robot).items()
        if servo_id in bus.models and name_of_model(bus.models[servo_id]) not in supported
    ]
    if others:
        hint = f"models that can be driven are {', '.join(supported)}; nothing was written"
        raise BodyError(f"servos of models that cannot be driven: {', '.join(others)}", hint=hint)


def _answers(bus: Bus, servo_id: int) -> bool:
    """Ping a servo, and return whether it answers; set one that answers only pings to answer everything."""
    try:
        if bus.ping(servo_id).model_number is None:  # its status return level is 0
            level = bus.register(servo_id, "status_return_level")
            bus.sync_write(level.address, {servo_id: level.encode(ANSWERS_ALL)})
            bus.ping(servo_id)
    except PortGoneError:
        raise
    except BodyError:
        return False
    return True


def read_control_tables(bus: Bus, robot: Robot, table: ControlTable) -> Mapping[int, Registers]:
    """Read and check the control tables of all servos of a robot; return them by ID.

    Raises:
        BodyError: a servo does not answer, or is not fit to move.
    """
    tables: dict[int, Registers] = {}
    for servo, joint in joints_of(robot).items():
        tables[servo] = _read_table(bus, servo, table)
        _require_fit(tables[servo], f"{joint} (ID {servo})")
    return tables


def _read_table(bus: Bus, servo: int, table: ControlTable) -> Registers:
    """Read a control table until two readings agree: an 8-bit checksum does not detect all damage."""
    previous: Registers | None = None
    for _attempt in range(MAX_READINGS):
        blocks = [
            bus.read_block(servo, address, min(READ_BLOCK_BYTES, table.size - address))
            for address in range(0, table.size, READ_BLOCK_BYTES)
        ]
        registers = table.decode(b"".join(blocks))
        if previous is not None and _readings_agree(registers, previous, table):
            return registers
        previous = registers
    message = f"no two readings of the control table of {bus.name(servo)} agree"
    raise BodyError(message, hint="run `posewright bus diagnose`")


def _readings_agree(registers: Registers, previous: Registers, table: ControlTable) -> bool:
    """Return whether two readings agree in the writable registers and, within jitter, in the position.

    The position must also be one that the servo can have.
    """
    writable = [
        register.name for register in table.registers.values() if register.access is Access.READ_WRITE
    ]
    position = registers["present_position"]
    is_near = abs(position - previous["present_position"]) <= JITTER_TICKS
    is_in_range = position <= table.register("goal_position").high
    return is_near and is_in_range and all(registers[name] == previous[name] for name in writable)


def _require_fit(registers: Registers, name: str) -> None:
    """Raise a BodyError if a servo is overheated, has a wrong voltage or is in wheel mode."""
    temperature = registers["present_temperature"]
    limit = registers["temperature_limit"]
    if temperature >= limit:
        raise BodyError(
            f"{name} is overheated: {temperature} degrees Celsius", hint=f"let it cool below {limit}"
        )
    decivolts = registers["present_voltage"]
    low = registers["min_voltage_limit"]
    high = registers["max_voltage_limit"]
    if not low <= decivolts <= high:
        hint = f"its limits are {low / 10.0:.1f}..{high / 10.0:.1f} V: charge the battery or check the supply"
        raise BodyError(f"{name} has {decivolts / 10.0:.1f} V", hint=hint)
    if registers["cw_angle_limit"] == registers["ccw_angle_limit"] == 0:
        raise BodyError(f"{name} is in wheel mode", hint="set its angle limits with `posewright bus write`")


def torque_limit_for(registers: Registers) -> int:
    """Return the torque limit to set: one less than the limit after power-on.

    So a later reading shows that the power was gone. A servo that shut itself down has a limit of 0.
    """
    return max(1, min(registers["torque_limit"] or FULL_TORQUE, registers["max_torque"] - 1))


def require_settings_writable(bus: Bus, robot: Robot) -> None:
    """Raise an error if `set_up` would have to write the EEPROM of a servo whose torque is on.

    A servo's return delay and status return level are in its EEPROM, which must not be written under torque.
    They are right if the delay is 0 and the level is `ANSWERS_ALL`. Each register is read by a packet of its
    own, and only where the registers before leave the question open.

    Args:
        bus: the open bus.
        robot: the robot, whose servos are on it.

    Raises:
        InputError: some have; the message names all of them.
        BodyError: a servo does not answer.
    """
    blocked_joints: list[str] = []
    for servo_id, joint in joints_of(robot).items():
        if not bus.read(servo_id, "torque_enable"):
            continue
        is_set_up = (
            bus.read(servo_id, "return_delay_time") == 0
            and bus.read(servo_id, "status_return_level") == ANSWERS_ALL
        )
        if not is_set_up:
            blocked_joints.append(joint)
    if blocked_joints:
        names = ", ".join(blocked_joints)
        hint = "let go of all joints first, and support the robot: settings are written without torque"
        raise InputError(f"the servos of {names} are not set up yet, and their torque is on", hint=hint)


def set_up(
    bus: Bus, robot: Robot, control_tables: Mapping[int, Registers], delays: Mapping[int, int]
) -> None:
    """Configure the servos, and switch their torque on so that each holds its position.

    Registers in the EEPROM (return delay, status return level) are written only where they differ, as an
    EEPROM wears out. The torque limit is 0 after a servo shut itself down, and becomes the maximum again.

    Args:
        bus: the open bus.
        robot: the robot whose servos are set up.
        control_tables: their present registers, by ID.
        delays: return delays to set, by ID [steps of 2 us].

    Raises:
        BodyError: a servo rejects a value.
    """
    for servo_id, registers in control_tables.items():
        slope = card_slope(robot.servo(bus.joints[servo_id]))
        settings = {
            "return_delay_time": delays[servo_id],
            "status_return_level": ANSWERS_ALL,
            "cw_compliance_slope": slope,
            "ccw_compliance_slope": slope,
            "torque_limit": torque_limit_for(registers),
        }
        for register, value in settings.items():
            if registers[register] != value:
                bus.write(servo_id, register, value)
        bus.write(servo_id, "moving_speed", GENTLE_SPEED)
        bus.write(servo_id, "goal_position", registers["present_position"])
        bus.write(servo_id, "torque_enable", 1)
