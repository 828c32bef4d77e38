"""The recorder keeps the same rows however the frames are cut into blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.bodies import (
    BodyState,
    Contacts,
    Decision,
    Fault,
    FaultKind,
    GroundTruth,
    JointCommands,
    JointStates,
)
from posewright.control import Block
from posewright.errors import BodyError, InputError
from posewright.recordings import Event, Header, Recorder, Recording, RobotHeader

ROBOT = RobotHeader("robot", joints=("a", "b"), feet=("right", "left"))
HEADER = Header({"me": ROBOT}, boxes=((1.0, 0.0, 0.0),))


class StillBody:
    """Says where it is before the first frame."""

    def open(self) -> None:
        """It is there."""

    def observe(self) -> JointStates:
        return states(-1, 1)


class OnePlant:
    """A plant of bodies that stand still."""

    frame_period_s = 1 / 128

    def __init__(self, *names: str) -> None:
        self.bodies: Any = {name: StillBody() for name in names}

    def advance(self, commands: Mapping[str, JointCommands]) -> Mapping[str, JointStates]:
        raise NotImplementedError


def contacts(first: int, n: int) -> Contacts:
    """Return a contact in every second frame."""
    rows = np.array([k for k in range(n) if (first + k) % 2], dtype=np.intp)
    numbers = (first + rows).astype(np.float64)
    pairs = np.tile(np.array([0, 1], dtype=np.intp), (len(rows), 1))
    return Contacts(("floor", "foot"), rows, pairs, numbers, numbers * 2, numbers * 3)


def states(first: int, n: int, *, world: bool = True, looks: bool = True) -> JointStates:
    frames = np.arange(first + 1, first + n + 1, dtype=np.float64)
    joints = np.stack([frames, -frames], axis=1)
    truth = GroundTruth(
        base=np.repeat(frames[:, None], 7, axis=1),
        footprints=np.broadcast_to(frames[:, None, None, None], (n, 2, 4, 3)).copy(),
        foot_contacts=np.stack([frames % 8 == 0, frames % 8 != 0], axis=1),
        boxes=np.broadcast_to(frames[:, None, None], (n, 1, 7)).copy(),
        box_contacts=(frames % 16 == 0)[:, None],
        slips=np.stack([frames, frames], axis=1) if looks else None,
        contacts=contacts(first, n) if looks else None,
    )
    return JointStates(frames / 128, joints, joints / 2, truth if world else None)


def block(
    done: JointStates,
    *,
    robot: str = "me",
    sensors: Any = None,
    decision: Decision | None = None,
    **fields: Any,
) -> Block:
    time_s = float(done.times[0]) if len(done) else 0.0
    state = BodyState(time_s, np.zeros(2), np.zeros(2), sensors=sensors or {})
    commands = JointCommands(done.positions * 10, decision=decision)
    return Block(robot, state, commands, commands, done, **fields)


def recorder(every: int = 4) -> Recorder:
    return Recorder(HEADER, OnePlant("me"), every=every)


def record(sizes: Sequence[int], every: int = 4) -> Recording:
    keeper, first = recorder(every), 0
    for n in sizes:
        keeper.watch(block(states(first, n)))
        first += n
    return keeper.recording()


def test_rows_are_kept_at_the_end_of_every_fourth_frame() -> None:
    recording = record([13, 13, 13, 13, 12])
    robot = recording.robot()
    np.testing.assert_array_equal(recording.times, np.arange(1, 17) / 32)
    np.testing.assert_array_equal(robot.commands[:, 0], 40.0 * np.arange(1, 17))
    np.testing.assert_array_equal(robot.efforts[:, 1], -2.0 * np.arange(1, 17))
    np.testing.assert_array_equal(robot.base[:, 0], 4.0 * np.arange(1, 17))
    assert robot.foot_contacts[:, 0].tolist() == [False, True] * 8
    assert (robot.slips, robot.requests, robot.free) == (None, None, None)


def test_what_touched_between_two_rows_belongs_to_the_later() -> None:
    contacts = record([13, 13, 13, 13, 14]).robot().contacts
    assert contacts is not None
    assert contacts.frames.tolist() == list(range(16))
    assert contacts.depths.tolist() == [4.0 * row + 3.0 for row in range(16)]


@given(sizes=st.lists(st.integers(0, 20), max_size=12), every=st.integers(1, 7))
def test_where_blocks_are_cut_does_not_matter(sizes: list[int], every: int) -> None:
    assert record(sizes, every).digest() == record([sum(sizes)], every).digest()


def test_more_rows_than_a_chunk_holds_are_kept_too() -> None:
    recording = record([1000, 1, 3000, 99], every=1)
    np.testing.assert_array_equal(recording.times, np.arange(1, 4101) / 128)
    np.testing.assert_array_equal(recording.boxes[:, 0, 0], np.arange(1, 4101))
    assert record([100, 9000], every=2).digest() == record([50] * 182, every=2).digest()


def test_slips_and_contacts_are_of_frames_and_kept_where_all_frames_are() -> None:
    robot = record([3, 5], every=1).robot()
    assert robot.slips is not None
    assert robot.contacts is not None
    np.testing.assert_array_equal(robot.slips[:, 0], np.arange(1, 9))
    assert robot.contacts.frames.tolist() == [1, 3, 5, 7]
    assert robot.contacts.depths.tolist() == [1.0, 3.0, 5.0, 7.0]


def test_the_pose_before_the_first_frame_is_kept() -> None:
    robot = record([4]).robot()
    assert robot.start_positions.tolist() == [0.0, 0.0]
    assert robot.start_base.tolist() == [0.0] * 7


def test_a_body_may_use_its_arrays_again() -> None:
    keeper, done = recorder(), states(0, 8)
    keeper.watch(block(done))
    done.positions[:] = 99.0
    assert keeper.recording().robot().positions.max() == 8.0


def test_where_the_body_knows_no_world_it_is_not_a_number() -> None:
    keeper = recorder()
    for first, world in ((0, True), (4, False)):
        keeper.watch(block(states(first, 4, world=world)))
    robot = keeper.recording().robot()
    assert np.isnan(robot.base).all(axis=1).tolist() == [False, True]
    assert not robot.box_contacts[1].any()
    assert not robot.knows_place


def test_free_joints_are_kept() -> None:
    keeper, done = recorder(), states(0, 8)
    one = block(done)
    keeper.watch(replace(one, commands=replace(one.commands, free=np.array([True, False]))))
    keeper.watch(block(states(8, 4)))
    free = keeper.recording().robot().free
    assert free is not None
    assert free.tolist() == [[True, False], [True, False], [False, False]]


def test_decisions_keep_what_the_controller_saw_and_said() -> None:
    keeper, ring = recorder(), np.array([1.0, 2.0])
    first = Decision("stopped", {"front": np.bool_(True)}, {"go": 1})
    keeper.watch(block(states(0, 4), sensors={"ring": ring}, decision=first))
    then = Decision("walking", {"front": False}, {"go": 0}, "walk", events=(("promise", {"broken": True}),))
    other = {"contact": True, "ring": np.array([9.0, 9.0])}
    keeper.watch(block(states(4, 4), sensors=other, decision=then))
    keeper.note(Event(0.1, "touch", {"x_m": np.float64(0.5), "at": (1, 2)}))
    recording = keeper.recording()
    made = recording.robot().decisions
    assert made.states == ("stopped", "walking")
    assert made.inputs == ({"front": True}, {"front": False})
    assert type(made.inputs[0]["front"]) is bool
    assert made.playing == (None, "walk")
    assert made.sensors["ring"].tolist() == [[1.0, 2.0], [9.0, 9.0]]
    np.testing.assert_array_equal(made.sensors["contact"], [[np.nan], [1.0]])
    assert [event.kind for event in recording.events] == ["promise", "touch"]
    assert recording.events[1].data == {"x_m": 0.5, "at": [1, 2]}


def test_a_sensor_that_reads_nothing_at_times_is_not_a_number_then() -> None:
    keeper = recorder()
    for first, sensors in ((0, {}), (4, {"ring": np.array([1.0, 2.0])})):
        keeper.watch(block(states(first, 4), sensors=sensors, decision=Decision()))
    np.testing.assert_array_equal(
        keeper.recording().robot().decisions.sensors["ring"], [[np.nan, np.nan], [1.0, 2.0]]
    )


def test_a_sensor_that_changes_its_size_is_told() -> None:
    keeper = recorder()
    for first, size in ((0, 3), (4, 4)):
        keeper.watch(block(states(first, 4), sensors={"ring": np.zeros(size)}, decision=Decision()))
    with pytest.raises(InputError, match="sensor ring has 3 numbers, a later one 4"):
        keeper.recording()


def test_faults_become_events() -> None:
    keeper = recorder()
    fault = Fault(0.5, FaultKind.OVERHEATED, "81 degrees", "a")
    keeper.watch(block(replace(states(0, 4), faults=(fault,))))
    (event,) = keeper.recording().events
    data = {"fault": "overheated", "message": "81 degrees", "joint": "a"}
    assert (event.time_s, event.kind, event.data) == (0.5, "fault", data)


def test_each_robot_has_a_record_and_its_events_name_it() -> None:
    header = Header({"me": ROBOT, "you": ROBOT}, boxes=((1.0, 0.0, 0.0),))
    keeper = Recorder(header, OnePlant("me", "you"))
    for robot in ("me", "you"):
        decision = Decision(robot, events=(("bow", {}),))
        keeper.watch(block(states(0, 8), robot=robot, decision=decision))
    recording = keeper.recording()
    assert [record.decisions.states for record in recording.robots.values()] == [("me",), ("you",)]
    assert [event.data for event in recording.events] == [{"robot": "me"}, {"robot": "you"}]


def test_commands_and_states_must_be_of_a_length() -> None:
    four_frames = block(states(0, 4))
    with pytest.raises(BodyError, match="3 frames were commanded but the body executed 4"):
        recorder().watch(replace(four_frames, commands=four_frames.commands[:3]))


def test_keeping_every_zeroth_frame_makes_no_sense() -> None:
    with pytest.raises(InputError, match="cannot record every 0th frame"):
        recorder(0)


def test_what_cannot_be_written_down_is_refused() -> None:
    with pytest.raises(InputError, match="cannot hold a object"):
        Event(0.0, "odd", {"thing": object()})
    with pytest.raises(InputError, match="67 bits"):
        Event(0.0, "odd", {"number": 10**20})
    for time_s in (np.nan, -np.inf):
        with pytest.raises(InputError, match="a finite time"):
            Event(time_s, "odd")
