"""What safety would not let through of a walk, from its recording."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.arrays import Floats
from posewright.bodies import JointCommands
from posewright.control import Safety
from posewright.evaluation import Trajectory
from posewright.evaluation.walking.walk import Correction, corrections_of
from posewright.recordings import Header, Recording, RobotHeader, RobotRecord
from posewright.robots import robot

CARD = robot("sony_ers7")
FRAME_S = CARD.frame_period_s
STANDING = CARD.pose("stand")


def in_blocks(requested: Floats, cuts: list[int]) -> tuple[Floats, tuple[Correction, ...]]:
    """Return what safety lets through of a walk that is cut there, and what its recording says it did not."""
    safety = Safety(CARD)
    passed_rows = STANDING[np.newaxis]
    for start, end in pairwise((0, *cuts, len(requested))):
        passed = safety.filter(JointCommands(requested[start:end]), passed_rows[-1]).commands
        passed_rows = np.concatenate([passed_rows, passed.angles])
    return passed_rows, corrections_of(Trajectory.of(recorded(requested, passed_rows[1:])))


def recorded(requested: Floats, commanded: Floats) -> Recording:
    """Return the recording of a robot that goes nowhere and is asked for this."""
    n = len(requested)
    header = RobotHeader(CARD.name, "gait made", CARD.joint_names, CARD.feet)
    base = np.tile((0.0, 0.0, 0.13, 1.0, 0.0, 0.0, 0.0), (n, 1))
    record = RobotRecord(
        header=header,
        positions=commanded,
        commands=commanded,
        requests=requested,
        efforts=np.zeros_like(commanded),
        base=base,
        footprints=np.zeros((n, 4, 4, 3)),
        foot_contacts=np.zeros((n, 4), dtype=bool),
        box_contacts=np.zeros((n, 0), dtype=bool),
        start_positions=STANDING,
        start_base=base[0],
    )
    times = np.arange(1.0, n + 1.0) * FRAME_S
    return Recording(
        Header({CARD.name: header}, rate_hz=1.0 / FRAME_S),
        times,
        {CARD.name: record},
        np.zeros((n, 0, 7)),
        (),
    )


@given(seed=st.integers(0, 1000), cuts=st.lists(st.integers(1, 149), unique=True, max_size=6).map(sorted))
@settings(max_examples=40, deadline=None)
def test_what_safety_holds_back_does_not_depend_on_the_blocks(seed: int, cuts: list[int]) -> None:
    random = np.random.default_rng(seed)
    wild = random.random((150, len(STANDING))) < 0.02
    requested = STANDING + wild * random.normal(0.0, 1.5, (150, len(STANDING)))
    commanded, corrections = in_blocks(requested, cuts)
    uncut, uncut_corrections = in_blocks(requested, [])
    assert np.array_equal(commanded, uncut)
    assert corrections == uncut_corrections
    assert {correction.guard for correction in corrections} == {"joint limit", "speed limit"}


def test_a_joint_held_back_all_the_time_counts_once_in_32_frames() -> None:
    knee = CARD.index("left_front_knee")
    requested = np.tile(STANDING, (200, 1))
    requested[50:150, knee] = CARD.limits[1][knee] + 0.1
    _, corrections = in_blocks(requested, [70])
    frames = [
        round(correction.time_s / FRAME_S) for correction in corrections if correction.guard == "joint limit"
    ]
    assert frames == [51, 65, 97, 129]
