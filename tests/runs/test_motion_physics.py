"""A motion under gravity: what the trial does, and what it says."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.bodies import Contacts, JointCommands
from posewright.controllers import Player
from posewright.errors import InputError, UnknownNameError
from posewright.evaluation import MotionResult, PhysicsRules, evaluate_motion
from posewright.evaluation.motion.played_motion import PlayedMotion
from posewright.evaluation.motion.self_collision import self_collision, self_contacts
from posewright.formats import read_motion, read_motion_file
from posewright.motions import Keyframe, Level, Motion, Pose
from posewright.recordings.falls import true_intervals
from posewright.robots import Robot, robot
from posewright.runs import try_motion
from posewright.simulation import SimulatedBody, World

FACE_DOWN = (0.0, math.pi / 2.0)
ON_THE_BACK = (0.0, -math.pi / 2.0)
ROBOTIS = "robotis_mtn_text/robkwan_bio_prm_humanoidtypea_en.mtn"

Steps = tuple[float, Mapping[str, float]]


def motion_of(card: Robot, name: str, *steps: Steps, **options: object) -> Motion:
    """Build a motion that begins in `stand`; each step changes some joints [deg] in so many seconds."""
    now = dict(zip(card.joint_names, np.degrees(card.pose("stand")).tolist(), strict=True))
    keyframes = [Keyframe(_pose(card, now), 0.0)]
    for reach_s, changes in steps:
        now.update(changes)
        keyframes.append(Keyframe(_pose(card, now), reach_s))
    return Motion(name, card.name, card.joint_names, tuple(keyframes), **options)  # type: ignore[arg-type]  # as given


def _pose(card: Robot, angles_deg: Mapping[str, float]) -> Pose:
    return Pose.of(card.joint_names, {joint: math.radians(angle) for joint, angle in angles_deg.items()})


@pytest.fixture(scope="module")
def bioloid() -> Robot:
    return robot("robotis_bioloid")


@pytest.fixture(scope="module")
def aibo() -> Robot:
    return robot("sony_ers7")


@pytest.fixture(scope="module")
def walk(bioloid: Robot) -> Motion:
    assert bioloid.folder is not None
    return read_motion(bioloid.folder / "motions" / "walk_forward.motion.yaml")


@pytest.fixture(scope="module")
def nod(aibo: Robot) -> MotionResult:
    """A nod that nobody could object to."""
    down = {"neck_tilt": -35.0, "head_tilt": 0.0}
    up = {"neck_tilt": -20.0, "head_tilt": 25.0}
    return try_motion(motion_of(aibo, "nod", (0.35, down), (0.35, up), (0.35, down), (0.35, up)))


@pytest.fixture(scope="module")
def bad_kick(aibo: Robot) -> MotionResult:
    """Both left legs torn off the floor at once, the front one thrown forward while the head snaps round."""
    back = {"left_front_rotator": -90, "left_front_knee": 60, "left_rear_rotator": -80, "left_rear_knee": 60}
    kick = {"left_front_rotator": 110, "left_front_knee": 0, "left_rear_rotator": -120, "left_rear_knee": 110}
    head = {"head_pan": 85, "neck_tilt": -75, "head_tilt": 0}
    leaning = {"right_front_elevator": -10, "right_rear_elevator": -10}
    snap = {"head_pan": -85, "head_tilt": 40}
    kicked = {**kick, **head, **leaning}
    return try_motion(motion_of(aibo, "bad_kick", (0.064, back), (0.064, kicked), (0.4, snap), (0.4, {})))


def rules_broken(trial: MotionResult, *levels: Level) -> set[str]:
    """Return the names of the rules that findings of these levels are of; of all without."""
    return {finding.rule for finding in trial.findings if finding.level in (levels or tuple(Level))}


LOUD = (Level.ERROR, Level.WARNING)


# ---- the same road as a player


def test_the_robot_goes_where_a_player_would_have_led_it_to_the_last_bit(
    walk: Motion, bioloid: Robot
) -> None:
    trial = try_motion(walk, settle_s=0.5, hold_s=0.0)
    first = trial.played_motion.record.commands[0]
    world = World(bioloid)
    SimulatedBody(world, start_pose=first)
    world.advance({bioloid.name: JointCommands(np.tile(first, (64, 1)))})
    player = Player(bioloid, {walk.name: walk}, first)
    player.request(walk.name)
    played = world.advance({bioloid.name: player.frames(3 * 64)})[bioloid.name]
    assert played.truth is not None
    assert np.array_equal(trial.played_motion.record.base[64:], played.truth.base)
    assert np.array_equal(trial.played_motion.record.positions[64:], played.positions)
    assert np.array_equal(trial.played_motion.trajectory.record.efforts[64:], played.efforts)
    assert np.array_equal(trial.played_motion.record.foot_contacts[64:], played.truth.foot_contacts)


def test_the_same_motion_gives_the_same_trial_to_the_last_bit(walk: Motion) -> None:
    first = try_motion(walk)
    second = try_motion(walk)
    assert first.recording.digest() == second.recording.digest()
    for name in ("times", "slips_m", "keyframe_numbers"):
        assert np.array_equal(getattr(first.played_motion, name), getattr(second.played_motion, name)), name
    for name in ("commands", "positions", "base"):
        assert np.array_equal(
            getattr(first.played_motion.record, name), getattr(second.played_motion.record, name)
        ), name
    assert first.findings == second.findings
    assert first.to_dict() == second.to_dict()


def test_all_numbers_and_findings_follow_from_the_recording_alone(bad_kick: MotionResult) -> None:
    again = evaluate_motion(bad_kick.recording)
    assert again.figures() == bad_kick.figures()
    assert again.findings == bad_kick.findings


def test_the_way_and_the_speed_of_a_walk_are_told(walk: Motion) -> None:
    travel = try_motion(walk).figures()["travel"]
    assert 0.0 < travel["forward_m"] <= travel["distance_m"]
    assert travel["speed_m_s"] == pytest.approx(travel["distance_m"] / (3 * walk.duration), rel=1e-3)


def test_a_motion_that_repeats_for_ever_is_played_three_times(walk: Motion) -> None:
    trial = try_motion(walk)
    assert trial.played_motion.is_complete
    assert trial.played_motion.duration_s == pytest.approx(3 * walk.duration)
    assert set(trial.played_motion.keyframe_numbers[trial.played_motion.is_moving].tolist()) == {1, 2, 3, 4}


def test_a_motion_without_end_in_sight_is_cut_short(walk: Motion) -> None:
    trial = try_motion(replace(walk, repeat=255), longest_s=2.0)
    assert not trial.played_motion.is_complete
    assert trial.played_motion.duration_s == pytest.approx(2.0)
    assert not trial.to_dict()["is_whole"]


def test_nothing_slows_a_motion_down_that_is_too_fast(bioloid: Robot) -> None:
    reach_s = 5.0 * bioloid.frame_period_s
    far = 90.0
    trial = try_motion(motion_of(bioloid, "swing", (reach_s, {"left_shoulder_pitch": -far})))
    played = trial.played_motion
    column = bioloid.index("left_shoulder_pitch")
    commanded = played.record.commands[played.is_moving, column]
    displacement = math.radians(-far) - bioloid.pose("stand")[column]
    assert np.allclose(np.diff(commanded, prepend=played.record.commands[0, column]), displacement / 5.0)
    assert played.commanded_speeds[:, column].max() > bioloid.max_speeds[column]


def test_no_command_leaves_what_the_mechanism_can_do(aibo: Robot) -> None:
    trial = try_motion(motion_of(aibo, "too_far", (0.5, {"head_pan": 170.0, "left_front_knee": -80.0})))
    lower, upper = aibo.hardware_limits
    assert (trial.played_motion.record.commands >= lower).all()
    assert (trial.played_motion.record.commands <= upper).all()


def test_joints_that_a_motion_does_not_move_stand(aibo: Robot) -> None:
    joints = ("neck_tilt", "head_pan", "head_tilt")
    turn = Motion("turn", aibo.name, joints, (Keyframe(Pose.of(joints, {"head_pan": 0.5}), 0.3),))
    trial = try_motion(turn)
    other_columns = [column for column, name in enumerate(aibo.joint_names) if name != "head_pan"]
    assert np.array_equal(
        trial.played_motion.record.commands[-1, other_columns], aibo.pose("stand")[other_columns]
    )
    sitting = try_motion(turn, pose="sit").played_motion
    assert np.array_equal(sitting.record.commands[-1, other_columns], aibo.pose("sit")[other_columns])


def test_it_stands_before_and_holds_after(nod: MotionResult) -> None:
    played = nod.played_motion
    assert played.times[0] == pytest.approx(-1.0 + 0.008)
    assert played.times[-1] == pytest.approx(played.duration_s + 1.0)
    assert (played.keyframe_numbers[: played.first_frame] == 0).all()
    assert (played.record.commands[: played.first_frame] == played.record.commands[0]).all()
    assert (played.record.commands[played.times > played.duration_s] == played.record.commands[-1]).all()


def test_a_motion_that_takes_no_time_is_a_pose_that_is_held(bioloid: Robot) -> None:
    trial = try_motion(motion_of(bioloid, "still"))
    assert int(trial.played_motion.is_moving.sum()) == 1
    assert trial.findings == ()


def test_a_joint_without_torque_is_never_late(bioloid: Robot) -> None:
    limp = Pose(bioloid.joint_names, bioloid.pose("stand"), frozenset({"left_elbow", "right_elbow"}))
    motion = Motion("limp", bioloid.name, bioloid.joint_names, (Keyframe(limp, 0.1, pause_s=0.5),))
    trial = try_motion(motion)
    column = bioloid.index("left_elbow")
    assert trial.played_motion.is_torque_off[trial.played_motion.first_frame :, column].all()
    assert (trial.played_motion.lag_deg[trial.played_motion.first_frame :, column] == 0.0).all()
    assert trial.to_dict()["lag_deg"]["left_elbow"]["max"] == 0.0


# ---- what is found


def test_nothing_is_said_about_a_nod(nod: MotionResult) -> None:
    assert nod.findings == ()
    assert nod.falls == ()
    assert nod.played_motion.tilt_deg.max() < 3.0


def test_a_bad_kick_falls_hits_itself_and_is_late(bad_kick: MotionResult) -> None:
    assert rules_broken(bad_kick, Level.ERROR) == {"fall"}
    assert {"self_contact", "speed"} <= rules_broken(bad_kick, Level.WARNING)
    (fall,) = bad_kick.falls
    assert fall.side == "to the left"
    assert fall.until_s is None
    assert 0.2 < fall.time_s < 0.8
    assert bad_kick.played_motion.tilt_deg[-1] > 40.0


def test_every_finding_is_a_sentence_with_its_time_and_keyframe(bad_kick: MotionResult) -> None:
    for finding in bad_kick.findings:
        assert finding.times_s
        assert finding.keyframe in range(1, 6)
        assert f"at {finding.times_s[0]:.2f} s (keyframe {finding.keyframe})" in finding.message
        assert finding.value is not None
        assert finding.limit is not None


def test_findings_come_the_worst_first(bad_kick: MotionResult) -> None:
    levels = [list(Level).index(finding.level) for finding in bad_kick.findings]
    assert levels == sorted(levels)


def pressing(played: PlayedMotion, forces: list[tuple[int, float]]) -> PlayedMotion:
    """Return a motion in which two parts press against each other [N] in frames since the motion's begin."""
    frames = np.array([played.first_frame + frame for frame, _ in forces], dtype=np.intp)
    contacts = Contacts(
        names=("base", "head", "floor"),
        frames=frames,
        pairs=np.tile(np.array([0, 1], dtype=np.intp), (len(frames), 1)),
        depths=np.full(len(frames), 1e-4),
        forces=np.array([force for _, force in forces]),
        speeds=np.full(len(frames), np.nan),
    )
    track = played.trajectory
    record = replace(track.record, contacts=contacts)
    recording = replace(track.recording, robots={track.name: record})
    return PlayedMotion.of(recording, robot=track.robot)


