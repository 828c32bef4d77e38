"""The recorder keeps the same rows however the frames are cut into blocks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.bodies import GroundTruth, JointStates
from posewright.errors import BodyError, InputError
from posewright.recordings import Event, Header, Recorder, Recording

HEADER = Header("robot", joints=("a", "b"), feet=("right", "left"), boxes=((1.0, 0.0, 0.0),))


def block(first: int, n: int, *, world: bool = True) -> JointStates:
    frames = np.arange(first + 1, first + n + 1, dtype=np.float64)
    joints = np.stack([frames, -frames], axis=1)
    truth = GroundTruth(
        base=np.repeat(frames[:, None], 7, axis=1),
        footprints=np.broadcast_to(frames[:, None, None, None], (n, 2, 4, 3)).copy(),
        foot_contacts=np.stack([frames % 8 == 0, frames % 8 != 0], axis=1),
        boxes=np.broadcast_to(frames[:, None, None], (n, 1, 7)).copy(),
        box_contacts=(frames % 16 == 0)[:, None],
    )
    return JointStates(frames / 128, joints, joints / 2, truth if world else None)


def record(sizes: Sequence[int], every: int = 4) -> Recording:
    recorder, first = Recorder(HEADER, every=every), 0
    for n in sizes:
        track = block(first, n)
        recorder.append_track(track, track.positions * 10)
        first += n
    return recorder.finish()


def test_rows_are_kept_at_the_end_of_every_fourth_frame() -> None:
    trace = record([13, 13, 13, 13, 12])
    np.testing.assert_array_equal(trace.times, np.arange(1, 17) / 32)
    np.testing.assert_array_equal(trace.joint_commands[:, 0], 40.0 * np.arange(1, 17))
    np.testing.assert_array_equal(trace.joint_efforts[:, 1], -2.0 * np.arange(1, 17))
    np.testing.assert_array_equal(trace.base[:, 0], 4.0 * np.arange(1, 17))
    assert trace.foot_contacts[:, 0].tolist() == [False, True] * 8


@given(sizes=st.lists(st.integers(0, 20), max_size=12), every=st.integers(1, 7))
def test_where_blocks_are_cut_does_not_matter(sizes: list[int], every: int) -> None:
    assert record(sizes, every).digest() == record([sum(sizes)], every).digest()


def test_a_body_may_use_its_arrays_again() -> None:
    recorder, track = Recorder(HEADER), block(0, 8)
    recorder.append_track(track, track.positions)
    track.positions[:] = 99.0
    assert recorder.finish().joint_positions.max() == 8.0


def test_where_the_body_knows_no_world_it_is_not_a_number() -> None:
    recorder = Recorder(HEADER)
    for first, world in ((0, True), (4, False)):
        track = block(first, 4, world=world)
        recorder.append_track(track, track.positions)
    trace = recorder.finish()
    assert np.isnan(trace.base).all(axis=1).tolist() == [False, True]
    assert not trace.box_contacts[1].any()
    assert not trace.knows_world


def test_ticks_keep_what_the_chart_saw_and_said() -> None:
    recorder = Recorder(HEADER)
    ring = np.array([1.0, 2.0])
    recorder.append_tick(0.0, "stopped", {"front": np.bool_(True)}, {"go": 1}, sensors={"ring": ring})
    ring[:] = 9.0
    sensors = {"contact": True, "ring": ring}
    recorder.append_tick(0.1, "walking", {"front": False}, {"go": 0}, playing="walk", sensors=sensors)
    recorder.append_event(Event(0.1, "touch", {"x_m": np.float64(0.5), "at": (1, 2)}))
    trace = recorder.finish()
    assert trace.chart_states == ("stopped", "walking")
    assert trace.chart_inputs == ({"front": True}, {"front": False})
    assert type(trace.chart_inputs[0]["front"]) is bool
    assert trace.playing == (None, "walk")
    assert trace.sensors["ring"].tolist() == [[1.0, 2.0], [9.0, 9.0]]
    np.testing.assert_array_equal(trace.sensors["contact"], [[np.nan], [1.0]])
    assert trace.events[0].data == {"x_m": 0.5, "at": [1, 2]}


def test_a_sensor_that_changes_its_size_is_told() -> None:
    recorder = Recorder(HEADER)
    recorder.append_tick(0.0, "a", {}, {}, sensors={"ring": np.zeros(3)})
    recorder.append_tick(0.1, "a", {}, {}, sensors={"ring": np.zeros(4)})
    with pytest.raises(InputError, match="ring gave 3 numbers, then 4"):
        recorder.finish()


def test_commands_and_track_must_be_of_a_length() -> None:
    with pytest.raises(BodyError, match="3 frames were commanded and 4 came back"):
        Recorder(HEADER).append_track(block(0, 4), np.zeros((3, 2)))


def test_keeping_every_zeroth_frame_makes_no_sense() -> None:
    with pytest.raises(InputError, match="every 0th"):
        Recorder(HEADER, every=0)


def test_what_cannot_be_written_down_is_refused() -> None:
    with pytest.raises(InputError, match="cannot hold a object"):
        Event(0.0, "odd", {"thing": object()})
