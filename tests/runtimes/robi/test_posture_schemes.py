"""Robi 1's nine patterns beside Robi 2's one: the same to be seen, and very different in size."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from posewright.bodies import MockBody
from posewright.robots import robot
from posewright.runtimes.robi.catalogue import load_program
from posewright.runtimes.robi.controller import RobiController
from posewright.runtimes.robi.memory import RobiMemory
from posewright.runtimes.robi.posture_schemes import read_pose_blocks, write_nine_patterns, write_one_pattern
from posewright.runtimes.robi.program import Rm4Program

ROBI = robot("deagostini_robi2")
DANCE = load_program("dance")


def in_posture(name: str) -> RobiMemory:
    """Return the memory of a Robi that has been brought into a posture."""
    memory, body = RobiMemory(), MockBody(ROBI, positions=ROBI.pose(name))
    controller = RobiController(ROBI, load_program("startup"), memory)
    while not controller.is_over:
        body.play(controller.next(body.read(), 1))
    return memory


def played(
    written: Rm4Program, memory: RobiMemory, pose: str
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    body = MockBody(ROBI, positions=ROBI.pose(pose))
    controller = RobiController(ROBI, written, memory)
    while not controller.is_over:
        body.play(controller.next(body.read(), 1))
    return body.commands


@pytest.mark.parametrize(("pose", "posture"), [("stand", 0), ("sit", 1), ("chair", 2)])
def test_both_schemes_are_the_same_to_be_seen_facing_front(pose: str, posture: int) -> None:
    nine_memory = RobiMemory()  # a Robi 1 maps nothing
    nine_memory.set("posture", posture)
    nine = played(write_nine_patterns(read_pose_blocks(DANCE)), nine_memory, pose)
    one = played(write_one_pattern(read_pose_blocks(DANCE)), in_posture(pose), pose)
    np.testing.assert_allclose(nine, one, atol=1e-12)


def test_a_face_turned_left_stays_about_there_in_nine_patterns() -> None:
    memory, start = RobiMemory(), ROBI.pose("stand").copy()
    neck = ROBI.index("neck_yaw")
    start[neck] = ROBI.from_ticks(np.full(20, 450.0))[neck]
    body = MockBody(ROBI, positions=start)
    controller = RobiController(ROBI, write_nine_patterns(read_pose_blocks(DANCE)), memory)
    while not controller.is_over:
        body.play(controller.next(body.read(), 1))
    turned = ROBI.to_ticks(body.commands)[:, neck]
    assert (turned.min(), turned.max()) == (pytest.approx(250), pytest.approx(650))


def test_robi_2_has_a_ninth_of_the_motions_and_less_than_a_sixth_of_the_bytes() -> None:
    shared = sum(load_program(name).n_bytes for name in ("map_sitting", "map_legs", "unmap"))
    behaviours = [read_pose_blocks(load_program(name)) for name in ("dance", "explain_ride")]
    nine = [write_nine_patterns(poses) for poses in behaviours]
    one = [write_one_pattern(poses) for poses in behaviours]
    assert [len(read_pose_blocks(made)) for made in nine] == [9 * len(read_pose_blocks(made)) for made in one]
    assert 6 * (shared + sum(made.n_bytes for made in one)) < sum(made.n_bytes for made in nine)


def test_a_program_without_a_pose_has_no_schemes() -> None:
    assert read_pose_blocks(load_program("wait")) == ()


@pytest.mark.parametrize(("name", "nine", "one"), [("dance", 28_885, 3_190), ("explain_ride", 38_137, 4_218)])
def test_the_page_tells_how_large_both_are(name: str, nine: int, one: int) -> None:
    poses = read_pose_blocks(load_program(name))
    assert len(write_nine_patterns(poses).render()) == nine
    assert len(write_one_pattern(poses).render()) == one
    page = (Path(__file__).parents[3] / "docs" / "robi.md").read_text(encoding="utf-8")
    assert f"{nine:,} bytes | {one:,} bytes" in page
