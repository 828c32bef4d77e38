"""A behaviour that asks for gaits: from motion to gait and back, and a joint never jumps."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.bodies import BodyState, MockBody
from posewright.control import drive
from posewright.controllers.behaviours import BehaviourController, read_behaviour
from posewright.controllers.behaviours.outputs import STAND, Action
from posewright.controllers.behaviours.performer import Performer
from posewright.controllers.walker import Walker
from posewright.formats import read_motion
from posewright.gaits import VelocityCommand, read_gait
from posewright.motions import Keyframe, Motion, Pose
from posewright.robots import robot

DOG = robot("sony_ers7")
KICK = read_motion(DOG.folder / "motions" / "kick_right.motion.yaml")
BOW = read_motion(DOG.folder / "motions" / "play_bow.motion.yaml")
PAN = DOG.index("head_pan")
NECK = DOG.index("neck_tilt")
FREE_NECK = Keyframe(Pose.of(("neck_tilt",), {}, ("neck_tilt",)), 1.0)
STEP = DOG.max_speeds * DOG.frame_period_s


def performer() -> Performer:
    walkers = {name: Walker(read_gait(name), DOG) for name in ("trot", "crawl")}
    return Performer(DOG, {"kick": KICK, "bow": BOW}, walkers, DOG.pose("stand"))


def state() -> BodyState:
    return BodyState(0.0, DOG.pose("stand"), np.zeros(len(DOG.joints)))


def frames(of: Performer, n: int) -> np.ndarray:
    parts = []
    while n > 0:
        rows = of.next(state(), n).angles
        parts.append(rows)
        n -= len(rows)
    return np.concatenate(parts)


ACTIONS = st.one_of(
    st.just(STAND),
    st.sampled_from([Action("kick"), Action("bow")]),
    st.builds(
        Action,
        st.sampled_from(["trot", "crawl"]),
        st.builds(VelocityCommand, st.floats(-1.0, 1.0), st.floats(-1.0, 1.0), st.floats(-3.0, 3.0)),
        st.sampled_from([{}, {PAN: 0.9}, {PAN: -0.9}]),
    ),
)


@settings(max_examples=15)
@given(st.lists(st.tuples(ACTIONS, st.integers(1, 200)), min_size=1, max_size=8))
def test_whatever_is_asked_for_and_whenever_no_joint_jumps(plan: list[tuple[Action, int]]) -> None:
    """The fastest that any of the motions goes is their author's affair: a jump is more than all of that."""
    doing = performer()
    rows = [DOG.pose("stand")[np.newaxis]]
    for action, n in plan:
        doing.request(action)
        rows.append(frames(doing, n))
    moved = np.abs(np.diff(np.concatenate(rows), axis=0))
    assert (moved <= 3.3 * STEP + 1e-9).all()  # Sony's own walk asks for as much


def test_a_gait_begins_in_its_standing_pose_and_ends_there() -> None:
    doing = performer()
    standing = Walker(read_gait("trot"), DOG).standing_pose
    doing.request(Action("trot", VelocityCommand(0.1)))
    rows = frames(doing, 250)
    assert np.abs(rows - standing).max(axis=1).min() < 1e-9
    assert doing.playing == "trot"
    doing.request(STAND)
    rows = frames(doing, 400)
    assert rows[-1] == pytest.approx(standing)
    assert doing.playing is None


def test_a_motion_waits_for_the_gait_to_stand_and_a_gait_for_the_motion_to_end() -> None:
    doing = performer()
    order = []
    doing.request(Action("kick"))
    for action, n in [(Action("trot", VelocityCommand(0.1)), 600), (Action("bow"), 900)]:
        doing.request(action)
        for _ in range(n):
            frames(doing, 1)
            order.append(doing.playing)
    assert [name for name, _ in itertools.groupby(order) if name] == ["kick", "trot", "bow"]


@pytest.mark.parametrize("first", [Action("trot", VelocityCommand(0.1)), Action("kick")])
def test_an_action_at_once_begins_in_the_middle_of_another_without_a_jump(first: Action) -> None:
    doing = performer()
    doing.request(first)
    rows = [frames(doing, 150)]  # in the middle of a step, or of the kick
    doing.request(Action("bow", at_once=True))
    rows.append(frames(doing, 1))
    assert doing.playing == "bow"
    rows.append(frames(doing, 600))
    path = np.concatenate(rows)
    standing = performer()
    standing.request(Action("bow"))
    assert path[-1] == pytest.approx(frames(standing, 600)[-1])  # it was played to its end
    assert (np.abs(np.diff(path[149:], axis=0)) <= 1.1 * STEP).all()


def test_a_walker_that_is_to_stand_at_once_stays_in_the_middle_of_its_step() -> None:
    doing = performer()
    doing.request(Action("trot", VelocityCommand(0.1)))
    walked = frames(doing, 150)
    doing.request(Action(None, at_once=True))
    assert np.array_equal(frames(doing, 40), np.repeat(walked[-1:], 40, axis=0))
    assert doing.playing is None


def test_who_is_at_it_already_is_not_interrupted_again() -> None:
    doing = performer()
    once = performer()
    for other in (doing, once):
        other.request(Action("bow", at_once=True))
    first = frames(doing, 40)
    doing.request(Action("bow", at_once=True))  # as at every tick
    assert np.array_equal(np.concatenate((first, frames(doing, 40))), frames(once, 80))


