"""What a conversion tells of rounding is what the file says, keyframe by keyframe."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from posewright.formats import Conversion, WriteOptions, convert_motion, read_motion, write_motion
from posewright.hazards import check_motion
from posewright.motions import Easing, Keyframe, Motion, Pose
from posewright.robots import robot

HEAD = ("neck_tilt", "head_pan", "head_tilt")
ERS7 = robot("sony_ers7")


def nod(*timed: tuple[float, float], easing: Easing = Easing.LINEAR) -> Motion:
    frames = (
        Keyframe(Pose(HEAD, np.array([tilt, 0.0, 0.0])), reach, easing=easing if reach else Easing.LINEAR)
        for reach, tilt in timed
    )
    return Motion("nod", "sony_ers7", HEAD, tuple(frames))


def converted(motion: Motion, folder: Path, name: str, **asked: bool) -> Conversion:
    source = folder / "nod.motion.yaml"
    write_motion(motion, source)
    return convert_motion(source, folder / name, accept_loss=True, options=WriteOptions(**asked))


@pytest.mark.parametrize("name", ["nod.mot", "nod.motion"])
def test_a_key_that_is_left_out_on_a_straight_line_changes_nothing(name: str, tmp_path: Path) -> None:
    # at one even speed; the middle is a fifth of a way off the millisecond
    motion = nod((0.0, 0.0), (0.1003, -0.1003), (0.0997, -0.2))
    done = converted(motion, tmp_path, name)
    assert done.rounding is not None
    assert done.rounding.time_s == pytest.approx(3e-4, abs=1e-9)
    assert done.rounding.angle_rad < 2e-6
    assert "times are rounded to 1 ms, by up to 0.3 ms" in done.remarks


def test_a_keyframe_that_is_merged_away_is_a_loss_and_no_rounding(tmp_path: Path) -> None:
    done = converted(nod((0.0, 0.0), (0.16, -0.5), (0.004, -0.2), (0.156, 0.0)), tmp_path, "nod.mtn")
    assert any(loss.startswith("keyframe 2: within the same 16 ms") for loss in done.losses)
    assert done.rounding is not None
    assert done.rounding.time_s == pytest.approx(0.004)
    assert done.rounding.angle_rad < 1e-6


def test_a_shift_of_more_than_a_step_is_told(tmp_path: Path) -> None:
    # a jump leaves a millisecond early, and that rounds a keyframe by more than half a millisecond
    done = converted(nod((0.0, 0.0), (0.1004, -0.5), (0.0, -0.2), (0.1, 0.0)), tmp_path, "nod.mot")
    assert done.rounding is not None
    assert done.rounding.time_s == pytest.approx(0.0014)
    assert done.rounding.angle_rad < 1e-6


def test_ways_that_are_rounded_one_by_one_add_up_and_that_is_told(tmp_path: Path) -> None:
    joints = ("left_knee",)
    frames = tuple(Keyframe(Pose(joints, np.array([0.1 * i])), 0.125) for i in range(5))
    write_motion(Motion("walk", "robotis_bioloid", joints, frames), tmp_path / "walk.motion.yaml")
    done = convert_motion(tmp_path / "walk.motion.yaml", tmp_path / "walk.mtn")
    assert done.losses == ()
    assert done.remarks == ("times are rounded to 8 ms, by up to 3 ms each",)
    assert done.rounding is not None
    assert done.rounding.time_s == pytest.approx(0.015)


def test_a_copy_rounds_nothing(tmp_path: Path) -> None:
    write_motion(nod((0.0, 0.0), (0.1, 0.1)), tmp_path / "nod.mot", accept_loss=True)
    assert convert_motion(tmp_path / "nod.mot", tmp_path / "again.mot").rounding is None


@pytest.mark.parametrize("name", ["nod.mtn", "nod.motion.yaml", "nod.h"])
def test_whoever_writes_a_motion_may_have_it_straightened(name: str, tmp_path: Path) -> None:
    motion = nod((0.0, 0.0), (0.5, -0.5), easing=Easing.SMOOTH)
    assert write_motion(motion, tmp_path / name, options=WriteOptions(straighten=True)) == ()
    assert len(read_motion(tmp_path / name).keyframes) == 17


@pytest.mark.parametrize("name", ["kick_right", "nod", "play_bow"])
def test_a_shipped_motion_straightened_for_the_robot_breaks_no_rule_that_it_kept(
    name: str, tmp_path: Path
) -> None:
    assert ERS7.folder is not None
    source = ERS7.folder / "motions" / f"{name}.motion.yaml"
    options = WriteOptions(straighten=True)
    convert_motion(source, tmp_path / "x.mtn", format="aibo-omtn", options=options)
    before, after = (
        [(found.level, found.rule, found.joint) for found in check_motion(read_motion(path), ERS7)]
        for path in (source, tmp_path / "x.mtn")
    )
    assert set(after) <= set(before)
