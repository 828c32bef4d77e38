"""`posewright bus`: find, read, configure and diagnose the servos of a robot."""

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
from posewright.units import parse_whole_number

if TYPE_CHECKING:
    from posewright.buses.dynamixel.diagnosis import Diagnosis, Latency, ServoReport
    from posewright.buses.dynamixel.scanning import BusScan
    from posewright.robots import Robot

MS = 1000.0
"""Milliseconds per second."""

MIN_STEPS_FOR_ESTIMATE = 20
"""After so many steps the remaining time can be estimated."""


Ids = Annotated[str, argument("SERVOS", "IDs such as 5, 1-18 or 1,3,100, the name of a joint, or `all`.")]
ServoId = Annotated[str, argument("SERVO", "The ID of a servo, or the name of its joint.")]


def register(app: typer.Typer) -> None:
    """Add the command `bus` and its verbs."""
    group = add_group(app, "bus")
    add_verb(group, "scan", scan, python_equivalents="open_bus scan_bus")
    add_verb(group, "ping", ping, python_equivalents="open_bus")
    add_verb(group, "read", read, python_equivalents="open_bus")
    add_verb(group, "write", write, python_equivalents="open_bus")
    add_verb(group, "set-id", set_id, python_equivalents="set_servo_id")
    add_verb(group, "set-baud", set_baud, python_equivalents="set_servo_rate")
    add_verb(group, "diagnose", diagnose, python_equivalents="diagnose_bus")
    bus_teach.add_verbs(group)
    bus_fake.add_verbs(group)