@pytest.mark.parametrize(
    ("forces", "level"),
    [
        ([(-1, 1.0), (0, 1.5), (9, 2.0)], None),
        ([(-1, 20.0), (0, 21.0), (9, 30.0)], None),
        ([(-1, 1.0), (0, 1.5), (9, 50.0)], Level.WARNING),
        ([(-1, 20.0), (9, 50.0)], Level.WARNING),
        ([(9, 50.0)], Level.WARNING),
        ([(9, 2.0)], Level.NOTE),
        ([(-1, 50.0)], None),
    ],
)
def test_what_touches_at_first_is_told_only_if_it_presses_much_harder(
    nod: MotionResult, forces: list[tuple[int, float]], level: Level | None
) -> None:
    played = pressing(nod.played_motion, forces)
    collisions = list(self_collision(played, PhysicsRules(max_slip_mm=1000.0)))
    assert [finding.level for finding in collisions] == ([] if level is None else [level])
    contacts = self_contacts(played)
    assert all(contact.touches_in_first_pose is (forces[0][0] == -1) for contact in contacts)
    assert len(contacts) == any(frame >= 0 for frame, _ in forces)
    if collisions:
        assert collisions[0].value == forces[-1][1]
        assert played.format_time(played.first_frame + 9) in collisions[0].message
        assert ("in the first pose already" in collisions[0].message) is contacts[0].touches_in_first_pose


