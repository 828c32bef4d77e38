"""What a contest is: rules, a field, a referee, a judge, a score, and what its picture shows."""

from __future__ import annotations

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
"""Writes an event into the recording."""

NEW_TRY = "try"
"""The event with which a referee begins a further try: the robots' behaviours then begin anew."""

HALT = "halt"
"""The event with which a referee stops everybody: behaviours begin anew, so robots go to their start pose.

Once they are there, it puts them back and begins a `NEW_TRY`.
"""

RESTARTS = frozenset({NEW_TRY, HALT})


@dataclass(frozen=True, slots=True)
class Entry:
    """Who takes part where nobody else is named: robot and behaviour, by name or path."""

    robot: str
    behaviour: str


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """A score as people read it: a text a column in each row, the last set apart, and lines below."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    total: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def lines(self, title: str) -> Lines:
        """Yield the table below its title, and its notes."""
        yield Styled(title, "table.title")
        yield Table(
            self.columns,
            self.rows,
            text_columns=frozenset(
                column for place, column in enumerate(self.columns) if not self._is_number(place)
            ),
            total=self.total,
            framed=True,
        )
        yield from self.notes

    def _is_number(self, place: int) -> bool:
        cells = [row[place] for row in self.rows if row[place]]
        return bool(cells) and all(cell[0] in "0123456789+-" for cell in cells)

    def _repr_html_(self) -> str:
        rows = [("th", self.columns), *(("td", row) for row in self.rows)]
        rows += [("th", self.total)] if self.total else []
        lines = ["".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in row) for tag, row in rows]
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes)
        return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>{notes}"


class Tabled:
    """What has a `table()` is shown as that in a notebook."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        table: ScoreTable = self.table()  # type: ignore[attr-defined]  # whoever has none is not made so
        return table._repr_html_()


class Score(Protocol):
    """What a judge found."""

    @property
    def points(self) -> float:
        """What it is worth by the contest's own rules."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a judge would say besides, such as a false start."""

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain data, fit for JSON."""

    def table(self) -> ScoreTable:
        """Return it as people read it."""


@runtime_checkable
class Ranked(Score, Protocol):
    """A score that says besides what decides places, and what a table of many runs shows of each."""

    @property
    def ranking(self) -> tuple[float, ...]:
        """What decides places, the greater the better; where the first is equal, the next one does."""

    @property
    def figures(self) -> Mapping[str, float | str | None]:
        """What a table shows, by a name that has its unit; the first flag says whether all went well."""

    @property
    def incidents(self) -> tuple[str, ...]:
        """What cost points, a word each, in the order it happened."""


@runtime_checkable
class Counted(Protocol):
    """A contest that counts in the ranking of a whole day."""

    def earned(self, scores: Sequence[Ranked]) -> tuple[float, ...]:
        """Return what each of these entries' scores earns in the day's ranking, in the same order."""


@runtime_checkable
class Duel(Protocol):
    """A contest in which the roles are opponents, so that a day has many of them."""

    def winner(self, score: Score) -> str | None:
        """Return the role that has won; None where nobody has."""

    def earned_by_places(self, places: Sequence[int]) -> tuple[float, ...]:
        """Return what the places at the end of all duels earn, 1 being the first; equal ones share it."""


class Referee(Watcher, Protocol):
    """Watches a run: does what a person beside the field would do, notes it, and ends the run.

    It sees the blocks of every robot, and must tell by `block.robot` which are whose.
    """

    def progress(self) -> str:
        """Return how it stands, in a few words for a progress line."""


@runtime_checkable
class Contest(Protocol):
    """A contest. What makes one is registered: `make()` by its own rules, `make(text)` by others."""

    @property
    def name(self) -> str:
        """The name of its rules, which a recording carries."""

    @property
    def title(self) -> str:
        """What it is called by people."""

    @property
    def rules_text(self) -> str:
        """Its rules as a document: a recording carries it, so that it can be judged again."""

    @property
    def entries(self) -> Mapping[str, Entry]:
        """Who takes part where nobody else is named, by role: one robot runs a race, two wrestle."""

    @property
    def needs_contacts(self) -> bool:
        """Whether its judge must know which part of a robot touches what; that costs a little time."""

    @property
    def longest_s(self) -> float:
        """When it is over in any case, if the referee did not end it [s]."""

    def field(self, layout: str, seed: int, *, legal: bool = False) -> Arena:
        """Return the field.

        An empty layout leaves the choice to the contest, with what is drawn by the seed; one that breaks the
        rules is refused where it must be legal.
        """

    def start(self, role: str, arena: Arena) -> PlanarPose:
        """Return where the robot with that role begins."""

    def referee(self, arena: Arena, supervisors: Mapping[str, Supervisor], note: Note) -> Referee:
        """Return a referee for a run.

        The supervisors, by the robots' names in the plant, stand in the order of the roles.
        """

    def judge(self, recording: Recording) -> Score:
        """Return the score, from the recording alone.

        Raises:
            InputError: it is of another field, or lacks what a judge must know.
        """

    def picture(self, recording: Recording) -> ContestPicture:
        """Return what a picture of the recording shows besides field and paths."""


def lay_out(kind: str, name: str, seed: int, *, legal: bool = True) -> Arena:
    """Return the arena `kind` with a layout on it: by name, path, or drawn by the seed if it is `random`.

    Raises:
        UnknownNameError: no arena or layout of that name, and no such file.
        InputError: the file is no layout, or, where it must be `legal`, breaks the contest's rules.
    """
    field = arena(kind)
    if name == "random":
        return field.with_boxes(random_layout(seed, field))
    if name in layout_names():
        return field.with_boxes(layout(name))
    path = Path(name)
    if not is_file(path) and path.suffix not in (".yaml", ".yml"):
        raise UnknownNameError.among("layout", name, (*layout_names(), "random"))
    return field.with_boxes(read_layout(path, field, legal=legal))