def test_joints_that_were_free_go_on_from_where_they_are() -> None:
    limp = Motion("limp", DOG.name, ("neck_tilt",), (FREE_NECK,))
    doing = Performer(DOG, {"limp": limp, "bow": BOW}, {}, DOG.pose("stand"))
    doing.request(Action("limp"))
    frames(doing, 10)
    doing.request(Action("bow", at_once=True))
    dropped = state()
    dropped.positions[NECK] -= 0.3
    assert abs(doing.next(dropped, 1).angles[0, NECK] - dropped.positions[NECK]) <= STEP[NECK]


def test_more_than_the_gait_can_do_is_done_as_far_as_it_goes() -> None:
    doing = performer()
    fastest = Walker(read_gait("trot"), DOG).clip_command(VelocityCommand(9.0, 0.0, 9.0))
    doing.request(Action("trot", VelocityCommand(9.0, 0.0, 9.0)))
    greedy = frames(doing, 300)
    second = performer()
    second.request(Action("trot", fastest))
    assert np.array_equal(greedy, frames(second, 300))


def test_a_joint_of_its_own_goes_there_and_comes_back_gently() -> None:
    doing = performer()
    doing.request(Action("trot", VelocityCommand(0.1), {PAN: 0.8}))
    first = frames(doing, 300)[:, PAN]
    doing.request(Action("trot", VelocityCommand(0.1)))
    second = frames(doing, 300)[:, PAN]
    assert first[-1] == 0.8
    assert second[-1] == pytest.approx(DOG.pose("stand")[PAN])
    path = np.concatenate((first, second))
    assert np.abs(np.diff(path)).max() <= 0.5 * STEP[PAN] + 1e-12


CHART = """\
chart: stroll
kind: mealy
period_s: 0.1
otherwise: stay
inputs: {near: bool}
outputs: {walks: bool, speed: {float: [0, 1]}, look_deg: {int: [-90, 90]}}
initial: standing
initial_values: {walks: 0, speed: 0, look_deg: 0}
states:
  standing:
    - {when: not near, do: {walks: 1, speed: 0.1, look_deg: 40}, go: walking}
  walking:
    - {when: near, do: {walks: 0, speed: 0, look_deg: 0}, go: standing}
"""
BEHAVIOUR = """\
behaviour: stroll
robot: sony_ers7
chart: stroll.chart.yaml
start_pose: stand
gaits:
  trot: {gait: trot}
inputs:
  near: {sensor: infrared_near, below_m: 0.2}
outputs:
  - {when: walks, walk: trot, forward_m_s: speed, turn_deg_s: -20, joints_deg: {head_pan: look_deg}}
  - {otherwise: true, play: null}
"""


def written(folder: Path, **changes: str) -> Path:
    for name, text in (("stroll.chart.yaml", CHART), ("stroll.behaviour.yaml", BEHAVIOUR)):
        for original, replacement in changes.items():
            text = text.replace(original, replacement)  # noqa: PLW2901 -- word by word
        (folder / name).write_text(text)
    return folder / "stroll.behaviour.yaml"


def test_a_behaviour_walks_at_the_velocity_of_its_charts_numbers(tmp_path: Path) -> None:
    behaviour = read_behaviour(written(tmp_path))
    assert set(behaviour.documents) >= {"stroll.chart.yaml", "trot.gait.yaml"}
    body = MockBody(DOG, lambda t: {"infrared_near": 0.1 if t > 2.0 else 0.5}, positions=behaviour.start_pose)
    drive(body, {DOG.name: BehaviourController(behaviour)}, until_s=6.0)
    expected = Walker(read_gait("trot"), DOG)
    expected.request(VelocityCommand(0.1, 0.0, np.radians(-20)))
    walked = expected.frames(state(), 100)
    legs = [DOG.index(joint) for leg in DOG.legs for joint in leg.joints]
    begins = np.flatnonzero((np.abs(body.commands[:, legs] - walked[0, legs]) < 1e-12).all(axis=1))
    assert len(begins)
    assert body.commands[begins[0] : begins[0] + 100][:, legs] == pytest.approx(walked[:, legs])
    assert body.commands[:, PAN].max() == pytest.approx(np.radians(40))
    assert body.commands[-1] == pytest.approx(expected.standing_pose)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"gait: trot}": "gait: gallop}"}, "unknown gait 'gallop'"),
        ({"gait: trot}": "gait: trot, file: a.yaml}"}, "a gait needs either `gait` or `file`"),
        ({"turn_deg_s": "turn_deg_s: 1, turn_rad_s"}, "turn is given twice"),
        ({"head_pan": "left_front_knee"}, "left_front_knee"),
        ({"forward_m_s: speed": "forward_m_s: walks"}, "forward_m_s|number|bool"),
        ({"forward_m_s: speed": "forward_m_s: pace"}, "pace"),
    ],
)
def test_what_cannot_be_walked_is_refused(tmp_path: Path, changes: dict[str, str], message: str) -> None:
    with pytest.raises(Exception, match=message) as caught:
        read_behaviour(written(tmp_path, **changes))
    assert "stroll.behaviour.yaml:" in str(caught.value)
