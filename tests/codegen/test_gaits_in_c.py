"""A biped's gait in C: the joint angles of the generator, and whole behaviours that walk."""

from __future__ import annotations

import ctypes
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from posewright.buses.dynamixel.packets import goals_in
from posewright.codegen.behaviour import BehaviourUnitSpec
from posewright.codegen.behaviour.gait_sources import BIPED_FILES, gaits_header, write_gait, write_legs
from posewright.codegen.c.writer import CWriter
from posewright.codegen.generating import generate
from posewright.codegen.proof.proving import verify
from posewright.codegen.proof.source_coverage import build_program, run_program
from posewright.codegen.proof.verification import compare_records, run_from_reset
from posewright.codegen.targets import target_named, write_sources
from posewright.codegen.targets.cm900.processor import CortexProcessor
from posewright.codegen.unit import SourceFile, read_package_sources
from posewright.controllers.behaviours import read_behaviour
from posewright.errors import InputError, UnsafeMotionError
from posewright.gaits import BipedGait, VelocityCommand, read_gait
from posewright.gaits.feedback import Tilt
from posewright.robots import Robot, robot

from .behaviour_host import HostUnit, library, mismatches
from .conftest import need_tool
from .test_board_code_quality import SANITIZED
from .test_generated_quality import ALLOWED, said_by
from .walking import SPREADS, random_choices, walking_behaviour

BIOLOID = robot("robotis_bioloid")
ROBONOVA = robot("hitec_robonova1")


def biped_gait(name: str, card: Robot, **values: float) -> BipedGait:
    gait = read_gait(name, robot=card).with_values(values)
    assert isinstance(gait, BipedGait)
    return gait


def library_of_gait(gait: BipedGait, card: Robot, folder: Path) -> ctypes.CDLL:
    """Return the walk in C as a library, with the gait as its only one."""
    writer = CWriter()
    writer.write(['#include "biped.h"', "", "extern const biped_gait_t gaits[];", "void begin(void);"])
    write_legs(writer, card)
    pose = ", ".join(map(repr, np.clip(card.pose(gait.pose), *card.limits).tolist()))
    writer.line(f"static const double rest[N_JOINTS] = {{{pose}}};")
    with writer.block("const biped_gait_t gaits[] =", "};"):
        write_gait(writer, "rest", gait, card)
    writer.line("void begin(void) { biped_reset(gaits); }")
    sizes = SourceFile("motions.h", (f"#define N_JOINTS {len(card.joints)}U",))
    fixed_files = read_package_sources("posewright.codegen.behaviour", BIPED_FILES)
    loaded = library(folder, (*fixed_files, gaits_header(), writer.file("gaits.c"), sizes))
    loaded.biped_is_standing.restype = ctypes.c_bool
    loaded.biped_set_excess_tilt.argtypes = [ctypes.c_double, ctypes.c_double]
    return loaded


def with_axes_apart(card: Robot) -> Robot:
    """Return the robot with the axes of roll and pitch one over the other, at hips and ankles."""
    assert card.biped is not None
    return replace(card, biped=replace(card.biped, hip_drop_m=0.004, ankle_drop_m=0.003))


def with_reversed_joints(card: Robot) -> Robot:
    """Return the robot with some joints that turn the other way round, other ones on each side."""
    assert card.biped is not None
    directions = {"right": (-1, 1, -1, 1, 1, -1), "left": (1, -1, 1, -1, -1, 1)}
    return replace(card, biped=replace(card.biped, directions=directions))


def levelling(gait: BipedGait) -> BipedGait:
    """Return the gait with feet that are levelled."""
    return replace(gait, feedback=replace(gait.feedback, foot_levelling=0.8))


WALKS = {
    "six joints a leg": (BIOLOID, biped_gait("biped", BIOLOID)),
    "axes apart": (with_axes_apart(BIOLOID), biped_gait("biped", BIOLOID, swing_share=0.7)),
    "joints reversed": (with_reversed_joints(BIOLOID), biped_gait("biped", BIOLOID)),
    "five joints a leg": (ROBONOVA, levelling(biped_gait("nova_walk", ROBONOVA, **{"trim.turn_rad_m": 1.0}))),
}


