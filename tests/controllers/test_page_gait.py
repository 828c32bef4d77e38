"""A walk by pages goes from page to page as a board would, can be tuned, and ends in a file for the robot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from posewright.arrays import Floats
from posewright.controllers import PageGait, read_page_cycle, read_page_gait, write_page_gait
from posewright.controllers.page_plan import plan_pages
from posewright.controllers.page_sequence import (
    MAX_START_DISTANCE_RAD,
    PageSequence,
    find_page_loop,
    find_start_pose,
)
from posewright.documents import parse_document
from posewright.errors import DocumentError, InputError, UnknownNameError, UnsafeMotionError
from posewright.formats import read_motion_file, write_motion
from posewright.formats.roboplus.document import Page, PlayParam, Step, new_document
from posewright.formats.roboplus.to_motion import columns_of
from posewright.gaits import STILL, VelocityCommand, gait_text, read_gait, steady_walk
from posewright.motions import Pose
from posewright.robots import robot

BIOLOID = robot("robotis_bioloid")
WALK_READY = BIOLOID.pose("walk_ready")
STEP_S = 0.032  # four frames of 1/128 s, rounded to the file's grid of 8 ms
FRAMES_PER_STEP = 4
RATE = 1.024  # makes a step last exactly four frames: 0.032 s / 1.024 = 4/128 s
SPEED_M_S = 0.1


def make_walk_file(path: Path) -> Path:
    """Write a `.mtn` of our biped's walk at 0.1 m/s: page 1 leads in, 2 to 3 are a cycle, 4 is the exit."""
    gait = read_gait("biped", robot=BIOLOID).with_values(
        {"travel_gain.forward": 1.0, "trim.forward_m_s": 0.0, "cycle_s": 0.4375}  # 56 frames, 14 steps
    )
    walk = steady_walk(gait, BIOLOID, VelocityCommand(forward_m_s=SPEED_M_S))
    assert len(walk.cycle) == 56
    document = new_document(enabled=tuple(0 < number <= 18 for number in range(26)))
    columns = columns_of(document, BIOLOID)

    def page(name: str, rows: Floats, next_page: int, exit_page: int) -> Page:
        steps = []
        for row in rows[FRAMES_PER_STEP - 1 :: FRAMES_PER_STEP]:
            ticks = [512] * 26
            for number, position in zip(columns.ids, columns.ticks(row), strict=True):
                ticks[number] = round(position)
            steps.append(Step(tuple(ticks), pause_s=0.0, play_s=STEP_S))
        play = PlayParam(next=next_page, exit=exit_page, rate=RATE, inertial_force=0)
        return Page(name.encode(), play=play, steps=tuple(steps))

    half = len(walk.cycle) // 2
    standing = np.tile(walk.standing, (half, 1))
    pages = (
        page("F_S", walk.lead_in[-2 * half : -half], 5, 4),
        page("F_L", walk.cycle[:half], 3, 4),
        page("F_R", walk.cycle[half:], 2, 4),
        page("F_E", standing, 0, 0),
        page("F_S2", walk.lead_in[-half:], 2, 4),
    )
    path.write_bytes(document.with_pages(pages).render())
    return path


@pytest.fixture(scope="module")
def walk_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_walk_file(tmp_path_factory.mktemp("pages") / "walk.mtn")


@pytest.fixture(scope="module")
def walk(walk_file: Path) -> PageGait:
    return read_page_gait(walk_file, "F_S")


def play_steps(pages: PageGait, n: int) -> list[str]:
    """Return the pages of the next n passes, by name."""
    loop = find_page_loop(pages.pages, next(iter(pages.pages)))
    passes = [*loop.lead_in, *loop.loop, *loop.loop]
    return [pages.pages[planned.name].name for planned in passes[:n]]


def page_rows(gait: PageGait, names: Sequence[str]) -> Floats:
    """Return the keyframes of pages, one after the other, `(n, n_joints)` [rad]."""
    by_name = {motion.name: motion for motion in gait.pages.values()}
    return np.array([keyframe.pose.angles for name in names for keyframe in by_name[name].keyframes])


def test_the_next_pages_follow_until_one_recurs(walk: PageGait) -> None:
    assert play_steps(walk, 6) == ["F_S", "F_S2", "F_L", "F_R", "F_L", "F_R"]


