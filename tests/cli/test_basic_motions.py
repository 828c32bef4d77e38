"""`posewright basic motions`: routines are listed, written as motions, and motions as a program."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import posewright as pw
from posewright.cli import app
from posewright.formats import read_motion

RunVerb = Callable[..., tuple[int, str, str]]

PROGRAM = """' ours
DIM A AS BYTE
PTP SETON
PTP ALLON
SPEED 5
main:
    A = REMOCON(1)
    IF A = 1 THEN GOSUB bow
    GOTO main
bow:
    SPEED 6
    MOVE G6A, 100, 60, 145, 120, 100
    MOVE G6D, 100, 60, 145, 120, 100
    WAIT
    DELAY 500
    MUSIC "C"
    RETURN
wave:
    SPEED 10
    MOVE G6B, 100, 150
    WAIT
    MOVE G6B, 100, 110
    WAIT
    GOTO wave
idle:
    RETURN
"""
SMOOTH = """motion: nod
robot: hitec_robonova1
joints: [left_knee]
keyframes:
  - {reach_s: 0.02, easing: smooth, pose_deg: [44]}
"""


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Be in the folder in which the files are."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def run_verb(capsys: pytest.CaptureFixture[str]) -> RunVerb:
    """Give a function that runs the verb: exit code, stdout and stderr."""

    def run(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        code = app.run(["basic", "motions", *map(str, arguments)])
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """Give a program of ours."""
    path = tmp_path / "ours.bas"
    path.write_text(PROGRAM, encoding="ascii")
    return path


def test_routines_are_listed_with_why_they_are_not_static(run_verb: RunVerb, program: Path) -> None:
    code, out, err = run_verb(program)
    assert (code, err) == (0, "")
    lines = {line.split()[0]: " ".join(line.split()[1:]) for line in out.splitlines()}
    assert lines["start-up"] == "1 not static, line 7: it reads REMOCON(1)"
    assert lines["main"] == "6 not static, line 7: it reads REMOCON(1)"
    assert lines["bow"].startswith("10 1 ")
    assert lines["bow"].endswith(" static")
    assert lines["wave"].endswith(" static, repeats")
    assert lines["idle"] == "25 moves nothing"


def test_the_lines_before_the_first_label_are_named_like_a_routine(run_verb: RunVerb, tmp_path: Path) -> None:
    program = tmp_path / "greeting.bas"
    program.write_text(
        "GOSUB stand\nMOVE G6B, 110, 90\nWAIT\nEND\nstand:\nMOVE G6B, 100, 30, 80\nWAIT\nRETURN\n"
    )
    path = tmp_path / "whole.motion.yaml"
    code, out, _ = run_verb(program, "start-up", "-o", path)
    assert code == 0
    assert out.splitlines()[1].split()[0] == "start-up"
    assert len(read_motion(path).keyframes) == 2
    _, _, err = run_verb(program, "stand", "-o", path)
    # the robot stands with its arms so
    assert "stand: its first move takes 0.02 s, as the robot is in that pose already" in err
    assert "give the first keyframe a longer reach_s, such as 1" in err


def test_a_listing_as_json_says_the_same(run_verb: RunVerb, program: Path) -> None:
    code, out, _ = run_verb(program, "bow", "MAIN", "--json")
    assert code == 0
    bow, main = json.loads(out)["routines"]
    assert bow["label"] == "bow"
    assert bow["static"]
    assert bow["keyframes"] == 1
    assert bow["duration_s"] == pytest.approx(1.0, abs=0.5)
    assert bow["remarks"] == ["statements that do not move servos are left out: MUSIC"]
    assert (main["why"], main["why_line"], main["written"]) == ("it reads REMOCON(1)", 7, None)


def test_static_routines_are_written_to_a_folder_and_what_is_lost_is_told(
    run_verb: RunVerb, program: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "new" / "motions"
    code, out, err = run_verb(program, "-o", folder)
    assert code == 0
    assert out.endswith(f"2 motions -> {folder}\n")
    assert err == "warning: bow: statements that do not move servos are left out: MUSIC\n"
    assert sorted(path.name for path in folder.iterdir()) == ["bow.motion.yaml", "wave.motion.yaml"]
    bow, wave = (read_motion(folder / f"{name}.motion.yaml") for name in ("bow", "wave"))
    assert (bow.repeat, wave.repeat) == (1, None)
    assert bow.keyframes[0].pause_s == pytest.approx(1.0, abs=0.02)  # DELAY, and a note of MUSIC
    assert app.run(["motion", "info", str(folder / "bow.motion.yaml")]) == 0


def test_one_routine_may_be_written_to_a_file(run_verb: RunVerb, program: Path, tmp_path: Path) -> None:
    file = tmp_path / "bowing.motion.yaml"
    assert run_verb(program, "Bow", "-o", file)[0] == 0
    assert read_motion(file).name == "bow"


def test_motions_become_a_program_and_its_routines_the_same_motions(
    run_verb: RunVerb, program: Path, tmp_path: Path
) -> None:
    run_verb(program, "-o", tmp_path)
    target = tmp_path / "show.bas"
    code, out, err = run_verb(tmp_path / "bow.motion.yaml", tmp_path / "wave.motion.yaml", "-o", target)
    assert (code, err) == (0, "")
    assert out == f"2 routines -> {target}: bow, wave\n"
    assert "    SPEED 6\r\n    MOVE G6A, 100,  60, 145, 120, 100\r\n" in target.read_bytes().decode("ascii")
    assert run_verb(target, "-o", tmp_path / "again")[0] == 0
    for name in ("bow", "wave"):
        original, copy = (
            read_motion(folder / f"{name}.motion.yaml") for folder in (tmp_path, tmp_path / "again")
        )
        assert original.keyframes == copy.keyframes


def test_losses_are_listed_and_nothing_is_written_unless_they_are_accepted(
    run_verb: RunVerb, tmp_path: Path
) -> None:
    (tmp_path / "nod.motion.yaml").write_text(SMOOTH, encoding="utf-8")
    arguments = (tmp_path / "nod.motion.yaml", "-o", tmp_path / "nod.bas")
    code, out, err = run_verb(*arguments)
    assert (code, out) == (2, "")
    assert "would be lost: easing smooth" in err
    assert "--accept-loss writes it anyway" in err
    assert not (tmp_path / "nod.bas").exists()
    code, out, err = run_verb(*arguments, "--accept-loss", "--json")
    assert code == 0
    assert "lost: easing smooth" in err
    result = json.loads(out)
    assert result["routines"] == ["nod"]
    assert result["losses"] == ["easing smooth: servos move at constant speed"]


def test_a_measured_move_gives_the_times(run_verb: RunVerb, program: Path) -> None:
    def seconds(*arguments: object) -> float:
        return float(
            json.loads(run_verb(program, "wave", "--json", *arguments)[1])["routines"][0]["duration_s"]
        )

    assert seconds("--measured", 5, 50, 2.0) > 2 * seconds("--measured", 5, 50, 0.5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("bwo",), "unknown label 'bwo' (did you mean bow?)"),
        (("main", "-o", "out"), "main is not static (line 7: it reads REMOCON(1))"),
        (("idle", "-o", "out"), "idle moves nothing"),
        (("-o", "out.motion.yaml"), "cannot write 2 motions to out.motion.yaml (name a folder)"),
        (("bow", "-o", "out.bas"), "cannot write 1 motion to out.bas (name a folder)"),
        (("bow", "-o", "ours.bas/x"), "the folder cannot be created"),
        (("bow", "nod.motion.yaml", "-o", "out"), "-o ours.bas writes motions as a program"),
    ],
)
def test_what_is_wrong_is_told_and_nothing_is_written(
    run_verb: RunVerb, program: Path, arguments: tuple[str, ...], message: str
) -> None:
    code, out, err = run_verb(program.name, *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert [path.name for path in program.parent.iterdir()] == ["ours.bas"]


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        (SMOOTH, (), "the program to write is missing (-o NAME.bas names it)"),
        (
            SMOOTH,
            ("-o", "out"),
            "the name of a RoboBASIC program needs an ending (end the name in .bas)",
        ),
        (SMOOTH, ("-o", "."), "of a RoboBASIC program needs an ending"),
        (SMOOTH.replace("[44]", "[-170]"), ("-o", "out.bas"), "left_knee is at -170.0 deg"),
        (SMOOTH.replace("hitec_robonova1", "nobody"), ("-o", "out.bas"), "nobody"),
        ("motion: x\n", ("-o", "out.bas"), "nod.motion.yaml:1"),
    ],
)
def test_a_motion_that_cannot_be_written_is_told_and_nothing_is_written(
    run_verb: RunVerb, tmp_path: Path, text: str, arguments: tuple[str, ...], message: str
) -> None:
    Path("nod.motion.yaml").write_text(text, encoding="utf-8")
    code, out, err = run_verb("nod.motion.yaml", *arguments, "--accept-loss")
    assert (code, out) == (2, "")
    assert message in err
    assert [path.name for path in tmp_path.iterdir()] == ["nod.motion.yaml"]


def test_a_program_with_errors_and_one_that_moves_nothing_are_told(run_verb: RunVerb, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.bas"
    wrong.write_text("GOTO nowhere\nMOVE G6A, 500\n", encoding="ascii")
    code, _, err = run_verb(wrong)
    assert code == 2
    assert "wrong.bas:1: there is no label nowhere" in err
    assert "wrong.bas:2: 500 is out of range for servo 0" in err
    wrong.write_text("END\n", encoding="ascii")
    code, _, err = run_verb(wrong, "-o", tmp_path / "out")
    assert code == 2
    assert "no routine of the program is static and moves servos" in err
    assert not (tmp_path / "out").exists()


def test_motion_verbs_say_where_programs_are_read(
    program: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert app.run(["motion", "convert", str(program), str(tmp_path / "x.motion.yaml")]) == 2
    assert f"`posewright basic motions {program} -o FOLDER`" in capsys.readouterr().err


def test_the_twins_do_the_same_from_python(program: Path) -> None:
    assert [one.label for one in pw.basic_routines(program) if one.motion] == ["bow", "wave"]
    motions, remarks = pw.basic_motions(program)
    assert [motion.name for motion in motions] == ["bow", "wave"]
    assert remarks == ("bow: statements that do not move servos are left out: MUSIC",)
    assert pw.basic_program(motions).labels == ("bow", "wave")
