"""The interfaces of a contest: its rules, field, referee, judge, score and picture."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from posewright.arenas import Arena, arena, layout, layout_names, random_layout, read_layout
from posewright.bodies import PlanarPose, Supervisor
from posewright.contests.picture import ContestPicture
from posewright.control import Watcher
from posewright.display import Lines, Styled, Table
from posewright.documents import is_file
from posewright.errors import UnknownNameError
from posewright.recordings import Event, Recording

Note = Callable[[Event], None]
"""A function that writes an event into the recording."""

NEW_TRY = "try"
"""The event with which a referee begins another try; it restarts the robots' controllers."""

HALT = "halt"
"""The event with which a referee stops all robots: it restarts their controllers, which take the start pose.

The referee then puts the robots back and begins a `NEW_TRY`.
"""

RESTARTS = frozenset({NEW_TRY, HALT})


@dataclass(frozen=True, slots=True)
class DefaultEntry:
    """The robot and the behaviour that take part unless others are named, by name or path."""

    robot: str
    behaviour: str


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """A score as a table.

    Attributes:
        columns: headings.
        rows: texts, one for each column.
        total: the last row, set apart; empty for none.
        notes: lines below the table.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    total: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def lines(self, title: str) -> Lines:
        """Yield the title, the table and its notes for display."""
        text_columns = [heading for i, heading in enumerate(self.columns) if not self._is_numeric(i)]
        yield Styled(title, "table.title")
        yield Table(
            self.columns, self.rows, text_columns=frozenset(text_columns), total=self.total, framed=True
        )
        yield from self.notes

    def _is_numeric(self, column: int) -> bool:
        """Return whether all cells of a column that are not empty begin like numbers."""
        cells = [row[column] for row in self.rows if row[column]]
        return bool(cells) and all(cell[0] in "0123456789+-" for cell in cells)

    def _repr_html_(self) -> str:
        """Return the table and its notes as HTML, which notebooks show."""
        tagged_rows = [("th", self.columns), *(("td", row) for row in self.rows)]
        if self.total:
            tagged_rows.append(("th", self.total))
        html_rows = []
        for tag, cells in tagged_rows:
            html_cells = "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells)
            html_rows.append(f"<tr>{html_cells}</tr>")
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes)
        return f"<table>{''.join(html_rows)}</table>{notes}"


class NotebookTable(ABC):
    """Shows an object as its table in a notebook."""

    __slots__ = ()

    @abstractmethod
    def table(self) -> ScoreTable:
        """Return the object as a table."""

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


@runtime_checkable
class Score(Protocol):
    """The result of judging a recording."""

    @property
    def points(self) -> float:
        """The points by the contest's own rules."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """Remarks of the judge that cost no points, such as a false start."""

    def to_dict(self) -> dict[str, Any]:
        """Return the score as JSON types."""

    def table(self) -> ScoreTable:
        """Return the score as a table."""


@runtime_checkable
class RankedScore(Score, Protocol):
    """A score that can be ranked, and summarized in a table of many runs."""

    @property
    def ranking(self) -> tuple[float, ...]:
        """The numbers that decide places, compared in order; greater is better."""

    @property
    def figures(self) -> Mapping[str, float | str | None]:
        """Values for a table of runs, by names with units; the first boolean tells the run's success."""

    @property
    def incidents(self) -> tuple[str, ...]:
        """The reasons for lost points, one word each, in the order of time."""


@runtime_checkable
class DayContest(Protocol):
    """A contest that earns points in the ranking of a whole contest day."""

    def earned(self, scores: Sequence[RankedScore]) -> tuple[float, ...]:
        """Return the points that each of the scores earns in the day's ranking, in the same order."""


@runtime_checkable
class Duel(Protocol):
    """A contest between opponents, of which a contest day has many."""

    def winner(self, score: Score) -> str | None:
        """Return the role that has won; None for a draw."""

    def earned_by_places(self, places: Sequence[int]) -> tuple[float, ...]:
        """Return the points that places after all duels earn; equal places share points."""


class Referee(Watcher, Protocol):
    """Watches a run, intervenes as a human referee would, notes what it does, and ends the run.

    It gets the blocks of every robot; `block.robot` names the robot.
    """

    def progress(self) -> str:
        """Return the state of the contest in a few words, for a progress line."""


@runtime_checkable
class Contest(Protocol):
    """A contest, created by a registered factory: `make()` with its own rules, `make(text)` with others."""

    @property
    def name(self) -> str:
        """The name of its rules, which recordings store."""

    @property
    def title(self) -> str:
        """The title for display."""

    @property
    def rules_text(self) -> str:
        """The rules as a document, which recordings store so that they can be judged again."""

    @property
    def entries(self) -> Mapping[str, DefaultEntry]:
        """The default entries by role: one in a race, two in a bout."""

    @property
    def needs_contacts(self) -> bool:
        """Whether the judge needs the contacts of the robots' parts, which take some time to simulate."""

    @property
    def longest_s(self) -> float:
        """The time after which a run ends in any case [s]."""

    def field(self, layout: str, seed: int, *, legal: bool = False) -> Arena:
        """Return the field.

        Args:
            layout: name of a layout; empty for the contest's default.
            seed: the seed of everything random in the field.
            legal: whether a layout that breaks the rules is an error.
        """

    def start(self, role: str, arena: Arena) -> PlanarPose:
        """Return the start place of a role's robot."""

    def referee(self, arena: Arena, supervisors: Mapping[str, Supervisor], note: Note) -> Referee:
        """Return a referee for a run.

        Args:
            arena: the field.
            supervisors: the supervisors by the robots' names in the plant, in the order of the roles.
            note: writes events into the recording.
        """

    def judge(self, recording: Recording) -> Score:
        """Return the score, computed from the recording alone.

        Raises:
            InputError: the recording is of another field, or lacks data that the judge needs.
        """

    def picture(self, recording: Recording) -> ContestPicture:
        """Return what a picture of the recording shows in addition to field and paths."""


def arena_with_layout(arena_name: str, layout_name: str, seed: int, *, legal: bool = True) -> Arena:
    """Return an arena with the boxes of a layout.

    Args:
        arena_name: the name of the arena.
        layout_name: name or path of the layout, or `random`.
        seed: the seed of a random layout.
        legal: whether a layout that breaks the contest's rules is an error.

    Raises:
        UnknownNameError: there is no such arena or layout, and no such file.
        InputError: the file is not a layout, or breaks the rules.
    """
    return with_layout(arena(arena_name), layout_name, seed, legal=legal)


def with_layout(field: Arena, layout_name: str, seed: int, *, legal: bool = True) -> Arena:
    """Return a field with the boxes of a layout.

    Args:
        field: the field.
        layout_name: name or path of the layout, or `random`.
        seed: the seed of a random layout.
        legal: whether a layout that breaks the contest's rules is an error.

    Raises:
        UnknownNameError: there is no such layout, and no such file.
        InputError: the file is not a layout, or breaks the rules.
    """
    if layout_name == "random":
        return field.with_boxes(random_layout(seed, field))
    if layout_name in layout_names():
        return field.with_boxes(layout(layout_name))
    path = Path(layout_name)
    if not is_file(path) and path.suffix not in (".yaml", ".yml"):
        raise UnknownNameError.among("layout", layout_name, (*layout_names(), "random"))
    return field.with_boxes(read_layout(path, field, legal=legal))