def test_the_numbers_are_json(bad_kick: MotionResult, nod: MotionResult) -> None:
    for trial in (bad_kick, nod):
        data = json.loads(json.dumps(trial.to_dict(), allow_nan=False))
        assert data["motion"] == trial.played_motion.name
        assert set(data["slip_mm"]) == set(trial.robot.feet)
        assert set(data["lag_deg"]) == {joint.name for joint in trial.robot.joints if not joint.two_state}
    assert bad_kick.to_dict()["falls"][0]["side"] == "to the left"
    assert bad_kick.to_dict()["self_contacts"][0]["force_n"] > 5.0


@pytest.mark.parametrize(("share", "is_late"), [(0.5, False), (4.0, True)])
def test_a_joint_lags_where_more_is_asked_than_its_servo_has(
    bioloid: Robot, share: float, is_late: bool
) -> None:
    joint = "right_shoulder_pitch"
    far = 90.0
    top = math.degrees(bioloid.servo(joint).no_load_speed_rad_s)
    trial = try_motion(motion_of(bioloid, "arm", (far / (share * top), {joint: -far}), (1.0, {})))
    assert rules_broken(trial) == ({"speed"} if is_late else set())
    late = [finding.joint for finding in trial.findings]
    assert late == ([joint] if is_late else [])


