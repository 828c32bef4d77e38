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
WAYS = "monetagentNEUTRAL a_nt#stand_standard 0\n"
WAVE = """motion: wave
robot: sony_ers7
joints: [head_pan]
keyframes:
  - {reach_s: 0, pose_deg: [0]}
  - {reach_s: 0.16, pose_deg: [20]}
"""

Answer = tuple[int, str, str]


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    """Give a function that runs the command line: exit code, stdout and stderr."""

    def run(*words: object) -> Answer:
        capsys.readouterr()
        code = app.run(["aibo", *map(str, words)])
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def stick(tmp_path: Path) -> Path:
    """Give a memory stick with one motion."""
    pose = Pose(("head_pan",), (0.1,))
    kick = Motion(
        "a_stand#stand_kick", "sony_ers7", ("head_pan",), (Keyframe(pose, 0.0), Keyframe(pose, 0.32))
    )
    held = OdaArchive().with_entry(kick.name, FORMAT.render(kick, Path("x.mtn"), WriteOptions()).data)
    files = {
        f"{CONF}/DESIGNDB.CFG": DESIGNDB.encode(),
        f"{CONF}/ERS-7/MONETCMD.CFG": COMMANDS.encode(),
        f"{CONF}/ERS-7/MONET.CFG": WAYS.encode(),
        f"{DATA}/MOTION7.ODA": held.render(),
        "wave.motion.yaml": WAVE.encode(),
    }
    for name, data in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
    return tmp_path


def test_a_good_stick_is_told_in_two_lines(ask: Callable[..., Answer], stick: Path) -> None:
    code, said, odd = ask("check", stick)
    assert code == 0
    assert said == "ERS-7: 1 command, 1 way, 1 motion\nno errors, no warnings, no notes\n"
    assert odd == ""


def test_an_error_is_told_with_file_line_and_what_would_be_right(
    ask: Callable[..., Answer], stick: Path
) -> None:
    path = stick / CONF / "ERS-7/MONETCMD.CFG"
    path.write_text(COMMANDS + COMMANDS + "\n")
    code, said, _ = ask("check", stick)
    assert code == 1
    assert f"{path}:3: id 60 was given on line 1 already: MoNet keeps the last (a free id is 61)" in said
    assert f"error   blank {path}:5: a blank line" in said
    assert said.endswith("2 errors, no warnings, no notes\n")


def test_programs_get_json_and_the_same_exit_code(ask: Callable[..., Answer], stick: Path) -> None:
    path = stick / CONF / "ERS-7/MONETCMD.CFG"
    path.write_text(COMMANDS.replace("_kick", "_kik"))
    code, said, _ = ask("check", stick, "--json")
    told = json.loads(said)
    assert code == 1
    assert (told["errors"], told["warnings"], told["notes"]) == (1, 0, 1)
    assert told["stick"] == str(stick)
    assert told["setups"][0]["models"] == ["ERS-7"]
    assert told["setups"][0]["commands"] == [60]
    (wrong,) = [finding for finding in told["findings"] if finding["level"] == "error"]
    assert (wrong["rule"], wrong["file"], wrong["line"]) == ("motion", str(path), 2)
    assert wrong["hint"] == "did you mean a_stand#stand_kick?"


def test_what_is_added_is_told_and_can_be_checked(ask: Callable[..., Answer], stick: Path) -> None:
    name = "a_stand#stand_wave"
    code, said, _ = ask("add", stick / "wave.motion.yaml", "--id", 61, "--name", name, "--stick", stick)
    assert code == 0
    assert said.startswith(f"{name} -> {stick / DATA / 'MOTION7.ODA'}, index 1\ncommand 61 -> ")
    assert ask("check", stick)[:2] == (
        0,
        "ERS-7: 2 commands, 1 way, 2 motions\nno errors, no warnings, no notes\n",
    )


def test_a_program_is_told_what_was_added(ask: Callable[..., Answer], stick: Path) -> None:
    words = ("--id", 61, "--name", "a_KickB", "--archive", stick / DATA / "MOTION7.ODA")
    commands = stick / CONF / "ERS-7/MONETCMD.CFG"
    code, said, odd = ask("add", stick / "wave.motion.yaml", *words, "--commands", commands, "--json")
    assert code == 0
    told = json.loads(said)
    assert (told["id"], told["name"], told["index"]) == (61, "a_KickB", 1)
    assert [finding["rule"] for finding in told["findings"]] == ["posture"]
    assert odd.startswith("warning: ")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--id", 60, "--name", "a_stand#stand_x"), "a free id is 61"),
        (("--id", 61), "--name"),
        (("--id", 61, "--name", "a_stand#stand_kick"), "--replace"),
        (("--id", 61, "--name", "a_stand#stand_x", "--archive", "x"), "give either --stick FOLDER, or both"),
    ],
)
def test_what_is_refused_is_told_in_one_line(
    ask: Callable[..., Answer], stick: Path, words: tuple[object, ...], message: str
) -> None:
    code, said, odd = ask("add", stick / "wave.motion.yaml", "--stick", stick, *words)
    assert (code, said) == (2, "")
    assert odd.startswith("error: ")
    assert message in odd
    assert odd.count("\n") == 1


def test_what_would_be_lost_is_listed_first(ask: Callable[..., Answer], stick: Path) -> None:
    wave = stick / "wave.motion.yaml"
    wave.write_text(WAVE.replace("joints:", "repeat: true\njoints:"))
    words = ("add", wave, "--id", 61, "--name", "a_stand#stand_x", "--stick", stick)
    code, said, odd = ask(*words)
    assert (code, said) == (2, "")
    assert "would be lost: that it repeats for ever" in odd
    assert "--accept-loss" in odd
    code, _, odd = ask(*words, "--accept-loss")
    assert code == 0
    assert "lost: that it repeats for ever" in odd


def test_no_stick_no_file_no_traceback(ask: Callable[..., Answer], tmp_path: Path) -> None:
    for words in (
        ("check", tmp_path),
        ("check", tmp_path / "none"),
        ("add", "x", "--id", 1, "--stick", tmp_path),
    ):
        code, _, odd = ask(*words)
        assert code == 2
        assert odd.startswith("error: ")


@pytest.mark.parametrize("held", [b"hello\n", b"", b"\x7fELF\x00\x01", b"OMTN\x00\x00\x00\x00"])
def test_a_file_that_is_no_sticks_is_refused(
    held: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(held)
    assert app.run(["aibo", "check", str(path)]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert f"{path}: this is no MONET file (those are DESIGNDB.CFG" in shown.err


def test_a_jump_exits_with_1_and_writes_nothing_unless_it_is_accepted(
    ask: Callable[..., Answer], tmp_path: Path, stick: Path
) -> None:
    dog = robot("sony_ers7")
    sitting = Motion(
        "sits", dog.name, dog.joint_names, (Keyframe(Pose(dog.joint_names, dog.pose("sit")), 0.0),)
    )
    write_motion(sitting, tmp_path / "sits.mtn")
    words = ("add", tmp_path / "sits.mtn", "--id", 62, "--name", "a_stand#stand_sits", "--stick", stick)
    before = {path: path.read_bytes() for path in stick.rglob("*") if path.is_file()}
    code, _, told = ask(*words)
    assert code == 1
    assert "the robot would jump" in told
    assert "--accept-jump" in told
    assert {path: path.read_bytes() for path in stick.rglob("*") if path.is_file()} == before
    assert ask(*words, "--accept-jump")[0] == 0
    code, said, _ = ask("check", stick)
    assert code == 1
    assert "the robot would jump" in said
