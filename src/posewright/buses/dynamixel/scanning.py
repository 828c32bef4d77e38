"""Scanning a bus for servos of all IDs and rates; changing the ID or the rate of a servo."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import NamedTuple

from posewright.buses.dynamixel.answers import NoAnswer, Ping, PortGoneError, StatusPacket
from posewright.buses.dynamixel.bus import Bus, joints_of, require_id
from posewright.buses.dynamixel.control_table import (
    MAX_ID,
    Instruction,
    baud_rates,
    baud_register_value,
    control_table,
)
from posewright.buses.dynamixel.packets import InstructionPacket
from posewright.documents.plain import PlainData
from posewright.errors import BodyError, InputError
from posewright.robots import Robot

EVERY_ID = range(MAX_ID + 1)

PROBES = 6
"""How often a servo is read to see whether another one answers at the same time."""

PROBE_ADDRESS = 36
PROBE_BYTES = 8
"""A block in which two servos hardly agree: from position to temperature."""

LATE_ATTEMPT = 3
"""An answer that did not come is waited for as on this attempt, eight times as long."""

MAX_EXPECTED = 32
"""So many IDs are few: a caller that names them expects servos there."""

OnProgress = Callable[[int, int, str], None]
"""Called with the number of steps done, the number of all steps, and a description of the current one."""


class GarbledCount(NamedTuple):
    """Number of damaged answers, and number of all probes."""

    n_garbled: int
    n_probes: int


NOT_PROBED = GarbledCount(n_garbled=0, n_probes=0)


@dataclass(frozen=True, slots=True)
class FoundServo:
    """A servo, or several, that answer to one ID at one rate.

    Attributes:
        device: its model, such as AX-12A; `unknown` if no valid answer came.
        joint: the joint of the robot that it moves by the card; None if it moves none.
        reports: errors that it reports: `overheating`, `overload`, ...
        garbled: how many of the probes got damaged answers.
        remark: problems and their remedies: a rate that is not the robot's, two servos with one ID.
    """

    id: int
    baud: int
    device: str = "unknown"
    firmware: int | None = None
    joint: str | None = None
    reports: str = ""
    garbled: GarbledCount = NOT_PROBED
    remark: str = ""


@dataclass(frozen=True, slots=True)
class BusScan:
    """The result of a scan.

    Attributes:
        servos: the servos in the order of rates and IDs.
        missing: joints of the robot whose servo did not answer, by the ID it should have.
        rates: the rates that were tried [bits per second].
    """

    servos: tuple[FoundServo, ...]
    missing: dict[int, str] = field(default_factory=dict)
    rates: tuple[int, ...] = ()

    def to_dict(self) -> dict[str, PlainData]:
        """Return the result as plain data."""
        return {
            "found": [asdict(servo) for servo in self.servos],
            "missing": [{"id": servo, "joint": joint} for servo, joint in self.missing.items()],
            "rates": list(self.rates),
        }


def scan(
    bus: Bus,
    robot: Robot | None = None,
    *,
    ids: Collection[int] = EVERY_ID,
    rates: Sequence[int] | None = None,
    on_progress: OnProgress | None = None,
) -> BusScan:
    """Ping every ID at every rate, and return which servos answer; restores the rate of the bus.

    Args:
        bus: the bus, at the robot's rate.
        robot: the robot whose servos are expected; each of them is pinged as often as the bus retries.
        ids: IDs to ping; if they are few, servos are expected there, too.
        rates: rates to try [bits per second]; None for all that the manual lists.
        on_progress: is called before each ping.

    Raises:
        BodyError: the port is gone, or does not support one of the rates.
    """
    own_rate = bus.baud
    if rates is None:
        rates = (own_rate, *(rate for rate in baud_rates().values() if rate != own_rate))
    joints = joints_of(robot) if robot else bus.joints
    servos: list[FoundServo] = []
    try:
        for n_rates, rate in enumerate(rates):
            bus.set_baud(rate)
            servos_at_rate: list[FoundServo] = []
            for n_ids, servo in enumerate(ids):
                if on_progress:
                    n_done = n_rates * len(ids) + n_ids
                    on_progress(n_done, len(rates) * len(ids), f"ID {servo} at {rate}")
                is_expected = servo in joints or len(ids) <= MAX_EXPECTED
                max_pings = bus.retries + 1 if is_expected else 1
                answering_servo = _probe(bus, servo, max_pings=max_pings)
                if answering_servo is not None:
                    servos_at_rate.append(replace(answering_servo, joint=joints.get(servo)))
            servos += [_add_remarks(servo, servos_at_rate, own_rate) for servo in servos_at_rate]
    finally:
        bus.set_baud(own_rate)
    answering_ids = {servo.id for servo in servos}
    missing = {servo: joint for servo, joint in joints.items() if servo in ids and servo not in answering_ids}
    if robot is not None:
        servos = _suggest_missing_id(servos, missing, robot, own_rate)
    return BusScan(tuple(servos), missing, tuple(rates))


def _suggest_missing_id(
    servos: list[FoundServo], missing: Mapping[int, str], robot: Robot, own_rate: int
) -> list[FoundServo]:
    """Add the command that sets the ID to the remark of a servo that may be the missing one.

    That is so if exactly one servo of no joint answers, exactly one joint's servo is missing, and the models
    are the same; otherwise the servos are returned unchanged.

    Args:
        servos: the servos that answer.
        missing: joints whose servo does not answer, by the ID it should have.
        robot: the robot whose servos are expected.
        own_rate: the rate of the bus [bits per second].
    """
    unassigned = [servo for servo in servos if servo.joint is None]
    if len(unassigned) != 1 or len(missing) != 1:
        return servos
    (candidate,) = unassigned
    ((servo_id, joint),) = missing.items()
    if candidate.device != robot.servo(joint).model:
        return servos
    rate = "" if candidate.baud == own_rate else f" --baud {candidate.baud}"
    command = f"posewright bus set-id {candidate.id} {servo_id}{rate}"
    remark = f"{candidate.remark}; if it is that of {joint}: `{command}`"
    return [replace(servo, remark=remark) if servo is candidate else servo for servo in servos]


def _probe_once(bus: Bus, read_packet: bytes) -> StatusPacket | NoAnswer:
    """Return the answer to a read; wait once more, and longer, for one that did not come or not whole."""
    answer = bus.exchange(read_packet, PROBE_BYTES)
    is_late = answer in {NoAnswer.TIMEOUT, NoAnswer.CUT_OFF}
    return bus.exchange(read_packet, PROBE_BYTES, LATE_ATTEMPT) if is_late else answer


def _probe(bus: Bus, servo: int, *, max_pings: int) -> FoundServo | None:
    """Return the servo that answers to an ID at the present rate; None if none does.

    A servo that answers a ping is read several times: if two servos have the ID, their answers collide.
    """
    ping = InstructionPacket(servo, Instruction.PING).encode()
    for attempt in range(max_pings):
        answer = bus.exchange(ping, 0, attempt)
        if answer not in {NoAnswer.TIMEOUT, NoAnswer.WRONG_ID}:
            break
    else:  # no ping was answered
        return None
    # After a retry, a second answer may be the late one to the first ping.
    answers_twice = attempt == 0 and isinstance(answer, StatusPacket) and bus.receives_second_answer()
    block = bytes((PROBE_ADDRESS, PROBE_BYTES))
    read_packet = InstructionPacket(servo, Instruction.READ, block).encode()
    probes = [_probe_once(bus, read_packet) for _ in range(PROBES)]
    is_silent = all(probe is NoAnswer.TIMEOUT for probe in probes)  # its status return level may be 0
    n_garbled = 0 if is_silent else sum(isinstance(probe, NoAnswer) for probe in probes)
    try:
        description: Ping | None = bus.ping(servo)
    except PortGoneError:
        raise
    except BodyError:  # it answered a moment ago
        description = None
    if description is None and is_silent:
        return None  # a stray answer, or an echo of our own ping
    if answers_twice:
        n_garbled = PROBES  # the answers of two servos garble each other
    result = FoundServo(servo, bus.baud, garbled=GarbledCount(n_garbled, PROBES))
    if answers_twice:
        result = replace(result, remark=TWO_SERVOS.format(servo))
    if description is None:
        return result
    return replace(
        result,
        device=description.device,
        firmware=description.firmware,
        reports=description.error.words,
    )


TWO_SERVOS = "two servos may have the ID {0}: unplug one of them, and give the other another ID"
GARBLED = "garbled answers: check cable, plugs and supply; or two servos have the ID {0}"


def _add_remarks(servo: FoundServo, servos: Sequence[FoundServo], own_rate: int) -> FoundServo:
    """Return a servo with remarks about garbled answers, its rate and its ID.

    Two servos with one ID garble only each other; a bad cable garbles all `servos` at this rate.
    """
    n_garbled, n_probes = servo.garbled
    n_garbled_of_others = [other.garbled.n_garbled for other in servos if other is not servo]
    remarks = [servo.remark] if servo.remark else []
    if n_garbled and not servo.remark:
        are_others_undamaged = bool(n_garbled_of_others) and not any(n_garbled_of_others)
        is_shared_id = are_others_undamaged and 2 * n_garbled >= n_probes
        remarks.append((TWO_SERVOS if is_shared_id else GARBLED).format(servo.id))
    if servo.baud != own_rate:
        command = f"posewright bus set-baud {servo.id} {own_rate} --baud {servo.baud}"
        remarks.append(f"its rate is {servo.baud}, not {own_rate}: `{command}`")
    if servo.joint is None:
        remarks.append("no joint of the robot has this ID")
    return replace(servo, remark="; ".join(remarks))


def set_id(bus: Bus, servo: int, new: int) -> Ping:
    """Give a servo another ID, and verify that it answers to it.

    Raises:
        InputError: another servo has that ID, or the EEPROM cannot be written now.
        BodyError: the servo does not answer, or rejects the ID.
    """
    bus.ping(servo)
    if new == servo:
        raise InputError(f"{bus.name(servo)} already has the ID {new}", hint="choose another ID")
    ping_new = InstructionPacket(require_id(new), Instruction.PING).encode()
    attempts = range(bus.retries + 1)
    if any(bus.exchange(ping_new, 0, attempt) is not NoAnswer.TIMEOUT for attempt in attempts):
        message = f"the ID {new} belongs to {bus.name(new)}"
        raise InputError(message, hint="two servos with one ID answer at once, and both answers are garbled")
    answer = _write_eeprom(bus, servo, name="id", value=new, ping=lambda: bus.ping(new))
    ping_old = InstructionPacket(servo, Instruction.PING).encode()
    if bus.exchange(ping_old, 0) is not NoAnswer.TIMEOUT:
        message = f"a servo has the ID {new} now, and another one still has {servo}"
        raise BodyError(message, hint="there were two of them: connect one at a time")
    return answer


def set_rate(bus: Bus, servo: int, rate: int) -> Ping:
    """Set the baud rate of a servo, and verify that it answers at it; the bus keeps its own rate.

    Raises:
        InputError: the manual does not list the rate, or the EEPROM cannot be written now.
        BodyError: the servo does not answer or rejects the rate, or the port does not support it.
    """
    own_rate = bus.baud
    value = baud_register_value(rate)
    bus.ping(servo)
    bus.set_baud(rate)  # if the port does not support the rate, the servo would be lost
    bus.set_baud(own_rate)

    def ping_at_new_rate() -> Ping:
        try:
            bus.set_baud(rate)
            return bus.ping(servo)
        finally:
            bus.set_baud(own_rate)

    return _write_eeprom(bus, servo, name="baud_rate", value=value, ping=ping_at_new_rate)


def _write_eeprom(bus: Bus, servo: int, name: str, value: int, ping: Callable[[], Ping]) -> Ping:
    """Write the ID or the rate of a servo, and return its answer to a ping afterwards.

    The answer to the write itself may have the old or the new setting, and is discarded.
    """
    register = control_table("AX-12A").register(name)
    bus.require_writable_eeprom(servo)
    parameters = bytes((register.address,)) + register.encode(value)
    packet = InstructionPacket(servo, Instruction.WRITE, parameters).encode()
    for retries_left in range(bus.retries, -1, -1):
        bus.send(packet)  # a servo that has accepted it already no longer receives it
        bus.drain()
        try:
            return ping()
        except BodyError as error:
            if not retries_left:
                message = f"{bus.name(servo)} does not answer with its {name} set to {value}"
                raise BodyError(message, hint="`posewright bus scan` lists the servos that answer") from error
    raise InputError(f"the number of retries is {bus.retries}", hint="retries are 0 or more")
