"""Sequences that load postures and other sequences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from posewright.errors import FormatError
from posewright.formats import MotionFile, WriteOptions
from posewright.formats.tekkotsu import reader
from posewright.formats.tekkotsu.format import MOT
from posewright.robots import robot

ERS7 = robot("sony_ers7")
Put = Callable[[str, str], Path]


@pytest.fixture
def put(tmp_path: Path) -> Put:
    def put(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return put


def read(path: Path) -> MotionFile:
    return MOT.read(path.read_bytes(), path, ERS7)


@pytest.mark.parametrize("command", ["load", "overlay", "LOAD"])
def test_a_posture_sets_what_it_says_at_the_time(put: Put, command: str) -> None:
    put("low.pos", "#POS\nLFr:knee 1.0\nMOUTH -0.5 0\n#END\n")
    motion = read(put("a.mot", f"#MSq\ndelay 200\n{command} low.pos\n#END\n")).motion()
    assert motion.joints == ("left_front_knee",)
    assert motion.at(0.2).angle("left_front_knee") == 1.0


def test_explicitly_loaded_a_posture_releases_all_it_does_not_say(put: Put) -> None:
    put("low.pos", "#POS\nLFr:knee 1.0\n#END\n")
    lines = "MOUTH 0\ndelay 100\nMOUTH -0.1\ndelay 100\nloadExplicit low.pos\ndelay 100\nMOUTH -0.4\n"
    motion = read(put("a.mot", f"#MSq\n{lines}#END\n")).motion()
    assert [motion.at(t).angle("mouth") for t in (0.1, 0.2, 0.25, 0.3)] == pytest.approx(
        [-0.1, -0.1, -0.25, -0.4]
    )


def test_a_sequence_is_laid_over_and_time_stands_at_its_end(put: Put) -> None:
    put("sub/nod.mot", "#MSq\nNECK:nod 0\ndelay 300\nNECK:nod 0.5\n#END\n")
    motion = read(put("a.mot", "#MSq\ndelay 100\nload sub/nod.mot\nMOUTH -0.1\n#END\n")).motion()
    assert motion.keyframe_times.round(9).tolist() == [0.1, 0.4]
    assert motion.keyframes[1].pose.angle("mouth") == -0.1


def test_what_a_loaded_file_loads_lies_beside_that_file(put: Put) -> None:
    put("sub/low.pos", "#POS\nLFr:knee 1.0\n#END\n")
    put("sub/b.mot", "#MSq\nload low.pos\n#END\n")
    assert read(put("a.mot", "#MSq\nload sub/b.mot\n#END\n")).motion().joints == ("left_front_knee",)


def test_a_loaded_file_counts_in_radians_whatever_the_other_does(put: Put) -> None:
    put("nod.mot", "#MSq\nNECK:nod 0.5\n#END\n")
    motion = read(put("a.mot", "#MSq\ndegrees\nload nod.mot\n#END\n")).motion()
    assert motion.keyframes[0].pose.angle("head_tilt") == 0.5


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("none.pos", "No such file"),
        (".", "is a directory"),
        ("/dev/null", "is in another folder"),
        ("../x.pos", "is in another folder"),
        ("x\0y", "null"),
    ],
)
def test_a_file_that_cannot_be_loaded_is_an_error_with_the_line(put: Put, name: str, message: str) -> None:
    with pytest.raises(FormatError, match=message) as caught:
        read(put("a.mot", f"#MSq\nMOUTH 0\nload {name}\n#END\n"))
    assert caught.value.where is not None
    assert caught.value.where.line == 3


def test_a_file_of_another_kind_is_not_loaded(put: Put) -> None:
    put("x.pos", "secret\n")
    with pytest.raises(FormatError, match="neither a posture nor a sequence") as caught:
        read(put("a.mot", "#MSq\nload x.pos\n"))
    assert "secret" not in str(caught.value)


def test_only_a_posture_is_loaded_explicitly(put: Put) -> None:
    put("b.mot", "#MSq\nMOUTH 0\n#END\n")
    with pytest.raises(FormatError, match="loadExplicit of a sequence"):
        read(put("a.mot", "#MSq\nloadExplicit b.mot\n"))


def test_a_fault_in_a_loaded_file_is_told_with_that_files_line(put: Put) -> None:
    put("low.pos", "#POS\nLFr:knee one\n#END\n")
    with pytest.raises(FormatError, match=r"low\.pos:2: the value"):
        read(put("a.mot", "#MSq\nload low.pos\n"))


@pytest.mark.parametrize("by", ["a.mot", "./a.mot", "sub/../a.mot", "link.mot"])
def test_a_file_does_not_load_itself(put: Put, by: str, tmp_path: Path) -> None:
    put("sub/x", "")
    put("b.mot", f"#MSq\nload {by}\n")
    (tmp_path / "link.mot").symlink_to(tmp_path / "a.mot")
    with pytest.raises(FormatError, match="being read already") as caught:
        read(put("a.mot", "#MSq\nload b.mot\n"))
    assert caught.value.where is not None
    assert caught.value.where.line == 2


def test_files_do_not_load_files_without_end(put: Put) -> None:
    for i in range(20):
        put(f"f{i}.mot", f"#MSq\nMOUTH 0\nload f{i + 1}.mot\n#END\n")
    put("f20.mot", "#MSq\nMOUTH 0\n#END\n")
    with pytest.raises(FormatError, match="deep"):
        read(put("a.mot", "#MSq\nload f0.mot\n"))


def test_small_files_do_not_make_a_giant(put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader.RemainingSettings, "n_remaining", 1000, raising=False)
    monkeypatch.setattr(reader.RemainingSettings.__init__, "__defaults__", (1000,))
    put("b.mot", "#MSq\n" + "MOUTH 0\n" * 100 + "#END\n")
    put("c.mot", "#MSq\n" + "load b.mot\n" * 100 + "#END\n")
    with pytest.raises(FormatError, match="more than"):
        read(put("a.mot", "#MSq\n" + "load c.mot\n" * 100 + "#END\n"))


def test_unedited_it_is_the_same_bytes_and_elsewhere_it_says_what_must_come_along(
    put: Put, tmp_path: Path
) -> None:
    put("low.pos", "#POS\nLFr:knee 1.0\n#END\n")
    path = put("a.mot", "#MSq\ndelay 200\nload low.pos\n#END\n")
    motion = read(path).motion()
    beside = MOT.render(motion, tmp_path / "b.mot", WriteOptions())
    elsewhere = MOT.render(motion, tmp_path / "sub" / "a.mot", WriteOptions())
    assert beside.data == elsewhere.data == path.read_bytes()
    assert beside.remarks == ()
    assert "low.pos" in elsewhere.remarks[0]


def test_edited_what_it_loads_is_written_into_it(put: Put) -> None:
    put("low.pos", "#POS\nLFr:knee 1.0\n#END\n")
    path = put("a.mot", "#MSq\ndelay 200\nload low.pos\n#END\n")
    motion = read(path).motion()
    frame = motion.keyframes[0]
    edited = replace(
        motion, keyframes=(replace(frame, pose=type(frame.pose)(motion.joints, frame.pose.angles + 0.5)),)
    )
    written = MOT.render(edited, path, WriteOptions())
    assert b"load" not in written.data
    assert b"LFr:knee\t1.5" in written.data
    assert any("low.pos" in remark for remark in written.remarks)
