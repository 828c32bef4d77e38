"""Everything a run draws by chance has a stream of its own, by name, from one seed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import posewright as pw
from posewright.arenas import arena, random_layout
from posewright.errors import InputError, UnknownNameError
from posewright.runs.run import STREAMS
from posewright.runs.streams import Derivation, Streams

SEEDS = st.integers(0, 2**63 - 1)


def first_numbers(seed: int | np.random.SeedSequence) -> tuple[float, ...]:
    return tuple(np.random.default_rng(seed).random(4).tolist())


def all_streams(streams: Streams) -> list[int | np.random.SeedSequence]:
    robots = ("red", "blue")
    chances = [streams.chance_seed(robot, place) for place, robot in enumerate(robots)]
    noises = [streams.noise(robot, place) for place, robot in enumerate(robots)]
    return [streams.field, streams.body, *chances, *noises]


@given(SEEDS)
def test_no_two_streams_of_a_seed_begin_alike(seed: int) -> None:
    streams = [first_numbers(stream) for stream in all_streams(Streams(seed))]
    assert len(set(streams)) == len(streams)


@given(SEEDS, SEEDS)
def test_the_same_seed_gives_the_same_streams_and_another_gives_others(seed: int, other_seed: int) -> None:
    first = [first_numbers(stream) for stream in all_streams(Streams(seed))]
    second = [first_numbers(stream) for stream in all_streams(Streams(other_seed))]
    assert (first == second) == (seed == other_seed)


@given(SEEDS)
def test_until_november_2026_everything_of_the_first_robot_began_alike(seed: int) -> None:
    streams = Streams(seed, Derivation.SHARED)
    assert streams.field == streams.body == streams.chance_seed("red", 0) == streams.noise("red", 0) == seed


def test_numpy_takes_trailing_zeros_of_a_seed_for_nothing() -> None:
    """So `[seed, 0]`, the first of the streams bodies were drawn from, was the seed's own stream."""
    assert first_numbers(7) == first_numbers(np.random.SeedSequence([7, 0]))


def test_a_seed_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match="the seed is -1"):
        Streams(-1)


def test_a_run_lays_out_what_random_layout_of_its_seed_gives() -> None:
    outcome = pw.run_trial("obstacle-race", layout="random", seed=11, body="mock")
    boxes = random_layout(11, arena("ceabot_obstacles"))
    assert outcome.recording.header.boxes == tuple((box.x, box.y, box.yaw_rad) for box in boxes)


def test_a_recording_says_how_its_streams_followed_from_the_seed() -> None:
    now = pw.run_trial("passivity-test", seed=2)
    before = pw.run_trial("passivity-test", seed=2, streams="2026-11")
    assert now.recording.header.extras[STREAMS] == "2026-12"
    assert STREAMS not in before.recording.header.extras


def test_a_derivation_that_nobody_knows_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="2025-01"):
        pw.run_trial("passivity-test", streams="2025-01")
