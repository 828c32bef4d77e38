"""Who is on a bus: every ID at every rate, servos that share an ID, and giving them another ID or rate."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from posewright.buses.dynamixel.answers import NoAnswer, Ping, PortGoneError, StatusPacket
from posewright.buses.dynamixel.bus import Bus, checked, joints_of
from posewright.buses.dynamixel.control_table import (
    MAX_ID,
    Instruction,
    baud_rates,
    control_table,
    value_of,
)
from posewright.buses.dynamixel.packets import InstructionPacket
from posewright.documents.plain import PlainData
from posewright.errors import BodyError, InputError
from posewright.robots import Robot

EVERY_ID = range(MAX_ID + 1)

PROBES = 6
"""So often a servo is read to see whether another one talks into its answers."""

PROBED = (36, 8)
"""Address and bytes of what two servos hardly have in common: position, speed, load, voltage, temperature."""

OnProgress = Callable[[int, int, str], None]
"""Is told how much of how much is done, and in words what is being done."""


@dataclass(frozen=True, slots=True)
class Found:
    """A servo, or several, that answer to one ID at one rate.

    Attributes:
        device: what it is, such as AX-12A; `unknown` where nothing whole came.
        joint: which joint of the robot it moves by the card; None where it moves none.
        reports: what it says of itself: `overheating`, `overload`, ...
        garbled: how many of its answers were damaged, of how many.
        remark: what a person should know: that its rate is not the robot's, that two servos may have its ID.
    """

    id: int
    baud: int
    device: str = "unknown"
    firmware: int | None = None
    joint: str | None = None
    reports: str = ""
    garbled: tuple[int, int] = (0, 0)
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Scan:
    """What a scan found.

    Attributes:
        found: in the order of rates and IDs.
        missing: joints of the robot whose servo did not answer, by the ID it should have.
        rates: at which it was looked for [bits a second].
    """

    found: tuple[Found, ...]
    missing: dict[int, str] = field(default_factory=dict)
    rates: tuple[int, ...] = ()

    def to_dict(self) -> dict[str, PlainData]:
        """Return it as plain data."""
        return {
            "found": [asdict(one) for one in self.found],
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
) -> Scan:
    """Ask for every ID at every rate, and return who is there; the bus has its own rate again then.

    Args:
        bus: its own rate is that of the robot.
        robot: whose servos should be there; each of these is asked as often as the bus retries.
        ids: which are asked for.
        rates: which are tried [bits a second]; all that the manual lists where none are given.
        on_progress: is told how far it is.

    Raises:
        BodyError: the port is gone, or cannot do one of the rates.
    """
    own = bus.baud
    tried = (
        tuple(rates) if rates is not None else (own, *(one for one in baud_rates().values() if one != own))
    )
    joints = joints_of(robot) if robot else bus.joints
    found: list[Found] = []
    try:
        for place, rate in enumerate(tried):
            bus.set_baud(rate)
            here: list[Found] = []
            for n, servo in enumerate(ids):
                if on_progress:
                    on_progress(place * len(ids) + n, len(tried) * len(ids), f"ID {servo} at {rate}")
                if one := _look(bus, servo, tries=bus.retries + 1 if servo in joints else 1):
                    here.append(replace(one, joint=joints.get(servo)))
            found += [_remarked(one, here, own) for one in here]
    finally:
        bus.set_baud(own)
    there = {one.id for one in found}
    wanted = {servo: joint for servo, joint in joints.items() if servo in ids}
    missing = {servo: joint for servo, joint in wanted.items() if servo not in there}
    return Scan(tuple(_cured(found, missing, robot, own)), missing, tried)


def _cured(found: list[Found], missing: Mapping[int, str], robot: Robot | None, own: int) -> Iterator[Found]:
    """Yield what was found; where one stranger can only be the one servo that is missing, with its cure."""
    strangers = [one for one in found if one.joint is None]
    for one in found:
        if robot is None or [one] != strangers or len(missing) != 1:
            yield one
            continue
        ((servo, joint),) = missing.items()
        is_alike = one.device == robot.servo(joint).model
        rate = "" if one.baud == own else f" --baud {one.baud}"
        cure = f"; if it is that of {joint}: `posewright bus set-id {one.id} {servo}{rate}`"
        yield replace(one, remark=one.remark + cure) if is_alike else one


def _look(bus: Bus, servo: int, *, tries: int) -> Found | None:
    """Return what answers to an ID at the rate that is set."""
    ping = InstructionPacket(servo, Instruction.PING).encode()
    for _ in range(tries):
        answer = bus.exchange(ping, 0)
        if answer not in {NoAnswer.TIMEOUT, NoAnswer.WRONG_ID}:
            break
    else:
        return None
    answers_twice = isinstance(answer, StatusPacket) and bus.hears_another()
    read = InstructionPacket(servo, Instruction.READ, bytes(PROBED)).encode()
    probes = [bus.exchange(read, PROBED[1]) for _ in range(PROBES)]
    is_silent = all(one is NoAnswer.TIMEOUT for one in probes)  # its status return level may be 0
    garbled = 0 if is_silent else sum(isinstance(one, NoAnswer) for one in probes)
    try:
        told: Ping | None = bus.ping(servo)
    except PortGoneError:
        raise
    except BodyError:  # it was there a moment ago
        told = None
    if told is None and is_silent:
        return None  # a stray answer, or our own ping come back
    found = Found(servo, bus.baud, garbled=(PROBES if answers_twice else garbled, PROBES))
    if answers_twice:
        found = replace(found, remark=TWO_SERVOS.format(servo))
    if told is None:
        return found
    return replace(found, device=told.device, firmware=told.firmware, reports=told.error.words)


TWO_SERVOS = "perhaps two servos have ID {0}: unplug one, and give the other another ID"
GARBLED = "garbled answers: look at cable, plugs and supply; or two servos have ID {0}"


def _remarked(one: Found, here: Sequence[Found], own: int) -> Found:
    """Say what is wrong: two servos with one ID garble only each other, a bad cable garbles everybody."""
    bad, probes = one.garbled
    others = [other.garbled[0] for other in here if other is not one]
    remarks = [one.remark] if one.remark else []
    if bad and not one.remark:
        alone = others and not any(others) and 2 * bad >= probes
        remarks.append((TWO_SERVOS if alone else GARBLED).format(one.id))
    if one.baud != own:
        cure = f"posewright bus set-baud {one.id} {own} --baud {one.baud}"
        remarks.append(f"its rate is {one.baud}, not {own}: `{cure}`")
    if one.joint is None:
        remarks.append("no joint of the robot has this ID")
    return replace(one, remark="; ".join(remarks))


def set_id(bus: Bus, servo: int, new: int) -> Ping:
    """Give a servo another ID, and see that it has it.

    Raises:
        InputError: there is a servo of that ID already, or the EEPROM may not be written now.
        BodyError: it does not answer, or does not take it.
    """
    bus.ping(servo)
    if new == servo:
        raise InputError(f"{bus.name(servo)} has the ID {new} already", hint="another one")
    packet = InstructionPacket(checked(new), Instruction.PING).encode()
    if any(bus.exchange(packet, 0) is not NoAnswer.TIMEOUT for _ in range(bus.retries + 1)):
        what = f"the ID {new} is taken by {bus.name(new)}"
        raise InputError(what, hint="two servos with one ID talk at once, and nobody understands them")
    found = _write_eeprom(bus, servo, "id", new, lambda: bus.ping(new))
    packet = InstructionPacket(servo, Instruction.PING).encode()
    if bus.exchange(packet, 0) is not NoAnswer.TIMEOUT:
        what = f"a servo has the ID {new} now, and one still has {servo}"
        raise BodyError(what, hint="there were two of them: connect one at a time")
    return found


def set_rate(bus: Bus, servo: int, rate: int) -> Ping:
    """Let a servo talk at another rate, and see that it does; the bus itself keeps its own.

    Raises:
        InputError: the manual does not list that rate, or the EEPROM may not be written now.
        BodyError: the servo does not answer, does not take it, or the port cannot do that rate.
    """
    own = bus.baud
    value = value_of(rate)
    bus.ping(servo)
    bus.set_baud(rate)  # where the port cannot, the servo would be lost
    bus.set_baud(own)

    def ping_there() -> Ping:
        try:
            bus.set_baud(rate)
            return bus.ping(servo)
        finally:
            bus.set_baud(own)

    return _write_eeprom(bus, servo, "baud_rate", value, ping_there)


def _write_eeprom(bus: Bus, servo: int, name: str, value: int, ping: Callable[[], Ping]) -> Ping:
    """Write what changes how a servo is reached, and return how it answers then.

    What it answers to the write itself may come either way, and is not waited for.
    """
    register = control_table("AX-12A").register(name)
    bus.check_eeprom(servo)
    parameters = bytes((register.address,)) + register.encode(value)
    packet = InstructionPacket(servo, Instruction.WRITE, parameters).encode()
    for left in range(bus.retries, -1, -1):
        bus.send(packet)  # nobody hears it again who took it before
        bus.drain()
        try:
            return ping()
        except BodyError as error:
            if not left:
                what = f"{bus.name(servo)} does not answer with its {name} set to {value}"
                raise BodyError(what, hint="see who is there: `posewright bus scan`") from error
    raise InputError("no tries at all", hint="retries are 0 or more")