def test_many_late_joints_share_a_finding(bad_kick: MotionResult) -> None:
    (finding,) = [finding for finding in bad_kick.findings if finding.rule == "speed"]
    assert "left_rear_rotator" in finding.message
    assert "head_pan" in finding.message


def test_a_servo_that_cannot_hold_is_told_of(bioloid: Robot) -> None:
    weak = PhysicsRules(full_torque_share=0.02, max_saturated_s=0.1)
    trial = try_motion(motion_of(bioloid, "still", (0.5, {})), rules=weak)
    assert "saturated" in rules_broken(trial, Level.WARNING)


def test_a_foot_slides_farther_on_ice_than_on_carpet(aibo: Robot) -> None:
    spread = {f"{side}_{end}_elevator": 35.0 for side in ("left", "right") for end in ("front", "rear")}
    motion = motion_of(aibo, "splits", (0.3, spread), (0.3, dict.fromkeys(spread, 3.0)))
    displacements = {}
    for friction in (0.05, 2.0):
        slips = try_motion(motion, friction=friction).to_dict()["slip_mm"]
        displacements[friction] = min(slip["longest"] for slip in slips.values())
    assert displacements[0.05] > 1.5 * displacements[2.0]
    assert "slip" in rules_broken(try_motion(motion, friction=0.05), Level.WARNING)


