"""What a conversion tells, and what it does not let happen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from posewright.errors import FormatError, LossError
from posewright.formats import WriteOptions, convert_motion, read_motion, write_motion
from posewright.motions import Keyframe, Motion, Pose
from posewright.robots import robot

ERS7 = robot("sony_ers7")
SHIPPED = Path(ERS7.folder or "") / "motions"
HEADER = "const double KICK_01[] = { %s };\nconst double KICK_02[] = { %s };\n"
STANDING = "25, 0, -20, -5, -5, 3, 30, -5, 3, 30, -5, 3, 30, -5, 3, 30"


def motion(card: str, **angles_deg: float) -> Motion:
    joints = tuple(name for name in robot(card).joint_names if name in angles_deg)
    poses = [
        Pose.of(joints, {name: np.radians(scale * angles_deg[name]) for name in joints}) for scale in (0.5, 1)
    ]
    return Motion("nod", card, joints, tuple(Keyframe(pose, 0.16 * i) for i, pose in enumerate(poses)))


@pytest.mark.parametrize("name", ["kick_right", "nod", "play_bow"])
def test_what_ships_goes_to_the_robot_and_back_without_a_loss(name: str, tmp_path: Path) -> None:
    straight = WriteOptions(straighten=True)
    done = convert_motion(SHIPPED / f"{name}.motion.yaml", tmp_path / "x.mtn", options=straight)
    assert done.losses == ()
    assert done.rounding is not None
    assert done.rounding.angle_rad <= 1e-6
    assert done.rounding.time_s <= 0.008 + 1e-9


def test_a_motion_of_another_dog_is_clipped_and_told(tmp_path: Path) -> None:
    source, target = tmp_path / "old.motion.yaml", tmp_path / "new.mtn"
    write_motion(motion("sony_ers210", neck_tilt=30.0, head_roll=10.0, head_pan=20.0), source)
    with pytest.raises(LossError) as caught:
        convert_motion(source, target, robot="sony_ers7")
    assert not target.exists()
    assert any("head_roll: sony_ers7 has no such joint" in loss for loss in caught.value.losses)
    assert sum("neck_tilt" in loss and "clipped to 0.00 deg" in loss for loss in caught.value.losses) == 2
    convert_motion(source, target, robot="sony_ers7", accept_loss=True)
    back = read_motion(target)
    assert back.robot == "sony_ers7"
    assert back.keyframes[-1].pose.angle("neck_tilt") == 0.0
    assert abs(np.degrees(back.keyframes[-1].pose.angle("head_pan")) - 20.0) < 1e-4


def test_angles_at_which_the_mechanism_stops_are_told(tmp_path: Path) -> None:
    source = tmp_path / "far.motion.yaml"
    write_motion(motion("sony_ers7", head_tilt=70.0), source)
    done = convert_motion(source, tmp_path / "far.mtn", accept_faults=True)
    (remark,) = (r for r in done.remarks if "limits of" in r)
    assert "head_tilt is at 70.0 deg in keyframe 2, its limits are -20..50" in remark
    assert done.faults == (
        "keyframe 2: head_tilt is commanded to 70.00 deg, its mechanical limit is 50.00 deg",
    )


def test_a_file_that_nobody_could_read_is_not_written(tmp_path: Path) -> None:
    nameless = replace(motion("sony_ers7", head_tilt=10.0), name="")
    with pytest.raises(FormatError, match="a motion needs a name"):
        write_motion(nameless, tmp_path / "x.motion.yaml")
    endless = replace(
        motion("sony_ers7", head_tilt=10.0),
        keyframes=(Keyframe(Pose.of(("head_tilt",), {"head_tilt": 1e9}), 0.1),),
    )
    with pytest.raises(FormatError):
        write_motion(endless, tmp_path / "x.motion.yaml")
    assert list(tmp_path.iterdir()) == []


def test_an_archive_is_not_replaced_by_one_motion(tmp_path: Path) -> None:
    archive = tmp_path / "MOTION7.ODA"
    convert_motion(SHIPPED / "nod.motion.yaml", archive)
    before = archive.read_bytes()
    with pytest.raises(FormatError, match="archive add"):
        convert_motion(SHIPPED / "play_bow.motion.yaml", archive, options=WriteOptions(straighten=True))
    assert archive.read_bytes() == before


def test_a_header_is_changed_in_place_and_never_replaced_by_other_poses(tmp_path: Path) -> None:
    header, mtn = tmp_path / "EKMoves.h", tmp_path / "KICK.mtn"
    header.write_text("// of the team\n" + HEADER % (STANDING, STANDING))
    convert_motion(header, mtn)
    convert_motion(mtn, header)
    text = header.read_text()
    assert text.startswith("// of the team\n")
    assert text.count("const double") == 2
    with pytest.raises(FormatError, match="a header of other poses: KICK"):
        convert_motion(SHIPPED / "nod.motion.yaml", header)
    assert header.read_text() == text


def far_up(tmp_path: Path) -> Path:
    """Return a sequence for an ERS-210 with a neck that an ERS-7 cannot raise so far."""
    path = tmp_path / "far.mot"
    path.write_bytes(b"#MSq\nradians\nNECK:tilt 0.5\ndelay 500\nNECK:tilt 0\n#END\n")
    return path


def test_angles_that_the_robot_asked_for_cannot_reach_are_refused_unless_clipped(tmp_path: Path) -> None:
    source, target = far_up(tmp_path), tmp_path / "far.motion.yaml"
    with pytest.raises(LossError, match="1 angles are beyond the limits of sony_ers7"):
        convert_motion(source, target, robot="sony_ers7")
    assert not target.exists()
    done = convert_motion(source, target, robot="sony_ers7", clip=True)
    assert done.losses == ()
    assert any("clipped to the limits" in remark for remark in done.remarks)
    written, dog = read_motion(target), robot("sony_ers7")
    highest = dog.hardware_limits[1][dog.index("neck_tilt")]
    assert written.keyframes[0].pose.angle("neck_tilt") == pytest.approx(highest)


def test_of_a_robot_that_was_only_assumed_such_angles_are_told(tmp_path: Path) -> None:
    done = convert_motion(far_up(tmp_path), tmp_path / "far.motion.yaml")
    assert done.losses == ()
    assert done.assumed_robot is not None


def test_a_file_whose_numbers_a_robot_does_not_have_is_carried_over_from_its_own(tmp_path: Path) -> None:
    source, target = tmp_path / "bow.mtn", tmp_path / "bow.motion.yaml"
    write_motion(motion("robotis_bioloid", right_knee=20.0, left_knee=20.0), source, format="roboplus-mtn")
    done = convert_motion(source, target, robot="deagostini_robi2", accept_loss=True)
    assert done.assumed_robot is not None
    assert read_motion(target).robot == "deagostini_robi2"


def test_from_sony_to_tekkotsu_names_and_attitudes_are_only_told(tmp_path: Path) -> None:
    dog = robot("sony_ers7")
    pose = Pose(dog.joint_names, dog.pose("stand"))
    frames = [Keyframe(pose, reach, attitude=(0.0, 0.1, 0.0)) for reach in (0.0, 0.32)]
    extras = {"creator": "Sony Corporation"}
    motion = Motion("a_stand#stand_bow", dog.name, dog.joint_names, frames, extras=extras)
    write_motion(motion, tmp_path / "bow.mtn")
    done = convert_motion(tmp_path / "bow.mtn", tmp_path / "tk.mot")
    assert done.losses == ()
    (message,) = (remark for remark in done.remarks if remark.startswith("not written"))
    for what in ("its name 'a_stand#stand_bow'", "the attitude of the trunk", "creator 'Sony Corporation'"):
        assert what in message
