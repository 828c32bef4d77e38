"""A calibration makes the card of one robot, is read as it was written, and is found by moving and asking."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.bodies import MockBody
from posewright.buses.dynamixel.bus import Bus, joints_of
from posewright.buses.dynamixel.calibration import (
    MAX_OFFSET_TICKS,
    Calibration,
    apply_calibration,
    measure_offsets,
    read_calibration,
    write_calibration,
)
from posewright.buses.dynamixel.direction_wizard import (
    NO,
    YES,
    DirectionWizard,
    ObservedDirection,
    WizardQuestion,
    describe_positive_direction,
)
from posewright.buses.dynamixel.fake.bus import FakeBus
from posewright.errors import BodyError, DocumentError, InputError, UnknownNameError
from posewright.robots import robot

from .wired import WireUp

BIOLOID = robot("robotis_bioloid")
JOINTS = BIOLOID.joint_names
ZERO = np.zeros(len(JOINTS))

offsets = st.dictionaries(
    st.sampled_from(JOINTS), st.integers(-MAX_OFFSET_TICKS, MAX_OFFSET_TICKS).filter(bool)
)
reversals = st.sets(st.sampled_from(JOINTS)).map(lambda joints: tuple(sorted(joints)))


@st.composite
def calibrations(draw: st.DrawFn) -> Calibration:
    joints = draw(st.lists(st.sampled_from(JOINTS), unique=True))
    own = {servo.joint: servo.id or 0 for servo in BIOLOID.servos}
    ids = dict(zip(joints, draw(st.permutations([own[joint] for joint in joints])), strict=True))
    return Calibration("mine", BIOLOID.name, draw(offsets), draw(reversals), ids)


# --- the document and the card


@given(calibrations())
def test_a_calibration_is_read_as_it_was_written(made: Calibration) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "mine.calibration.yaml"
        write_calibration(made, path)
        assert read_calibration(path) == made


def test_a_calibration_keeps_the_comments_of_its_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.calibration.yaml"
    path.write_text(
        "calibration: mine\nrobot: robotis_bioloid\nreversed: [left_elbow]  # my own fault\n",
        encoding="utf-8",
    )
    write_calibration(replace(read_calibration(path), offsets_ticks={"right_knee": -4}), path)
    assert "reversed: [left_elbow]  # my own fault" in path.read_text(encoding="utf-8")
    assert read_calibration(path).offsets_ticks == {"right_knee": -4}


@pytest.mark.parametrize(
    "wrong", ["offsets_ticks: {right_knee: 400}", "ids: {right_knee: 254}", "mirror: [a]"]
)
def test_a_calibration_that_cannot_be_is_refused(tmp_path: Path, wrong: str) -> None:
    path = tmp_path / "mine.calibration.yaml"
    path.write_text(f"calibration: mine\nrobot: robotis_bioloid\n{wrong}\n", encoding="utf-8")
    with pytest.raises((DocumentError, UnknownNameError)):
        read_calibration(path)


@given(calibrations())
def test_a_card_that_is_applied_to_means_the_same_angles_by_other_ticks(made: Calibration) -> None:
    built = apply_calibration(BIOLOID, made)
    ticks, own = built.to_ticks(ZERO), BIOLOID.to_ticks(ZERO)
    for place, joint in enumerate(JOINTS):
        mirrored = 1024 - own[place] if joint in made.reversed else own[place]
        assert ticks[place] == pytest.approx(mirrored + made.offsets_ticks.get(joint, 0))
        same_way = built.servos[place].direction == BIOLOID.servos[place].direction
        assert same_way is (joint not in made.reversed)
    assert sorted(servo.id or 0 for servo in built.servos) == sorted(
        servo.id or 0 for servo in BIOLOID.servos
    )
    assert built.poses == BIOLOID.poses
    lower, upper = built.limits
    reached = np.array([servo.reach_rad for servo in built.servos])
    moved = [joint in made.offsets_ticks or joint in made.reversed for joint in JOINTS]
    assert np.all((lower >= reached[:, 0] - 1e-9)[moved])
    assert np.all((upper <= reached[:, 1] + 1e-9)[moved])
    assert np.all(lower >= BIOLOID.limits[0])
    assert np.all(upper <= BIOLOID.limits[1])


def test_a_calibration_that_says_nothing_changes_nothing() -> None:
    empty = Calibration("mine", BIOLOID.name)
    assert empty.is_empty
    assert apply_calibration(BIOLOID, empty) == BIOLOID


@pytest.mark.parametrize(
    "wrong",
    [
        Calibration("mine", "sony_ers7"),
        Calibration("mine", BIOLOID.name, ids={"right_knee": 14}),
        Calibration("mine", BIOLOID.name, reversed=("tail",)),
    ],
    ids=["another robot's", "two servos with one ID", "no such joint"],
)
def test_a_calibration_that_does_not_fit_is_refused(wrong: Calibration) -> None:
    with pytest.raises(InputError):
        apply_calibration(BIOLOID, wrong)


# --- a robot that is built otherwise than its card says

BUILT = Calibration(
    "mine",
    BIOLOID.name,
    offsets_ticks={"right_knee": -4, "left_elbow": 7},
    reversed=("left_elbow", "right_hip_roll"),
    ids={"right_hip_roll": 11, "right_hip_pitch": 9},
)


class Robot:
    """A robot on a fake bus, and a person who stands beside it."""

    def __init__(self, bus: Bus, body: MockBody) -> None:
        self.bus, self.body = bus, body
        self.asked: list[WizardQuestion] = []
        self.says: dict[str, str] = {}
        self._before = self.peak = body.positions.copy()

    def sleep(self, seconds: float) -> None:
        self.bus.port.sleep(seconds)
        now = self.body.positions
        far = np.abs(now - self._before) > np.abs(self.peak - self._before)
        self.peak = np.where(far, now, self.peak)

    def answer(self, question: WizardQuestion) -> str:
        """Say what was seen: the joint that really moved, and whether as told."""
        self.asked.append(question)
        if question.answers == (YES, NO):
            self._before = self.peak = self.body.positions.copy()
            return self.says.get(question.joint, YES)
        moved = self.peak - self._before
        place = int(np.argmax(np.abs(moved)))
        if abs(moved[place]) < np.deg2rad(2.0):
            return ObservedDirection.NOTHING.value
        if JOINTS[place] != question.joint:
            return JOINTS[place]
        told_up = "not " not in question.text
        seen = (
            ObservedDirection.AS_DESCRIBED
            if bool(moved[place] > 0.0) is told_up
            else ObservedDirection.OPPOSITE
        )
        return seen.value


@pytest.fixture
def built(wired: WireUp) -> Robot:
    card = apply_calibration(BIOLOID, BUILT)
    body = MockBody(card, positions=card.pose("walk_ready"), limit_speed=True)
    return Robot(wired(FakeBus.of(card, body), joints=joints_of(BIOLOID)), body)


def test_the_wizard_finds_reversed_directions_and_swapped_ids(built: Robot) -> None:
    wizard = DirectionWizard(built.bus, BIOLOID, built.answer, built.sleep)
    tried = ("left_elbow", "right_hip_roll", "right_hip_pitch", "right_knee")
    found = wizard.run(tried, "mine")
    assert found == replace(BUILT, offsets_ticks={})
    assert built.body.positions == pytest.approx(built.body.robot.pose("walk_ready"), abs=np.deg2rad(1.0))
    assert not any(built.bus.read(number, "torque_enable") for number in range(1, 19))


def test_nothing_moves_before_a_yes_and_a_no_leaves_a_joint_out(built: Robot) -> None:
    built.says = dict.fromkeys(JOINTS, NO)
    before = built.body.positions.copy()
    assert DirectionWizard(built.bus, BIOLOID, built.answer, built.sleep).run(JOINTS, "mine").is_empty
    assert [question.joint for question in built.asked] == list(JOINTS)
    assert np.array_equal(built.body.positions, before)


def test_whoever_interrupts_the_wizard_finds_all_torque_off(built: Robot) -> None:
    for number in (1, 2, 13):
        built.bus.write(number, "torque_enable", 1)

    def stop(_seconds: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        DirectionWizard(built.bus, BIOLOID, built.answer, stop).run(["right_knee"], "mine")
    assert not any(built.bus.read(number, "torque_enable") for number in range(1, 19))


def test_a_joint_at_its_limit_is_moved_the_other_way_and_one_without_room_is_not_moved(built: Robot) -> None:
    tick = built.bus.read(13, "present_position")
    built.bus.write(13, "cw_angle_limit", tick - 5)  # up, for the right knee
    wizard = DirectionWizard(built.bus, BIOLOID, built.answer, built.sleep)
    assert wizard.run(["right_knee"], "mine").is_empty
    assert "opposite" in built.asked[-1].text
    built.bus.write(13, "ccw_angle_limit", tick + 5)
    answers = iter([YES, NO])
    before = built.body.positions.copy()
    DirectionWizard(built.bus, BIOLOID, lambda _question: next(answers), built.sleep).run(["right_knee"], "m")
    assert np.array_equal(built.body.positions, before)


def test_a_servo_in_wheel_mode_is_not_moved(built: Robot) -> None:
    for name in ("cw_angle_limit", "ccw_angle_limit"):
        built.bus.write(13, name, 0)
    with pytest.raises(BodyError, match="wheel mode"):
        DirectionWizard(built.bus, BIOLOID, built.answer, built.sleep).run(["right_knee"], "mine")


def test_offsets_are_measured_in_a_pose_the_robot_was_put_into(built: Robot) -> None:
    known = apply_calibration(BIOLOID, replace(BUILT, offsets_ticks={}))
    assert measure_offsets(built.bus, known, BIOLOID.pose("walk_ready")) == BUILT.offsets_ticks
    with pytest.raises(InputError, match="far off the pose: right_knee by"):
        measure_offsets(built.bus, known, BIOLOID.pose("sit"))


def test_every_joint_has_words_for_its_way_up() -> None:
    assert "back" in describe_positive_direction("right_knee")
    assert "left" in describe_positive_direction("left_hip_yaw")
    assert not any("card" in describe_positive_direction(joint) for joint in JOINTS)
