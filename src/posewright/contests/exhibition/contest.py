"""The free exhibition, a contest whose points are given by a human jury."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from posewright.arenas import Arena, arena
from posewright.bodies import PlanarPose, Supervisor
from posewright.contests.contest import DefaultEntry, Note, NotebookTable, ScoreTable
from posewright.contests.own_fields import START_ROOM_M, FieldFault, find_start_faults, layout_faults
from posewright.contests.picture import ContestPicture, Series
from posewright.contests.ruled_contest import SPARE_S, RuledContest
from posewright.control import Block
from posewright.documents import Bounds
from posewright.errors import InputError
from posewright.recordings import Event, Recording


@dataclass(frozen=True, slots=True)
class ExhibitionRules:
    """The rules.

    Attributes:
        arena: name of the field.
        limit_s: greatest duration of a show [s].
        start_m: start position, x and y; the robot faces along x [m].
    """

    rules: str
    title: str
    arena: str
    limit_s: Annotated[float, Bounds(1.0, 3600.0)]
    start_m: tuple[float, float]
    sources: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class ExhibitionScore(NotebookTable):
    """The duration of a show and the distance covered; it has no points of its own.

    Attributes:
        contest: name of the rules.
        time_s: duration [s].
        distance_m: length of the base's path [m].
        end_reason: why it ended.
        points: always 0, as the jury gives them.
        warnings: always empty.
    """

    contest: str
    time_s: float
    distance_m: float
    end_reason: str
    points: float = 0.0
    warnings: tuple[str, ...] = ()

    @property
    def ranking(self) -> tuple[float, ...]:
        """The points, so that all shows are equal."""
        return (self.points,)

    @property
    def figures(self) -> dict[str, float | str | None]:
        """Points, duration, distance, and why it ended."""
        return {
            "points": self.points,
            "time_s": self.time_s,
            "way_m": self.distance_m,
            "ended": self.end_reason,
        }

    @property
    def incidents(self) -> tuple[str, ...]:
        """Always empty, as nothing costs points in a show."""
        return ()

    def to_dict(self) -> dict[str, Any]:
        """Return the score as JSON types."""
        return {"contest": self.contest, **self.figures, "warnings": list(self.warnings)}

    def table(self) -> ScoreTable:
        """Return a table of one row."""
        row = (f"{self.time_s:.1f} s", f"{self.distance_m:.2f} m", self.end_reason)
        return ScoreTable(("time", "distance", "how it ended"), (row,), notes=("the jury gives the points",))


class Exhibition(RuledContest[ExhibitionRules]):
    """One robot on a field without boxes for five minutes; CEABOT's rules by default."""

    entries: Mapping[str, DefaultEntry] = {"robot": DefaultEntry("robotis_bioloid", "obstacle_race")}

    def __init__(self, text: str | None = None) -> None:
        super().__init__(ExhibitionRules, Path(__file__).parent / "exhibition.rules.yaml", text)

    @property
    def longest_s(self) -> float:
        """The duration of a show [s]."""
        return self.rules.limit_s + SPARE_S

    def field(self, layout: str, seed: int, *, legal: bool = False) -> Arena:  # noqa: ARG002 -- nothing is drawn
        """Return the field without boxes."""
        if layout:
            raise InputError(f"the exhibition has no layout {layout!r}", hint="omit the layout")
        return arena(self.rules.arena)

    def prepare_field(self, arena: Arena, layout: str, seed: int, *, legal: bool = False) -> Arena:
        """Return an arena as it is: a show may take place on any."""
        self.field(layout, seed, legal=legal)  # raises an error if a layout is named
        return arena

    def check_field(self, arena: Arena) -> tuple[FieldFault, ...]:
        """Return what stands in the way of the robot at its start."""
        return (*find_start_faults(arena, [self.rules.start_m], START_ROOM_M), *layout_faults(arena))

    def start(self, role: str, arena: Arena) -> PlanarPose:  # noqa: ARG002 -- one robot, one place
        """Return the place that the rules give."""
        x, y = self.rules.start_m
        return x, y, 0.0

    def referee(self, arena: Arena, supervisors: Mapping[str, Supervisor], note: Note) -> Timekeeper:  # noqa: ARG002 -- nobody is put back
        """Return a timekeeper."""
        return Timekeeper(self.rules.limit_s, note)

    def judge(self, recording: Recording) -> ExhibitionScore:
        """Return the duration and the distance covered."""
        stop_reasons = [str(event.data.get("reason")) for event in recording.events_of("stop")]
        end_reason = stop_reasons[-1] if stop_reasons else "the recording ends"
        steps_m = np.hypot(*np.diff(recording.robot().base[:, :2], axis=0).T)
        distance_m = float(steps_m.sum())
        # a recording without positions has no distance
        distance_m = round(distance_m, 3) if np.isfinite(distance_m) else 0.0
        return ExhibitionScore(self.name, round(recording.duration_s, 3), distance_m, end_reason)

    def picture(self, recording: Recording) -> ContestPicture:
        """Return the height of the robot's trunk, which shows when it stands up, bows or falls."""
        height = Series("trunk", "m", recording.times, values=recording.robot().base[:, 2])
        score = self.judge(recording)
        return ContestPicture(
            f"{score.time_s:.0f} s: {score.end_reason}", series=(height,), series_title="height"
        )


class Timekeeper:
    """Ends a show when its time is over.

    Args:
        limit_s: greatest duration [s].
        note: writes an event into the recording.
    """

    def __init__(self, limit_s: float, note: Note) -> None:
        self._limit_s = limit_s
        self._note = note
        self._now_s = 0.0  # time of the last frame processed

    def progress(self) -> str:
        """Return the remaining time."""
        return f"{self._limit_s - self._now_s:5.1f} s left"

    def watch(self, block: Block) -> bool:
        """Return whether the time is over, and note it."""
        self._now_s = float(block.states.times[-1])
        if self._now_s < self._limit_s:
            return False
        self._note(Event(self._now_s, "stop", {"reason": "time out"}))
        return True