def test_a_first_pose_that_does_not_stand_is_told_of(bioloid: Robot) -> None:
    back = motion_of(bioloid, "back", (0.5, {}))
    tipped = replace(
        back, keyframes=(replace(back.keyframes[0], attitude=(0.0, -0.7, 0.0)), *back.keyframes[1:])
    )
    assert "first_pose" not in rules_broken(try_motion(back))
    assert "first_pose" in rules_broken(try_motion(tipped), Level.NOTE)
    assert "first_pose" in rules_broken(try_motion(back, attitude=(0.6, 0.0)), *LOUD)


def test_the_base_is_compared_with_what_its_author_wanted(aibo: Robot) -> None:
    still = motion_of(aibo, "still", (0.5, {}), (0.5, {}))
    for pitch_deg, is_off in ((2.0, False), (30.0, True)):
        expected = (0.0, math.radians(pitch_deg), 0.0)
        motion = replace(
            still, keyframes=(*still.keyframes[:-1], replace(still.keyframes[-1], attitude=expected))
        )
        trial = try_motion(motion, attitude=(0.0, 0.02))
        assert ("tilt" in rules_broken(trial, Level.WARNING)) is is_off
        assert trial.to_dict()["author_says_attitude"]


def test_attitudes_that_are_all_zero_say_nothing(aibo: Robot) -> None:
    still = motion_of(aibo, "still", (0.5, {}))
    level = replace(still, keyframes=tuple(replace(key, attitude=(0.0, 0.0, 0.0)) for key in still.keyframes))
    assert try_motion(level).played_motion.intended_attitude is None


def test_who_begins_lying_does_not_fall_by_lying(bioloid: Robot) -> None:
    trial = try_motion(motion_of(bioloid, "sleep", (0.5, {})), attitude=FACE_DOWN)
    assert trial.falls == ()
    assert "lying" in rules_broken(trial, Level.NOTE)
    assert not rules_broken(trial, Level.ERROR)


# ---- other people's motions, where they are at hand


@pytest.mark.parametrize("name", ["a_stand__stand_so0_makebow.mtn", "a_sit__stand_standard.mtn"])
def test_sonys_own_motions_stand_as_their_author_says(samples: Callable[[str], Path], name: str) -> None:
    trial = try_motion(read_motion(samples(f"aibo_mtn/{name}")))
    assert trial.played_motion.intended_attitude is not None
    assert trial.played_motion.attitude_error_deg[trial.played_motion.first_frame :].max() < 12.0
    assert not rules_broken(trial, *LOUD)


def test_sonys_walk_walks(samples: Callable[[str], Path]) -> None:
    trial = try_motion(read_motion(samples("aibo_mtn/a_walk__walk_sox_fwd.mtn")))
    assert trial.falls == ()
    assert trial.played_motion.record.base[-1, 0] > 0.02


def test_robotis_bow_leans_far_and_does_not_fall(samples: Callable[[str], Path]) -> None:
    bow = read_motion_file(samples(ROBOTIS)).motion("Bow")
    trial = try_motion(bow)
    assert rules_broken(trial) == {"tilt"}
    assert not rules_broken(trial, *LOUD)
    assert trial.played_motion.tilt_deg.max() > 60.0


