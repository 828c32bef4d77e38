"""The outcome of a run: its recording and score, with remarks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from posewright.bodies import Plant
from posewright.recordings import Recording

if TYPE_CHECKING:
    from posewright.codegen.hil.boards import BoardReport
    from posewright.contests import Score, ScoreTable
    from posewright.network.remote_plant import Latencies


@dataclass(frozen=True, slots=True, eq=False)
class Unjudged:
    """Replaces a score for a recording without a contest; its table lists robots and events."""

    recording: Recording
    points: float = 0.0
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, fit for JSON."""
        robots = {
            name: {
                "robot": record.header.robot,
                "controller": record.header.controller,
                "rows": len(record),
            }
            for name, record in self.recording.robots.items()
        }
        return {"contest": None, "duration_s": self.recording.duration_s, "robots": robots}

    def table(self) -> ScoreTable:
        """Return a table with a row for each robot, and the number of events of each kind as notes."""
        from posewright.contests import ScoreTable

        rows = tuple(
            (
                name if name == record.header.robot else f"{name}: {record.header.robot}",
                record.header.controller or "-",
                f"{self.recording.duration_s:.2f} s",
                str(len(record)),
                str(len(record.decisions)),
            )
            for name, record in self.recording.robots.items()
        )
        kinds = Counter(event.kind for event in self.recording.events)
        notes = tuple(f"{kind}: {count} times" for kind, count in kinds.items())
        return ScoreTable(("robot", "controller", "duration", "rows", "decisions"), rows, notes=notes)


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """The outcome of a run.

    Attributes:
        recording: the recording of the run.
        score: computed by the judge from the recording alone.
        wall_s: wall time of the run without setup; 0 without a clock [s].
        remarks: warnings, such as that a layout breaks the rules.
        assumed: defaults that the trial or its contest chose: robot, behaviour, layout, seed, rules.
        board: report of the board that ran the program; None if it ran in this process.
        link: response times of a remote body; None if no body is remote.
    """

    recording: Recording
    score: Score
    wall_s: float
    remarks: tuple[str, ...] = ()
    assumed: Mapping[str, str] = field(default_factory=dict)
    board: BoardReport | None = None
    link: Latencies | None = None

    def __repr__(self) -> str:
        contest = self.recording.header.contest
        points = f": {self.score.points:.2f} points" if contest else ""
        return f"<Outcome of {contest or 'no contest'}{points}>"

    def _repr_html_(self) -> str:
        warnings = "".join(f"<p>{escape(line)}</p>" for line in (*self.score.warnings, *self.all_remarks))
        return self.score.table()._repr_html_() + warnings

    @property
    def all_remarks(self) -> tuple[str, ...]:
        """The remarks, including those on the board."""
        return self.remarks if self.board is None else (*self.remarks, *self.board.remarks)

    @property
    def simulated_s(self) -> float:
        """Duration of the recording [s]."""
        return self.recording.duration_s

    @property
    def real_time_factor(self) -> float:
        """Simulated time divided by wall time; 0 without a clock."""
        return self.simulated_s / self.wall_s if self.wall_s > 0.0 else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the recording as plain data, fit for JSON."""
        header = self.recording.header
        robot = next(iter(header.robots.values()))
        return {
            **self.score.to_dict(),
            "robot": robot.robot,
            "behaviour": robot.controller.partition(" ")[2],
            "layout": header.layout,
            "boxes": [list(box) for box in header.boxes],
            "seed": header.seed,
            "assumed": dict(self.assumed),
            "warnings": [*self.score.warnings, *self.all_remarks],
            "simulated_s": self.simulated_s,
            "wall_s": self.wall_s or None,
            "real_time_factor": self.real_time_factor or None,
            "digest": self.recording.digest(),
            **({"controller": "python"} if self.board is None else self.board.to_dict()),
            **({} if self.link is None else {"link": asdict(self.link)}),
        }


def latencies_of(plant: Plant) -> Latencies | None:
    """Return the response times of a remote plant; None if the plant is local."""
    from posewright.network.remote_plant import RemotePlant

    return plant.latencies if isinstance(plant, RemotePlant) else None
