"""`posewright bus calibrate`, `teach` and `monitor`: work on the servos of a robot by hand."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from posewright import formats, robots
from posewright.bodies import TorquePolicy
from posewright.buses import dynamixel
from posewright.cli import console
from posewright.cli.bus_port import BAUD, Baud, Port, RobotName, open_port, servo_ids
from posewright.cli.options import YAML_ENDINGS, AsJson, add_verb, option, require_output_file
from posewright.display import Lines, Styled, Table, format_count, table
from posewright.documents import is_file
from posewright.errors import InputError, OutputError, PosewrightError, Where

if TYPE_CHECKING:
    from posewright.buses.dynamixel.bus import Bus
    from posewright.robots import Robot

CALIBRATION_SUFFIX = ".calibration.yaml"
MOTION_SUFFIX = ".motion.yaml"

LIVE_PERIOD_S = 0.25
"""Default time between two readings of `monitor` [s]."""

MIN_PATIENCE_S = 0.1
"""Time allowed for an answer [s]: work by hand is slow, so that a late answer does no harm."""

Force = Annotated[bool, option("--force", "Overwrite an existing file.")]
CalibrationPath = Annotated[
    Path | None, option("--calibration FILE", "How this robot differs from its card.")
]


def add_verbs(bus: typer.Typer) -> None:
    """Add the verbs to the group `bus`."""
    add_verb(
        bus,
        "calibrate",
        calibrate,
        python_equivalents=(
            "DirectionWizard measure_offsets read_calibration apply_calibration write_calibration"
        ),
    )
    add_verb(bus, "teach", teach, python_equivalents="Teacher")
    add_verb(bus, "monitor", monitor, python_equivalents="watch_bus")


def calibrate(
    port: Port = None,
    baud: Baud = BAUD,
    robot: RobotName = "robotis_bioloid",
    output: Annotated[
        Path | None,
        option("--output -o FILE", "The file to write or update; default ROBOT.calibration.yaml."),
    ] = None,
    joints: Annotated[
        str | None,
        option(
            "--directions LIST",
            "Check the direction of these limbs or joints, or `all`: each moves a little.",
        ),
    ] = None,
    pose: Annotated[
        str | None,
        option("--pose POSE", "Measure offsets in this pose; put the robot into it by hand first."),
    ] = None,
    answers: Annotated[
        str | None, option("--answers LIST", "Answers to the questions, instead of typing them: y,a,y,o.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Find out how a robot's servos differ from its card: directions, swapped IDs, centre positions.

    Hang the robot up first. Nothing moves before you answer yes; Ctrl-C switches all torque off. Answers are
    y (yes), n (no), a (it moved as described), o (the opposite way), - (nothing moved), or the name of the
    joint that moved instead.

    [bold]Examples[/]
      posewright bus calibrate --directions right_arm,left_arm
      posewright bus calibrate --pose stand -o my_bioloid.calibration.yaml
    """
    if joints is None and pose is None:
        raise InputError("nothing to calibrate", hint="use --directions all, --pose stand, or both")
    card = robots.robot(robot)
    path = output or Path(f"{card.name}{CALIBRATION_SUFFIX}")
    require_output_file(path, "a calibration", YAML_ENDINGS)
    name = path.name.removesuffix(CALIBRATION_SUFFIX)
    calibration = (
        dynamixel.read_calibration(path) if is_file(path) else dynamixel.Calibration(name, card.name)
    )
    target = None if pose is None else card.pose(pose)
    ask = _prepared_answers(answers.split(",")) if answers is not None else _ask_user
    with _open_bus(port, baud, card) as bus:
        if joints is not None:
            tested = _select_joints(card, joints.split(","))
            tested_calibration = dynamixel.DirectionWizard(bus, card, ask, bus.sleep).run(tested, name)
            calibration = _merge_directions(calibration, tested_calibration, tested)
        if target is not None and ask(_pose_question(str(pose))) == dynamixel.YES:
            without_offsets = dynamixel.Calibration(
                name, robot=card.name, offsets_ticks={}, reversed=calibration.reversed, ids=calibration.ids
            )
            card_without_offsets = dynamixel.apply_calibration(card, without_offsets)
            offsets = dynamixel.measure_offsets(bus, card_without_offsets, target)
            calibration = dynamixel.Calibration(
                name,
                robot=card.name,
                offsets_ticks=offsets,
                reversed=calibration.reversed,
                ids=calibration.ids,
            )
    dynamixel.apply_calibration(card, calibration)
    dynamixel.write_calibration(calibration, path)
    data = {
        "file": str(path),
        "offsets_ticks": dict(calibration.offsets_ticks),
        "reversed": list(calibration.reversed),
        "ids": dict(calibration.ids),
    }
    console.print_result(data, _calibration_lines(calibration, path), as_json=as_json)


