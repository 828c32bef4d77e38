"""`posewright bus calibrate`, `teach` and `monitor`: by keys, lines and answers, on a fake bus."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from posewright.bodies import BodySpec, MockBody
from posewright.buses.dynamixel.calibration import (
    Calibration,
    apply_calibration,
    read_calibration,
    write_calibration,
)
from posewright.buses.dynamixel.fake.bus import FakeBus
from posewright.buses.dynamixel.torque import servo_ids
from posewright.cli import app, bus_teach, console
from posewright.errors import OutputError
from posewright.formats import read_motion
from posewright.robots import robot
from posewright.runs.plants import make_plant

from ..buses.wired import FakeSerial, plug_in

BIOLOID = robot("robotis_bioloid")
STAND = BIOLOID.pose("stand")
BUILT = Calibration("mine", BIOLOID.name, {"right_knee": -4}, reversed=("left_elbow",))

RunVerb = Callable[..., tuple[int, str, str]]


@pytest.fixture
def line(monkeypatch: pytest.MonkeyPatch) -> FakeSerial:
    card = apply_calibration(BIOLOID, BUILT)
    return plug_in(FakeBus.of(card, MockBody(card, positions=STAND)), monkeypatch)


@pytest.fixture
def run_verb(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, line: FakeSerial
) -> RunVerb:
    """Give a function that runs a verb on the fake bus: exit code, stdout and stderr."""

    def run(*arguments: object, typed: str = "") -> tuple[int, str, str]:
        capsys.readouterr()
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        code = app.run(["bus", *map(str, arguments), "--port", line.name])
        return code, *capsys.readouterr()

    return run


def torque(line: FakeSerial) -> set[int]:
    """Return which torques there are once the last packet has arrived, for which nobody waits."""
    line.sleep(0.1)
    return {servo.peek("torque_enable") for servo in line.fake.joints.values()}


def test_calibrating_writes_what_was_answered_and_measured(run_verb: RunVerb, tmp_path: Path) -> None:
    path = tmp_path / "mine.calibration.yaml"
    code, out, err = run_verb(
        "calibrate", "-o", path, "--directions", "left_elbow,right_elbow", "--answers", "y,a,y,o"
    )
    assert (code, read_calibration(path)) == (0, Calibration("mine", BIOLOID.name, {}, ("left_elbow",)))
    assert "left_elbow: reversed" in out
    assert "may left_elbow (ID 6) move by 5 degrees and back? [y, n] y" in err
    code, out, _ = run_verb("calibrate", "-o", path, "--pose", "stand", "--json", typed="y\n")
    assert code == 0
    result = json.loads(out)
    assert result["offsets_ticks"]["right_knee"] == -4
    assert all(abs(ticks) <= 4 for ticks in result["offsets_ticks"].values())  # the elbows that moved
    assert read_calibration(path).reversed == ("left_elbow",)


def test_what_was_found_before_of_other_joints_is_kept(run_verb: RunVerb, tmp_path: Path) -> None:
    path = tmp_path / "mine.calibration.yaml"
    for joint, answers in (("left_elbow", "y,o"), ("right_elbow", "y,a")):
        assert run_verb("calibrate", "-o", path, "--directions", joint, "--answers", answers)[0] == 0
    assert read_calibration(path).reversed == ("left_elbow",)


def test_a_body_by_address_has_the_calibration_that_is_named(tmp_path: Path) -> None:
    path = tmp_path / "mine.calibration.yaml"
    write_calibration(BUILT, path)
    part = BodySpec("mine", BIOLOID, STAND, (0.0, 0.0, 0.0))
    plant = make_plant(f"dynamixel:/dev/ttyUSB0@57600+{path}", [part], None)
    assert plant.bodies["mine"].robot == apply_calibration(BIOLOID, BUILT)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "nothing to calibrate"),
        (("--directions", "tail"), "unknown joint 'tail'"),
        (("--directions", "right_elbow", "--answers", "y"), "an answer is missing"),
        (("--directions", "right_elbow", "--answers", "y,perhaps"), "'perhaps' is not an answer"),
        (("--directions", "right_elbow"), "an answer is missing"),
        (("--pose", "stand", "--robot", "sony_ers7"), "sony_ers7 has no servos on a bus"),
    ],
)
def test_a_calibration_that_cannot_be_made_writes_nothing_and_leaves_torque_off(
    run_verb: RunVerb, line: FakeSerial, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    path = tmp_path / "mine.calibration.yaml"
    code, _, err = run_verb("calibrate", "-o", path, *arguments)
    assert code != 0
    assert message in err
    assert not path.exists()
    assert torque(line) == {0}


def test_keys_teach_a_motion_that_is_written(run_verb: RunVerb, line: FakeSerial, tmp_path: Path) -> None:
    path = tmp_path / "wave.motion.yaml"
    line.fake.hold("right_elbow", math.radians(60.0))
    code, out, err = run_verb("teach", "-o", path, "--seconds", "0.5", "--keys", "1ccucw")
    assert (code, out.strip()) == (0, f"2 poses -> {path}")
    assert "limbs: 1 right_arm, 2 left_arm" in err
    motion = read_motion(path)
    assert (motion.name, [frame.reach_s for frame in motion.keyframes]) == ("wave", [0.5, 0.5])
    assert math.degrees(motion.keyframes[-1].pose.angle("right_elbow")) == pytest.approx(60.0, abs=0.3)
    assert torque(line) == {0}


def test_lines_teach_too_and_a_slip_of_the_finger_ends_nothing(run_verb: RunVerb, tmp_path: Path) -> None:
    path = tmp_path / "wave.motion.yaml"
    limbs = "hold all\nrelease right_arm\nrelease left_elbow\nhold left_elbow\n"
    typed = limbs + "release tail\njump\ncatch up soon\ncatch up 1e9\ncatch up 1.5\nwrite\n"
    code, out, err = run_verb("teach", "-o", path, "--json", typed=typed)
    assert code == 0
    result = json.loads(out)
    assert [(pose["name"], pose["reach_s"]) for pose in result["poses"]] == [("up", 1.5)]
    assert "free: right_arm; held: left_arm" in err
    for slip in (
        "unknown limb 'tail'",
        "'jump' is not a command",
        "'soon' is not a number of seconds",
        "1000000000.0 s",
    ):
        assert slip in err
    assert read_motion(path).source == "taught by hand: up"


def test_a_key_lets_a_limb_go_and_the_same_key_holds_it(
    run_verb: RunVerb, line: FakeSerial, tmp_path: Path
) -> None:
    code, out, err = run_verb("teach", "-o", tmp_path / "m.motion.yaml", "--keys", "1h1q", "--keep-torque")
    assert (code, out.strip()) == (0, "nothing was written")
    at_start, after_toggle, all_held, released = (
        line for line in err.splitlines() if line.startswith(("free", "held"))
    )
    assert at_start == "free: all"  # a robot that was just switched on; nothing is held unasked
    assert after_toggle.endswith("held: right_arm")
    assert all_held == "held: all"
    assert released.startswith("free: right_arm; held: left_arm")
    assert torque(line) == {1, 0}
    assert not (tmp_path / "m.motion.yaml").exists()


def test_what_was_caught_is_kept_however_teaching_ends(
    run_verb: RunVerb, line: FakeSerial, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.motion.yaml"
    assert run_verb("teach", "-o", path, "--keys", "hcc")[:2] == (0, f"2 poses -> {path}\n")  # the input ends
    code, _, err = run_verb("teach", "-o", path, "--keys", "c")
    assert (code, "the file exists already" in err) == (2, True)
    assert len(read_motion(path).keyframes) == 2

    def commands_until_stopped(*_: object) -> Iterator[list[str]]:
        yield ["hold", "all"]
        yield ["catch"]
        raise KeyboardInterrupt

    monkeypatch.setattr(bus_teach, "_read_commands", commands_until_stopped)
    code, _, err = run_verb("teach", "-o", path, "--force")
    assert (code, "saved: 1 pose" in err) == (130, True)
    assert len(read_motion(path).keyframes) == 1
    assert torque(line) == {0}


def test_a_motion_that_cannot_be_written_is_told_before_anything_moves(
    run_verb: RunVerb, line: FakeSerial, tmp_path: Path
) -> None:
    for arguments, message in (
        (("-o", tmp_path / "none" / "m.motion.yaml", "--keys", "hcw"), "there is no folder"),
        (("-o", tmp_path / "m.txt", "--keys", "hcw"), "'.txt' is not the ending of a motion"),
        (("-o", tmp_path / "m.motion.yaml", "--keys", "hxcw"), "unknown keys: 'x'"),
    ):
        code, _, err = run_verb("teach", *arguments)
        assert (code, message in err) == (2, True), err
    assert line.fake.counts.packets == 0


def test_a_write_that_fails_ends_nothing(
    run_verb: RunVerb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, tries = tmp_path / "m.motion.yaml", iter(range(3))

    def write(motion: object, path: Path) -> None:
        if next(tries) == 0:
            raise OutputError("the disk is full")
        path.write_text(str(motion))

    monkeypatch.setattr(bus_teach.formats, "write_motion", write)
    code, _, err = run_verb("teach", "-o", path, "--json", typed="catch\nwrite\nwrite\n")
    assert (code, "the disk is full" in err, path.exists()) == (0, True, True)


def test_a_calibrated_robot_is_taught_and_watched_in_its_own_angles(
    run_verb: RunVerb, tmp_path: Path
) -> None:
    path = tmp_path / "mine.calibration.yaml"
    run_verb("calibrate", "-o", path, "--directions", "left_elbow", "--answers", "y,o")
    plain, calibrated = (
        json.loads(run_verb("monitor", "--json", *options)[1])["rounds"][0][5]["reading"]["position_deg"]
        for options in ((), ("--calibration", path))
    )
    stand_deg = math.degrees(STAND[BIOLOID.index("left_elbow")])
    assert calibrated == pytest.approx(stand_deg, abs=2.0)
    assert plain == pytest.approx(-stand_deg, abs=2.0)


def test_a_person_sees_a_table_and_a_program_one_document(run_verb: RunVerb, line: FakeSerial) -> None:
    line.fake.joint("right_knee").temperature_c = 75
    code, out, _ = run_verb("monitor")
    assert code == 0
    (knee,) = (line for line in out.splitlines() if line.startswith("right_knee"))
    assert "overheating; too hot: its limit is 70 C" in knee
    assert "1 round, no missing or damaged answers" in out
    result = json.loads(run_verb("monitor", "--json", "--seconds", "0.2", "--period", "0.1")[1])
    assert {"robot", "rate_hz", "rounds", "counts"} == set(result)
    assert 2 <= len(result["rounds"]) <= 3
    assert [sample["id"] for sample in result["rounds"][0]] == sorted(servo_ids(BIOLOID).values())


def test_in_a_terminal_the_table_is_drawn_anew(run_verb: RunVerb, monkeypatch: pytest.MonkeyPatch) -> None:
    from rich.console import Console

    screen = io.StringIO()
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setattr(console, "stdout", Console(file=screen, force_terminal=True, width=120))
    code, out, err = run_verb("monitor", "--seconds", "0.3", "--period", "0.1")
    assert (code, out, err) == (0, "", "")
    assert screen.getvalue().count("left_ankle_roll") >= 3
