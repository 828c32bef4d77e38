"""From a C header of AIBO poses to motions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np

from posewright.errors import FormatError, Where
from posewright.formats.ekmoves.header import (
    DEFAULT_REACH_S,
    ORDER,
    PoseArray,
    PoseHeader,
    Series,
    Timing,
    split_name,
)
from posewright.formats.ekmoves.notes import MOTION
from posewright.formats.kinds import EKMOVES
from posewright.formats.motion_file import Origin
from posewright.motions import Keyframe, Motion, Pose
from posewright.robots import Robot

_LONGEST_NAME = 60


def c_name(name: str) -> str:
    """Return a motion's name as C takes it, in capitals as Eagle Knights wrote them; so it is no keyword."""
    plain = re.sub(r"[^A-Z0-9_]", "_", name.upper())[:_LONGEST_NAME]
    return plain if plain and not plain[0].isdigit() else f"MOTION_{plain}"


def series_of(header: PoseHeader, path: Path | None = None) -> tuple[Series, ...]:
    """Return the motions of a header, in the order in which they begin.

    Raises:
        FormatError: two poses of a motion have the same number.
    """
    names = frozenset(array.name for array in header.arrays)
    groups: dict[tuple[str, bool], dict[int, PoseArray]] = {}
    for array in header.arrays:
        name, number = split_name(array.name, names)
        poses = groups.setdefault((name, number is not None), {})
        if (number or 0) in poses:
            where = Where(path, array.line)
            hint = f"the other is {poses[number or 0].name}"
            raise FormatError(f"{array.name} is pose {number} for the second time", where=where, hint=hint)
        poses[number or 0] = array
    return tuple(_series(name, poses, numbered) for (name, numbered), poses in groups.items())


def _series(name: str, poses: dict[int, PoseArray], is_numbered: bool) -> Series:
    numbers = sorted(poses)
    remarks = []
    if numbers[0] > 1:
        remarks.append(f"{name} begins with pose {numbers[0]}")
    remarks += [f"{name} goes from pose {a} to pose {b}" for a, b in pairwise(numbers) if b != a + 1]
    if list(poses) != numbers:
        remarks.append(f"{name}: the poses do not stand in the order of their numbers, which counts")
    return Series(name, tuple(poses[number] for number in numbers), is_numbered, tuple(remarks))


def series_motion(
    header: PoseHeader, series: Series, page: int, card: Robot, path: Path | None = None
) -> Motion:
    """Return a series as a motion, which remembers the header."""
    notes = dict(series.arrays[0].notes)
    name = notes.pop(MOTION, series.name)
    return Motion(
        name if c_name(name) == series.name.upper() else series.name,
        card.name,
        ORDER,
        tuple(_keyframes(series)),
        source="C header of poses (EKMoves.h)",
        extras=notes,
        origin=Origin(EKMOVES, header, page, remarks=header.remarks, path=path, robot=card),
    )


def _keyframes(series: Series) -> Iterator[Keyframe]:
    for place, array in enumerate(series.arrays):
        timing = timing_of(array, place)
        pose = Pose(ORDER, np.radians(array.degrees))
        yield Keyframe(pose, timing.reach_s, timing.pause_s, attitude=timing.attitude)


def timing_of(array: PoseArray, place: int) -> Timing:
    """Return when the pose at a place of its motion is reached: as our comment says, or as EKMotion did."""
    return array.timing or Timing(DEFAULT_REACH_S if place else 0.0)
