"""Programs to run, made from shipped programs, memory sticks and own files."""

from __future__ import annotations

from pathlib import Path

import pytest

import posewright as pw
from posewright.errors import FormatError, InputError, UnknownNameError
from posewright.runtimes.openr import OObject, set_up_openr
from posewright.runtimes.openr.ekmotion.moves import MOVES, POSES
from posewright.runtimes.openr.setup import MAX_RECORDED_BYTES, _read_as_text
from posewright.runtimes.openr.user_objects import read_objects

from .playing import DOG

OWN = """
from posewright.runtimes.openr import OObject

class {name}(OObject):
    def __init__(self):
        super().__init__()
        self.observer("Hear", "char", lambda event: self.syslog(made()))

def made():
    return "{name}"
"""
CONNECT = "Commander.Say.char.S {name}.Hear.char.O\n"


def write(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    return folder / name


def test_files_of_ones_own_know_nothing_of_each_other(tmp_path: Path) -> None:
    files = {name: write(tmp_path / name, "own.py", OWN.format(name=name)) for name in ("One", "Other")}
    classes_of = {name: dict(read_objects(path)) for name, path in files.items()}
    assert {name: list(classes) for name, classes in classes_of.items()} == {
        "One": ["One"],
        "Other": ["Other"],
    }
    loaded = classes_of["One"]["One"]
    assert issubclass(loaded, OObject)
    assert loaded.__module__ != classes_of["Other"]["Other"].__module__


def test_a_program_that_is_set_up_says_its_commands_pose_and_robot(tmp_path: Path) -> None:
    program = set_up_openr("move_legs", commands="MOVE_SI@1", pose="sleep", robot=DOG)
    assert (program.robot, program.pose, [command.text for command in program.script]) == (
        DOG,
        "sleep",
        ["MOVE_SI"],
    )
    assert repr(program) == "<OpenRProgram move_legs on sony_ers7: Commander, MoveLegs, OVirtualRobotComm>"
    config = write(
        tmp_path,
        "deaf.cfg",
        "MoveHead.Move.OCommandVectorData.S OVirtualRobotComm.Effector.OCommandVectorData.O\n",
    )
    with pytest.raises(FormatError, match="no Commander to send commands"):
        set_up_openr(config, commands="MOVE_MP")
    with pytest.raises(InputError, match="has its commands"):
        pw.run_openr(program, commands="MOVE_ST")


@pytest.mark.parametrize("parts", [("APP",), ("APP", "MW"), ("MW", "APP", "SYSTEM")])
def test_of_a_stick_the_middlewares_connections_are_fetched_first(
    tmp_path: Path, parts: tuple[str, ...]
) -> None:
    own = write(tmp_path, "own.py", "".join(OWN.format(name=part) for part in parts))
    for part in parts:
        write(tmp_path / "OPEN-R" / part / "CONF", "CONNECT.CFG", CONNECT.format(name=part))
    program = set_up_openr(stick=tmp_path, objects=own)
    assert "MW" in program.config.objects or "MW" not in parts


def test_a_recording_carries_what_its_program_is_made_from(tmp_path: Path) -> None:
    text = OWN.format(name="Mine")
    own = write(tmp_path, "own.py", text)
    config = write(tmp_path, "mine.cfg", CONNECT.format(name="Mine"))
    carried = pw.run_openr(config, objects=own, body="mock", commands="A").header.documents
    assert carried == {"own.py": text, "CONNECT.CFG": CONNECT.format(name="Mine")}
    moves = pw.run_openr("ekmotion", body="mock", seconds=0.1).header.documents
    assert (moves[POSES.name], moves[MOVES.name]) == (POSES.read_text(), MOVES.read_text())


def test_an_archive_is_carried_in_hexadecimal_digits_and_of_a_large_one_the_digest(tmp_path: Path) -> None:
    (tmp_path / "small.oda").write_bytes(b"ODA\0\xff")
    assert bytes.fromhex(_read_as_text(tmp_path / "small.oda")) == b"ODA\0\xff"
    (tmp_path / "large.oda").write_bytes(bytes(MAX_RECORDED_BYTES + 1))
    assert _read_as_text(tmp_path / "large.oda").startswith("sha256:")


def test_an_object_nobody_knows_is_told_with_those_there_are(tmp_path: Path) -> None:
    config = write(tmp_path, "head.cfg", CONNECT.format(name="MoveHaed"))
    with pytest.raises(InputError, match=r"head\.cfg:1: unknown object 'MoveHaed' \(.*did you mean MoveHead"):
        set_up_openr(config).controller()


@pytest.mark.parametrize(("name", "word"), [("move_head", "MOVE_MP"), ("ekmotion", "101")])
def test_a_robot_without_the_joints_of_an_object_is_told_with_both_names(name: str, word: str) -> None:
    with pytest.raises(UnknownNameError, match=r"^sony_ers210 cannot run \w+: unknown (primitive|joint) "):
        pw.run_openr(name, robot="sony_ers210", body="mock", commands=word)