def scan(
    port: Port = None,
    baud: Baud = BAUD,
    robot: RobotName = "robotis_bioloid",
    ids: Annotated[str | None, option("--ids IDS", "Scan only these IDs, such as 1-18,100.")] = None,
    rates: Annotated[
        str | None, option("--rates RATES", "Scan only at these rates, such as 1000000,57600.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Search for servos with every ID at every rate; exit with 1 if a servo is missing or has a problem.

    [bold]Examples[/]
      posewright bus scan --port /dev/ttyUSB0
      posewright bus scan --ids 1-18 --rates 1000000
      posewright bus scan --json
    """
    from posewright.buses.dynamixel import scanning

    card = robots.robot(robot)
    with open_port(port, baud, card) as bus, console.spinner("scanning", quiet=as_json) as set_spinner_text:
        bus_scan = scanning.scan(
            bus,
            card,
            ids=servo_ids(ids, card) if ids else scanning.EVERY_ID,
            rates=_parse_rates(rates) if rates else None,
            on_progress=_report_in_spinner(set_spinner_text),
        )
        counts = bus.counts.to_dict()
    console.print_result(bus_scan.to_dict() | {"counts": counts}, _scan_lines(bus_scan), as_json=as_json)
    has_problem = any(servo.remark or servo.reports for servo in bus_scan.servos)
    if bus_scan.missing or has_problem:
        raise typer.Exit(EXIT_FAILURE)


def ping(
    servos: Ids = "all",
    port: Port = None,
    baud: Baud = BAUD,
    robot: RobotName = "robotis_bioloid",
    as_json: AsJson = False,
) -> None:
    """Ping servos, and show their model and firmware; exit with 1 if one does not answer.

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
    console.print_result(data, [table(("ID", "joint", "", "firmware", "error"), rows)], as_json=as_json)
    if n_silent:
        raise typer.Exit(EXIT_FAILURE)


def read(
    servos: Ids,
    registers: Annotated[
        list[str] | None, argument("[REGISTER ...]", "Names of registers; default all.")
    ] = None,
    port: Port = None,
    baud: Baud = BAUD,
    robot: RobotName = "robotis_bioloid",
    as_json: AsJson = False,
) -> None:
    """Read registers of servos, by their names in the manual's control table.

    [bold]Examples[/]
      posewright bus read 5
      posewright bus read all present_voltage,present_temperature
      posewright bus read right_knee return_delay_time --json
    """
    card = robots.robot(robot)
    all_values: list[_RegisterValues] = []
    with open_port(port, baud, card) as bus:
        for servo in servo_ids(servos, card):
            control_table = bus.table(servo)
            names = ",".join(registers or control_table.registers).split(",")
            values = {name: bus.read(servo, control_table.register(name)) for name in names if name}
            all_values.append(
                _RegisterValues(servo, bus.joints.get(servo), control_table.device, registers=values)
            )
    console.print_result(
        [asdict(values) for values in all_values], [_register_table(all_values)], as_json=as_json
    )


def write(
    servos: Ids,
    register: Annotated[str, argument("REGISTER", "The name of a register, such as led.")],
    value: Annotated[int, argument("VALUE", "The new value.")],
    port: Port = None,
    baud: Baud = BAUD,
    robot: RobotName = "robotis_bioloid",
    as_json: AsJson = False,
) -> None:
    """Write a register of servos, and read it back.

    Registers in the EEPROM (limits, return_delay_time, ...) keep their value without power. They can only be
    written while the torque of the servo is off. If one servo cannot take the value, nothing is written.

    [bold]Examples[/]
      posewright bus write 5 led 1
      posewright bus write all torque_enable 0
      posewright bus write all return_delay_time 0 --port /dev/ttyUSB0
    """
    card = robots.robot(robot)
    data: list[dict[str, object]] = []
    lines: list[str] = []
    with open_port(port, baud, card) as bus:
        for servo, value_read in bus.write_all(servo_ids(servos, card), register, value).items():
            data.append({"id": servo, "register": register, "value": value_read})
            lines.append(f"servo {servo}: {register} is {value_read}")
    console.print_result(data, lines, as_json=as_json)


def set_id(
    servo: ServoId,
    new: Annotated[int, argument("NEW", "The new ID.", min=0, max=MAX_ID)],
    port: Port = None,
    baud: Baud = BAUD,
    robot: RobotName = "robotis_bioloid",
    as_json: AsJson = False,
) -> None:
    """Change the ID of a servo to one that is free, and verify it.

    [bold]Examples[/]
      posewright bus set-id 1 7
      posewright bus set-id 1 7 --port /dev/ttyUSB0 --baud 57600
    """
    from posewright.buses.dynamixel import scanning

    card = robots.robot(robot)
    with open_port(port, baud, card) as bus:
        old = _servo_id(servo, card)
        found_servo = scanning.set_id(bus, old, new)
    data = {"id": found_servo.id, "was": old, "device": found_servo.device}
    console.print_result(data, [f"servo {old} is now servo {found_servo.id}"], as_json=as_json)


def set_baud(
    servo: ServoId,
    rate: Annotated[
        int, argument("RATE", "The new rate, in bits per second: 1000000, 500000, ... 9600.", min=1)
    ],
    port: Port = None,
    baud: Baud = BAUD,
    robot: RobotName = "robotis_bioloid",
    as_json: AsJson = False,
) -> None:
    """Change the rate of a servo, and verify it; --baud is its present rate.

    [bold]Examples[/]
      posewright bus set-baud 5 1000000 --baud 57600
      posewright bus set-baud right_knee 1000000 --baud 500000 --json
    """
    from posewright.buses.dynamixel import scanning

    card = robots.robot(robot)
    with open_port(port, baud, card) as bus:
        found_servo = scanning.set_rate(bus, _servo_id(servo, card), rate)
    data = {"id": found_servo.id, "baud": rate, "was": baud, "device": found_servo.device}
    console.print_result(
        data, [f"the rate of servo {found_servo.id} is now {rate} bits per second"], as_json=as_json
    )


def diagnose(
    servos: Ids = "all",
    port: Port = None,
    baud: Baud = BAUD,
    robot: RobotName = "robotis_bioloid",
    timed: Annotated[int, option("--timed N", "The number of answers whose time is measured.", min=1)] = 200,
    as_json: AsJson = False,
) -> None:
    """Report what is wrong with a bus and what makes it slow; exit with 1 if there is something to do.

    The report covers other programs that have the port open, the latency of the USB adapter, the time of an
    answer compared with that of its bytes, and the settings of the servos, with differences from the robot's
    card.

    [bold]Examples[/]
      posewright bus diagnose --port /dev/ttyUSB0
      posewright bus diagnose 1-18 --timed 1000 --json
    """
    from posewright.buses.dynamixel import diagnosis

    card = robots.robot(robot)
    with open_port(port, baud, card) as bus, console.spinner("diagnosing", quiet=as_json) as set_spinner_text:
        report = diagnosis.diagnose(
            bus,
            card,
            now=bus.now,
            ids=servo_ids(servos, card),
            n=timed,
            on_progress=_report_in_spinner(set_spinner_text),
        )
    console.print_result(report.to_dict(), _diagnosis_lines(report), as_json=as_json)
    if _needs_action(report):
        raise typer.Exit(EXIT_FAILURE)


def _servo_id(text: str, robot: Robot) -> int:
    """Return the ID of the one servo that a text names.

    Raises:
        InputError: it names several servos, or none.
    """
    ids = servo_ids(text, robot)
    if len(ids) != 1:
        raise InputError(f"{text!r} names {len(ids)} servos", hint="name one servo")
    return ids[0]


def _parse_rates(text: str) -> list[int]:
    """Return the rates of a list such as `1000000,57600` [bits per second]."""
    rates: list[int] = []
    for part in text.split(","):
        rate = parse_whole_number(part.strip())
        if not rate:
            raise InputError(f"{text!r} is not a list of rates", hint="such as 1000000,57600")
        rates.append(rate)
    return rates


def _report_in_spinner(set_spinner_text: Callable[[str], None]) -> Callable[[int, int, str], None]:
    """Return a function that shows the progress of a scan or diagnosis, with the estimated time left.

    The function takes the number of finished steps, the number of all steps, and what the next step does.

    Args:
        set_spinner_text: sets the text beside a spinner.
    """
    start_s = time.monotonic()

    def on_progress(n_done: int, n_total: int, step: str) -> None:
        estimate = ""
        if n_done >= MIN_STEPS_FOR_ESTIMATE:
            remaining_s = (time.monotonic() - start_s) * (n_total - n_done) / n_done
            estimate = f", {remaining_s:.0f} s left"
        set_spinner_text(f"{100 * n_done // n_total:3d} %  {step}{estimate}")

    return on_progress


def _scan_lines(bus_scan: BusScan) -> Lines:
    """Yield a table of the servos that were found, a summary, and the missing servos."""
    columns = ("ID", "rate", "device", "firmware", "joint", "error", "remark")
    rows = [
        (
            servo.id,
            servo.baud,
            servo.device,
            servo.firmware or "",
            servo.joint or "",
            servo.reports,
            servo.remark,
        )
        for servo in bus_scan.servos
    ]
    if rows:
        yield table(columns, rows)
    n_servos = format_count(len(bus_scan.servos), "servo")
    n_rates = format_count(len(bus_scan.rates), "rate")
    yield f"{n_servos} found, {n_rates} tried"
    for servo_id, joint in bus_scan.missing.items():
        yield Styled(f"missing: servo {servo_id} ({joint})", "red")


@dataclass(frozen=True)
class _RegisterValues:
    """The values of the registers of a servo."""

    id: int
    joint: str | None
    device: str
    registers: Mapping[str, int]


def _register_table(all_values: Sequence[_RegisterValues]) -> Table:
    """Return the values of one servo as rows, or those of several servos as one row each."""
    if len(all_values) == 1:
        return table(("register", "value"), all_values[0].registers.items())
    names = list(dict.fromkeys(name for values in all_values for name in values.registers))
    rows = [
        (values.id, values.joint or "", *(values.registers.get(name, "") for name in names))
        for values in all_values
    ]
    return table(("ID", "joint", *names), rows)


def _diagnosis_lines(report: Diagnosis) -> Lines:
    """Yield the port, its latency, a table of the servos, and what to do."""
    timer_ms = report.latency_timer_ms
    yield f"{report.port} at {report.baud} bits per second"
    yield f"latency timer: {'unknown' if timer_ms is None else f'{timer_ms:g} ms'}"
    yield f"opened by: {', '.join(report.held_by) or 'no other program'}"
    yield table(_DIAGNOSIS_COLUMNS, map(_diagnosis_row, report.servos))
    if report.latency is not None:
        yield _format_latency(report.latency)
    for advice in report.advice:
        yield Styled(f"to do: {advice}", "yellow")
    if not _needs_action(report):
        yield "nothing to do"


def _needs_action(report: Diagnosis) -> bool:
    return bool(report.advice) or any(servo.differs for servo in report.servos)


_DIAGNOSIS_COLUMNS = (
    "ID",
    "joint",
    "device",
    "delay us",
    "level",
    "V",
    "C",
    "torque",
    "error",
    "differences",
)


def _diagnosis_row(servo: ServoReport) -> tuple[object, ...]:
    """Return the row of a servo: its settings, its state and its differences from the card.

    Of a servo that does not answer, only the first three columns are filled.
    """
    joint = servo.joint or ""
    if not servo.answers:
        filled_cells = (servo.id, joint, Styled("silent", "red"))
        n_empty = len(_DIAGNOSIS_COLUMNS) - len(filled_cells)
        return *filled_cells, *[""] * n_empty
    return (
        servo.id,
        joint,
        servo.device,
        f"{servo.return_delay_s * 1e6:.0f}",
        servo.status_return_level,
        f"{servo.voltage_v:.1f}",
        servo.temperature_c,
        "on" if servo.torque_on else "",
        servo.reports,
        "; ".join(servo.differs),
    )


def _format_latency(latency: Latency) -> str:
    times = (("median", latency.p50_s), ("99 %", latency.p99_s), ("worst", latency.worst_s))
    answers = ", ".join(f"{name} {time_s * MS:.3f} ms" for name, time_s in times)
    return f"{latency.n} positions: {answers}; bytes alone {latency.byte_s * MS:.3f} ms; {latency.lost} lost"