def _merge_directions(
    previous: dynamixel.Calibration, tested: dynamixel.Calibration, tested_joints: Collection[str]
) -> dynamixel.Calibration:
    """Return a calibration with directions and IDs of the tested joints, and everything else as before."""
    still_reversed = [joint for joint in previous.reversed if joint not in tested_joints]
    other_ids = {joint: servo_id for joint, servo_id in previous.ids.items() if joint not in tested_joints}
    return replace(
        tested,
        offsets_ticks=previous.offsets_ticks,
        reversed=(*still_reversed, *tested.reversed),
        ids={**other_ids, **tested.ids},
    )


def _pose_question(pose: str) -> dynamixel.WizardQuestion:
    return dynamixel.WizardQuestion("", f"does the robot stand in {pose}?", (dynamixel.YES, dynamixel.NO))


def _calibration_lines(calibration: dynamixel.Calibration, path: Path) -> Lines:
    """Yield each difference from the card, and the path of the file."""
    for joint in calibration.reversed:
        yield f"{joint}: reversed"
    for joint, servo_id in calibration.ids.items():
        yield f"{joint}: ID {servo_id}"
    for joint, ticks in calibration.offsets_ticks.items():
        yield f"{joint}: {ticks:+d} ticks"
    is_empty = not (calibration.reversed or calibration.ids or calibration.offsets_ticks)
    yield f"{'no differences from the card ' if is_empty else ''}-> {path}"


def _answers_by_key() -> dict[str, str]:
    """Return the wizard's answers by the keys that stand for them; other answers are names of joints."""
    return {
        "y": dynamixel.YES,
        "n": dynamixel.NO,
        "a": dynamixel.ObservedDirection.AS_DESCRIBED.value,
        "o": dynamixel.ObservedDirection.OPPOSITE.value,
        "-": dynamixel.ObservedDirection.NOTHING.value,
    }


def _prepared_answers(answers: Iterable[str]) -> Callable[[dynamixel.WizardQuestion], str]:
    """Return a function that answers questions with the given answers, and prints both.

    The function raises an InputError if there are too few answers, or one does not fit its question.
    """
    remaining = iter(answers)

    def ask(question: dynamixel.WizardQuestion) -> str:
        _print_question(question)
        text = next(remaining, "")
        console.print_to_stderr(text)
        return _parse_answer(question, text)

    return ask


def _ask_user(question: dynamixel.WizardQuestion) -> str:
    """Return the answer that is typed; in a terminal, ask again after a wrong one.

    Raises:
        InputError: stdin has ended, or has a wrong answer and is not a terminal.
    """
    while True:
        _print_question(question)
        line = sys.stdin.readline()
        try:
            return _parse_answer(question, line)
        except InputError:
            if not line or not sys.stdin.isatty():
                raise


def _print_question(question: dynamixel.WizardQuestion) -> None:
    console.print_to_stderr(f"{question.text} [{_format_choices(question)}] ", end="")


def _format_choices(question: dynamixel.WizardQuestion) -> str:
    """Return the answers that a question accepts, as the keys to type: `y, n`."""
    answers_by_key = _answers_by_key()
    keys = [key for key, answer in answers_by_key.items() if answer in question.answers]
    takes_joints = any(answer not in answers_by_key.values() for answer in question.answers)
    return ", ".join(keys) + (", or the joint that moved" if takes_joints else "")


def _parse_answer(question: dynamixel.WizardQuestion, text: str) -> str:
    """Return the answer that a key or the name of a joint stands for.

    Raises:
        InputError: the text is empty, or is not an answer to this question.
    """
    if not text:
        raise InputError("an answer is missing", hint="the answers ended before the questions")
    stripped = text.strip()
    answer = _answers_by_key().get(stripped, stripped)
    if answer not in question.answers:
        raise InputError(f"{stripped!r} is not an answer", hint=_format_choices(question))
    return answer


