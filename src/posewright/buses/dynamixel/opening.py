"""What is done with the servos of a robot before it moves: found, looked at, set, and given their torque."""

from __future__ import annotations

from collections.abc import Mapping

from posewright.buses.dynamixel.answers import PortGoneError
from posewright.buses.dynamixel.bus import Bus, joints_of
from posewright.buses.dynamixel.control_table import Access, ControlTable
from posewright.buses.dynamixel.packets import GENTLE_SPEED
from posewright.errors import BodyError
from posewright.robots import Robot, Servo

MOST_READINGS = 10

JITTER_TICKS = 12
"""A joint that stands, or sags, is seen so far from where it was seen just before."""

ROUNDS = 2
"""How often servos are looked for."""

READ_AT_ONCE = 26
"""Bytes of a control table read with one packet; longer answers are damaged more often."""

FULL_TORQUE = 1023

LEAST_SLOPE = 2
MOST_SLOPE = 128
"""e-Manual, AX-12A, Compliance Slope (28, 29): seven steps, 2, 4, 8, ... 128."""


Registers = Mapping[str, int]
"""What a servo's control table holds, by the register's name."""


def _agree(one: Registers, other: Registers, table: ControlTable) -> bool:
    """Tell whether two reads say the same of what nobody changed meanwhile, and of where the servo is."""
    written = [found.name for found in table.registers.values() if found.access is Access.READ_WRITE]
    here = one["present_position"]
    is_near = abs(here - other["present_position"]) <= JITTER_TICKS
    is_there = here <= table.register("goal_position").high
    return is_near and is_there and all(one[name] == other[name] for name in written)


def slope_of(servo: Servo, stiffness_nm_rad: float) -> int:
    """Return the step of the compliance slope that comes nearest to a stiffness [N m/rad]."""
    ticks = servo.stall_torque_nm / (max(stiffness_nm_rad, 1e-9) * servo.tick_rad)
    step = LEAST_SLOPE
    while step < MOST_SLOPE and step * 2**0.5 < ticks:  # nearest as a ratio
        step *= 2
    return step


def own_slope(servo: Servo) -> int:
    """Return the step of the compliance slope that a servo's card names."""
    return slope_of(servo, servo.stiffness)


def find_servos(bus: Bus, robot: Robot) -> None:
    """Ask every servo of a robot whether it is there.

    Raises:
        BodyError: some are not; all of them are named.
    """
    unheard = list(joints_of(robot).items())
    for _round in range(ROUNDS):  # half a packet may swallow what follows: the others' packets end it
        unheard = [(servo, joint) for servo, joint in unheard if not _is_there(bus, servo)]
    if unheard:
        missing = [f"{joint} (ID {servo})" for servo, joint in unheard]
        hint = "power, cable, IDs and baud rate: `posewright bus scan` says who is there"
        raise BodyError(f"no answer from {', '.join(missing)}", hint=hint)


def _is_there(bus: Bus, servo: int) -> bool:
    try:
        if bus.ping(servo).model_number is None:  # its status return level is 0: it answers only pings
            level = bus.register(servo, "status_return_level")
            bus.sync_write(level.address, {servo: level.encode(2)})
            bus.ping(servo)
    except PortGoneError:
        raise
    except BodyError:
        return False
    return True


def look_at(bus: Bus, robot: Robot, table: ControlTable) -> Mapping[int, Registers]:
    """Read the control tables of all servos of a robot, by ID.

    Raises:
        BodyError: one does not answer, or is not fit to move.
    """
    found: dict[int, Registers] = {}
    for servo, joint in joints_of(robot).items():
        found[servo] = _read_surely(bus, servo, table)
        _refuse(found[servo], f"{joint} (ID {servo})")
    return found


def _read_surely(bus: Bus, servo: int, table: ControlTable) -> Registers:
    """Read a control table until it says the same twice: an 8-bit sum does not see all damage."""
    before: Registers | None = None
    for _attempt in range(MOST_READINGS):
        parts = [
            bus.read_block(servo, at, min(READ_AT_ONCE, table.size - at))
            for at in range(0, table.size, READ_AT_ONCE)
        ]
        now = table.decode(b"".join(parts))
        if before is not None and _agree(now, before, table):
            return now
        before = now
    raise BodyError(f"{bus.name(servo)} never says the same twice", hint="`posewright bus diagnose`")


def _refuse(memory: Registers, who: str) -> None:
    temperature = memory["present_temperature"]
    most = memory["temperature_limit"]
    if temperature >= most:
        raise BodyError(
            f"{who} is overheated: {temperature} degrees Celsius", hint=f"let it cool below {most}"
        )
    volts = memory["present_voltage"]
    low = memory["min_voltage_limit"]
    high = memory["max_voltage_limit"]
    if not low <= volts <= high:
        hint = f"{low / 10.0:.1f}..{high / 10.0:.1f} V by its own registers: charge or check the supply"
        raise BodyError(f"{who} has {volts / 10.0:.1f} V", hint=hint)
    if memory["cw_angle_limit"] == memory["ccw_angle_limit"] == 0:
        raise BodyError(f"{who} is in wheel mode", hint="give it angle limits: `posewright bus write`")


def torque_limit_of(memory: Registers) -> int:
    """Return the torque limit that a servo is given: one less than what it has when its power comes on.

    So whoever reads it sees that the power was gone. 0 is what a servo that shut itself down has.
    """
    return max(1, min(memory["torque_limit"] or FULL_TORQUE, memory["max_torque"] - 1))


def set_up(bus: Bus, robot: Robot, memory: Mapping[int, Registers], delays: Mapping[int, int]) -> None:
    """Set what differs from what is needed, and let every servo hold the place where it stands.

    What outlasts the power (return delay, status return level) is written only where it differs: an EEPROM
    takes so many writes. The torque limit is 0 after a servo shut itself down, and becomes the maximum again.

    Raises:
        BodyError: a servo does not take it.
    """
    for servo, one in memory.items():
        slope = own_slope(robot.servo(bus.joints[servo]))
        wanted = {
            "return_delay_time": delays[servo],
            "status_return_level": 2,
            "cw_compliance_slope": slope,
            "ccw_compliance_slope": slope,
            "torque_limit": torque_limit_of(one),
        }
        for register, value in wanted.items():
            if one[register] != value:
                bus.write(servo, register, value)
        bus.write(servo, "moving_speed", GENTLE_SPEED)
        bus.write(servo, "goal_position", one["present_position"])
        bus.write(servo, "torque_enable", 1)
