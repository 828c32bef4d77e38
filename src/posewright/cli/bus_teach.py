"""`posewright bus calibrate`, `teach` and `monitor`: what a person does with a robot's servos by hand."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from posewright import formats, robots
from posewright.bodies import TorquePolicy
from posewright.buses import dynamixel
from posewright.cli import console
from posewright.cli.bus_port import BAUD, Baud, Port, RobotName, open_port, servo_ids
from posewright.cli.options import AsJson, add_verb, option
from posewright.display import Lines, Styled, Table, format_count, table
from posewright.documents import is_file, require_writable
from posewright.errors import InputError, OutputError, PosewrightError, Where

if TYPE_CHECKING:
    from posewright.buses.dynamixel.bus import Bus
    from posewright.robots import Robot

SUFFIX, MOTION = ".calibration.yaml", ".motion.yaml"
Force = Annotated[bool, option("--force", "Overwrite an existing file.")]
LIVE_PERIOD_S = 0.25
PATIENCE_S = 0.1
"""How long an answer may take at least [s]: nobody's hand is so fast that a late one is a lost one."""


Calibrated = Annotated[
    Path | None, option("--calibration FILE", "How this very robot differs from its card.")
]


def add_verbs(bus: typer.Typer) -> None:
    """Add the verbs to the group `bus`."""
    wizard = "DirectionWizard measure_offsets read_calibration apply_calibration write_calibration"
    add_verb(bus, "calibrate", calibrate, python_names=wizard)
    add_verb(bus, "teach", teach, python_names="Teacher")
    add_verb(bus, "monitor", monitor, python_names="watch_bus")


