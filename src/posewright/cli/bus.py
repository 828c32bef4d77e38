"""`posewright bus`: the servos of a robot, one by one: who is there, what they hold, what is wrong."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from posewright import robots
from posewright.cli import bus_fake, bus_teach, console
from posewright.cli.bus_port import BAUD, MAX_ID, Baud, Port, RobotName, open_port, servo_ids
from posewright.cli.options import EXIT_FAILURE, AsJson, add_group, add_verb, argument, option
from posewright.display import Lines, Styled, Table, format_count, table
from posewright.errors import InputError

if TYPE_CHECKING:
    from posewright.buses.dynamixel.diagnosis import Diagnosis, Latency, ServoReport
    from posewright.buses.dynamixel.scanning import BusScan
    from posewright.robots import Robot

MS = 1000.0
ENOUGH_DONE = 20
"""After so many steps one can say how long the rest takes."""


Ids = Annotated[
    str, argument("SERVOS", "IDs such as 5, 1-18 or 1,3,100; a joint's name; or `all` of the robot.")
]
OneId = Annotated[str, argument("SERVO", "An ID, or a joint's name.")]


def register(app: typer.Typer) -> None:
    """Add the group and its verbs."""
    group = add_group(app, "bus")
    add_verb(group, "scan", scan, python_names="open_bus scan_bus")
    add_verb(group, "ping", ping, python_names="open_bus")
    add_verb(group, "read", read, python_names="open_bus")
    add_verb(group, "write", write, python_names="open_bus")
    add_verb(group, "set-id", set_id, python_names="set_servo_id")
    add_verb(group, "set-baud", set_baud, python_names="set_servo_rate")
    add_verb(group, "diagnose", diagnose, python_names="diagnose_bus")
    bus_teach.add_verbs(group)
    bus_fake.add_verbs(group)


def scan(
    port: Port = None,
    baud: Baud = BAUD,
    robot: RobotName = "robotis_bioloid",
    ids: Annotated[str | None, option("--ids", "Only these, such as 1-18,100.")] = None,
    rates: Annotated[str | None, option("--rates", "Only these rates, such as 1000000,57600.")] = None,
    as_json: AsJson = False,
) -> None:
    """Look for servos: every ID at every rate; exit with 1 if a servo is missing, or not as it should be.

    [bold]Examples[/]
      posewright bus scan --port /dev/ttyUSB0
      posewright bus scan --ids 1-18 --rates 1000000
      posewright bus scan --json
    """
    from posewright.buses.dynamixel import scanning

    card = robots.robot(robot)
    with open_port(port, baud, card) as bus, console.spinner("looking for servos", quiet=as_json) as say:
        found = scanning.scan(
            bus,
            card,
            ids=servo_ids(ids, card) if ids else scanning.EVERY_ID,
            rates=_rates(rates) if rates else None,
            on_progress=_teller(say),
        )
        counts = bus.counts.to_dict()
    console.print_result(found.to_dict() | {"counts": counts}, _scan_lines(found), as_json=as_json)
    if found.missing or any(one.remark or one.reports for one in found.servos):
        raise typer.Exit(EXIT_FAILURE)


def ping(
    servos: Ids = "all",
    port: Port = None,
    baud: Baud = BAUD,
    robot: RobotName = "robotis_bioloid",
    as_json: AsJson = False,
) -> None:
    """Ask servos whether they are there, and what they are; exit with 1 if one is silent.

    [bold]Examples[/]
      posewright bus ping
      posewright bus ping 5 --port /dev/ttyUSB0
      posewright bus ping right_knee --json
    """
    from posewright.buses.dynamixel.answers import PortGoneError
    from posewright.errors import BodyError

    card = robots.robot(robot)
    data: list[dict[str, object]] = []
    rows: list[tuple[object, ...]] = []
    n_silent = 0
    with open_port(port, baud, card) as bus:
        for servo in servo_ids(servos, card):
            joint = bus.joints.get(servo)
            try:
                answer = bus.ping(servo)
            except PortGoneError:
                raise
            except BodyError as error:
                n_silent += 1
                data.append({"id": servo, "joint": joint, "answers": False, "why": error.message})
                rows.append((servo, joint or "", Styled("silent", "red"), "", error.message))
                continue
            data.append(
                {
                    "id": servo,
                    "joint": joint,
                    "answers": True,
                    "device": answer.device,
                    "firmware": answer.firmware,
                    "reports": answer.error.words,
                }
            )
            firmware = "" if answer.firmware is None else answer.firmware
            rows.append((servo, joint or "", answer.device, firmware, answer.error.words))
    console.print_result(data, [table(("ID", "joint", "", "firmware", "says"), rows)], as_json=as_json)
    if n_silent:
        raise typer.Exit(EXIT_FAILURE)


def read(
    servos: Ids,
    registers: Annotated[
        list[str] | None, argument("[REGISTER ...]", "Registers; all where none is named.")
    ] = None,
    port: Port = None,
    baud: Baud = BAUD,
    robot: RobotName = "robotis_bioloid",
    as_json: AsJson = False,
) -> None:
    """Read registers of servos by the names of the manual's control table.

    [bold]Examples[/]
      posewright bus read 5
      posewright bus read all present_voltage,present_temperature
      posewright bus read right_knee return_delay_time --json
    """
    card = robots.robot(robot)
    readings: list[_Registers] = []
    with open_port(port, baud, card) as bus:
        for servo in servo_ids(servos, card):
            control_table = bus.table(servo)
            names = [
                name for word in registers or control_table.registers for name in word.split(",") if name
            ]
            values = {name: bus.read(servo, control_table.register(name)) for name in names}
            readings.append(_Registers(servo, bus.joints.get(servo), control_table.device, values))
    console.print_result(
        [asdict(reading) for reading in readings], [_register_table(readings)], as_json=as_json
    )


def write(
    servos: Ids,
    register: Annotated[str, argument("REGISTER", "A register's name, such as led.")],
    value: Annotated[int, argument("VALUE", "What it is to hold.")],
    port: Port = None,
    baud: Baud = BAUD,
    robot: RobotName = "robotis_bioloid",
    as_json: AsJson = False,
) -> None:
    """Write a register of servos, and read it back.

    What is in the EEPROM (limits, return_delay_time, ...) stays there without power. It is only written while
    the servo's torque is off.

    [bold]Examples[/]
      posewright bus write 5 led 1
      posewright bus write all torque_enable 0
      posewright bus write all return_delay_time 0 --port /dev/ttyUSB0
    """
    card = robots.robot(robot)
    data: list[dict[str, object]] = []
    lines: list[str] = []
    with open_port(port, baud, card) as bus:
        for servo in servo_ids(servos, card):
            place = bus.table(servo).register(register)
            bus.write(servo, place, value)
            read_back = bus.read(servo, place)
            data.append({"id": servo, "register": register, "value": read_back})
            lines.append(f"servo {servo}: {register} is {read_back}")
    console.print_result(data, lines, as_json=as_json)


def set_id(
    servo: OneId,
    new: Annotated[int, argument("NEW", "The ID it gets.", min=0, max=MAX_ID)],
    port: Port = None,
    baud: Baud = BAUD,
    robot: RobotName = "robotis_bioloid",
    as_json: AsJson = False,
) -> None:
    """Give a servo another ID, which no other has, and see that it has it.

    [bold]Examples[/]
      posewright bus set-id 1 7
      posewright bus set-id 1 7 --port /dev/ttyUSB0 --baud 57600
    """
    from posewright.buses.dynamixel import scanning

    card = robots.robot(robot)
    with open_port(port, baud, card) as bus:
        old = _one_id(servo, card)
        found = scanning.set_id(bus, old, new)
    told = {"id": found.id, "was": old, "device": found.device}
    console.print_result(told, [f"servo {old} is {found.id} now"], as_json=as_json)


def set_baud(
    servo: OneId,
    rate: Annotated[int, argument("RATE", "Bits a second: 1000000, 500000, ... 9600.", min=1)],
    port: Port = None,
    baud: Baud = BAUD,
    robot: RobotName = "robotis_bioloid",
    as_json: AsJson = False,
) -> None:
    """Let a servo talk at another rate, and see that it does; --baud is its rate so far.

    [bold]Examples[/]
      posewright bus set-baud 5 1000000 --baud 57600
      posewright bus set-baud right_knee 1000000 --baud 500000 --json
    """
    from posewright.buses.dynamixel import scanning

    card = robots.robot(robot)
    with open_port(port, baud, card) as bus:
        found = scanning.set_rate(bus, _one_id(servo, card), rate)
    told = {"id": found.id, "baud": rate, "was": baud, "device": found.device}
    console.print_result(told, [f"servo {found.id} talks at {rate} bits a second now"], as_json=as_json)


def diagnose(
    servos: Ids = "all",
    port: Port = None,
    baud: Baud = BAUD,
    robot: RobotName = "robotis_bioloid",
    timed: Annotated[int, option("--timed", "So many answers are timed.", min=1)] = 200,
    as_json: AsJson = False,
) -> None:
    """Find out what is wrong with a bus, and what makes it slow; exit with 1 if there is something to do.

    Who else holds the port, the adapter's latency, the time of an answer beside that of its bytes, how servos
    are set and what of it is not as the robot's card says.

    [bold]Examples[/]
      posewright bus diagnose --port /dev/ttyUSB0
      posewright bus diagnose 1-18 --timed 1000 --json
    """
    from posewright.buses.dynamixel import diagnosis

    card = robots.robot(robot)
    with open_port(port, baud, card) as bus, console.spinner("asking the servos", quiet=as_json) as say:
        found = diagnosis.diagnose(
            bus,
            card,
            now=bus.now,
            ids=servo_ids(servos, card),
            n=timed,
            on_progress=_teller(say),
        )
    console.print_result(found.to_dict(), _diagnosis_lines(found), as_json=as_json)
    if found.advice or any(one.differs for one in found.servos):
        raise typer.Exit(EXIT_FAILURE)


def _one_id(text: str, robot: Robot) -> int:
    found = servo_ids(text, robot)
    if len(found) != 1:
        raise InputError(f"{text!r} names {len(found)} servos", hint="one at a time")
    return found[0]


def _rates(text: str) -> list[int]:
    words = [word.strip() for word in text.split(",")]
    if not all(word.isdecimal() and int(word) for word in words):
        raise InputError(f"{text!r} names no rates", hint="such as 1000000,57600")
    return [int(word) for word in words]


def _teller(say: Callable[[str], None]) -> Callable[[int, int, str], None]:
    began_s = time.monotonic()

    def tell(done: int, total: int, what: str) -> None:
        left_s = (time.monotonic() - began_s) * (total - done) / max(done, 1)
        left = f", {left_s:.0f} s left" if done >= ENOUGH_DONE else ""
        say(f"{100 * done // total:3d} %  {what}{left}")

    return tell


def _scan_lines(found: BusScan) -> Lines:
    columns = ("ID", "rate", "device", "firmware", "joint", "says", "remark")
    rows = (
        (one.id, one.baud, one.device, one.firmware or "", one.joint or "", one.reports, one.remark)
        for one in found.servos
    )
    if found.servos:
        yield table(columns, rows)
    n_rates = format_count(len(found.rates), "rate")
    yield f"{format_count(len(found.servos), 'servo')} found, {n_rates} tried"
    for servo, joint in found.missing.items():
        yield Styled(f"missing: servo {servo} ({joint})", "red")


@dataclass(frozen=True)
class _Registers:
    """What the registers of a servo hold."""

    id: int
    joint: str | None
    device: str
    registers: Mapping[str, int]


def _register_table(readings: Sequence[_Registers]) -> Table:
    if len(readings) == 1:
        return table(("register", "value"), readings[0].registers.items())
    names = list(dict.fromkeys(name for reading in readings for name in reading.registers))
    rows = (
        (reading.id, reading.joint or "", *(reading.registers.get(name, "") for name in names))
        for reading in readings
    )
    return table(("ID", "joint", *names), rows)


def _diagnosis_lines(found: Diagnosis) -> Lines:
    timer = found.latency_timer_ms
    yield f"{found.port} at {found.baud} bits a second"
    yield f"latency timer: {'not told' if timer is None else f'{timer:g} ms'}"
    yield f"held by: {', '.join(found.held_by) or 'nobody else'}"
    columns = (
        "ID",
        "joint",
        "device",
        "delay us",
        "level",
        "V",
        "C",
        "torque",
        "says",
        "not as it should be",
    )
    yield table(columns, map(_diagnosed, found.servos))
    if found.latency is not None:
        yield _latency_line(found.latency)
    for advice in found.advice:
        yield Styled(f"to do: {advice}", "yellow")
    if not found.advice and not any(one.differs for one in found.servos):
        yield "nothing to do"


def _diagnosed(one: ServoReport) -> tuple[object, ...]:
    name = (one.id, one.joint or "")
    if not one.answers:
        return *name, Styled("silent", "red"), *[""] * 7
    set_so = (f"{one.return_delay_s * 1e6:.0f}", one.status_return_level)
    feels = (f"{one.voltage_v:.1f}", one.temperature_c, "on" if one.torque_on else "", one.reports)
    return *name, one.device, *set_so, *feels, "; ".join(one.differs)


def _latency_line(latency: Latency) -> str:
    times = (("median", latency.p50_s), ("99 %", latency.p99_s), ("worst", latency.worst_s))
    told = ", ".join(f"{name} {value * MS:.3f} ms" for name, value in times)
    return f"{latency.n} positions: {told}; bytes alone {latency.byte_s * MS:.3f} ms; {latency.lost} lost"