def test_a_page_is_played_as_often_as_it_repeats(shop) -> None:
    pages = {
        "a": shop.nod("a", "left_elbow", repeat=2, next="b"),
        "b": shop.nod("b", "right_elbow", repeat=3, next="b2"),
        "b2": shop.nod("b2", "right_elbow", next="b"),
    }
    loop = find_page_loop(pages, "a")
    assert [planned.name for planned in loop.lead_in] == ["a", "a"]
    assert [planned.name for planned in loop.loop] == ["b", "b", "b", "b2"]


def test_a_page_that_repeats_for_ever_is_the_loop(shop) -> None:
    loop = find_page_loop({"a": shop.nod("a", "left_elbow", repeat=None)}, "a")
    assert (loop.lead_in, [planned.name for planned in loop.loop]) == ((), ["a"])


def test_pages_that_take_too_long_to_recur_are_no_walk(shop) -> None:
    long = shop.nod("long", "left_elbow", repeat=250, next="long")
    with pytest.raises(InputError, match=r"long takes \d+ s until its pages recur"):
        plan_pages({"long": long}, "long", BIOLOID)


def test_pages_without_any_duration_take_a_frame_each(shop) -> None:
    still = shop.motion("a", {}, reach_s=0.0, next="b")
    plan = plan_pages({"a": still, "b": replace(still, name="b", next="a")}, "a", BIOLOID)
    assert plan.cycle.n_frames == 2
    assert plan.velocity == STILL


def test_pages_that_switch_torque_off_are_no_walk(shop) -> None:
    free = shop.motion("free", {}, next="free")
    keyframe = replace(free.keyframes[0], pose=shop.pose(free=["left_elbow"]))
    with pytest.raises(InputError, match="free switches the torque of left_elbow off"):
        plan_pages({"free": replace(free, keyframes=(keyframe,))}, "free", BIOLOID)


def test_the_frames_reach_every_step_at_the_boards_time(walk: PageGait) -> None:
    sequence = PageSequence(walk.pages, next(iter(walk.pages)), BIOLOID)
    sequence.start()
    rows = sequence.frames(6 * 28)
    expected = page_rows(walk, ["F_S", "F_S2", "F_L", "F_R", "F_L", "F_R"])
    np.testing.assert_allclose(rows[FRAMES_PER_STEP - 1 :: FRAMES_PER_STEP], expected, atol=1e-9)


def test_pages_stay_on_their_clock_though_they_end_within_a_frame(walk: PageGait) -> None:
    slow = walk.with_values({"rate": 0.9 / RATE})  # a page lasts 0.224 / 0.9 s = 31.86 frames
    sequence = PageSequence(slow.pages, next(iter(slow.pages)), BIOLOID)
    sequence.start()
    rows = sequence.frames(1000)
    keyframes = page_rows(slow, ["F_S", "F_S2", *["F_L", "F_R"] * 15])
    keyframe_times = np.arange(1, len(keyframes) + 1) * STEP_S / 0.9
    times = np.arange(5, 1001) / 128  # the first keyframe is reached in the fifth frame
    for joint in range(18):
        expected = np.interp(times, keyframe_times, keyframes[:, joint])
        np.testing.assert_allclose(rows[4:, joint], expected, atol=1e-6)


def test_the_robot_starts_in_a_pose_of_its_card_near_the_first_keyframe_or_in_that_keyframe(
    walk: PageGait,
) -> None:
    page = next(iter(walk.pages.values()))
    start = find_start_pose(page, BIOLOID)
    np.testing.assert_array_equal(walk.generator(BIOLOID).standing_pose, start)
    near = WALK_READY + 0.1
    far = WALK_READY.copy()
    far[BIOLOID.index("left_elbow")] += 2.0 * MAX_START_DISTANCE_RAD
    for first_pose, expected in ((near, WALK_READY), (far, far)):
        keyframe = replace(page.keyframes[0], pose=Pose(BIOLOID.joint_names, first_pose))
        np.testing.assert_array_equal(
            find_start_pose(replace(page, keyframes=(keyframe,)), BIOLOID), expected
        )


