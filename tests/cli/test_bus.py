"""`posewright bus`: what a person and a program are told of servos, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from posewright.buses.dynamixel.fake.bus import FakeBus
from posewright.buses.dynamixel.fake.servo import FakeServo
from posewright.cli import app
from posewright.cli.bus_port import servo_ids
from posewright.errors import InputError, UnknownNameError
from posewright.robots import robot

from ..buses.wired import FakeSerial, plug_in

BIOLOID = robot("robotis_bioloid")
RunVerb = Callable[..., tuple[int, str, str]]


@pytest.fixture
def line(monkeypatch: pytest.MonkeyPatch) -> FakeSerial:
    return plug_in(FakeBus([FakeServo(servo) for servo in (1, 2, 5)]), monkeypatch)


@pytest.fixture
def run_verb(capsys: pytest.CaptureFixture[str], line: FakeSerial) -> RunVerb:
    """Give a function that runs a verb on the fake bus: exit code, stdout and stderr."""

    def run(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        code = app.run(["bus", *map(str, arguments), "--port", line.name])
        return code, *capsys.readouterr()

    return run


def read_json(run_verb: RunVerb, *arguments: object, code: int = 0) -> Any:
    exit_code, out, _ = run_verb(*arguments, "--json")
    assert exit_code == code
    return json.loads(out)


def test_a_scan_lists_who_is_there_and_who_is_missing(run_verb: RunVerb) -> None:
    code, out, _ = run_verb("scan", "--ids", "1,5-6", "--rates", "1000000,57600")
    assert code == 1
    assert "right_elbow" in out
    assert "2 servos found, 2 rates tried" in out
    assert "missing: servo 6 (left_elbow)" in out
    result = read_json(run_verb, "scan", "--ids", "1,2,5", "--rates", "1000000")
    assert [servo["id"] for servo in result["found"]] == [1, 2, 5]
    assert (result["missing"], result["counts"]["corrupt"]) == ([], 0)


def test_servos_are_pinged_read_and_written_by_id_or_joint(run_verb: RunVerb, line: FakeSerial) -> None:
    code, out, _ = run_verb("ping", "1-3")
    assert (code, "silent" in out, out.count("AX-12A")) == (1, True, 2)
    (answer,) = read_json(run_verb, "ping", "right_elbow")
    assert (answer["id"], answer["device"]) == (5, "AX-12A")
    (registers,) = read_json(run_verb, "read", "right_elbow")
    assert registers["registers"]["max_torque"] == 1023
    assert run_verb("write", "1,2", "led", 1)[1] == "servo 1: led is 1\nservo 2: led is 1\n"
    assert line.fake.servo(2).peek("led") == 1
    assert run_verb("read", "1-2", "led", "id")[1] == run_verb("read", "1-2", "led,id")[1]
    code, out, _ = run_verb("read", "1-2", "led", "id")
    assert out.split() == [
        "ID",
        "joint",
        "led",
        "id",
        "1",
        "right_shoulder_pitch",
        *"11",
        "2",
        "left_shoulder_pitch",
        *"12",
    ]


def test_ids_and_rates_are_changed(run_verb: RunVerb, line: FakeSerial) -> None:
    assert run_verb("set-id", 5, 7)[:2] == (0, "servo 5 is now servo 7\n")
    assert read_json(run_verb, "set-baud", 7, 57600) == {
        "id": 7,
        "baud": 57600,
        "was": 1_000_000,
        "device": "AX-12A",
    }
    assert line.fake.servo(7).baud == 57600
    code, _, err = run_verb("set-id", 1, 2)
    assert (code, "the ID 2 belongs to servo 2 (left_shoulder_pitch)" in err) == (2, True)
    assert run_verb("set-id", "1-2", 9)[0] == 2


def test_a_diagnosis_advises_and_fails_where_there_is_something_to_do(run_verb: RunVerb) -> None:
    code, out, _ = run_verb("diagnose", "1,2", "--timed", 10)
    assert code == 1
    assert "to do: servos wait before they answer, 1.0 ms for all: `posewright bus write 1,2 return" in out
    assert "10 positions" in out
    run_verb("write", "1,2", "return_delay_time", 0)
    result = read_json(run_verb, "diagnose", "1,2", "--timed", 10)
    assert (result["advice"], result["latency"]["n"], result["latency_timer_ms"]) == ([], 10, None)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("write", 1, "punch", 5), "punch cannot be 5 (it takes 32..1023)"),
        (("write", 1, "present_load", 5), "cannot be written"),
        (("write", 1, "id", 5), "use set-id"),
        (("read", 1, "goal"), "did you mean"),
        (("read", 9), "no answer from servo 9"),
        (("read", "9-x"), "unknown joint '9-x'"),
        (("read", "0-254"), "names no servo"),
        (("read", "1-999999999999"), "names no servo"),
        (("read", "9" * 5000), "names no servo"),
        (("scan", "--rates", "fast"), "is not a list of rates"),
        (("scan", "--rates", "9" * 5000), "is not a list of rates"),
        (("ping", "--robot", "sony_ers7"), "sony_ers7 has no servos on a bus"),
        (("set-baud", 1, 38400), "cannot be set to 38400"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(
    run_verb: RunVerb, arguments: tuple[object, ...], message: str
) -> None:
    code, out, err = run_verb(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err


@pytest.mark.parametrize("port", ["-o", "--json", ""])
def test_a_port_is_no_option_that_an_empty_variable_let_it_swallow(
    capsys: pytest.CaptureFixture[str], port: str
) -> None:
    assert app.run(["bus", "teach", "--port", port, "wave.motion.yaml"]) == 2
    assert (
        f"--port {port!r} is not a serial port (such as /dev/ttyUSB0; is your $PORT empty?)"
        in capsys.readouterr().err
    )


def test_servos_are_named_by_ranges_joints_or_all() -> None:
    assert servo_ids("all", BIOLOID) == list(range(1, 19))
    assert servo_ids("3-5, 1,4,right_knee", BIOLOID) == [3, 4, 5, 1, 13]
    with pytest.raises(UnknownNameError, match="right_knee"):
        servo_ids("right_kne", BIOLOID)
    for wrong in ("5-3", "254"):
        with pytest.raises(InputError, match="names no servo"):
            servo_ids(wrong, BIOLOID)


def test_a_port_has_to_be_named_unless_there_is_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    monkeypatch.setattr("posewright.buses.serial_port.present_ports", lambda **_: ("/dev/a", "/dev/b"))
    assert app.run(["bus", "ping"]) == 2
    assert "there is /dev/a, /dev/b" in capsys.readouterr().err
    monkeypatch.setattr("posewright.buses.serial_port.present_ports", lambda **_: ("/dev/nowhere",))
    assert app.run(["bus", "ping"]) == 2
    assert "cannot open the serial port /dev/nowhere" in capsys.readouterr().err