@pytest.mark.parametrize("name", WALKS)
def test_joint_angles_are_the_generators_whatever_is_requested(name: str, tmp_path: Path) -> None:
    card, gait = WALKS[name]
    c = library_of_gait(gait, card, tmp_path)
    generator = gait.generator(card)
    rng = np.random.default_rng(7)
    angles = np.zeros(len(card.joints))
    room = ctypes.c_void_p(angles.ctypes.data)
    c.begin()
    c.biped_standing_pose(room)
    greatest_difference = np.abs(angles - generator.standing_pose).max()
    n_halts = 0
    for _ in range(25):
        if rng.random() < 0.25:
            n_halts += 1
            generator.halt()
            c.biped_halt()
        else:
            scale = rng.choice((0.0, 1.0), 3)
            speeds = scale * rng.normal(0.0, (0.2, 0.04, 0.8))
            command = generator.clip_command(VelocityCommand(*speeds.tolist()))
            generator.request(command)
            c.biped_request((ctypes.c_double * 3)(*command.by_name.values()))
        tilt = Tilt(*(rng.choice((0.0, 1.0)) * rng.normal(0.0, 0.3, 2)).tolist())
        generator.set_excess_tilt(tilt)
        c.biped_set_excess_tilt(tilt.roll, tilt.pitch)
        for _ in range(int(rng.integers(1, 120))):
            expected = generator.frames(1)[0]
            c.biped_frame(room)
            greatest_difference = max(greatest_difference, np.abs(angles - expected).max())
        assert c.biped_is_standing() == generator.is_standing
    assert n_halts > 2
    assert greatest_difference < 1e-12  # an AX-12's tick is 5e-3 rad


def test_a_change_whose_last_part_is_small_but_for_rounding_takes_as_many_steps(tmp_path: Path) -> None:
    gait = biped_gait("biped", BIOLOID, steps_to_full_speed=20.0)  # a step changes by just a small part
    c = library_of_gait(gait, BIOLOID, tmp_path)
    rng = np.random.default_rng(3)
    angles = np.zeros(len(BIOLOID.joints))
    room = ctypes.c_void_p(angles.ctypes.data)
    for _ in range(12):
        generator = gait.generator(BIOLOID)
        c.begin()
        speeds = rng.choice((0.0, 1.0), 3) * rng.normal(0.0, (3.0, 0.5, 10.0))  # the fastest in a direction
        command = generator.clip_command(VelocityCommand(*speeds.tolist()))
        generator.request(command)
        c.biped_request((ctypes.c_double * 3)(*command.by_name.values()))
        for expected in generator.frames(22 * generator.planner.n_frames):
            c.biped_frame(room)
            assert np.abs(angles - expected).max() < 1e-12


def test_a_behaviour_that_walks_does_in_c_what_it_does_in_the_simulator(tmp_path: Path) -> None:
    unit = HostUnit.of(walking_behaviour(tmp_path), tmp_path)
    inputs = random_choices(unit.unit_spec.input_dtype, 3000, seed=3)
    expected = unit.unit_spec.reference().run(inputs)
    assert set(expected["playing"].tolist()) == {0, 1, 2, 3}
    assert expected["is_walking"].any()
    assert np.ptp(expected["walk_turn_rad_s"]) > 1.0
    assert mismatches(unit.run(inputs), expected) == []
    assert unit.unit_spec.ticks_from_player(inputs, expected) <= 1


def test_a_behaviour_that_walks_is_verified_as_any_other(tmp_path: Path) -> None:
    need_tool("gcc")
    verification = verify(BehaviourUnitSpec(walking_behaviour(tmp_path)), steps=500)
    assert verification.same
    assert verification.ticks_from_player is not None
    assert verification.ticks_from_player <= 1