def _select_joints(card: Robot, names: Iterable[str]) -> list[str]:
    """Return the joints of limbs and single joints, each once and in the card's order."""
    selected: set[str] = set()
    for name in names:
        if name == dynamixel.ALL:
            selected.update(card.joint_names)
        elif card.groups.get(name):
            selected.update(card.groups[name])
        else:
            selected.add(card.joint(name).name)
    return [joint for joint in card.joint_names if joint in selected]


KEY_HELP = (
    "1-9 release a limb, or hold it if it is free; h hold all, c catch, u undo, w write and quit, q quit"
)
COMMANDS_BY_KEY = {
    "c": "catch",
    " ": "catch",
    "\r": "catch",
    "u": "undo",
    "w": "write",
    "q": "quit",
    "h": "hold all",
}
COMMAND_HELP = "release LIMB, hold LIMB, catch [NAME [SECONDS]], undo, write, quit"


def teach(
    output: Annotated[Path, option("--output -o FILE", "The motion to write: NAME.motion.yaml.")],
    port: Port = None,
    baud: Baud = BAUD,
    robot: RobotName = "robotis_bioloid",
    calibration: CalibrationPath = None,
    seconds: Annotated[
        float | None,
        option("--seconds S", "Time from pose to pose; default the real time between two catches.", min=0.05),
    ] = None,
    keys: Annotated[str | None, option("--keys TEXT", "Keys to press, instead of typing them: 1ccw.")] = None,
    keep: Annotated[
        bool, option("--keep-torque", "Leave the torque of all servos as it is at the end.")
    ] = False,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Record a motion by hand: release a limb, put it into a pose, catch the pose with a key.

    Limbs are held or released only when you say so; free limbs are listed. In a terminal you press keys: 1-9
    releases a limb, or holds it if it is free, h holds all limbs where they are, c catches a pose, u removes
    the last one, w writes the motion and quits, q quits without writing.

    If stdin is not a terminal, it contains lines: release LIMB, hold LIMB (or all), catch [NAME [SECONDS]],
    undo, write, quit.

    A released limb falls, so support it. At the end, all torque is switched off.

    [bold]Examples[/]
      posewright bus teach --port /dev/ttyUSB0 -o wave.motion.yaml
      posewright bus teach --port /dev/ttyUSB0 -o wave.motion.yaml --seconds 0.5 --keys h1cccw
    """
    name = _new_motion_name(output, force=force)
    card = _apply_calibration(robots.robot(robot), calibration)
    limbs_by_key = {str(key): limb for key, limb in enumerate(list(card.groups)[:9], 1)}
    unknown_keys = sorted(set(keys or "") - {*limbs_by_key, *COMMANDS_BY_KEY})
    if unknown_keys:
        raise InputError(f"unknown keys: {', '.join(map(repr, unknown_keys))}", hint=KEY_HELP)
    with _open_bus(port, baud, card) as bus, dynamixel.Teacher(bus, card, bus.now) as teacher:
        limbs = ", ".join(f"{key} {limb}" for key, limb in limbs_by_key.items())
        console.print_to_stderr(f"limbs: {limbs}")
        console.print_to_stderr(KEY_HELP if keys is not None or sys.stdin.isatty() else COMMAND_HELP)
        console.print_to_stderr(_format_torque(teacher))

        def save() -> None:
            formats.write_motion(teacher.motion(name), output)

        is_written = _run_commands(teacher, _read_commands(keys, limbs_by_key), seconds, save)
        if keep:
            teacher.close(TorquePolicy.HOLD)
    poses = [
        {"name": pose.name, "reach_s": pose.reach_s, "warnings": list(pose.warnings)}
        for pose in teacher.captured_poses
    ]
    data = {"motion": name, "file": str(output) if is_written else None, "poses": poses}
    summary = f"{format_count(len(poses), 'pose')} -> {output}" if is_written else "nothing was written"
    console.print_result(data, [summary], as_json=as_json)


def _new_motion_name(output: Path, *, force: bool) -> str:
    """Return the name of the motion to write, after checking that it can be written.

    Raises:
        InputError: the file does not end in .motion.yaml.
        OutputError: the file cannot be written, or exists and is not to be overwritten.
    """
    require_output_file(output, "a motion", (MOTION_SUFFIX,))
    name = output.name.removesuffix(MOTION_SUFFIX)
    if not name:
        raise InputError(f"{output} has no name before its ending", hint=f"such as wave{MOTION_SUFFIX}")
    if is_file(output) and not force:
        raise OutputError("the file exists already", where=Where(output), hint="--force overwrites it")
    return name


def _run_commands(
    teacher: dynamixel.Teacher, commands: Iterator[list[str]], seconds: float | None, save: Callable[[], None]
) -> bool:
    """Run commands until one quits, and return whether the motion was written.

    The caught poses are also written if the commands end, the bus fails or Ctrl-C is pressed.

    Args:
        teacher: records the poses.
        commands: a verb with its arguments each.
        seconds: time into a pose that states none [s]; None for the time that has passed.
        save: writes the motion.
    """
    try:
        for verb, *arguments in commands:
            try:
                if verb == "quit" and not arguments:
                    return False
                if verb == "write" and not arguments:
                    save()
                    return True
                _run_command(teacher, verb, arguments, seconds)
            except dynamixel.PortGoneError:
                raise
            except PosewrightError as error:
                # a typing error, a full disk, a loose plug: the user tries again
                console.print_warning(str(error))
    except BaseException:
        if teacher.captured_poses:
            save()
            console.print_to_stderr(f"saved: {format_count(len(teacher.captured_poses), 'pose')}")
        raise
    save()
    return True


def _run_command(teacher: dynamixel.Teacher, verb: str, arguments: list[str], seconds: float | None) -> None:
    """Release, hold or toggle a limb, catch a pose or undo the last one.

    Raises:
        InputError: there is no such command, or an argument is wrong.
        BodyError: a servo does not answer.
    """
    match verb, arguments:
        case "release" | "hold" | "toggle", [limb]:
            try:
                is_free_toggle = verb == "toggle" and set(teacher.joints(limb)) <= set(teacher.free)
                if verb == "hold" or is_free_toggle:
                    teacher.hold(limb)
                else:
                    teacher.release(limb)
            finally:
                console.print_to_stderr(_format_torque(teacher))
        case "catch", [] | [_] | [_, _]:
            name = arguments[0] if arguments else ""
            reach_s = _parse_seconds(arguments[1]) if len(arguments) > 1 else seconds
            pose = teacher.catch(name, reach_s)
            console.print_to_stderr(f"{pose.name}: after {pose.reach_s:.2f} s")
            for warning in pose.warnings:
                console.print_warning(warning)
        case "undo", []:
            console.print_to_stderr(f"{teacher.undo().name} is removed")
        case _:
            command = " ".join([verb, *arguments])
            raise InputError(f"{command!r} is not a command", hint=COMMAND_HELP)


def _format_torque(teacher: dynamixel.Teacher) -> str:
    """Return which limbs are free and which are held, read from their servos: `free: arms; held: legs`."""
    free_joints = teacher.free
    held_joints = [joint for joint in teacher.joints(dynamixel.ALL) if joint not in free_joints]
    parts: list[str] = []
    if free_joints:
        parts.append(f"free: {', '.join(_combine_limbs(teacher, free_joints))}")
    if held_joints:
        parts.append(f"held: {', '.join(_combine_limbs(teacher, held_joints))}")
    return "; ".join(parts)


def _combine_limbs(teacher: dynamixel.Teacher, joints: Iterable[str]) -> Iterator[str]:
    """Yield the limbs whose joints are all among the given ones, then each joint of no such limb."""
    remaining = list(joints)
    for limb in (dynamixel.ALL, *teacher.robot.groups):
        limb_joints = teacher.joints(limb)
        if set(limb_joints) <= set(remaining):
            remaining = [joint for joint in remaining if joint not in limb_joints]
            yield limb
    yield from remaining


def _parse_seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{text!r} is not a number of seconds", hint="such as 0.5") from None


def _read_commands(keys: str | None, limbs_by_key: Mapping[str, str]) -> Iterator[list[str]]:
    """Yield the words of each command, read from `keys`, from keys pressed in a terminal, or from stdin."""
    if keys is None and not sys.stdin.isatty():
        yield from (line.split() for line in sys.stdin if line.strip())
        return
    for key in _read_keys() if keys is None else keys:
        if key in limbs_by_key:
            yield ["toggle", limbs_by_key[key]]
        elif key in COMMANDS_BY_KEY:
            yield COMMANDS_BY_KEY[key].split()
        else:
            console.print_to_stderr(KEY_HELP)


def _read_keys() -> Iterator[str]:
    """Yield each key that is pressed, until Ctrl-D."""
    with suppress(EOFError):
        yield from iter(typer.getchar, "")


def monitor(
    port: Port = None,
    baud: Baud = BAUD,
    robot: RobotName = "robotis_bioloid",
    calibration: CalibrationPath = None,
    seconds: Annotated[
        float | None,
        option("--seconds S", "Duration; default until Ctrl-C in a terminal, else one reading.", min=0.0),
    ] = None,
    period: Annotated[
        float, option("--period S", "Time between two readings, in seconds.", min=0.0)
    ] = LIVE_PERIOD_S,
    as_json: AsJson = False,
) -> None:
    """Show position, speed, load, voltage, temperature and errors of every servo; nothing moves.

    In a terminal the table is updated until Ctrl-C. Values beyond the limits of temperature, voltage and
    torque in a servo's control table are marked.

    [bold]Examples[/]
      posewright bus monitor
      posewright bus monitor --seconds 10 --json
    """
    card = _apply_calibration(robots.robot(robot), calibration)
    is_live = sys.stdout.isatty() and not as_json
    duration_s = seconds
    if duration_s is None:
        duration_s = math.inf if is_live else 0.0
    with _open_bus(port, baud, card) as bus:
        if is_live:
            _watch_live(bus, card, duration_s, period_s=period)
            return
        rounds = dynamixel.watch(bus, card, duration_s, now=bus.now, sleep=bus.sleep, period_s=period)
        counts = bus.counts.to_dict()
    elapsed_s = 0.0
    if len(rounds) > 1:
        first_sample, *_ = rounds[-1]
        elapsed_s = first_sample.time_s
    rate_hz = round((len(rounds) - 1) / elapsed_s, 2) if elapsed_s else None
    data = {
        "robot": card.name,
        "rate_hz": rate_hz,
        "rounds": [[dynamixel.sample_data(sample) for sample in samples] for samples in rounds],
        "counts": counts,
    }
    faults = format_count(counts["faults"], "missing or damaged answer")
    summary = f"{format_count(len(rounds), 'round')}, {faults}"
    console.print_result(data, [_sample_table(rounds[-1]), summary], as_json=as_json)


def _watch_live(bus: Bus, card: Robot, duration_s: float, period_s: float) -> None:
    """Update a table of all servos in the terminal until the time is over, or Ctrl-C."""
    from rich.live import Live

    with Live(console=console.stdout, auto_refresh=False, vertical_overflow="visible") as live:

        def show(samples: dynamixel.MonitoringRound) -> None:
            live.update(console.render_table(_sample_table(samples)), refresh=True)

        dynamixel.watch(
            bus,
            card,
            duration_s,
            now=bus.now,
            sleep=bus.sleep,
            period_s=period_s,
            on_round=show,
        )


_READING_COLUMNS = ("at [deg]", "[deg/s]", "load", "[V]", "[C]")


def _sample_table(samples: dynamixel.MonitoringRound) -> Table:
    """Return a table of all servos, with coloured warnings."""
    columns = ("joint", "ID", *_READING_COLUMNS, "warnings")
    rows = []
    for sample in samples:
        reading = dynamixel.sample_data(sample)["reading"]
        if reading is None:
            cells = ["-"] * len(_READING_COLUMNS)
        else:
            cells = [
                f"{reading['position_deg']:.1f}",
                f"{reading['speed_deg_s']:.0f}",
                f"{reading['load']:.0%}",
                f"{reading['voltage_v']:.1f}",
                str(reading["temperature_c"]),
            ]
        warnings = Styled("; ".join(sample.warnings), "red" if reading is None else "yellow")
        rows.append((sample.joint, sample.id, *cells, warnings))
    return table(columns, rows, text_columns=("joint", "warnings"))


def _open_bus(port: str | None, baud: int, card: Robot) -> Bus:
    """Open the bus of a robot for work by hand, with more time for answers.

    Raises:
        InputError: the robot has no servos on a bus, or the port is not named.
        BodyError: the port cannot be opened.
    """
    servo_ids("all", card)  # raises if the robot has no servos on a bus
    bus = open_port(port, baud, card)
    bus.answer_timeout_s = max(bus.answer_timeout_s, MIN_PATIENCE_S)
    return bus


def _apply_calibration(card: Robot, path: Path | None) -> Robot:
    return card if path is None else dynamixel.apply_calibration(card, dynamixel.read_calibration(path))
