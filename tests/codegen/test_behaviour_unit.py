"""A whole behaviour in C does what the behaviour does: sensors, chart, motions, servo packets."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from posewright.bodies import BodyState
from posewright.codegen.behaviour import BehaviourUnitSpec
from posewright.codegen.targets import write_sources
from posewright.codegen.targets.cm900.target import Cm900
from posewright.codegen.unit import Records
from posewright.controllers.behaviours import read_behaviour, reading
from posewright.errors import BodyError, FormatError, InputError

from .behaviour_host import HostUnit, mismatches, tiny
from .conftest import need_tool

NAMES = ("document_mealy", "obstacle_race", "obstacle_champion", "passivity_test")
FRAME_S = 1 / 128


def records(unit_spec: BehaviourUnitSpec, n: int, **values: float) -> Records:
    found = np.zeros(n, unit_spec.input_dtype)
    for name, value in values.items():
        found[name] = value
    return found


@pytest.mark.parametrize("name", NAMES)
def test_a_catalogue_behaviour_does_in_c_what_it_does_in_the_simulator(name: str, tmp_path: Path) -> None:
    unit = HostUnit.of(read_behaviour(name), tmp_path)
    for seed in range(3):
        drawn = unit.unit_spec.random_inputs(2000, seed)
        unit.c.unit_reset()
        want = unit.unit_spec.reference().run(drawn)
        assert len(set(want["playing"].tolist())) > 1  # something happens
        assert mismatches(unit.run(drawn), want) == []
        assert unit.unit_spec.ticks_from_player(drawn, want) <= 1


EVERYTHING = {
    "near": ("bool", "{sensor: laser_front, below_m: 0.35, hysteresis_m: 0.05}"),
    "far": ("bool", "{sensor: laser_left, above_cm: 40}"),
    "range_cm": ("{int: [0, 200]}", "{sensor: laser_right, unit: cm}"),
    "heading": ("float", "{sensor: compass, unit: deg, relative_to_deg: goal_deg}"),
    "pitch": ("float32", "{sensor: imu.orientation.pitch, unit: deg}"),
    "lies": ("bool", "{sensor: imu, fallen: any}"),
    "on_its_side": ("bool", "{sensor: tilt, fallen: side}"),
    "knee": ("float", "{joint: right_knee, unit: deg}"),
    "load": ("bool", "{load: left_knee, above_nm: 0.2, hysteresis_nm: 0.1}"),
    "foot": ("bool", "{sensor: right_foot_contact}"),
    "clock_ms": ("{int: [0, 30000]}", "{clock: since_start, unit: ms}"),
    "walks": ("bool", "{playing: walk}"),
    "stands": ("bool", "{standing: true}"),
    "die": ("float", "{random: uniform}"),
    "way": ("float", "{sensor: fan, corridor: {towards_deg: 20, width_m: 0.3}}"),
    "free": (
        "float",
        "{sensor: fan, free_course: {side: right, width_m: 0.3, length_m: 0.5}, unit: deg, none: -1}",
    ),
    "wall": (
        "float",
        "{sensor: ring, compass: compass, farthest_along: {towards_deg: goal_deg, within_deg: 40}}",
    ),
}


def test_every_kind_of_input_reads_the_same_in_c(tmp_path: Path) -> None:
    bumped = {"bumped": "{sensor: left_foot_contact}"}
    behaviour = tiny(tmp_path, EVERYTHING, guard="near or die > 0.7", events=bumped, wait_s=0.25)
    unit = HostUnit.of(behaviour, tmp_path)
    for seed in range(4):
        drawn = unit.unit_spec.random_inputs(2000, seed)
        drawn["left_foot_contact"] = drawn["left_foot_contact"] > 0.0
        drawn["right_foot_contact"][1:] = np.where(np.arange(1999) % 300 < 9, math.nan, 1.0)
        unit.c.unit_reset()
        want = unit.unit_spec.reference().run(drawn)
        assert len(np.unique(want["count"])) > 5
        assert len(np.unique(want["o_range_cm"])) > 5
        assert mismatches(unit.run(drawn), want) == []


def test_a_threshold_falls_back_only_beyond_its_hysteresis(tmp_path: Path) -> None:
    unit = HostUnit.of(tiny(tmp_path, {"near": EVERYTHING["near"]}, guard="near"), tmp_path)
    readings = [
        0.36,
        0.35,
        math.nextafter(0.35, 0.0),
        0.36,
        0.4,
        math.nextafter(0.4, 1.0),
        0.36,
        math.nan,
        0.1,
        math.nan,
    ]
    given = records(unit.unit_spec, 13 * len(readings), laser_front=np.repeat(readings, 13))
    seen = unit.run(given)["o_near"][12::13].tolist()
    assert seen == [0, 0, 1, 1, 0, 0, 0, 0, 1, 0]  # a laser that reads nothing sees nothing
    assert (
        mismatches(
            HostUnit.of(unit.unit_spec.behaviour, tmp_path).run(given), unit.unit_spec.reference().run(given)
        )
        == []
    )


def test_an_action_at_once_begins_in_c_in_the_middle_of_a_motion(tmp_path: Path) -> None:
    tiny(tmp_path, {"near": EVERYTHING["near"]}, guard="near")
    path = tmp_path / "tiny.behaviour.yaml"
    text = path.read_text().replace(
        "{otherwise: true, play: null}", "{otherwise: true, play: left, at_once: true}"
    )
    path.write_text(text)
    unit = HostUnit.of(read_behaviour(path), tmp_path)
    inputs = records(unit.unit_spec, 600, laser_front=1.0)
    inputs["laser_front"][130:300] = 0.1
    expected = unit.unit_spec.reference().run(inputs)
    playing = expected["playing"]
    assert playing[127:].tolist() != [playing[127]] * len(playing[127:])
    interrupted = np.flatnonzero(np.diff(playing) != 0)
    assert (interrupted[interrupted > 299] + 1)[0] in range(300, 313)  # at the next tick, not after the pass
    assert mismatches(unit.run(inputs), expected) == []
    assert unit.unit_spec.ticks_from_player(inputs, expected) <= 1


def test_the_robot_stands_while_it_waits_and_its_chart_has_not_begun(tmp_path: Path) -> None:
    unit = HostUnit.of(
        tiny(tmp_path, {"near": EVERYTHING["near"]}, guard="true or near", wait_s=1.0), tmp_path
    )
    seen = unit.run(records(unit.unit_spec, 200))
    first = int(np.flatnonzero(seen["action"])[0])
    assert first == 128  # the tick at 1.0 s
    assert not seen["active"][:first].any()
    assert seen["active"][first:].any(axis=1).all()


def test_between_two_steps_the_pose_is_held_and_all_time_stands_still(tmp_path: Path) -> None:
    clock = {"clock_s": ("float", "{clock: since_start}")}
    unit = HostUnit.of(tiny(tmp_path, clock, guard="true"), tmp_path)
    given = records(unit.unit_spec, 80)
    seen = []
    for k in range(80):
        seen.append(unit.run(given[k : k + 1]))
        held = seen[-1]["packet"][0].tobytes()
        assert {unit.packet() for _ in range(5)} == {held}  # however often a late board sends it again
    together = np.concatenate(seen)
    assert len(np.unique(together["packet"], axis=0)) > 40  # it moves
    assert mismatches(together, unit.unit_spec.reference().run(given)) == []
    assert together["o_clock_s"][-1] == 77 * FRAME_S  # of the tick that is due at frame 76.8


def test_a_sensor_that_begins_with_no_number_stops_the_robot_and_says_so(tmp_path: Path) -> None:
    wires = {"range_m": ("float", "{sensor: compass}")}
    unit = HostUnit.of(tiny(tmp_path, wires, guard="range_m < 100"), tmp_path)
    given = records(unit.unit_spec, 60, compass=math.nan)
    given["compass"][20:] = 1.0
    seen = unit.run(given)
    assert set(seen["status"].tolist()) == {3}
    assert not seen["playing"].any()
    assert mismatches(seen, unit.unit_spec.reference().run(given)) == []


def test_a_record_of_a_body_holds_what_its_sensors_read() -> None:
    unit_spec = BehaviourUnitSpec(read_behaviour("obstacle_race"))
    ring = np.linspace(0.1, 5.0, 72)
    state = BodyState(0.0, np.zeros(18), np.zeros(18), sensors={"ring": ring, "compass": 0.25})
    record = unit_spec.input_record_of(state)
    assert record["compass"] == 0.25
    assert [record[f"ring_{k}"][0] for k in range(72)] == ring.tolist()
    with pytest.raises(BodyError, match="no channel 'compass'"):
        unit_spec.input_record_of(BodyState(0.0, np.zeros(18), np.zeros(18), sensors={"ring": ring}))


def test_a_packet_commands_the_joints_to_within_half_a_tick() -> None:
    unit_spec = BehaviourUnitSpec(read_behaviour("document_mealy"))
    states = unit_spec.reference().run(unit_spec.random_inputs(1, 0))
    commands = unit_spec.decode_packet(states["packet"][0].tobytes())
    robot = unit_spec.behaviour.robot
    assert commands.angles.shape == (1, 18)
    apart = np.abs(commands.angles[0] - unit_spec.behaviour.start_pose)
    assert (apart <= 0.5 * np.array([servo.tick_rad for servo in robot.servos]) + 1e-9).all()
    with pytest.raises(FormatError):
        unit_spec.decode_packet(states["packet"][0].tobytes()[:-1] + b"\0")


def test_gaits_of_four_legs_and_joints_that_go_their_own_way_are_refused_with_their_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_require_sound_chart", lambda _chart: None)  # a large chart: it takes long
    with pytest.raises(
        InputError, match=r"cross_field.behaviour.yaml:\d+: the gait trot walks on four legs, which a board"
    ):
        BehaviourUnitSpec(read_behaviour("cross_field"))
    tiny(tmp_path, {"near": EVERYTHING["near"]}, guard="near")
    path = tmp_path / "tiny.behaviour.yaml"
    text = path.read_text()
    path.write_text(text.replace("play: left}", "play: left, joints_deg: {left_elbow: 10}}"))
    with pytest.raises(InputError, match=r"tiny.behaviour.yaml:\d+: a rule moves left_elbow separately"):
        BehaviourUnitSpec(read_behaviour(path))


@pytest.mark.parametrize("name", ["obstacle_race", "obstacle_champion"])
def test_the_image_of_a_whole_race_fits_the_board_with_room_to_spare(name: str, tmp_path: Path) -> None:
    need_tool("arm-none-eabi-gcc")
    unit_spec, board = BehaviourUnitSpec(read_behaviour(name)), Cm900()
    write_sources((*unit_spec.sources(), *board.sources(unit_spec)), tmp_path)
    image = board.build(tmp_path)
    assert image.flash_bytes < 48 * 1024
    assert image.ram_bytes < 12 * 1024
    assert image.parts["motions.c"][1] == 0  # the tables are in flash