def test_a_walk_on_the_board_has_the_servo_packets_of_the_simulator_in_time(tmp_path: Path) -> None:
    pytest.importorskip("unicorn", reason="the extra `boards` is not installed")
    need_tool("arm-none-eabi-gcc")
    unit_spec = BehaviourUnitSpec(walking_behaviour(tmp_path))
    inputs = random_choices(unit_spec.input_dtype, 500, seed=3)
    expected = unit_spec.reference().run(inputs)
    assert {1, 2} <= set(expected["playing"].tolist())
    processor = CortexProcessor(unit_spec)
    assert processor.run(inputs).tobytes() == expected.tobytes()
    goals = np.array(
        [[goal for goal, _ in goals_in(packet.tobytes()).values()] for packet in expected["packet"]]
    )
    assert np.ptp(goals, axis=0).max() > 50  # it walks
    needs = processor.footprint()
    assert needs.image_flash_bytes is not None
    assert needs.image_flash_bytes < 40 * 1024
    frame_s = unit_spec.behaviour.robot.frame_period_s
    assert 3 * (needs.step_cycles_worst or 0) < 72e6 * frame_s  # three cycles for each instruction


def test_without_feedback_no_sensor_is_read_and_the_walk_is_the_simulators(tmp_path: Path) -> None:
    walking_behaviour(tmp_path)
    path = tmp_path / "slow.gait.yaml"
    path.write_text(re.sub(r"feedback: .*", "feedback: {heading_1_s: 0.0}", path.read_text()))
    behaviour_path = tmp_path / "stroll.behaviour.yaml"
    behaviour_path.write_text(
        behaviour_path.read_text().replace("walk: {gait: biped}", "walk: {file: slow.gait.yaml}")
    )
    unit = HostUnit.of(read_behaviour(behaviour_path), tmp_path)
    assert set(unit.unit_spec.input_dtype.names or ()) == {*SPREADS, "choice"}
    inputs = random_choices(unit.unit_spec.input_dtype, 1500, seed=4)
    expected = unit.unit_spec.reference().run(inputs)
    assert {2, 3} & set(expected["playing"].tolist())
    assert mismatches(unit.run(inputs), expected) == []
    assert unit.unit_spec.ticks_from_player(inputs, expected) <= 1


def test_the_walk_is_clean_for_a_static_analyser_and_for_sanitizers(tmp_path: Path) -> None:
    need_tool("cppcheck")
    need_tool("gcc")
    unit_spec = BehaviourUnitSpec(walking_behaviour(tmp_path))
    analysed = tmp_path / "analysed"
    analysed.mkdir()
    write_sources((*unit_spec.sources(), *target_named("cm900").sources(unit_spec)), analysed)
    rules = ["--enable=warning,style,performance,portability", "--std=c99", "--error-exitcode=1", "--quiet"]
    rules += ["--platform=arm32-wchar_t4", "--inline-suppr", *(f"--suppress={name}" for name in ALLOWED)]
    assert said_by(["cppcheck", *rules, "."], analysed) == ""
    episode = random_choices(unit_spec.input_dtype, 1500, seed=1)
    program = build_program(unit_spec.sources(), tmp_path, SANITIZED)
    expected = run_from_reset(unit_spec.reference(), episode)
    assert not compare_records(expected, run_program(program, unit_spec, [episode])).any()


def test_a_gait_that_asks_too_much_of_the_servos_is_not_written_for_a_board(tmp_path: Path) -> None:
    walking_behaviour(tmp_path)
    path = tmp_path / "slow.gait.yaml"
    path.write_text(path.read_text().replace("lift_m: 0.0109", "lift_m: 0.05"))
    behaviour = read_behaviour(tmp_path / "stroll.behaviour.yaml")
    with pytest.raises(UnsafeMotionError, match=r"slow_walk: exceeds the joint speed of \w+ by"):
        generate(BehaviourUnitSpec(behaviour), tmp_path / "c")


def test_a_velocity_without_bounds_is_refused_with_its_line(tmp_path: Path) -> None:
    walking_behaviour(tmp_path)
    for name, old, new in (
        ("chart", "forward_m_s: {float: [-2, 2]}", "forward_m_s: float"),
        ("behaviour", "100 * forward_m_s", "100 * forward_m_s * 1e9"),
    ):
        path = tmp_path / f"stroll.{name}.yaml"
        path.write_text(path.read_text().replace(old, new))
    unit_spec = BehaviourUnitSpec(read_behaviour(tmp_path / "stroll.behaviour.yaml"))
    with pytest.raises(InputError, match=r"stroll.behaviour.yaml:\d+: forward_m_s of slow_walk may exceed"):
        unit_spec.sources()
