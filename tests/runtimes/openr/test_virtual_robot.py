"""OVirtualRobotComm: frames as they were sent, to the micro-radian, however the frames are asked for."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from posewright.bodies import BodyState, MockBody
from posewright.control import drive
from posewright.errors import InputError
from posewright.robots import robot
from posewright.runtimes.openr import (
    DataType,
    OCommandInfo,
    OCommandVectorData,
    ONotifyEvent,
    OObject,
    OpenRController,
    OReadyEvent,
    RCRegion,
    find_free_region,
    read_connect,
)
from posewright.runtimes.openr.regions import interpolate
from posewright.runtimes.openr.virtual_robot import NOT_MEASURED

DOG = robot("sony_ers7")
STAND = DOG.pose("stand")
PAN, TILT, EAR = DOG.index("head_pan"), DOG.index("neck_tilt"), DOG.index("left_ear")
EFFECTOR = "OVirtualRobotComm.Effector.OCommandVectorData.O"

Move = tuple[int, list[int]]
"""A joint and its frames [micro-radians]."""


class Mover(OObject):
    """Sends vectors one after the other, each when the one before is done."""

    def __init__(
        self, name: str, vectors: list[list[Move]], data_type: DataType = DataType.JOINT_COMMAND2
    ) -> None:
        super().__init__(name)
        self.move = self.subject("Move", "OCommandVectorData", self.ready)
        self.vectors, self.data_type = list(vectors), data_type
        self.regions = [RCRegion(OCommandVectorData.with_room_for(20)) for _ in range(2)]
        self.done_at: list[float] = []

    def ready(self, event: OReadyEvent) -> None:
        if not event.is_ready:
            return
        self.done_at.append(self.openr.time_s)
        if self.vectors:
            region = find_free_region(self.regions)
            assert region is not None
            for place, (joint, frames) in enumerate(self.vectors[0]):
                region.data.set(place, joint, frames, self.data_type)
            region.data.set_n_data(len(self.vectors.pop(0)))
            self.move.send(region)


def controller(*movers: OObject, extra: str = "") -> OpenRController:
    lines = [f"{one.name}.Move.OCommandVectorData.S {EFFECTOR}" for one in movers if "Move" in one.subjects]
    return OpenRController(DOG, lambda: movers, read_connect("\n".join([*lines, extra])), STAND)


def commands(driver: OpenRController, asked: list[int]) -> NDArray[np.int64]:
    """Return the commands [micro-radians] when the controller is asked for so many frames at a time."""
    rows, time_s = [], 0.0
    for n in asked:
        left = n
        while left:
            got = driver.next(BodyState(time_s, STAND, np.zeros(len(STAND))), left)
            rows.append(got.angles)
            left -= len(got)
            time_s += len(got) * DOG.frame_period_s
    return np.rint(np.concatenate(rows) * 1e6).astype(np.int64)


FRAMES = st.lists(st.integers(-500_000, 500_000), min_size=0, max_size=16)
VECTORS = st.lists(
    st.lists(st.tuples(st.sampled_from([PAN, TILT]), FRAMES), max_size=3, unique_by=lambda m: m[0]),
    max_size=4,
)


def expected(vectors: list[list[Move]], n: int) -> NDArray[np.int64]:
    """Return what the joints are to be commanded, from the words of the document, frame by frame."""
    now = np.rint(STAND * 1e6).astype(np.int64)
    rows = []
    for vector in vectors:
        for frame in range(max([len(frames) for _, frames in vector] or [0]) or 1):
            for joint, frames in vector:
                if frame < len(frames):
                    now[joint] = frames[frame]
            rows.append(now.copy())
    rows += [now.copy()] * max(0, n - len(rows))
    return np.array(rows[:n])


@given(VECTORS, st.lists(st.integers(1, 64), min_size=1, max_size=8))
def test_frames_are_those_sent_however_many_are_asked_for_at_a_time(
    vectors: list[list[Move]], asked: list[int]
) -> None:
    mover = Mover("Mover", vectors)
    np.testing.assert_array_equal(commands(controller(mover), asked), expected(vectors, sum(asked)))


@given(VECTORS)
def test_when_all_is_done_every_region_is_free(vectors: list[list[Move]]) -> None:
    mover = Mover("Mover", vectors)
    driver = controller(mover)
    commands(driver, [100])
    assert all(region.is_free for region in mover.regions)
    assert driver.is_idle


def test_two_objects_move_their_joints_at_the_same_time() -> None:
    head = Mover("Head", [[(PAN, interpolate(0, 160_000, 16))]])
    neck = Mover("Neck", [[(TILT, interpolate(-349_066, -400_000, 8))], [(TILT, [0])]])
    rows = commands(controller(head, neck), [20])
    assert rows[15, PAN] == 160_000
    assert rows[7, TILT] == -400_000
    assert rows[8, TILT] == 0
    assert head.done_at == [0.0, 0.128]
    assert neck.done_at == [0.0, 0.064, pytest.approx(0.072)]


def test_a_sender_is_ready_again_when_the_last_frame_of_its_vector_has_been_played() -> None:
    mover = Mover("Mover", [[(PAN, [1, 2, 3])], []])
    commands(controller(mover), [10])
    assert mover.done_at == pytest.approx([0.0, 0.024, 0.032])


def test_a_joint_that_is_asked_for_more_than_it_can_is_told_once_with_who_asks() -> None:
    within, beyond = [(PAN, [0, 1_623_156])], [(PAN, [0, 1_640_000])]
    driver = controller(Mover("A", [within, beyond, beyond]))
    words = [
        data["text"]
        for _ in range(8)
        if (got := driver.next(BodyState(0.0, STAND, np.zeros(len(STAND))), 1)).decision
        for _, data in got.decision.events
        if "text" in data
    ]
    assert words == ["A asks head_pan for 94.0 deg; it can do -93.0 to 93.0"]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (OCommandVectorData([OCommandInfo(DataType.JOINT_COMMAND2, PAN, 1)], [[1.5]], 1), "an angle is 1.5"),  # type: ignore[list-item]
        (OCommandVectorData([OCommandInfo(DataType.JOINT_COMMAND2, "x", 1)], [[1]], 1), "a damaged vector"),  # type: ignore[arg-type]
        (OCommandVectorData([OCommandInfo(DataType.JOINT_COMMAND2, PAN, 2.5)], [[1]], 1), "damaged"),  # type: ignore[arg-type]
        (OCommandVectorData([OCommandInfo(DataType.JOINT_COMMAND2, PAN, 17)], [[1] * 17], 1), "17 frames"),
        (OCommandVectorData([OCommandInfo(DataType.JOINT_COMMAND2, PAN, 1)], [[1]], 99), "99 joints"),
        (5, "A.Move sent an RCRegion of 5"),
    ],
)
def test_a_vector_that_was_written_by_hand_is_checked_too(wrong: OCommandVectorData, words: str) -> None:
    class Wild(Mover):
        def ready(self, event: OReadyEvent) -> None:
            assert event.is_ready
            self.move.send(RCRegion(wrong))

    with pytest.raises(InputError) as caught:
        commands(controller(Wild("A", [])), [2])
    assert words in str(caught.value)


def test_an_ear_is_moved_by_its_own_kind_of_command_and_no_other_joint_is() -> None:
    up = [349_066]
    rows = commands(controller(Mover("Ears", [[(EAR, up)]], DataType.JOINT_COMMAND4)), [3])
    assert rows[0, EAR] == up[0]
    with pytest.raises(InputError, match="moves left_ear by JOINT_COMMAND2"):
        commands(controller(Mover("Ears", [[(EAR, up)]])), [3])
    with pytest.raises(InputError, match="moves head_pan by JOINT_COMMAND4"):
        commands(controller(Mover("Pan", [[(PAN, up)]], DataType.JOINT_COMMAND4)), [3])


@given(st.integers(-3_000_000, 3_000_000), st.integers(-3_000_000, 3_000_000), st.integers(1, 16))
def test_the_way_is_that_of_integers_in_c(current: int, target: int, n: int) -> None:
    way = interpolate(current, target, n)
    for j, angle in enumerate(way):
        exact = (j + 1) * (target - current) / n
        assert angle == current + int(exact)  # int() cuts towards zero, as C does
    assert way[-1] == target


class Feeler(OObject):
    """Keeps the readings it gets."""

    def __init__(self) -> None:
        super().__init__()
        self.sensor = self.observer("Sensor", "OSensorFrameVectorData", self.feel)
        self.received: list[tuple[float, NDArray[np.int64], int]] = []

    def feel(self, event: ONotifyEvent) -> None:
        for region in event.data:
            one = region.data
            self.received.append((self.openr.time_s, one.joints, int(one.sensors["touch"][-1])))
        self.sensor.assert_ready()


def test_readings_come_every_four_frames_with_what_the_joints_and_sensors_read() -> None:
    feeler, head = Feeler(), Mover("Head", [[(PAN, interpolate(0, 160_000, 16))]])
    driver = controller(
        head,
        feeler,
        extra="OVirtualRobotComm.Sensor.OSensorFrameVectorData.S Feeler.Sensor.OSensorFrameVectorData.O",
    )
    body = MockBody(DOG, lambda time_s: {"touch": time_s > 0.05}, positions=STAND)
    drive(body, {DOG.name: driver}, until_s=0.2)
    assert [time_s for time_s, _, _ in feeler.received] == pytest.approx([0.032 * k for k in range(1, 7)])
    assert all(joints.shape == (4, 20) for _, joints, _ in feeler.received)
    assert feeler.received[0][1][:, PAN].tolist() == [10_000, 20_000, 30_000, 40_000]
    assert [touch for _, _, touch in feeler.received][:2] == [0, 1]


def test_an_object_reads_where_a_joint_is_to_the_micro_radian() -> None:
    class Asker(Mover):
        def ready(self, event: OReadyEvent) -> None:
            super().ready(event)
            self.seen = self.openr.get_joint_value(PAN)

    asker = Asker("Asker", [[(PAN, interpolate(0, 123_457, 16))]])
    body = MockBody(DOG, positions=STAND)
    drive(body, {DOG.name: controller(asker)}, until_s=0.2)
    assert asker.seen == 123_457


def test_readings_go_to_who_is_ready_and_pile_up_for_nobody() -> None:
    class Deaf(Feeler):
        def feel(self, event: ONotifyEvent) -> None:
            """Never answer."""

    feeler, deaf = Feeler(), Deaf()
    line = "OVirtualRobotComm.Sensor.OSensorFrameVectorData.S {}.Sensor.OSensorFrameVectorData.O"
    driver = OpenRController(
        DOG, lambda: [feeler, deaf], read_connect("\n".join(map(line.format, ("Feeler", "Deaf")))), STAND
    )
    drive(MockBody(DOG, lambda _: {"touch": False}, positions=STAND), {DOG.name: driver}, until_s=1.0)
    assert len(feeler.received) == 31
    assert [connection.buffer for connection in driver.system.connections] == [[], []]


def test_what_was_not_measured_is_no_zero() -> None:
    feeler = Feeler()
    line = "OVirtualRobotComm.Sensor.OSensorFrameVectorData.S Feeler.Sensor.OSensorFrameVectorData.O"
    driver = OpenRController(DOG, lambda: [feeler], read_connect(line), STAND)
    blind = np.where(np.arange(len(STAND)) == PAN, np.nan, STAND)
    for frame in range(6):
        driver.next(BodyState(frame * 0.008, blind, np.zeros(len(STAND)), sensors={"touch": math.nan}), 1)
    [(_, joints, touch)] = feeler.received
    assert (joints[:, PAN] == NOT_MEASURED).all()
    assert (joints[:, TILT] == -349_066).all()
    assert touch == NOT_MEASURED