def test_robotis_gets_up_from_the_face_only_if_it_lies_there(samples: Callable[[str], Path]) -> None:
    getup = read_motion_file(samples(ROBOTIS)).motion("F getup")
    lying = try_motion(getup, attitude=FACE_DOWN)
    standing = try_motion(getup)
    assert lying.falls == ()
    assert lying.played_motion.tilt_deg[lying.played_motion.first_frame - 1] > 80.0
    assert lying.played_motion.tilt_deg[-1] < 15.0
    assert "fall" in rules_broken(standing)


def test_lying_down_is_no_fall(samples: Callable[[str], Path]) -> None:
    pages = read_motion_file(samples(ROBOTIS))
    (push_up,) = try_motion(pages.motion("Push up")).falls
    (attack,) = try_motion(pages.motion("F attack")).falls
    assert (push_up.is_hard, push_up.level) == (False, Level.NOTE)
    assert (attack.is_hard, attack.level) == (True, Level.WARNING)


# ---- what makes no sense is refused


def test_another_robots_motion_is_refused(walk: Motion, aibo: Robot) -> None:
    with pytest.raises((InputError, UnknownNameError)):
        try_motion(walk, aibo)


def test_a_robot_without_a_model_is_refused(walk: Motion, bioloid: Robot) -> None:
    with pytest.raises(InputError, match="model"):
        try_motion(walk, replace(bioloid, model_path=None))


def test_an_unknown_pose_is_refused(walk: Motion) -> None:
    with pytest.raises(UnknownNameError, match="satnd"):
        try_motion(walk, pose="satnd")


@pytest.mark.parametrize(
    "wrong",
    [{"settle_s": -1.0}, {"hold_s": math.nan}, {"longest_s": 1e6}, {"friction": 0.0}, {"friction": math.nan}],
)
def test_numbers_that_make_no_sense_are_refused(walk: Motion, wrong: dict[str, float]) -> None:
    with pytest.raises(InputError, match=r"settle_s|hold_s|longest_s|friction"):
        try_motion(walk, **wrong)


def test_a_motion_that_lasts_a_day_is_refused_before_it_fills_the_memory(bioloid: Robot) -> None:
    with pytest.raises(InputError, match="at most 600 s"):
        try_motion(motion_of(bioloid, "day", (86_400.0, {})))


def test_without_a_moment_to_stand_the_motion_begins_at_once(walk: Motion) -> None:
    trial = try_motion(walk, settle_s=0.0, hold_s=0.0)
    assert trial.played_motion.first_frame == 0
    assert len(trial.played_motion.times) == 3 * 64
    json.dumps(trial.to_dict(), allow_nan=False)


# ---- laws


@settings(max_examples=6, deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(0.0, 0.6), st.dictionaries(st.sampled_from(range(18)), st.floats(-120.0, 120.0))),
        min_size=1,
        max_size=3,
    )
)
def test_whatever_a_motion_asks_for_there_is_an_answer(rows: list[tuple[float, dict[int, float]]]) -> None:
    card = robot("robotis_bioloid")
    steps = [(round(reach, 3), {card.joint_names[j]: angle for j, angle in to.items()}) for reach, to in rows]
    trial = try_motion(motion_of(card, "anything", *steps), settle_s=0.2, hold_s=0.3)
    played = trial.played_motion
    assert np.isfinite(played.record.base).all()
    assert np.isfinite(played.record.positions).all()
    assert (played.slips_m >= 0.0).all()
    assert (played.tilt_deg >= 0.0).all()
    assert (np.diff(played.times) > 0.0).all()
    json.dumps(trial.to_dict(), allow_nan=False)


@given(st.lists(st.booleans()), st.integers(0, 3))
def test_runs_are_the_unbroken_rows(flags: list[bool], bridge: int) -> None:
    intervals = true_intervals(np.array(flags, dtype=np.bool_), max_gap=bridge)
    covered = {i for begin, end in intervals for i in range(begin, end)}
    assert {i for i, flag in enumerate(flags) if flag} <= covered
    assert all(flags[begin] and flags[end - 1] for begin, end in intervals)
    assert all(after[0] - before[1] > bridge for before, after in pairwise(intervals))
