"""Motions of one AIBO on another: what is lost is a loss, what nobody is sure of is a remark."""

from __future__ import annotations

from pathlib import Path

import pytest

from posewright.errors import LossError
from posewright.formats import convert_motion, write_motion
from posewright.formats.motion_file import (
    Origin,
    describe_retargeting_losses,
    describe_unmoved_joints,
    retarget_file_to_robot,
    retarget_to_robot,
)
from posewright.formats.oda.extraction import extract_archive
from posewright.formats.oda.files import create_archive
from posewright.formats.reading import read_motion_file
from posewright.motions import Keyframe, Motion, Pose
from posewright.robots import robot, unlisted_robot


def standing(name: str) -> Motion:
    card = robot(name)
    pose = Pose(card.joint_names, card.pose("stand"))
    return Motion("stands", name, card.joint_names, (Keyframe(pose, 0.0), Keyframe(pose, 0.16)))


def test_what_is_0_elsewhere_is_a_loss_and_what_is_doubtful_a_remark() -> None:
    carried = retarget_to_robot(standing("sony_ers210"), "sony_ers7")
    assert "tail_tilt: sony_ers7 has its zero elsewhere" in list(describe_retargeting_losses(carried))
    said = list(describe_unmoved_joints(carried))
    assert any(remark.startswith("tail_pan: the positive direction on") for remark in said)
    assert not any("tail_tilt" in remark for remark in said)


def test_a_motion_on_its_own_robot_has_neither() -> None:
    motion = standing("sony_ers110")
    carried = retarget_to_robot(motion, "sony_ers110")
    assert carried.motion is motion
    assert [*describe_retargeting_losses(carried), *describe_unmoved_joints(carried)] == []


def test_a_conversion_tells_both(tmp_path: Path) -> None:
    source, target = tmp_path / "a.motion.yaml", tmp_path / "b.motion.yaml"
    write_motion(standing("sony_ers210"), source)
    with pytest.raises(LossError, match="tail_tilt: sony_ers7 has its zero elsewhere"):
        convert_motion(source, target, robot="sony_ers7")
    done = convert_motion(source, target, robot="sony_ers7", accept_loss=True)
    assert any("tail_pan" in remark for remark in done.remarks)
    warnings = retarget_file_to_robot(read_motion_file(source), "sony_ers7").warnings
    assert any("tail_pan" in warning for warning in warnings)


def test_a_robot_without_a_card_has_no_doubts() -> None:
    card = unlisted_robot("drx_1", ("head_pan", "tail_pan"))
    pose = Pose.of(card.joint_names, {"head_pan": 0.1, "tail_pan": 0.1})
    strange = Motion("m", card.name, card.joint_names, (Keyframe(pose, 0.1),))
    for motion in (strange, strange.__class__(**{**vars(strange), "origin": Origin("x", None, robot=card)})):
        carried = retarget_to_robot(motion, "sony_ers7")
        assert (carried.unmatched, carried.remarks) == ((), ())


def test_an_archive_taken_apart_tells_what_is_doubtful(tmp_path: Path) -> None:
    write_motion(standing("sony_ers110"), tmp_path / "a.mtn", accept_loss=True)
    create_archive(tmp_path / "a.oda", [tmp_path / "a.mtn"])
    done = extract_archive(tmp_path / "a.oda", tmp_path / "out", robot="sony_ers7", accept_loss=True)
    assert all(remark.startswith("a: ") for remark in done.remarks)
    assert any("the side of this joint on sony_ers110 is a guess" in remark for remark in done.remarks)
    write_motion(standing("sony_ers110"), tmp_path / "b.motion.yaml")
    files = [tmp_path / "b.motion.yaml"]
    made = create_archive(tmp_path / "b.oda", files, robot="sony_ers7", accept_loss=True)
    assert any("the side of this joint on sony_ers110 is a guess" in remark for remark in made.remarks)
