"""Every command names the kind of a file that it does not read, and says what reads it."""

from __future__ import annotations

import re
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from posewright import arenas, gaits, robots
from posewright.cli.app import run
from posewright.formats import write_motion
from posewright.motions import create_motion

PACKAGE = Path(robots.__file__).parents[1]
CATALOGUE = PACKAGE / "robots" / "catalogue" / "robotis_bioloid"

URDF = '<robot name="a"><link name="base"/></robot>'
SCXML = '<scxml xmlns="http://www.w3.org/2005/07/scxml" version="1.0"><state id="a"/></scxml>'
WEB_PAGE = "<!DOCTYPE html>\n<html><head><title>walk.mtn</title></head></html>"


def _copy(source: Path) -> Callable[[Path], object]:
    return lambda path: shutil.copyfile(source, path)


def _text(text: str) -> Callable[[Path], object]:
    return lambda path: path.write_text(text)


FILES: dict[str, tuple[str, str, Callable[[Path], object]]] = {
    "trial": ("a.yaml", "a Posewright trial", _copy(PACKAGE / "runs/catalogue/obstacle-race.trial.yaml")),
    "behaviour": (
        "a.yaml",
        "a Posewright behaviour",
        _copy(CATALOGUE / "behaviours/obstacle_race.behaviour.yaml"),
    ),
    "chart": ("a.yaml", "a Posewright chart", _copy(CATALOGUE / "behaviours/obstacle_mealy.chart.yaml")),
    "motion": (
        "a.yaml",
        "a Posewright motion",
        lambda path: write_motion(create_motion("walk", robots.robot("sony_ers7")), path),
    ),
    "gait": ("a.yaml", "a Posewright gait", lambda path: gaits.write_gait(gaits.read_gait("trot"), path)),
    "tuning": (
        "a.yaml",
        "a Posewright tuning",
        _copy(PACKAGE / "robots/catalogue/sony_ers7/tunes/trot.tune.yaml"),
    ),
    "bodies": (
        "a.yaml",
        "a Posewright table of domain parameters",
        _copy(PACKAGE / "bodies/catalogue/random.bodies.yaml"),
    ),
    "arena": ("a.yaml", "a Posewright arena", _copy(PACKAGE / "arenas/ceabot_obstacles.arena.yaml")),
    "layout": ("a.yaml", "a Posewright layout", lambda path: arenas.write_layout(path, [])),
    "robot": ("a.yaml", "a Posewright robot card", _copy(CATALOGUE / "robot.yaml")),
    "omtn": ("A.MTN", "a Sony AIBO motion (OMTN)", lambda path: path.write_bytes(b"OMTN" + bytes(60))),
    "basic": ("a.bas", "a RoboBASIC program", _text("MOVE G6A,100, 76, 145,  93, 100, 100\n")),
    "urdf": ("a.urdf", "a URDF robot description", _text(URDF)),
    "scxml": ("a.scxml", "an SCXML document", _text(SCXML)),
    "recording": ("a.mcap", "an MCAP recording", lambda path: path.write_bytes(b"\x89MCAP0\r\n" + bytes(30))),
    "picture": ("a.png", "a picture", lambda path: path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(30))),
    "pdf": ("a.pdf", "a PDF document", _text("%PDF-1.4\n")),
    "zip": ("a.zip", "a ZIP archive", lambda path: zipfile.ZipFile(path, "w").writestr("a", "a")),
    "web page": ("walk.mtn", "a web page", _text(WEB_PAGE)),
    "git lfs": ("a.stl", "a Git LFS pointer", _text("version https://git-lfs.github.com/spec/v1\noid ...\n")),
}
"""By kind: a name for the file, the kind in messages, and what writes it."""

COMMANDS: dict[str, tuple[str, ...]] = {
    "run": ("trial",),
    "run obstacle-race --behaviour": ("behaviour", "motion", "gait", "omtn", "basic"),
    "run obstacle-race --layout": ("layout",),
    "run obstacle-race --arena": ("arena",),
    "chart check": ("chart", "scxml"),
    "motion info": ("motion", "omtn"),
    "motion check": ("motion", "omtn"),
    "motion convert": ("motion", "omtn"),
    "gait show": ("gait", "bodies"),
    "tune": ("tuning",),
    "arena show": ("arena", "layout"),
    "arena import": (),
    "contest show": (),
    "robots show": ("robot",),
    "robots import": ("urdf",),
    "inspect": ("robot",),
    "judge": ("recording",),
    "replay": ("recording",),
    "evaluate": ("recording",),
    "basic check": ("basic",),
    "basic run": ("basic",),
    "basic format": ("basic",),
    "robi list": ("motion", "omtn"),
    "aibo check": (),
    "aibo archive list": ("omtn",),
    "board generate": ("behaviour", "chart", "scxml"),
}
"""By command: the kinds that it reads."""

