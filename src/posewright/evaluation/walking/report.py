"""The report of a gait's trial: every figure by its name. docs/measuring-a-gait.md explains each."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from posewright.evaluation.walking.drives import drives_of
from posewright.evaluation.walking.energy import Energy, energy_of
from posewright.evaluation.walking.falls import GaitFall, falls_of
from posewright.evaluation.walking.feet import FeetWork, feet_work_of
from posewright.evaluation.walking.joints import JointLoads, joint_loads_of
from posewright.evaluation.walking.leaning import Leaning, leaning_of
from posewright.evaluation.walking.track import GaitTrack
from posewright.evaluation.walking.travel import Travel, travel_of

DECIMALS = 9
"""Numbers in JSON are rounded to this many: finer than anything measured, and free of 0.30000000000000004."""


@dataclass(frozen=True, kw_only=True)
class GaitReport(Energy, FeetWork, JointLoads, Leaning, Travel):
    """Every figure of one walk, up to the first fall.

    Attributes:
        falls: how often the robot fell, settling included; the walk ends when it stays down.
        fall_times_s: when, since it was let go [s].
        fall_sides: to where: forward, back, to the left, to the right.
    """

    falls: int
    fall_times_s: tuple[float, ...]
    fall_sides: tuple[str, ...]

    @property
    def is_upright(self) -> bool:
        """Whether the robot never fell."""
        return self.falls == 0

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, fit for JSON: None where there is no number."""
        told: dict[str, Any] = plain({one.name: getattr(self, one.name) for one in fields(self)})
        told["feet"] = {one.pop("foot"): one for one in told["feet"]}
        told["joints"] = {one.pop("joint"): one for one in told["joints"]}
        first = ("speed_m_s", "left_m_s", "turn_rad_s", "falls", "fall_times_s", "fall_sides")
        return {name: told.pop(name) for name in first} | told


def report_of(track: GaitTrack, falls: tuple[GaitFall, ...] | None = None) -> GaitReport:
    """Return every figure of a walk, up to the first fall.

    Args:
        track: of the walk.
        falls: of the same; found in it where none are given.
    """
    found = falls_of(track) if falls is None else falls
    upright = track.until(max(found[0].row - 1, 0)) if found else track
    travel, drives = travel_of(upright), drives_of(upright)
    parts = (
        travel,
        leaning_of(upright),
        joint_loads_of(upright, drives),
        feet_work_of(upright, travel.path_m),
        energy_of(upright, drives, travel.path_m),
    )
    figures = {one.name: getattr(part, one.name) for part in parts for one in fields(part)}
    return GaitReport(
        **figures,
        falls=len(found),
        fall_times_s=tuple(fall.time_s for fall in found),
        fall_sides=tuple(fall.side for fall in found),
    )


def plain(value: Any) -> Any:
    """Return values of values as JSON has them: dataclasses as objects, numbers rounded."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {one.name: plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, tuple | list):
        return [plain(one) for one in value]
    return round(value, DECIMALS) + 0.0 if isinstance(value, float) else value
