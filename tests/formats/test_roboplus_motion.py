"""RoboPlus pages as motions: angles, times, the graph of pages; and edited motions back in their file."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.errors import FormatError, InputError, LossError, UnknownNameError
from posewright.formats import (
    FORMATS,
    MotionFile,
    WriteOptions,
    convert_motion,
    losses,
    read_motion,
    read_motion_file,
    write_motion,
    write_motion_file,
)
from posewright.motions import Easing, Keyframe, Motion, Pose
from posewright.robots import robot

ReadBytes = Callable[[bytes], MotionFile]
Save = Callable[..., Path]
BIOLOID = robot("robotis_bioloid")
VENDOR = "robotis_mtn_text/robkwan_bio_prm_humanoidtypea_en.mtn"


def standing(**angles: float) -> Pose:
    return Pose.of(BIOLOID.joint_names, dict.fromkeys(BIOLOID.joint_names, 0.0) | angles)


def motion_of(*frames: Keyframe, **changes: Any) -> Motion:
    return Motion("made up", BIOLOID.name, BIOLOID.joint_names, frames, **changes)


def parsed(path: Path) -> list[dict[str, Any]]:
    """An independent reading of a file, in ten lines: its pages as they stand."""
    pages: list[dict[str, Any]] = []
    for line in path.read_bytes().split(b"\n"):
        key, _, value = line.strip().replace(b",", b".").partition(b"=")
        if key == b"page_begin":
            pages.append({"steps": []})
        elif key == b"step":
            pages[-1]["steps"].append([float(word) for word in value.split()])
        elif key in (b"name", b"play_param", b"compliance"):
            pages[-1][key.decode()] = value.decode("latin-1").split() if key != b"name" else value.decode()
    return pages


@pytest.mark.parametrize("name", ["sumo_COMMA", "grab-n-lift_BADSUM", "robkwan_bio_prm_humanoidtypea_en"])
def test_real_pages_are_what_an_independent_reader_finds(name: str, samples: Callable[[str], Path]) -> None:
    path = samples(f"robotis_mtn_text/{name}.mtn")
    file = read_motion_file(path)
    pages = parsed(path)
    assert [label.number for label in file.pages] == [i for i, p in enumerate(pages, 1) if p["steps"]]
    for label, motion in zip(file.pages, file.motions, strict=True):
        page = pages[label.number - 1]
        assert label.name == (page["name"].strip() or f"page {label.number}")
        assert motion.speed == float(page["play_param"][3])
        for frame, row in zip(motion.keyframes, page["steps"], strict=True):
            assert (frame.pause_s, frame.reach_s) == (row[26], row[27])
            for joint, servo in zip(motion.joints, BIOLOID.servos, strict=True):
                degrees = row[servo.id] * 300.0 / 1024.0
                expected = servo.direction * math.radians(degrees - servo.centre_deg)
                assert frame.pose.angle(joint) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", ["sumo_COMMA", "grab-n-lift_BADSUM", "robkwan_bio_prm_humanoidtypea_en"])
def test_real_files_come_back_byte_for_byte(
    name: str, samples: Callable[[str], Path], tmp_path: Path
) -> None:
    path = samples(f"robotis_mtn_text/{name}.mtn")
    write_motion(read_motion(path), tmp_path / "a.mtn")
    write_motion_file(read_motion_file(path), tmp_path / "b.mtn")
    assert convert_motion(path, tmp_path / "c.mtn").losses == ()
    for copy in "abc":
        assert (tmp_path / f"{copy}.mtn").read_bytes() == path.read_bytes()


def test_the_vendor_walk_is_a_chain_of_pages(samples: Callable[[str], Path]) -> None:
    file = read_motion_file(samples(VENDOR))
    start = file.motion("F_S_L")
    chain = [start]
    while chain[-1].next is not None and len(chain) < 6:
        chain.append(file.motion(chain[-1].next))
    assert [motion.name for motion in chain] == ["F_S_L", "page 33", "F_M_R", "page 39", "F_M_L", "page 37"]
    stop = file.motion(chain[1].exit)  # on a stop, page 33 leaves through F_E_R
    assert (stop.name, stop.next, file.motion(stop.next).next) == ("F_E_R", "43", None)
    assert set(file.reachable_pages("F_S_L")) == {str(number) for number in (32, 33, *range(36, 44))}


def test_walk_ready_is_the_pose_of_the_card(samples: Callable[[str], Path]) -> None:
    pose = read_motion(samples(VENDOR), "Walk Ready").keyframes[0].pose
    ticks = [servo.to_ticks(pose.angle(servo.joint)) for servo in BIOLOID.servos]
    assert np.allclose(
        ticks, [235, 788, 279, 744, 462, 561, 358, 666, 507, 516, 341, 682, 240, 783, 647, 376, 507, 516]
    )
    assert np.allclose(pose.angles, BIOLOID.pose("walk_ready"), atol=math.radians(0.1))


# addressing


def test_a_page_is_named_by_name_or_number(mtn: Any, saved: Save) -> None:
    pages = {
        1: mtn.page("Bow", [mtn.step()]),
        2: mtn.page("Kick  ", [mtn.step(mtn.standing)]),
        3: mtn.page("1", [mtn.step()]),
        5: mtn.page("Kick", [mtn.step()]),
    }
    path = saved(mtn.build(pages))
    assert read_motion(path).name == "Bow"
    assert read_motion(path, 2).name == read_motion(path, "2").name == "Kick"
    assert read_motion(path, "Bow ").origin.page == 1
    assert read_motion(path, "1").origin.page == 3, "a page is called 1"
    assert read_motion(path, 1).origin.page == 1
    with pytest.raises(FormatError, match=r"2 pages are called 'Kick'.*give the page's number: 2, 5"):
        read_motion(path, "Kick")
    with pytest.raises(FormatError, match=r"page 4 is empty.*1-3, 5"):
        read_motion(path, 4)
    for unknown in (0, 256, "900", "-1"):
        with pytest.raises(UnknownNameError):
            read_motion(path, unknown)
    with pytest.raises(UnknownNameError, match="did you mean Bow"):
        read_motion(path, "Bowl")


# what a page means


def test_a_page_becomes_keyframes_with_its_times_and_rate(mtn: Any, read_bytes: ReadBytes) -> None:
    page = mtn.page("a", [mtn.step(pause="0.496", play="1.000")], play="0 0 3 2.0 32")
    (motion,) = read_bytes(mtn.build({1: page})).motions
    assert (motion.robot, motion.joints) == (BIOLOID.name, BIOLOID.joint_names)
    assert (motion.repeat, motion.speed, motion.next, motion.exit) == (3, 2.0, None, None)
    frame = motion.keyframes[0]
    assert (frame.reach_s, frame.pause_s, frame.easing) == (1.0, 0.496, Easing.TRAPEZOID)
    assert frame.accel_share == pytest.approx(32 / 128 / (1.0 / 2.0))
    assert motion.duration == pytest.approx((1.0 + 0.496) / 2.0)


def test_no_inertial_force_is_linear(mtn: Any, read_bytes: ReadBytes) -> None:
    (motion,) = read_bytes(mtn.build({1: mtn.page("a", [mtn.step()], play="0 0 1 1.0 0")})).motions
    assert motion.keyframes[0].easing is Easing.LINEAR


def test_a_page_that_is_its_own_next_plays_for_ever(mtn: Any, read_bytes: ReadBytes) -> None:
    pages = {
        1: mtn.page("a", [mtn.step()], play="1 2 1 1.0 4"),
        2: mtn.page("b", [mtn.step()]),
        3: mtn.page("still", [mtn.step(play="0.000")], play="3 0 9 1.0 4"),
    }
    block, _, still = read_bytes(mtn.build(pages)).motions
    assert (block.repeat, block.next, block.exit) == (None, None, "2")
    assert still.repeat == 1, "what takes no time cannot be repeated"


def test_compliance_becomes_stiffness_where_it_is_not_the_servos_own(mtn: Any, read_bytes: ReadBytes) -> None:
    soft = mtn.page("a", [mtn.step()], compliance=" ".join(["5", "7", "4", *["5"] * 23]))
    (motion,) = read_bytes(mtn.build({1: soft})).motions
    stiffness = motion.keyframes[0].stiffness
    assert stiffness == {
        "right_shoulder_pitch": pytest.approx(2.29, abs=0.005),  # slope 128
        "left_shoulder_pitch": pytest.approx(18.3, abs=0.05),  # slope 16
    }


def test_only_enabled_joints_are_moved(mtn: Any, read_bytes: ReadBytes) -> None:
    head = ["type=motion", "version=1.00", "enable=0 1 1" + " 0" * 23]
    (motion,) = read_bytes(mtn.build(head=head)).motions
    assert motion.joints == ("right_shoulder_pitch", "left_shoulder_pitch")


def test_a_robot_without_the_numbering_is_refused(mtn: Any, saved: Save) -> None:
    path = saved(mtn.build())
    nameless = replace(BIOLOID, numberings={})
    with pytest.raises(UnknownNameError, match="numbering"):
        read_motion(path, robot=nameless)
    with pytest.raises(UnknownNameError, match="robot"):
        read_motion(path, robot="no_such_robot")


# editing


def two_pages(mtn: Any) -> bytes:
    pages = {
        1: mtn.page("Bow", [mtn.step(), mtn.step(mtn.standing, play="0.100")], play="2 0 1 1.5 5"),
        2: mtn.page("Kick", [mtn.step(mtn.standing)]),
    }
    return bytes(mtn.build(pages))


def differing_lines(before: bytes, after: bytes) -> list[int]:
    pairs = zip(before[:-2].split(b"\n"), after[:-2].split(b"\n"), strict=True)
    return [number for number, (old, new) in enumerate(pairs, 1) if old != new]


@pytest.mark.parametrize(
    ("edit", "lines"),
    [
        (lambda m: m, []),
        (lambda m: replace(m, name="Greet"), [6]),
        (lambda m: replace(m, speed=2.0), [8]),
        (lambda m: replace(m, next=None), [8]),
        (lambda m: replace(m, exit="Kick"), [8]),
        (lambda m: replace(m, repeat=None), [8]),
        (lambda m: replace(m, repeat=7), [8]),
        (lambda m: replace(m, keyframes=(m.keyframes[0], replace(m.keyframes[1], pause_s=0.4))), [10]),
        (
            lambda m: replace(
                m, keyframes=tuple(replace(k, stiffness={"left_knee": 4.58}) for k in m.keyframes)
            ),
            [7],
        ),
        (
            lambda m: replace(
                m, keyframes=(replace(m.keyframes[0], pose=m.keyframes[1].pose), m.keyframes[1])
            ),
            [9],
        ),
    ],
    ids=["nothing", "name", "speed", "next", "exit", "for ever", "repeat", "pause", "stiffness", "pose"],
)
def test_an_edit_changes_its_line_and_the_trailer(
    edit: Callable[[Motion], Motion], lines: list[int], mtn: Any, saved: Save
) -> None:
    path = saved(two_pages(mtn))
    edited = edit(read_motion(path))
    write_motion(edited, path, accept_loss=True)
    assert differing_lines(two_pages(mtn), path.read_bytes()) == lines
    assert read_motion_file(path).warnings == (
        "line 10: a time is not a multiple of 0.008 s; a controller rounds it",
    ), "the trailer is right"
    written = read_motion(path)
    assert (written.name, written.speed, written.repeat) == (edited.name, edited.speed, edited.repeat)
    assert [frame.pose for frame in written.keyframes] == [frame.pose for frame in edited.keyframes]


def test_a_page_written_elsewhere_takes_along_what_it_leads_to(mtn: Any, saved: Save, tmp_path: Path) -> None:
    pages = {
        3: mtn.page("alone", [mtn.step()]),
        9: mtn.page("walk", [mtn.step()], play="10 12 1 2.1 5"),
        10: mtn.page("", [mtn.step(mtn.standing)], play="9 11 1 2.1 5"),
        12: mtn.page("stop", [mtn.step()]),
    }
    path, out = saved(mtn.build(pages)), tmp_path / "walk.mtn"
    write_motion(read_motion(path, "walk"), out)
    file = read_motion_file(out)
    assert file.warnings == ()
    assert [label.name for label in file.pages] == ["walk", "page 2", "stop"]
    assert [(m.next, m.exit) for m in file.motions] == [("2", "3"), ("1", None), (None, None)]
    assert len(file.document.pages) == 255


def test_a_page_written_over_its_own_file_leaves_the_others(mtn: Any, saved: Save) -> None:
    path = saved(two_pages(mtn))
    write_motion(replace(read_motion(path, "Kick"), speed=3.0), path)
    assert [(m.name, m.speed) for m in read_motion_file(path).motions] == [("Bow", 1.5), ("Kick", 3.0)]


def test_a_file_with_an_edited_motion_changes_that_page(mtn: Any, saved: Save, tmp_path: Path) -> None:
    file = read_motion_file(saved(two_pages(mtn)))
    edited = file.with_motion("Kick", replace(file.motion("Kick"), speed=0.5))
    with pytest.raises(LossError, match="page 2: ramps of 1 keyframe"):
        write_motion_file(edited, tmp_path / "out.mtn")
    (lost,) = write_motion_file(edited, tmp_path / "out.mtn", accept_loss=True)
    assert lost.startswith("page 2: ramps")
    again = read_motion_file(tmp_path / "out.mtn")
    assert [motion.speed for motion in again.motions] == [1.5, 0.5]


def test_more_than_seven_keyframes_go_on_in_free_pages(mtn: Any, saved: Save) -> None:
    path = saved(two_pages(mtn))
    bow = read_motion(path)
    frames = tuple(Keyframe(standing(left_knee=0.1 * i), 0.4) for i in range(16))
    write_motion(replace(bow, keyframes=frames), path)
    file = read_motion_file(path)
    assert [(len(m.keyframes), m.next) for m in file.motions] == [(7, "3"), (1, None), (7, "4"), (2, "2")]
    chain = [frame for number in (1, 3, 4) for frame in file.motion(number).keyframes]
    found = [frame.pose.angle("left_knee") for frame in chain]
    assert np.allclose(found, [0.1 * i for i in range(16)], atol=BIOLOID.servos[0].tick_rad / 2)


# motions from elsewhere


def test_a_new_motion_becomes_page_one_of_a_whole_file(tmp_path: Path) -> None:
    out = tmp_path / "new.mtn"
    made = motion_of(Keyframe(standing(left_elbow=0.5), 0.4, 0.8, Easing.TRAPEZOID, accel_share=0.25))
    assert losses(made, "roboplus-mtn") == ()
    write_motion(made, out)
    file = read_motion_file(out)
    assert (file.warnings, len(file.document.pages)) == ((), 255)
    assert file.document.enabled == (False, *[True] * 18, *[False] * 7)
    (motion,) = file.motions
    assert (motion.name, motion.keyframes[0].accel_share) == ("made up", pytest.approx(0.25, abs=0.01))
    assert motion.keyframes[0].pose.angle("left_elbow") == pytest.approx(0.5, abs=0.003)


joint_angles = st.lists(st.integers(0, 1023), min_size=18, max_size=18)
grid_times = st.integers(1, 255).map(lambda units: round(units * 0.008, 3))


@settings(max_examples=40, deadline=None)
@given(
    steps=st.lists(st.tuples(joint_angles, grid_times, grid_times), min_size=1, max_size=7),
    passes=st.integers(1, 255),
)
def test_what_fits_a_page_comes_back_exactly(
    steps: list[tuple[list[int], float, float]], passes: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    frames = [
        Keyframe(Pose(BIOLOID.joint_names, BIOLOID.from_ticks(np.array(ticks, dtype=float))), reach, pause)
        for ticks, reach, pause in steps
    ]
    made = motion_of(*frames, repeat=passes)
    assert losses(made, "roboplus-mtn") == ()
    out = tmp_path_factory.mktemp("page") / "page.mtn"
    write_motion(made, out)
    again = read_motion(out)
    assert again.repeat == passes
    for old, new in zip(made.keyframes, again.keyframes, strict=True):
        assert (old.reach_s, old.pause_s, old.easing) == (new.reach_s, new.pause_s, new.easing)
        assert np.allclose(old.pose.angles, new.pose.angles, atol=1e-12)


def held(*joints: str) -> Pose:
    return Pose.of(BIOLOID.joint_names, {j: 0.0 for j in BIOLOID.joint_names if j not in joints})


FREE = Pose.of(
    BIOLOID.joint_names, {j: 0.0 for j in BIOLOID.joint_names if j != "left_elbow"}, free=["left_elbow"]
)
AT_ZERO = Keyframe(standing(), 0.4)


def test_times_off_the_grid_are_told_and_lose_nothing() -> None:
    done = FORMATS["roboplus-mtn"].render(
        motion_of(*[Keyframe(standing(), 0.125)] * 2), Path(), WriteOptions()
    )
    assert (done.losses, done.remarks) == ((), ("times are rounded to 8 ms, by up to 3 ms each",))
    assert done.times_s == pytest.approx([0.128, 0.256])


@pytest.mark.parametrize(
    ("motion", "story"),
    [
        (motion_of(AT_ZERO, start=standing()), "its start pose"),
        (motion_of(AT_ZERO, Keyframe(FREE, 0.4)), "left_elbow is free"),
        (motion_of(replace(AT_ZERO, easing=Easing.PCHIP)), "easing pchip"),
        (motion_of(AT_ZERO, replace(AT_ZERO, easing=Easing.TRAPEZOID)), "easing linear, trapezoid"),
        (motion_of(AT_ZERO, replace(AT_ZERO, stiffness={"left_knee": 4.58})), "from keyframe to keyframe"),
        (motion_of(replace(AT_ZERO, stiffness={"left_knee": 6.0})), "stiffness of left_knee is rounded"),
        (motion_of(AT_ZERO, repeat=300), "repeat 300 becomes 255"),
        (motion_of(AT_ZERO, speed=1.234), "speed 1.234 becomes rate 1.2"),
        (motion_of(AT_ZERO, next="stop"), "next motion 'stop'"),
        (motion_of(Keyframe(standing(left_hip_roll=3.0), 0.4)), "left_hip_roll goes 76 ticks past"),
        (replace(motion_of(AT_ZERO), name="a name longer than a page's"), "becomes 'a name longer'"),
        (replace(motion_of(AT_ZERO), name="two\nlines"), "becomes 'two lines'"),
        (motion_of(*[AT_ZERO] * 8, repeat=99), "repeat 99: a page of 8 steps is split"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_a_page_cannot_hold_is_told_and_refused_until_it_is_accepted(
    motion: Motion, story: str, tmp_path: Path
) -> None:
    (lost,) = losses(motion, "roboplus-mtn")
    assert story in lost
    out = tmp_path / "out.mtn"
    with pytest.raises(LossError, match=r"would lose: .*\(accept_loss=True") as caught:
        write_motion(motion, out)
    assert story in caught.value.message
    assert not out.exists()
    assert write_motion(motion, out, accept_loss=True) == (lost,)
    assert read_motion_file(out).warnings == ()


def test_held_joints_stay_where_they_were(tmp_path: Path) -> None:
    made = motion_of(Keyframe(standing(left_knee=0.3), 0.4), Keyframe(held("left_knee"), 0.4))
    write_motion(made, tmp_path / "out.mtn")
    frames = read_motion(tmp_path / "out.mtn").keyframes
    assert frames[1].pose.angle("left_knee") == frames[0].pose.angle("left_knee")


def test_joints_that_are_never_moved_are_not_enabled(tmp_path: Path) -> None:
    write_motion(motion_of(Keyframe(held("left_knee"), 0.4)), tmp_path / "out.mtn")
    assert "left_knee" not in read_motion(tmp_path / "out.mtn").joints


def test_long_ways_and_pauses_become_several_steps(tmp_path: Path) -> None:
    made = motion_of(Keyframe(standing(), 0.4), Keyframe(standing(left_knee=1.0), 5.0, 3.2))
    assert losses(made, "roboplus-mtn") == ()
    write_motion(made, tmp_path / "out.mtn")
    file = read_motion_file(tmp_path / "out.mtn")
    assert file.warnings == ()
    (motion,) = file.motions
    assert motion.duration == pytest.approx(made.duration)
    for t in np.linspace(0.0, made.duration, 30):
        assert motion.at(t).angle("left_knee") == pytest.approx(made.at(t).angle("left_knee"), abs=0.006)


def test_playing_for_ever_over_several_pages_closes_the_chain(tmp_path: Path) -> None:
    write_motion(motion_of(*[AT_ZERO] * 9, repeat=None), tmp_path / "out.mtn")
    assert [m.next for m in read_motion_file(tmp_path / "out.mtn").motions] == ["2", "1"]


def test_a_repeat_over_several_pages_is_written_out(tmp_path: Path) -> None:
    write_motion(motion_of(*[AT_ZERO] * 8, repeat=3), tmp_path / "out.mtn")
    assert [len(m.keyframes) for m in read_motion_file(tmp_path / "out.mtn").motions] == [7, 7, 7, 3]


def test_what_no_file_can_hold_is_refused(tmp_path: Path) -> None:
    for endless in (motion_of(Keyframe(standing(), 80_000.0)), motion_of(*[AT_ZERO] * 1800)):
        with pytest.raises(FormatError, match=r"1785 steps|more pages"):
            write_motion(endless, tmp_path / "out.mtn")


# converting


def test_a_page_goes_through_the_native_format_and_back(mtn: Any, saved: Save, tmp_path: Path) -> None:
    page = mtn.page("Bow", [mtn.step(), mtn.step(mtn.standing)], play="0 0 2 1.5 5", compliance="6 " * 26)
    path, between, back = saved(mtn.build({1: page})), tmp_path / "bow.motion.yaml", tmp_path / "back.mtn"
    assert convert_motion(path, between).losses == ()
    assert convert_motion(between, back).losses == ()
    was, now = (parsed(file)[0] for file in (path, back))
    assert was.pop("compliance")[1:19] == now.pop("compliance")[1:19]
    assert was == now


def test_every_vendor_page_survives_the_native_format(samples: Callable[[str], Path], tmp_path: Path) -> None:
    file = read_motion_file(samples(VENDOR))
    for motion in file.motions[::12]:
        lonely = replace(motion, next=None, exit=None)
        write_motion(lonely, tmp_path / "page.motion.yaml")
        again = read_motion(tmp_path / "page.motion.yaml")
        assert losses(replace(again, name="short"), "roboplus-mtn") == ()
        write_motion(again, tmp_path / "page.mtn")
        back = read_motion(tmp_path / "page.mtn")
        assert [k.stiffness for k in back.keyframes] == [k.stiffness for k in motion.keyframes]
        for old, new in zip(motion.keyframes, back.keyframes, strict=True):
            assert (old.reach_s, old.pause_s, old.easing) == (new.reach_s, new.pause_s, new.easing)
            assert np.allclose(old.pose.angles, new.pose.angles, atol=1e-9)


def test_leaving_pages_behind_is_a_loss(mtn: Any, saved: Save, tmp_path: Path) -> None:
    path, out = saved(two_pages(mtn)), tmp_path / "bow.motion.yaml"
    with pytest.raises(LossError, match=r"all pages but 'Bow'.*next page 2"):
        convert_motion(path, out)
    assert len(convert_motion(path, out, accept_loss=True).losses) == 2
    assert convert_motion(path, out, page="Kick").losses == ()
    assert read_motion(out).name == "Kick"


def test_the_name_of_the_file_or_of_the_format_says_how_to_write(
    mtn: Any, saved: Save, tmp_path: Path
) -> None:
    motion = read_motion(saved(mtn.build()))
    write_motion(motion, tmp_path / "asked.txt", "posewright-motion")
    write_motion(motion, tmp_path / "told.YAML")
    formats = [read_motion_file(tmp_path / name).format for name in ("asked.txt", "told.YAML")]
    assert formats == ["posewright-motion", "posewright-motion"]
    for unclear_name in ("plain", "walk.mnt", "walk.exe", "walk.xyz"):
        with pytest.raises(InputError, match=r"\.motion\.yaml, \.mtn, .* or \.motion"):
            write_motion(motion, tmp_path / unclear_name)
        assert not (tmp_path / unclear_name).exists()


def test_a_file_with_an_unusual_name_is_written_back_in_its_own_format(mtn: Any, tmp_path: Path) -> None:
    path = tmp_path / "walk.txt"
    path.write_bytes(mtn.build())
    motion = read_motion(path)
    write_motion(replace(motion, name="other"), path)
    assert read_motion_file(path).format == "roboplus-mtn"
    with pytest.raises(UnknownNameError, match="did you mean roboplus-mtn"):
        write_motion(motion, tmp_path / "plain", "roboplus")


def test_motions_without_an_origin_need_an_ending_too(tmp_path: Path) -> None:
    motion = motion_of(AT_ZERO)
    with pytest.raises(InputError, match="of a motion file needs an ending"):
        write_motion(motion, tmp_path / "plain")
    with pytest.raises(UnknownNameError, match="did you mean roboplus-mtn"):
        write_motion(motion, tmp_path / "plain", "roboplus")