def test_a_walk_that_is_left_goes_through_the_exit_page_and_stands(walk: PageGait) -> None:
    generator = walk.generator(BIOLOID)
    assert generator.is_standing
    generator.request(walk.velocity)
    generator.frames(3 * 28 + 5)  # in F_R
    generator.request(STILL)
    rows = generator.frames(23 + 28 + 10)
    np.testing.assert_allclose(rows[22], page_rows(walk, ["F_R"])[-1], atol=1e-9)
    np.testing.assert_allclose(rows[23 + 27 :], np.tile(page_rows(walk, ["F_E"])[-1], (11, 1)), atol=1e-9)
    assert generator.is_standing


def test_the_plan_of_pages_is_the_command_from_which_they_were_made(walk: PageGait) -> None:
    # a tick of 0.29 degrees is 1 mm at the foot of a step of 22 mm
    assert walk.velocity.forward_m_s == pytest.approx(SPEED_M_S, rel=0.02)
    assert (walk.velocity.left_m_s, walk.velocity.turn_rad_s) == (0.0, 0.0)
    cycle = walk.cycle(BIOLOID)
    assert (cycle.n_frames, cycle.period_s) == (56, pytest.approx(0.4375))


def test_the_plan_knows_when_feet_lift(walk: PageGait) -> None:
    gait = read_gait("biped", robot=BIOLOID).with_values({"cycle_s": 0.4375})
    cycle = gait.cycle(BIOLOID)
    planned = walk.cycle(BIOLOID)
    assert planned.air_share == pytest.approx(cycle.air_share, abs=1 / 56)
    for foot, phase in cycle.lift_phases.items():
        # a foot counts as lifted from half a millimetre on
        assert 0.0 <= (planned.lift_phases[foot] - phase + 1 / 56) % 1.0 <= 4 / 56


def test_lean_turns_both_hips_and_nothing_else(walk: PageGait) -> None:
    before = page_rows(walk, ["F_L", "F_R"])
    after = page_rows(walk.with_values({"lean_rad": 0.1}), ["F_L", "F_R"])
    hips = [BIOLOID.index("right_hip_pitch"), BIOLOID.index("left_hip_pitch")]
    tick_rad = BIOLOID.servos[0].tick_rad
    np.testing.assert_allclose((after - before)[:, hips], -0.1, atol=tick_rad)
    np.testing.assert_array_equal(np.delete(after - before, hips, axis=1), 0.0)


def test_amplitudes_scale_about_the_mean_of_the_walk(walk: PageGait) -> None:
    knees = [BIOLOID.index("right_knee"), BIOLOID.index("left_knee")]
    mean = walk.plan.mean_pose[knees]
    before = page_rows(walk, ["F_L", "F_R"])[:, knees] - mean
    tick_rad = BIOLOID.servos[0].tick_rad
    for factor in (0.0, 0.5, 1.5):
        after = page_rows(walk.with_values({"amplitude.knee": factor}), ["F_L", "F_R"])[:, knees] - mean
        np.testing.assert_allclose(after, factor * before, atol=tick_rad)


def test_a_group_of_the_card_sets_all_its_amplitudes(walk: PageGait) -> None:
    values = walk.with_values({"amplitude.legs": 1.2}).flat
    changed = {name for name, value in values.items() if value == 1.2}
    parts = ("hip_yaw", "hip_roll", "hip_pitch", "knee", "ankle_pitch", "ankle_roll")
    assert changed == {f"amplitude.{part}" for part in parts}


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ({"rate": 9.0}, InputError, "range is 0.2 to 5"),
        ({"amplitude.tail": 1.0}, UnknownNameError, "unknown value 'amplitude.tail'"),
        ({"speed": 1.0}, UnknownNameError, "unknown value 'speed'"),
    ],
)
def test_wrong_values_are_errors(walk: PageGait, values, error, message) -> None:
    with pytest.raises(error, match=message):
        walk.with_values(values)


def test_the_written_file_walks_as_it_was_tuned_and_keeps_its_other_pages(
    walk: PageGait, walk_file: Path, tmp_path: Path
) -> None:
    tuned = walk.with_values({"rate": 0.8, "lean_rad": 0.05, "amplitude.legs": 1.05})
    target = tmp_path / "tuned.mtn"
    write_page_gait(tuned, target)
    written = read_page_gait(target, "F_S")
    assert written.file.warnings == ()  # RoboPlus opens it: byte order mark and checksum are right
    assert written.velocity == tuned.velocity
    frames = []
    for gait in (tuned, written):
        generator = gait.generator(BIOLOID)
        generator.request(gait.velocity)
        frames.append(generator.frames(400))
    np.testing.assert_array_equal(*frames)
    write_page_gait(walk, tmp_path / "same.mtn")
    assert (tmp_path / "same.mtn").read_bytes() == walk_file.read_bytes()


