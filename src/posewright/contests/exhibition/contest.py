"""The free exhibition as a contest: it is recorded and filmed, and people give the points, not a judge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from posewright.arenas import Arena, arena
from posewright.bodies import PlanarPose, Supervisor
from posewright.contests.contest import Entry, Note, ScoreTable, Tabled
from posewright.contests.picture import ContestPicture, Series
from posewright.contests.ruled import SPARE_S, Ruled
from posewright.control import Block
from posewright.documents import Bounds
from posewright.errors import InputError
from posewright.recordings import Event, Recording


@dataclass(frozen=True, slots=True)
class ExhibitionRules:
    """The rules.

    Attributes:
        arena: name of the field.
        limit_s: how long a show may be [s].
        start_m: where a robot begins, x and y; it looks along x [m].
    """

    rules: str
    title: str
    arena: str
    limit_s: Annotated[float, Bounds(1.0, 3600.0)]
    start_m: tuple[float, float]
    sources: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class ExhibitionScore(Tabled):
    """How long a show was [s], and how far the robot went [m]; nobody here says what it was worth."""

    contest: str
    time_s: float
    way_m: float
    ended: str
    points: float = 0.0
    warnings: tuple[str, ...] = ()

    @property
    def ranking(self) -> tuple[float, ...]:
        """Nothing: all shows are equal."""
        return (self.points,)

    @property
    def figures(self) -> dict[str, float | str | None]:
        """Points, time, way, and how it ended."""
        told = {"points": self.points, "time_s": self.time_s, "way_m": self.way_m}
        return {**told, "ended": self.ended}

    @property
    def incidents(self) -> tuple[str, ...]:
        """None: nothing costs points in a show."""
        return ()

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain data."""
        return {"contest": self.contest, **self.figures, "warnings": list(self.warnings)}

    def table(self) -> ScoreTable:
        """Return it as one row."""
        row = (f"{self.time_s:.1f} s", f"{self.way_m:.2f} m", self.ended)
        return ScoreTable(("time", "way", "how it ended"), (row,), notes=("points are given by the jury",))


class Exhibition(Ruled[ExhibitionRules]):
    """One robot on a field without boxes for five minutes; by CEABOT's rules where no others are given."""

    entries: Mapping[str, Entry] = {"robot": Entry("robotis_bioloid", "obstacle_race")}

    def __init__(self, text: str | None = None) -> None:
        super().__init__(ExhibitionRules, Path(__file__).parent / "exhibition.rules.yaml", text)

    @property
    def longest_s(self) -> float:
        """The show [s]."""
        return self.rules.limit_s + SPARE_S

    def field(self, layout: str, seed: int, *, legal: bool = False) -> Arena:  # noqa: ARG002 -- nothing is drawn
        """Return the field without boxes."""
        if layout:
            raise InputError(f"the exhibition has no layout {layout!r}", hint="leave it out")
        return arena(self.rules.arena)

    def start(self, role: str, arena: Arena) -> PlanarPose:  # noqa: ARG002 -- one robot, one place
        """Return the middle of the field."""
        x, y = self.rules.start_m
        return x, y, 0.0

    def referee(self, arena: Arena, supervisors: Mapping[str, Supervisor], note: Note) -> Timekeeper:  # noqa: ARG002 -- nobody is put back
        """Return somebody with a watch."""
        return Timekeeper(self.rules.limit_s, note)

    def judge(self, recording: Recording) -> ExhibitionScore:
        """Return how long it took and how far the robot went."""
        reasons = [str(event.data.get("reason")) for event in recording.events_of("stop")]
        way_m = float(np.hypot(*np.diff(recording.robot().base[:, :2], axis=0).T).sum())
        ended = reasons[-1] if reasons else "the recording ends"
        way_m = round(way_m, 3) if np.isfinite(way_m) else 0.0
        return ExhibitionScore(self.name, round(recording.duration_s, 3), way_m, ended)

    def picture(self, recording: Recording) -> ContestPicture:
        """Return how high the robot's trunk was: what stands up, bows or falls is seen in it."""
        height = Series("trunk", "m", recording.times, recording.robot().base[:, 2])
        score = self.judge(recording)
        return ContestPicture(f"{score.time_s:.0f} s: {score.ended}", series=(height,), series_title="height")


class Timekeeper:
    """Ends a show when its time is over."""

    def __init__(self, limit_s: float, note: Note) -> None:
        self._limit_s, self._note, self._now_s = limit_s, note, 0.0

    def progress(self) -> str:
        """Return the time that is left."""
        return f"{self._limit_s - self._now_s:5.1f} s left"

    def watch(self, block: Block) -> bool:
        """Look at the time; return whether it is over."""
        self._now_s = float(block.states.times[-1])
        if self._now_s < self._limit_s:
            return False
        self._note(Event(self._now_s, "stop", {"reason": "time out"}))
        return True
