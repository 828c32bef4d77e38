"""The servo engine: every servo obeys the words that its parameter table leads to."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.bodies import JointCommands, MockBody
from posewright.errors import InputError
from posewright.robots import robot
from posewright.runtimes.robi.memory import RobiMemory
from posewright.runtimes.robi.servos import ServoEngine

ROBI = robot("deagostini_robi2")
IDS = range(2, 22)
STIFFNESS = np.array([servo.stiffness for servo in ROBI.servos])
words = st.lists(st.integers(-200, 200), min_size=20, max_size=20)


class Bench:
    """An engine and a body that follows it."""

    def __init__(self) -> None:
        self.memory, self.body = RobiMemory(), MockBody(ROBI)
        self.engine = ServoEngine(ROBI, self.memory)

    def pose(self, positions: list[int], torque: int = 80) -> None:
        for number, word in zip(IDS, positions, strict=True):
            self.memory.set("position", word, number)
            self.memory.set("torque", torque, number)

    def frame(self) -> JointCommands:
        self.engine.update_measured(self.body.read())
        commands = self.engine.advance_frame()
        self.body.play(commands)
        return commands

    def where(self) -> list[int]:
        """Return where the servos are, by ID [0.1 deg]."""
        return [int(word) for word in np.rint(ROBI.to_ticks(self.body.positions))]


@given(goal=words, frames=st.integers(1, 40))
def test_with_the_tables_as_they_ship_the_pose_block_is_obeyed_in_the_time_written(
    goal: list[int], frames: int
) -> None:
    bench = Bench()
    bench.pose(goal)
    bench.memory.set("time", frames)
    for done in range(1, frames + 1):
        commands = bench.frame()
        line = ROBI.from_ticks(np.array(goal) * done / frames)
        np.testing.assert_allclose(commands.angles[0], line, atol=1e-12)
        assert bench.memory.get("time") == frames - done
    assert bench.where() == goal
    assert commands.stiffness is not None
    np.testing.assert_allclose(commands.stiffness, 0.8 * STIFFNESS)
    assert commands.free is None


@given(goal=words, mapped=st.sets(st.integers(2, 21)), frames=st.integers(1, 20))
def test_a_table_that_leads_elsewhere_is_what_a_servo_obeys(
    goal: list[int], mapped: set[int], frames: int
) -> None:
    bench = Bench()
    bench.pose(goal)
    for number in mapped:
        bench.memory.set("mapped_position", -number, number)
        bench.memory.set("table_position", 0x0CC0 + 2 * (number - 1), number)
        bench.memory.set("table_torque", 0x0CEA, number)
    bench.memory.set("time", frames)
    for _ in range(frames):
        commands = bench.frame()
    assert bench.engine.mapped_ids == tuple(sorted(mapped))
    assert bench.where() == [-n if n in mapped else word for n, word in zip(IDS, goal, strict=True)]
    share = [0.7 if n in mapped else 0.8 for n in IDS]
    assert commands.stiffness is not None
    np.testing.assert_allclose(commands.stiffness, np.array(share) * STIFFNESS)


def test_without_a_move_positions_are_held_and_torques_count_at_once() -> None:
    bench = Bench()
    bench.pose([10] * 20)
    bench.memory.set("time", 3)
    for _ in range(3):
        bench.frame()
    bench.pose([99] * 20, torque=40)
    commands = bench.frame()
    assert bench.where() == [10] * 20
    assert commands.stiffness is not None
    np.testing.assert_allclose(commands.stiffness, 0.4 * STIFFNESS)


def test_what_is_written_during_a_move_counts_and_the_move_ends_at_its_time() -> None:
    bench = Bench()
    bench.pose([100] * 20)
    bench.memory.set("time", 10)
    for frame in range(10):
        if frame == 5:
            bench.pose([-100] * 20)
        bench.frame()
    assert bench.where() == [-100] * 20


def test_a_servo_without_torque_is_free_and_starts_from_where_it_is() -> None:
    bench = Bench()
    bench.pose([0] * 20)
    bench.memory.set("torque", 0, 4)
    commands = bench.frame()
    knee = ROBI.index("right_knee")
    assert commands.free is not None
    assert np.flatnonzero(commands.free).tolist() == [knee]
    bench.body.positions[knee] = ROBI.from_ticks(np.full(20, 300.0))[knee]  # somebody bends it
    bench.frame()
    bench.memory.set("torque", 80, 4)
    commands = bench.frame()
    assert commands.free is None
    assert bench.where()[knee] == 300


@given(goal=words)
def test_measured_positions_are_in_the_memory(goal: list[int]) -> None:
    bench = Bench()
    bench.body.positions = ROBI.from_ticks(np.array(goal, dtype=np.float64))
    bench.engine.update_measured(bench.body.read())
    assert [bench.memory.get("measured", number) for number in IDS] == goal


def test_lights_are_read_through_their_table() -> None:
    bench = Bench()
    for n in range(1, 8):
        bench.memory.set("led", 51 * (n - 1) if n < 7 else 0xFFFF, n)
    assert bench.engine.lights() == {
        "left_eye": (0.0, 0.2, 0.4),
        "right_eye": (0.6, 0.8, 1.0),
        "mouth": (1.0, 0.0, 0.0),
    }
    bench.memory.set("led_table", 0x0C7C, 1)
    assert bench.engine.lights()["left_eye"] == (1.0, 0.2, 0.4)


@pytest.mark.parametrize("entry", [0x0000, 0x01FF, 0x2200, 0xFFFF])
def test_a_table_that_leads_out_of_the_memory_is_an_error_that_names_it(entry: int) -> None:
    bench = Bench()
    bench.memory.set("table_position", entry, 7)
    with pytest.raises(InputError, match=f"table_position of ID 7 is {entry:#06x}.*outside the memory"):
        bench.frame()


def test_another_robot_is_refused() -> None:
    with pytest.raises(InputError, match="1/60"):
        ServoEngine(robot("robotis_bioloid"), RobiMemory())


def test_a_servo_that_the_body_did_not_look_at_stays_as_it_was() -> None:
    bench = Bench()
    bench.body.positions = ROBI.from_ticks(np.full(20, 100.0))
    bench.engine.update_measured(bench.body.read())
    bench.body.positions[3] = np.nan
    bench.engine.update_measured(bench.body.read())
    assert [bench.memory.get("measured", number) for number in IDS] == [100] * 20


@given(
    entries=st.lists(st.tuples(st.integers(2, 21), st.integers(0, 0xFFFF)), max_size=6),
    words=st.lists(st.tuples(st.integers(0x0A00, 0x0AF0), st.integers(0, 0xFF)), max_size=60),
    time=st.integers(0, 0xFFFF),
)
def test_whatever_stands_in_the_memory_the_engine_commands_numbers_or_says_what_is_wrong(
    entries: list[tuple[int, int]], words: list[tuple[int, int]], time: int
) -> None:
    bench = Bench()
    for address, value in words:
        bench.memory.write(address, 1, value)
    for number, entry in entries:
        bench.memory.set("table_position", entry, number)
        bench.memory.set("table_torque", entry, number)
    bench.memory.set("time", time)
    last = dict(entries)
    if any(not 0x0200 <= entry <= 0x21FE for entry in last.values()):
        with pytest.raises(InputError, match="table_"):
            bench.frame()
        return
    commands = bench.frame()
    assert np.isfinite(commands.angles).all()
    assert commands.stiffness is not None
    assert (commands.stiffness <= STIFFNESS + 1e-9).all()


def test_where_a_servo_is_is_written_where_its_first_parameter_leads() -> None:
    bench = Bench()
    bench.body.positions = ROBI.from_ticks(np.full(20, 100.0))
    bench.memory.set("table_measured", 0x0400, 5)
    bench.engine.update_measured(bench.body.read())
    assert (bench.memory.read(0x0400, 2), bench.memory.get("measured", 5)) == (100, 0)
    bench.memory.set("table_measured", 0x1FFF, 5)
    with pytest.raises(InputError, match="table_measured of ID 5 is 0x1fff"):
        bench.engine.update_measured(bench.body.read())


@pytest.mark.parametrize(("table", "entry"), [("table_position", 0x0C00), ("table_torque", 0x0CEA)])
def test_a_servo_whose_torque_is_read_elsewhere_counts_as_mapped(table: str, entry: int) -> None:
    bench = Bench()
    assert bench.engine.mapped_ids == ()
    bench.memory.set(table, entry, 5)
    assert bench.engine.mapped_ids == (5,)