def test_the_rate_of_a_page_is_rounded_as_its_file_stores_it(walk: PageGait) -> None:
    # RATE * 1.1 = 1.1264, and a page's rate has one decimal
    assert {motion.speed for motion in walk.with_values({"rate": 1.1}).pages.values()} == {1.1}


def test_pages_too_fast_for_the_servos_are_not_written(walk: PageGait, tmp_path: Path) -> None:
    fast = walk.with_values({"rate": 4.0})
    with pytest.raises(UnsafeMotionError, match="could harm the robot: F_"):
        write_page_gait(fast, tmp_path / "fast.mtn")
    assert not (tmp_path / "fast.mtn").exists()
    assert write_page_gait(fast, tmp_path / "fast.mtn", accept_faults=True)


def test_a_page_that_leads_nowhere_is_no_walk(walk_file: Path) -> None:
    with pytest.raises(InputError, match=r"F_E leads to no page that repeats: it ends with F_E .*F_S_L"):
        read_page_gait(walk_file, "F_E")


def test_only_the_velocity_of_the_pages_can_be_commanded(walk: PageGait) -> None:
    generator = walk.generator(BIOLOID)
    with pytest.raises(InputError, match=r"cannot follow a command .*0\.1"):
        generator.request(VelocityCommand(0.3))
    assert generator.clip_command(VelocityCommand(0.3)) == walk.velocity
    assert generator.clip_command(VelocityCommand(-0.3)) == STILL
    with pytest.raises(InputError, match="made for robotis_bioloid"):
        walk.generator(robot("hitec_robonova1"))


def test_compliance_becomes_the_stiffness_of_the_commands(walk_file: Path, tmp_path: Path) -> None:
    file = read_motion_file(walk_file, robot=BIOLOID)
    document = file.document
    softer = replace(document.page(2), compliance=(6,) * 26)  # a slope of 64 ticks, twice the default
    path = tmp_path / "softer.mtn"
    path.write_bytes(document.with_page(2, softer).render())
    generator = read_page_gait(path, "F_S").generator(BIOLOID)
    generator.request(generator._gait.velocity)
    assert generator.stiffness is None
    generator.frames(2 * 28)  # F_S and F_S2
    stiffness = np.array([servo.stiffness for servo in BIOLOID.servos])
    np.testing.assert_allclose(generator.stiffness, stiffness / 2.0)


def test_native_files_beside_each_other_are_a_walk_too(walk: PageGait, tmp_path: Path) -> None:
    for motion in walk.pages.values():
        names = {"2": "F_L", "3": "F_R", "4": "F_E", "5": "F_S2", None: None}
        native = replace(motion, next=names[motion.next], exit=names[motion.exit], origin=None)
        write_motion(native, tmp_path / f"{motion.name}.motion.yaml")
    native_walk = read_page_gait(tmp_path / "F_S.motion.yaml")
    assert native_walk.velocity.forward_m_s == pytest.approx(walk.velocity.forward_m_s, rel=1e-3)
    assert native_walk.with_values({"rate": 0.5}).velocity.forward_m_s == pytest.approx(
        0.5 * walk.velocity.forward_m_s, rel=0.05
    )
    with pytest.raises(InputError, match="in several files"):
        write_page_gait(native_walk.with_values({"rate": 0.5}), tmp_path / "out.motion.yaml")


def test_a_recording_has_the_cycle_of_the_pages(walk: PageGait) -> None:
    text = gait_text(walk)
    cycle = read_page_cycle(parse_document(text), BIOLOID)
    assert cycle == walk.cycle(BIOLOID)
    with pytest.raises(DocumentError, match="feet"):
        read_page_cycle(parse_document(text.replace("right_foot", "right_paw")), BIOLOID)
    with pytest.raises(DocumentError, match="n_frames"):
        read_page_cycle(parse_document(text.replace("n_frames: 56", "n_frames: 0")), BIOLOID)
