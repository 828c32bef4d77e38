"""`posewright aibo check` and `add`: what is said of a memory stick, and what is written to it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from posewright.cli import app
from posewright.formats import write_motion
from posewright.formats.motion_format import WriteOptions
from posewright.formats.oda.archive import OdaArchive
from posewright.formats.omtn.format import FORMAT
from posewright.motions import Keyframe, Motion, Pose
from posewright.robots import robot

DATA, CONF = "OPEN-R/MW/DATA/P/ERS-7", "OPEN-R/MW/CONF"
DESIGNDB = f"[ERS-7]\nMONET_MOTION /MS/{DATA}/MOTION7.ODA\n"
COMMANDS = "60 1 0\nmonetagentMTN a_stand#stand_kick -1\n"
TRANSITIONS = "monetagentNEUTRAL a_nt#stand_standard 0\n"
WAVE = """motion: wave
robot: sony_ers7
joints: [head_pan]
keyframes:
  - {reach_s: 0, pose_deg: [0]}
  - {reach_s: 0.16, pose_deg: [20]}
"""

Output = tuple[int, str, str]


@pytest.fixture
def run_verb(capsys: pytest.CaptureFixture[str]) -> Callable[..., Output]:
    """Give a function that runs the command line: exit code, stdout and stderr."""

    def run(*arguments: object) -> Output:
        capsys.readouterr()
        code = app.run(["aibo", *map(str, arguments)])
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def stick(tmp_path: Path) -> Path:
    """Give a memory stick with one motion."""
    pose = Pose(("head_pan",), (0.1,))
    kick = Motion(
        "a_stand#stand_kick", "sony_ers7", ("head_pan",), (Keyframe(pose, 0.0), Keyframe(pose, 0.32))
    )
    archive = OdaArchive().with_entry(kick.name, FORMAT.render(kick, Path("x.mtn"), WriteOptions()).data)
    files = {
        f"{CONF}/DESIGNDB.CFG": DESIGNDB.encode(),
        f"{CONF}/ERS-7/MONETCMD.CFG": COMMANDS.encode(),
        f"{CONF}/ERS-7/MONET.CFG": TRANSITIONS.encode(),
        f"{DATA}/MOTION7.ODA": archive.render(),
        "wave.motion.yaml": WAVE.encode(),
    }
    for name, data in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
    return tmp_path


def test_a_good_stick_is_told_in_two_lines(run_verb: Callable[..., Output], stick: Path) -> None:
    code, out, err = run_verb("check", stick)
    assert code == 0
    assert out == "ERS-7: 1 command, 1 transition, 1 motion\nno errors, no warnings, no notes\n"
    assert err == ""


def test_an_error_is_told_with_file_line_and_what_would_be_right(
    run_verb: Callable[..., Output], stick: Path
) -> None:
    path = stick / CONF / "ERS-7/MONETCMD.CFG"
    path.write_text(COMMANDS + COMMANDS + "\n")
    code, out, _ = run_verb("check", stick)
    assert code == 1
    assert f"{path}:3: id 60 is already used on line 1: MoNet uses the last (a free id is 61)" in out
    assert f"error   blank {path}:5: a blank line" in out
    assert out.endswith("2 errors, no warnings, no notes\n")


def test_programs_get_json_and_the_same_exit_code(run_verb: Callable[..., Output], stick: Path) -> None:
    path = stick / CONF / "ERS-7/MONETCMD.CFG"
    path.write_text(COMMANDS.replace("_kick", "_kik"))
    code, out, _ = run_verb("check", stick, "--json")
    result = json.loads(out)
    assert code == 1
    assert (result["errors"], result["warnings"], result["notes"]) == (1, 0, 1)
    assert result["stick"] == str(stick)
    assert result["setups"][0]["models"] == ["ERS-7"]
    assert result["setups"][0]["commands"] == [60]
    (error,) = [finding for finding in result["findings"] if finding["level"] == "error"]
    assert (error["rule"], error["file"], error["line"]) == ("motion", str(path), 2)
    assert error["hint"] == "did you mean a_stand#stand_kick?"


def test_what_is_added_is_told_and_can_be_checked(run_verb: Callable[..., Output], stick: Path) -> None:
    name = "a_stand#stand_wave"
    code, out, _ = run_verb("add", stick / "wave.motion.yaml", "--id", 61, "--name", name, "--stick", stick)
    assert code == 0
    assert out.startswith(f"{name} -> {stick / DATA / 'MOTION7.ODA'}, index 1\ncommand 61 -> ")
    assert run_verb("check", stick)[:2] == (
        0,
        "ERS-7: 2 commands, 1 transition, 2 motions\nno errors, no warnings, no notes\n",
    )


def test_notes_are_said_once_and_quiet_leaves_them_out(run_verb: Callable[..., Output], stick: Path) -> None:
    designdb = next(stick.rglob("DESIGNDB.CFG"))
    other_models = [
        f"[{model}]\nMONET_MOTION /MS/{DATA}/MOTION.ODA\nMONET_SOUND /MS/{DATA}/SOUND.ODA\n"
        for model in ("ERS-210", "ERS-220")
    ]
    designdb.write_text(designdb.read_text() + "".join(other_models))
    code, out, _ = run_verb("check", stick)
    assert code == 0
    assert out.splitlines()[-1] == "no errors, no warnings, 1 note"
    assert out.count("MOTION.ODA on the stick, nor 1 other file named here") == 1
    assert run_verb("check", stick, "-q")[1].splitlines()[-1] == "no errors, no warnings, no notes"


def test_a_program_is_told_what_was_added(run_verb: Callable[..., Output], stick: Path) -> None:
    arguments = ("--id", 61, "--name", "a_KickB", "--archive", stick / DATA / "MOTION7.ODA")
    commands = stick / CONF / "ERS-7/MONETCMD.CFG"
    code, out, err = run_verb("add", stick / "wave.motion.yaml", *arguments, "--commands", commands, "--json")
    assert code == 0
    result = json.loads(out)
    assert (result["id"], result["name"], result["index"]) == (61, "a_KickB", 1)
    assert [finding["rule"] for finding in result["findings"]] == ["posture"]
    assert err.startswith("warning: ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--id", 60, "--name", "a_stand#stand_x"), "a free id is 61"),
        (("--id", 61), "--name"),
        (("--id", 61, "--name", "a_stand#stand_kick"), "--replace"),
        (("--id", 61, "--name", "a_stand#stand_x", "--archive", "x"), "give either --stick FOLDER, or both"),
    ],
)
def test_what_is_refused_is_told_in_one_line(
    run_verb: Callable[..., Output], stick: Path, arguments: tuple[object, ...], message: str
) -> None:
    code, out, err = run_verb("add", stick / "wave.motion.yaml", "--stick", stick, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert message in err
    assert err.count("\n") == 1


def test_what_would_be_lost_is_listed_first(run_verb: Callable[..., Output], stick: Path) -> None:
    wave = stick / "wave.motion.yaml"
    wave.write_text(WAVE.replace("joints:", "repeat: true\njoints:"))
    arguments = ("add", wave, "--id", 61, "--name", "a_stand#stand_x", "--stick", stick)
    code, out, err = run_verb(*arguments)
    assert (code, out) == (2, "")
    assert "would be lost: that it repeats for ever" in err
    assert "--accept-loss" in err
    code, _, err = run_verb(*arguments, "--accept-loss")
    assert code == 0
    assert "lost: that it repeats for ever" in err


def test_no_stick_no_file_no_traceback(run_verb: Callable[..., Output], tmp_path: Path) -> None:
    for arguments in (
        ("check", tmp_path),
        ("check", tmp_path / "none"),
        ("add", "x", "--id", 1, "--stick", tmp_path),
    ):
        code, _, err = run_verb(*arguments)
        assert code == 2
        assert err.startswith("error: ")


@pytest.mark.parametrize("content", [b"hello\n", b"", b"\x7fELF\x00\x01"])
def test_a_file_that_is_no_sticks_is_refused(
    content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    assert app.run(["aibo", "check", str(path)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert f"{path}: this is not a MONET file (MONET files are DESIGNDB.CFG" in captured.err


def test_a_jump_exits_with_1_and_writes_nothing_unless_it_is_accepted(
    run_verb: Callable[..., Output], tmp_path: Path, stick: Path
) -> None:
    dog = robot("sony_ers7")
    sitting = Motion(
        "sits", dog.name, dog.joint_names, (Keyframe(Pose(dog.joint_names, dog.pose("sit")), 0.0),)
    )
    write_motion(sitting, tmp_path / "sits.mtn")
    arguments = ("add", tmp_path / "sits.mtn", "--id", 62, "--name", "a_stand#stand_sits", "--stick", stick)
    before = {path: path.read_bytes() for path in stick.rglob("*") if path.is_file()}
    code, _, err = run_verb(*arguments)
    assert code == 1
    assert "the robot would jump" in err
    assert "--accept-jump" in err
    assert {path: path.read_bytes() for path in stick.rglob("*") if path.is_file()} == before
    assert run_verb(*arguments, "--accept-jump")[0] == 0
    code, out, _ = run_verb("check", stick)
    assert code == 1
    assert "the robot would jump" in out