def calibrate(
    port: Port = None,
    baud: Baud = BAUD,
    robot: RobotName = "robotis_bioloid",
    output: Annotated[
        Path | None, option("--output -o FILE", "Write or revise this; default ROBOT.calibration.yaml.")
    ] = None,
    joints: Annotated[
        str | None,
        option("--directions LIST", "Limbs or joints that move a little one by one, or `all`: which way?"),
    ] = None,
    pose: Annotated[
        str | None, option("--pose POSE", "Measure offsets in this pose, into which you put the robot.")
    ] = None,
    answers: Annotated[
        str | None, option("--answers LIST", "Answers with commas instead of a person's: y,a,y,o.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Find out how this robot's servos sit otherwise than its card says: directions, swapped IDs, centres.

    Hang the robot up. Nothing moves before a yes; Ctrl-C takes all torque off. Answers are y and n; a (as
    described), o (the opposite), - (nothing moved), or the name of the joint that moved instead.

    [bold]Examples[/]
      posewright bus calibrate --directions right_arm,left_arm
      posewright bus calibrate --pose stand -o my_bioloid.calibration.yaml
    """
    if joints is None and pose is None:
        raise InputError("nothing to calibrate", hint="--directions all, --pose stand, or both")
    card = robots.robot(robot)
    path = output or Path(f"{card.name}{SUFFIX}")
    require_writable(path)
    name = path.name.removesuffix(SUFFIX)
    calibration = (
        dynamixel.read_calibration(path) if is_file(path) else dynamixel.Calibration(name, card.name)
    )
    target = None if pose is None else card.pose(pose)
    ask = _asker(answers)
    with _opened(port, baud, card) as bus:
        if joints is not None:
            tried = _joints(card, joints.split(","))
            seen = dynamixel.DirectionWizard(bus, card, ask, bus.sleep).run(tried, name)
            kept = tuple(joint for joint in calibration.reversed if joint not in tried)
            ids = {joint: number for joint, number in calibration.ids.items() if joint not in tried}
            changed = (*kept, *seen.reversed), {**ids, **seen.ids}
            calibration = dynamixel.Calibration(name, card.name, calibration.offsets_ticks, *changed)
        if (
            target is not None
            and ask(
                dynamixel.WizardQuestion(
                    "", f"does the robot stand in {pose}?", (dynamixel.YES, dynamixel.NO)
                )
            )
            == dynamixel.YES
        ):
            bare = dynamixel.Calibration(name, card.name, {}, calibration.reversed, calibration.ids)
            offsets = dynamixel.measure_offsets(bus, dynamixel.apply(card, bare), target)
            calibration = dynamixel.Calibration(
                name, card.name, offsets, calibration.reversed, calibration.ids
            )
    dynamixel.apply(card, calibration)
    dynamixel.write_calibration(calibration, path)
    data = {
        "file": str(path),
        "offsets_ticks": dict(calibration.offsets_ticks),
        "reversed": list(calibration.reversed),
        "ids": dict(calibration.ids),
    }
    console.print_result(data, _calibration_lines(calibration, path), as_json=as_json)


def _calibration_lines(calibration: dynamixel.Calibration, path: Path) -> Lines:
    for joint in calibration.reversed:
        yield f"{joint}: reversed"
    for joint, number in calibration.ids.items():
        yield f"{joint}: ID {number}"
    for joint, ticks in calibration.offsets_ticks.items():
        yield f"{joint}: {ticks:+d} ticks"
    is_empty = not (calibration.reversed or calibration.ids or calibration.offsets_ticks)
    yield f"{'as its card says ' if is_empty else ''}-> {path}"


def _asker(answers: str | None) -> Callable[[dynamixel.WizardQuestion], str]:
    """Return what asks: a list that was handed in, or a person, who is asked again until it is an answer."""
    prepared = None if answers is None else iter(answers.split(","))
    long_forms = {
        "y": dynamixel.YES,
        "n": dynamixel.NO,
        "a": dynamixel.ObservedDirection.AS_DESCRIBED.value,
        "o": dynamixel.ObservedDirection.OPPOSITE.value,
        "-": dynamixel.ObservedDirection.NOTHING.value,
    }

    def ask(question: dynamixel.WizardQuestion) -> str:
        short_forms = [short for short, long in long_forms.items() if long in question.answers]
        has_joints = any(answer not in long_forms.values() for answer in question.answers)
        choices = ", ".join(short_forms) + (", or the joint that moved" if has_joints else "")
        while True:
            console.print_to_stderr(f"{question.text} [{choices}] ", end="")
            typed = sys.stdin.readline() if prepared is None else next(prepared, "")
            if prepared is not None:
                console.print_to_stderr(typed)
            if not typed:
                raise InputError("there is no answer", hint="answers ended before the questions")
            answer = long_forms.get(typed.strip(), typed.strip())
            if answer in question.answers:
                return answer
            if prepared is not None or not sys.stdin.isatty():
                raise InputError(f"no answer: {typed.strip()!r}", hint=choices)

    return ask


def _joints(card: Robot, names: Iterable[str]) -> list[str]:
    """Return the joints of limbs, each once and in the card's order."""
    chosen: set[str] = set()
    for name in names:
        chosen.update(
            card.joint_names if name == dynamixel.ALL else card.groups.get(name) or (card.joint(name).name,)
        )
    return [joint for joint in card.joint_names if joint in chosen]


KEYS = (
    "1-9 let go of a limb, or hold it where it is free; h hold all, c catch, u undo, w write and end, q end"
)
NAMED_KEYS = {
    "c": "catch",
    " ": "catch",
    "\r": "catch",
    "u": "undo",
    "w": "write",
    "q": "quit",
    "h": "hold all",
}
LINES = "release LIMB, hold LIMB, catch [NAME [SECONDS]], undo, write, quit"


def teach(
    output: Annotated[Path, option("--output -o FILE", "The motion to write: NAME.motion.yaml.")],
    port: Port = None,
    baud: Baud = BAUD,
    robot: RobotName = "robotis_bioloid",
    calibration: Calibrated = None,
    seconds: Annotated[
        float | None, option("--seconds S", "Time from pose to pose; default the time that passed.", min=0.05)
    ] = None,
    keys: Annotated[str | None, option("--keys TEXT", "Keys instead of a person's, such as 1ccw.")] = None,
    keep: Annotated[bool, option("--keep-torque", "Leave the servos as they are at the end.")] = False,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Let go of limbs, put them into poses by hand, catch each pose with a key: a motion.

    Nothing is held or let go before you say so; what is free is told. In a terminal it takes single keys: 1-9
    lets go of a limb, or holds it where it is free, h holds all where they stand, c catches, u forgets the
    last, w writes and ends, q ends without. Elsewhere it reads lines: release LIMB, hold LIMB (or all), catch
    [NAME [SECONDS]], undo, write, quit. A limb that is let go falls: hold it. At the end all torque is off.

    [bold]Examples[/]
      posewright bus teach --port /dev/ttyUSB0 -o wave.motion.yaml
      posewright bus teach --port /dev/ttyUSB0 -o wave.motion.yaml --seconds 0.5 --keys h1cccw
    """
    name = _new_motion(output, force=force)
    card = _calibrated(robots.robot(robot), calibration)
    limbs = _limbs(card)
    if unknown := sorted(set(keys or "") - {*limbs, *NAMED_KEYS}):
        raise InputError(f"no key: {', '.join(map(repr, unknown))}", hint=KEYS)
    with _opened(port, baud, card) as bus, dynamixel.Teacher(bus, card, bus.now) as teacher:
        console.print_to_stderr("limbs: " + ", ".join(f"{key} {limb}" for key, limb in limbs.items()))
        console.print_to_stderr(KEYS if keys is not None or sys.stdin.isatty() else LINES)
        console.print_to_stderr(_freedom(teacher))

        def save() -> None:
            formats.write_motion(teacher.motion(name), output)

        is_written = _teach(teacher, _commands(keys, limbs), seconds, save)
        if keep:
            teacher.close(TorquePolicy.HOLD)
    poses = [
        {"name": one.name, "reach_s": one.reach_s, "warnings": list(one.warnings)} for one in teacher.caught
    ]
    data = {"motion": name, "file": str(output) if is_written else None, "poses": poses}
    told = f"{format_count(len(poses), 'pose')} -> {output}" if is_written else "nothing was written"
    console.print_result(data, [told], as_json=as_json)


def _new_motion(output: Path, *, force: bool) -> str:
    """Return the name of the motion that a file is to hold, or say before anybody moves why it cannot."""
    name = output.name.removesuffix(MOTION)
    if name in {"", output.name}:
        raise InputError(f"{output} is no motion file", hint=f"such as wave{MOTION}")
    require_writable(output)
    if is_file(output) and not force:
        raise OutputError("the file is there already", where=Where(output), hint="--force overwrites it")
    return name


def _teach(
    teacher: dynamixel.Teacher, commands: Iterator[list[str]], seconds: float | None, save: Callable[[], None]
) -> bool:
    """Do what is said until it ends; tell whether the motion was written.

    What was caught is written where the input ends, too, and where the bus fails or somebody stops it.
    """
    try:
        for verb, *words in commands:
            try:
                if verb == "quit" and not words:
                    return False
                if verb == "write" and not words:
                    save()
                    return True
                _do(teacher, verb, words, seconds)
            except dynamixel.PortGoneError:
                raise
            except PosewrightError as error:  # a slip of the finger, a full disk, a loose plug: ends nothing
                console.print_warning(str(error))
    except BaseException:
        if teacher.caught:
            save()
            console.print_to_stderr(f"kept: {format_count(len(teacher.caught), 'pose')}")
        raise
    save()
    return True


def _do(teacher: dynamixel.Teacher, verb: str, words: list[str], seconds: float | None) -> None:
    match verb, words:
        case "release" | "hold" | "toggle", [limb]:
            try:
                is_free = verb == "hold" or (
                    verb == "toggle" and set(teacher.joints(limb)) <= set(teacher.free)
                )
                (teacher.hold if is_free else teacher.release)(limb)
            finally:
                console.print_to_stderr(_freedom(teacher))
        case "catch", [] | [_] | [_, _]:
            after = _number(words[1]) if len(words) > 1 else seconds
            pose = teacher.catch(words[0] if words else "", after)
            console.print_to_stderr(f"{pose.name}: after {pose.reach_s:.2f} s")
            for warning in pose.warnings:
                console.print_warning(warning)
        case "undo", []:
            console.print_to_stderr(f"{teacher.undo().name} is forgotten")
        case _:
            raise InputError(f"{' '.join([verb, *words])!r} is not understood", hint=LINES)


def _freedom(teacher: dynamixel.Teacher) -> str:
    """Return which limbs are free and which are held, as their servos say."""
    free = teacher.free
    held = [joint for joint in teacher.joints(dynamixel.ALL) if joint not in free]
    told = {"free": free, "held": held}
    return "; ".join(f"{word}: {', '.join(_in_limbs(teacher, some))}" for word, some in told.items() if some)


def _in_limbs(teacher: dynamixel.Teacher, joints: Iterable[str]) -> Iterator[str]:
    """Yield the limbs that joints make up, and each joint that is left."""
    left = list(joints)
    for limb in (dynamixel.ALL, *teacher.robot.groups):
        own = teacher.joints(limb)
        if set(own) <= set(left):
            left = [joint for joint in left if joint not in own]
            yield limb
    yield from left


def _number(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise InputError(f"{word!r} is no number of seconds", hint="such as 0.5") from None


def _limbs(card: Robot) -> dict[str, str]:
    """Return up to nine groups by their key, the smaller first as the card has them."""
    return {str(key): name for key, name in enumerate(list(card.groups)[:9], 1)}


def _commands(keys: str | None, limbs: Mapping[str, str]) -> Iterator[list[str]]:
    """Yield what is typed: keys that are handed in or pressed, else lines."""
    if keys is None and not sys.stdin.isatty():
        yield from (line.split() for line in sys.stdin if line.strip())
        return
    for key in _pressed() if keys is None else keys:
        if key in limbs:
            yield ["toggle", limbs[key]]
        elif key in NAMED_KEYS:
            yield NAMED_KEYS[key].split()
        else:
            console.print_to_stderr(KEYS)


def _pressed() -> Iterator[str]:
    with suppress(EOFError):  # Ctrl-D
        yield from iter(typer.getchar, "")


def monitor(
    port: Port = None,
    baud: Baud = BAUD,
    robot: RobotName = "robotis_bioloid",
    calibration: Calibrated = None,
    seconds: Annotated[
        float | None,
        option("--seconds S", "How long; default until Ctrl-C in a terminal, else once.", min=0.0),
    ] = None,
    period: Annotated[float, option("--period S", "From one round to the next.", min=0.0)] = LIVE_PERIOD_S,
    as_json: AsJson = False,
) -> None:
    """Show position, speed, load, voltage, temperature and errors of every servo; nothing moves.

    In a terminal the table is drawn anew until Ctrl-C. What is beyond a servo's own limits, which are in its
    control table (temperature, voltage, torque), is marked.

    [bold]Examples[/]
      posewright bus monitor
      posewright bus monitor --seconds 10 --json
    """
    card = _calibrated(robots.robot(robot), calibration)
    is_live = sys.stdout.isatty() and not as_json
    lasting_s = seconds if seconds is not None else math.inf if is_live else 0.0
    with _opened(port, baud, card) as bus:
        if is_live:
            _watch_live(bus, card, lasting_s, period)
            return
        rounds = dynamixel.watch(bus, card, lasting_s, now=bus.now, sleep=bus.sleep, period_s=period)
        counts = bus.counts.to_dict()
    took_s = rounds[-1][0].time_s if len(rounds) > 1 else 0.0
    rate_hz = round((len(rounds) - 1) / took_s, 2) if took_s else None
    data = {
        "robot": card.name,
        "rate_hz": rate_hz,
        "rounds": [[dynamixel.sample_data(one) for one in samples] for samples in rounds],
        "counts": counts,
    }
    faults = format_count(counts["faults"], "missing or damaged answer")
    told = f"{format_count(len(rounds), 'round')}, {faults}"
    console.print_result(data, [servo_table(rounds[-1]), told], as_json=as_json)


def _watch_live(bus: Bus, card: Robot, lasting_s: float, period_s: float) -> None:
    from rich.live import Live

    with Live(console=console.stdout, auto_refresh=False, vertical_overflow="visible") as live:

        def show(samples: dynamixel.MonitoringRound) -> None:
            live.update(console.render_table(servo_table(samples)), refresh=True)

        dynamixel.watch(
            bus,
            card,
            lasting_s,
            now=bus.now,
            sleep=bus.sleep,
            period_s=period_s,
            on_round=show,
        )


def servo_table(samples: dynamixel.MonitoringRound) -> Table:
    """Return all servos as a table, what is wrong in colour."""
    columns = ("joint", "ID", "at [deg]", "[deg/s]", "load", "[V]", "[C]", "warnings")
    rows = []
    for one in samples:
        told = dynamixel.sample_data(one)["reading"]
        figures = ("-",) * 5 if told is None else (
            f"{told['position_deg']:.1f}", f"{told['speed_deg_s']:.0f}", f"{told['load']:.0%}",
            f"{told['voltage_v']:.1f}", str(told["temperature_c"]),
        )  # fmt: skip
        bad = Styled("; ".join(one.warnings), "red" if told is None else "yellow")
        rows.append((one.joint, one.id, *figures, bad))
    return table(columns, rows, text_columns=("joint", "warnings"))


def _opened(port: str | None, baud: int, card: Robot) -> Bus:
    servo_ids("all", card)  # or there is nothing to ask
    bus = open_port(port, baud, card)
    bus.patience_s = max(bus.patience_s, PATIENCE_S)
    return bus


def _calibrated(card: Robot, path: Path | None) -> Robot:
    return card if path is None else dynamixel.apply(card, dynamixel.read_calibration(path))
