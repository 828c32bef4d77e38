"""`check_consistency`: all checks that need no rules of a contest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from posewright.arenas import Arena
from posewright.errors import PosewrightError
from posewright.recordings.consistency.bodies import check_bodies
from posewright.recordings.consistency.boxes import check_boxes
from posewright.recordings.consistency.contacts import check_contacts
from posewright.recordings.consistency.events import check_events
from posewright.recordings.consistency.inconsistency import Inconsistency
from posewright.recordings.consistency.joints import check_commands, check_movement, check_robot, check_safety
from posewright.recordings.consistency.recorded_robot import prepare_robots
from posewright.recordings.consistency.timing import check_decisions, check_frames, check_rows
from posewright.recordings.plausibility import require_plausible
from posewright.recordings.recording import Recording
from posewright.robots import Robot


def check_consistency(
    recording: Recording, cards: Mapping[str, Robot] | None = None
) -> tuple[Inconsistency, ...]:
    """Return the contradictions between the parts of a recording; none for a real run.

    Each rule reports its first or worst case. A careful forger can pass every check: only a rerun proves that
    a simulated run happened.

    Args:
        recording: the recording.
        cards: cards of robots that do not ship, by their names in the recording.

    Raises:
        InputError: the recording contains impossible values.
    """
    require_plausible(recording)
    with np.errstate(invalid="ignore", divide="ignore"):
        return tuple(_check(recording, dict(cards or {})))


def _check(recording: Recording, cards: dict[str, Robot]) -> Iterator[Inconsistency]:
    """Yield the findings of all checks."""
    robots = prepare_robots(recording, cards)
    arena = _read_arena(recording)
    yield from check_rows(recording)
    for robot in robots:
        yield from check_robot(robot)
        yield from check_frames(robot)
        yield from check_decisions(robot)
        yield from check_commands(robot)
        yield from check_movement(robot)
        yield from check_safety(robot)
        yield from check_bodies(robot, arena)
        yield from check_contacts(robot)
    yield from check_boxes(recording, robots, arena)
    yield from check_events(recording, {robot.name: robot for robot in robots})


def _read_arena(recording: Recording) -> Arena | None:
    """Return the field of a recording; None without one that can be read."""
    try:
        return Arena.from_dict(recording.header.arena) if recording.header.arena else None
    except PosewrightError:
        return None