FURTHER_WORDS = {"motion convert": ("out.mtn",), "board generate": ("--target", "host", "-o", "folder")}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_names_the_kind_of_every_file_that_it_does_not_read(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for kind, (name, title, write) in FILES.items():
        folder = tmp_path / kind.replace(" ", "_")
        folder.mkdir()
        monkeypatch.chdir(folder)
        write(folder / name)
        if kind in COMMANDS[command]:
            continue
        code = run([*command.split(), name, *FURTHER_WORDS.get(command, ())])
        error = capsys.readouterr().err
        assert code == 2, (kind, error)
        assert f"this is {title}" in error, kind
        assert [path.name for path in folder.iterdir()] == [name]


def test_a_document_of_the_wrong_kind_for_an_option_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.bodies.yaml"
    shutil.copyfile(PACKAGE / "bodies/catalogue/random.bodies.yaml", path)
    assert run(["gait", "show", str(path)]) == 2
    message = "this is a Posewright table of domain parameters, not a Posewright gait"
    assert message in capsys.readouterr().err


def test_an_error_in_a_file_of_the_right_kind_is_reported_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.gait.yaml"
    path.write_text("gait: mine\nrobot: sony_ers7\n", encoding="utf-8")
    assert run(["gait", "show", str(path)]) == 2
    assert f"{path}:1: 'parameters' is missing" in capsys.readouterr().err


def test_an_error_in_the_card_of_an_option_is_reported_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(CATALOGUE, tmp_path / "mine")
    card = tmp_path / "mine" / "robot.yaml"
    text = card.read_text(encoding="utf-8")
    broken_text, n_replaced = re.subn(r"^  thigh_m: .*$", "  thigh_m: [0, 0]", text, flags=re.MULTILINE)
    assert n_replaced == 1
    card.write_text(broken_text, encoding="utf-8")
    line = broken_text[: broken_text.index("thigh_m")].count("\n") + 1
    assert run(["gait", "run", "biped", "--robot", str(card)]) == 2
    assert f"{card}:{line}: biped.thigh_m: its length is 0" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("kind", "command"), [("motion", "motion info"), ("gait", "gait show"), ("robot", "robots show")]
)
def test_a_document_without_the_key_of_its_kind_is_not_named_as_another_kind(
    kind: str, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / f"a.{kind}.yaml"
    _, _, write = FILES[kind]
    write(path)
    text = path.read_text(encoding="utf-8")
    path.write_text(re.sub(rf"^{kind}:.*\n", "", text, flags=re.MULTILINE), encoding="utf-8")
    assert run([*command.split(), str(path)]) == 2
    error = capsys.readouterr().err
    assert f"{kind!r} is missing" in error or "a text file of unknown kind" in error
    assert "this is" not in error


def test_a_missing_file_is_reported_as_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["gait", "show", str(tmp_path / "none.gait.yaml")]) == 2
    assert "No such file" in capsys.readouterr().err


def test_a_text_without_a_statement_is_no_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "note.txt"
    path.write_text("hello there\n", encoding="utf-8")
    assert run(["basic", "format", str(path)]) == 2
    assert f"{path}: no line has a statement of RoboBASIC" in capsys.readouterr().err
    path.rename(tmp_path / "note.bas")
    assert run(["basic", "format", str(tmp_path / "note.bas")]) == 0


def test_rank_names_a_file_once_and_says_what_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.mcap"
    shutil.copyfile(CATALOGUE / "behaviours/obstacle_mealy.chart.yaml", path)
    assert run(["rank", str(tmp_path)]) == 1
    error = capsys.readouterr().err
    assert "warning: recording a.mcap: this is a Posewright chart, not a recording" in error
    assert str(path) not in error


def test_a_motion_is_shown_for_another_robot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bow.motion.yaml"
    write_motion(create_motion("bow", robots.robot("sony_ers7")), path)
    assert run(["motion", "info", str(path), "--robot", "sony_ers210"]) == 0
    assert "sony_ers210" in capsys.readouterr().out
