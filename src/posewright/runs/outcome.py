"""What came of a trial."""

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
    """In place of a score, of a recording of no contest: who did what, and for how long."""

    recording: Recording
    points: float = 0.0
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data, fit for JSON."""
        robots = {
            name: {"robot": one.header.robot, "controller": one.header.controller, "rows": len(one)}
            for name, one in self.recording.robots.items()
        }
        return {"contest": None, "duration_s": self.recording.duration_s, "robots": robots}

    def table(self) -> ScoreTable:
        """Return a row a robot, and below how often what happened."""
        from posewright.contests import ScoreTable

        rows = tuple(
            (
                name if name == one.header.robot else f"{name}: {one.header.robot}",
                one.header.controller or "-",
                f"{self.recording.duration_s:.2f} s",
                str(len(one)),
                str(len(one.decisions)),
            )
            for name, one in self.recording.robots.items()
        )
        kinds = Counter(event.kind for event in self.recording.events)
        notes = tuple(f"{kind}: {count} times" for kind, count in kinds.items())
        return ScoreTable(("robot", "controller", "duration", "rows", "decisions"), rows, notes=notes)


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What came of a trial; the judge's score follows from the recording alone.

    Remarks say what should be known besides, such as a layout that breaks the rules; `assumed` is what the
    trial, or its contest, chose where nobody said it: robot, behaviour, layout, seed, rules. `wall_s` is how
    long the trial took, without reading documents; 0 where no clock was handed in [s]. `board` is what is
    known of the board that it ran on, None where it ran in this process; `link` how quickly a body that is
    far away answered, None where none is.
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
        """The remarks, and what there is to say of the board."""
        return self.remarks if self.board is None else (*self.remarks, *self.board.remarks)

    @property
    def simulated_s(self) -> float:
        """How long the trial was [s]."""
        return self.recording.duration_s

    @property
    def real_time_factor(self) -> float:
        """Simulated time over wall time."""
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
    """Return how quickly a plant that is far away answered; None where it is not."""
    from posewright.network.remote_plant import RemotePlant

    return plant.latencies if isinstance(plant, RemotePlant) else None
