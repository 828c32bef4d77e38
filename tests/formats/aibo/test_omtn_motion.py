"""OMTN files as motions and back: by locator, on the clock, with nothing lost in silence."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.errors import FormatError
from posewright.formats import Rendering, WriteOptions, convert_motion, read_motion, write_motion
from posewright.formats.omtn.document import OmtnDocument
from posewright.formats.omtn.format import FORMAT
from posewright.formats.omtn.reader import read_omtn
from posewright.motions import Easing, Keyframe, Motion, Pose
from posewright.robots import robot

ERS7 = robot("sony_ers7")
HEAD = ("neck_tilt", "head_pan", "head_tilt")


def read(data: bytes, name: str = "x.mtn") -> Motion:
    return FORMAT.read(data, Path(name), None).motion()


def render(motion: Motion) -> Rendering:
    return FORMAT.render(motion, Path("y.mtn"), WriteOptions())


def written(motion: Motion) -> OmtnDocument:
    return read_omtn(render(motion).data)


def nod(*keyframes: Keyframe, joints: Sequence[str] = HEAD, **changes: Any) -> Motion:
    return Motion("nod", "sony_ers7", tuple(joints), keyframes, **changes)


def at(reach_s: float, *angles: float, joints: Sequence[str] = HEAD, **changes: Any) -> Keyframe:
    return Keyframe(Pose(tuple(joints), np.array(angles)), reach_s, **changes)


def test_a_keyframe_is_a_keyframe_and_a_way_lasts_a_frame_more_than_are_between(aibo: Any) -> None:
    motion = read(aibo.omtn([[0, 0, 0], [500_000, 0, 0], [0, 0, -1]], [0, 30]))
    assert [frame.reach_s for frame in motion.keyframes] == [0.0, 0.016, 31 * 0.016]
    assert [frame.easing for frame in motion.keyframes] == [Easing.LINEAR] * 3
    assert motion.keyframes[1].pose.angles.tolist() == [0.5, 0.0, 0.0]
    assert (motion.name, motion.robot, motion.joints) == ("h_any#any_nod", "sony_ers7", HEAD)


def test_joints_are_told_by_their_locators_and_never_by_their_place(aibo: Any) -> None:
    backwards = list(reversed(aibo.ers7_head))
    motion = read(aibo.omtn([[3, 2, 1], [6, 5, 4]], locators=backwards))
    assert motion.joints == tuple(reversed(HEAD))
    assert motion.keyframes[0].pose.angle("neck_tilt") == 1e-6


def test_the_trunks_attitude_is_kept_with_the_sign_of_pitch_turned(aibo: Any) -> None:
    motion = read(aibo.omtn(attitudes=[[100_000, 200_000, 300_000], [0, 0, 0]]))
    assert motion.keyframes[0].attitude == (0.1, -0.2, 0.3)
    assert motion.keyframes[1].attitude == (0.0, 0.0, 0.0)
    assert math.copysign(1.0, (motion.keyframes[1].attitude or (0.0, -1.0))[1]) == 1.0
    assert read(aibo.omtn()).keyframes[0].attitude is None


def test_what_a_file_says_besides_goes_into_the_extras(aibo: Any) -> None:
    assert read(aibo.omtn(creator="me")).extras == {
        "creator": "me",
        "design": "DRX-1000_Head",
    }
    odd = read(aibo.omtn(creator="me", minor=7))
    assert odd.extras["omtn_minor"] == "7"
    assert set(read(aibo.ers110()).extras) == {"creator", "design"}


def test_an_ers110_means_16_ms_by_0(aibo: Any) -> None:
    motion = read(aibo.ers110())
    assert motion.robot == "sony_ers110"
    assert motion.duration == 0.16


def test_what_every_file_of_an_older_dog_says_is_not_lost_elsewhere(aibo: Any, tmp_path: Path) -> None:
    (tmp_path / "nod.mtn").write_bytes(aibo.ers110())
    done = convert_motion(tmp_path / "nod.mtn", tmp_path / "nod.motion", accept_loss=True)
    assert "omtn" not in "; ".join(done.losses)
    assert render(read(aibo.ers110())).data == aibo.ers110()


def test_a_robot_nobody_has_a_card_of_has_joints_called_as_in_the_file(aibo: Any) -> None:
    data = aibo.omtn(design="DRX-801_Head")
    file = FORMAT.read(data, Path("x.mtn"), None)
    assert (file.motion().robot, file.motion().joints) == ("DRX-801", aibo.ers7_head)
    assert "there is no card of DRX-801" in file.warnings[0]
    assert render(file.motion()).data == data


def test_a_known_robot_with_an_unknown_joint_is_another_robot(aibo: Any) -> None:
    data = aibo.omtn(locators=["PRM:/r1/c1-Joint2:11", "PRM:/r9/c1-Joint2:91", "PRM:/r9/c2-Joint2:92"])
    assert read(data).robot == "DRX-1000"
    assert render(read(data)).data == data


def test_the_robot_asked_for_is_taken_if_it_has_the_joints(aibo: Any) -> None:
    own = replace(ERS7, name="my_dog")
    assert FORMAT.read(aibo.omtn(), Path("x.mtn"), own).motion().robot == "my_dog"
    assert FORMAT.read(aibo.ers110(), Path("x.mtn"), own).motion().robot == "sony_ers110"


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"surplus": b"12345678", "after": b"zzz", "reserved": 4, "fills": (b"\1", b"\2\2")},
        {"attitudes": [[1, 2, 3], [-4, 5, -6]], "creator": "", "name": ""},
        {"minor": 9, "frame_ms": 32},
        {"angles": [[5, 6, 7]]},
    ],
)
def test_what_was_not_edited_is_written_as_it_was(changes: dict[str, Any], aibo: Any) -> None:
    for data in (aibo.omtn(**changes), aibo.zipped(aibo.omtn(**changes))):
        done = render(read(data))
        assert done.data == data
        assert (done.losses, done.remarks) == ((), ())


def test_real_motions_survive_a_native_file(samples: Callable[[str], Path], tmp_path: Path) -> None:
    for name in ("a_stand__stand_so0_makebow", "ers111_cd_1", "mind2_part_h_any__any_soc_clock1"):
        source = samples(f"aibo_mtn/{name}.mtn")
        write_motion(read_motion(source), tmp_path / "x.motion.yaml")
        write_motion(read_motion(tmp_path / "x.motion.yaml"), tmp_path / "y.mtn", "aibo-omtn")
        assert (tmp_path / "y.mtn").read_bytes() == source.read_bytes()


def test_an_edited_file_keeps_what_was_not_edited(aibo: Any) -> None:
    data = aibo.omtn(surplus=b"keep", after=b"me", minor=0, creator="Sony Corporation")
    motion = read(data)
    edited = replace(motion, keyframes=(motion.keyframes[0], at(0.16, 0.5, 0.0, 0.0)))
    done = render(edited)
    assert done.data == aibo.omtn(
        [[0, 0, 0], [500_000, 0, 0]], surplus=b"keep", after=b"me", minor=0, creator="Sony Corporation"
    )


def test_a_motion_that_moves_exactly_a_part_gets_the_design_of_the_part() -> None:
    head = nod(at(0.0, -0.1, 0.0, 0.0), at(0.16, -0.2, 0.1, 0.0))
    document = written(head)
    assert (document.design, document.minor_version, document.creator) == ("DRX-1000_Head", 1, "Posewright")
    tail = nod(at(0.0, 0.2, 0.0, joints=("tail_pan", "tail_tilt")), joints=("tail_pan", "tail_tilt"))
    document = written(tail)
    assert document.design == "DRX-1000_Tail"
    assert document.angles[0].tolist() == [0, 200_000]  # in the order of the design


def test_any_other_motion_moves_the_whole_body_and_the_rest_stands() -> None:
    done = render(nod(at(0.0, -0.1, joints=HEAD[:1]), at(0.16, -0.2, joints=HEAD[:1]), joints=HEAD[:1]))
    document = read_omtn(done.data)
    assert (document.design, document.minor_version, len(document.locators)) == ("DRX-1000", 2, 20)
    stand = [round(1e6 * angle) for angle in ERS7.pose("stand")]
    assert document.angles[1].tolist() == [-200_000, *stand[1:]]
    assert done.losses == ()
    assert "never set, so they are written as in the pose 'stand'" in done.remarks[0]


def test_the_design_a_motion_says_it_had_is_taken_if_it_fits() -> None:
    one = nod(
        at(0.0, -0.1, 0.0, 0.0), at(0.16, -0.2, 0.0, 0.0), extras={"design": "DRX-1000", "omtn_minor": "1"}
    )
    assert (written(one).design, written(one).minor_version) == ("DRX-1000", 1)
    tail = replace(one, extras={"design": "DRX-1000_Tail", "omtn_minor": "77"})
    assert (written(tail).design, written(tail).minor_version) == ("DRX-1000_Head", 1)


def test_an_edited_part_that_moves_more_becomes_a_whole_body(aibo: Any) -> None:
    motion = read(aibo.omtn())
    joints = (*motion.joints, "mouth")
    frames = tuple(
        replace(frame, pose=Pose(joints, np.append(frame.pose.angles, -0.2))) for frame in motion.keyframes
    )
    document = written(replace(motion, joints=joints, keyframes=frames))
    assert (document.design, len(document.locators)) == ("DRX-1000", 20)


def test_a_pause_is_the_same_pose_once_more() -> None:
    document = written(nod(at(0.0, -0.1, 0.0, 0.0, pause_s=0.32), at(0.16, -0.2, 0.0, 0.0)))
    assert document.times_ms.tolist() == [0, 320, 480]
    assert document.angles[0].tolist() == document.angles[1].tolist()


def test_a_way_in_is_waited_for_in_the_first_keyframe() -> None:
    done = render(nod(at(0.32, -0.1, 0.0, 0.0), at(0.16, -0.2, 0.0, 0.0)))
    assert read_omtn(done.data).times_ms.tolist() == [0, 320, 480]
    assert done.losses == ()
    assert "stays in its first keyframe for the 0.32 s" in done.remarks[0]


def test_a_start_pose_becomes_the_first_keyframe() -> None:
    start = Pose(HEAD, np.array([-0.3, 0.0, 0.0]))
    done = render(nod(at(0.32, -0.1, 0.0, 0.0), at(0.16, -0.2, 0.0, 0.0), start=start))
    assert read_omtn(done.data).angles[:, 0].tolist() == [-300_000, -100_000, -200_000]
    assert done.losses == ()
    lost = render(nod(at(0.0, -0.1, 0.0, 0.0), at(0.16, -0.2, 0.0, 0.0), start=start)).losses
    assert "its start pose" in lost[0]


def test_one_pass_of_a_loop_begins_where_the_pass_before_it_ended() -> None:
    done = render(nod(at(0.16, -0.1, 0.0, 0.0), at(0.16, -0.2, 0.0, 0.0), repeat=None))
    assert read_omtn(done.data).angles[:, 0].tolist() == [-200_000, -100_000, -200_000]
    assert any("repeats for ever" in loss for loss in done.losses)


def test_keyframes_within_a_frame_become_one_and_the_loss_is_told() -> None:
    frames = (
        at(0.0, -0.1, 0.0, 0.0),
        at(0.16, -0.2, 0.0, 0.0),
        at(0.004, -0.3, 0.0, 0.0),
        at(0.16, -0.4, 0.0, 0.0),
    )
    done = render(nod(*frames))
    assert read_omtn(done.data).angles[:, 0].tolist() == [-100_000, -300_000, -400_000]
    assert done.losses == ("keyframe 2: within the same 16 ms as keyframe 3, which stays",)
    same = render(nod(at(0.0, -0.1, 0.0, 0.0), at(0.16, -0.2, 0.0, 0.0), at(0.004, -0.2, 0.0, 0.0)))
    assert same.losses == ()


def test_a_single_pose_is_held_for_a_frame_as_the_player_plays_nothing_of_one() -> None:
    done = render(nod(at(0.0, -0.1, 0.0, 0.0)))
    assert read_omtn(done.data).times_ms.tolist() == [0, 16]
    assert "written twice" in done.remarks[0]


@pytest.mark.parametrize(
    ("frame", "changes", "story"),
    [
        ({"easing": Easing.SMOOTH}, {}, "easing smooth"),
        ({"easing": Easing.TRAPEZOID}, {}, "easing trapezoid"),
        ({"stiffness": {"neck_tilt": 3.0}}, {}, "stiffness of neck_tilt"),
        ({}, {"repeat": 3}, "repeats 3 times"),
        ({}, {"next": "5"}, "motion '5' comes next"),
        ({}, {"exit": "bow"}, "motion 'bow' is its exit"),
        ({}, {"name": "\u732b"}, "characters of the name '\u732b'"),
    ],
)
def test_what_the_file_cannot_hold_is_named(
    frame: dict[str, Any], changes: dict[str, Any], story: str
) -> None:
    motion = nod(at(0.0, -0.1, 0.0, 0.0), at(0.16, -0.2, 0.0, 0.0, **frame))
    done = render(replace(motion, **changes))
    assert len(done.losses) == 1
    assert story in done.losses[0]


def test_a_trapezoid_without_ramps_is_a_straight_line() -> None:
    frame = at(0.16, -0.2, 0.0, 0.0, easing=Easing.TRAPEZOID, accel_share=0.0)
    assert render(nod(at(0.0, -0.1, 0.0, 0.0), frame)).losses == ()


def test_a_joint_let_go_stays_as_it_was_and_that_is_a_loss() -> None:
    free = Keyframe(Pose.of(HEAD, {"head_pan": 0.1, "head_tilt": 0.0}, free=["neck_tilt"]), 0.16)
    done = render(nod(at(0.0, -0.1, 0.0, 0.0), free))
    assert read_omtn(done.data).angles[:, 0].tolist() == [-100_000, -100_000]
    assert "torque off at neck_tilt" in done.losses[0]


def test_held_joints_stay_as_they_were() -> None:
    held = Keyframe(Pose.of(HEAD, {"head_pan": 0.1}), 0.16)
    document = written(nod(at(0.0, -0.1, 0.0, 0.2), held))
    assert document.angles[1].tolist() == [-100_000, 100_000, 200_000]


def test_names_that_are_too_long_are_refused_or_told() -> None:
    motion = nod(at(0.0, -0.1, 0.0, 0.0), at(0.16, -0.2, 0.0, 0.0))
    with pytest.raises(FormatError, match="256 characters"):
        render(replace(motion, name="x" * 256))
    assert "crash the player" in render(replace(motion, name="x" * 128)).remarks[0]
    assert "MONETCMD.CFG" in render(replace(motion, name="x" * 32)).remarks[0]
    assert render(replace(motion, name="x" * 31)).remarks == ()


def test_what_does_not_fit_at_all_is_refused() -> None:
    with pytest.raises(FormatError, match="goes to 400 deg"):
        render(nod(at(0.0, math.radians(400), 0.0, 0.0)))
    with pytest.raises(FormatError, match="takes 1,062,500 frames"):
        render(nod(at(0.0, -0.1, 0.0, 0.0), at(17_000.0, -0.2, 0.0, 0.0)))
    bioloid = Motion("x", "robotis_bioloid", ("right_knee",), (at(0.0, 0.1, joints=("right_knee",)),))
    with pytest.raises(FormatError, match="an OMTN cannot move robotis_bioloid"):
        render(bioloid)
    with pytest.raises(FormatError, match="moves no joint"):
        render(nod(Keyframe(Pose.of(HEAD, {}), 0.0)))


def test_the_attitude_goes_straight_where_nobody_says_it() -> None:
    frames = [at(0.16 if i else 0.0, 0.1 * i, 0.0, 0.0) for i in range(3)]
    frames[0] = replace(frames[0], attitude=(0.1, 0.0, 0.0))
    frames[2] = replace(frames[2], attitude=(0.3, 0.2, 0.0))
    assert written(nod(*frames)).attitudes.tolist() == [
        [100_000, 0, 0],
        [200_000, -100_000, 0],
        [300_000, -200_000, 0],
    ]


def test_the_attitude_is_carried_on_where_nobody_says_it() -> None:
    lean = at(0.16, -0.2, 0.0, 0.0, attitude=(0.1, 0.2, 0.3))
    document = written(nod(at(0.0, -0.1, 0.0, 0.0), lean, at(0.16, -0.3, 0.0, 0.0)))
    assert document.attitudes.tolist() == [[100_000, -200_000, 300_000]] * 3
    assert written(nod(at(0.0, -0.1, 0.0, 0.0))).attitudes.tolist() == [[0, 0, 0]] * 2


seconds = st.floats(0.02, 2.0)


@settings(max_examples=60, deadline=None)
@given(ways=st.lists(seconds, min_size=1, max_size=30), speed=st.floats(0.5, 2.0))
def test_times_are_rounded_one_by_one_and_errors_do_not_add_up(ways: list[float], speed: float) -> None:
    frames = [at(way, -0.01 * i, 0.0, 0.0) for i, way in enumerate(ways)]
    motion = nod(at(0.0, 0.5, 0.0, 0.0), *frames, speed=speed)
    done = render(motion)
    times = read_omtn(done.data).times_ms / 1000.0
    if done.losses:
        return  # two keyframes within a frame
    assert np.abs(times - motion.keyframe_times).max() <= 0.008 + 1e-9


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.floats(-2.0, 2.0), min_size=3, max_size=3), min_size=2, max_size=8))
def test_angles_are_exact_to_a_micro_radian(rows: list[list[float]]) -> None:
    motion = nod(*(at(0.16 if i else 0.0, *row) for i, row in enumerate(rows)))
    document = written(motion)
    assert np.abs(document.angles / 1e6 - np.array(rows)).max() <= 0.5e-6 + 1e-12
    again = render(read(render(motion).data))
    assert again.data == render(motion).data
