"""The rules of a contest day: which contests are played, what they are worth, who may take part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from posewright import contests
from posewright.documents import Bounds, Catalogue, Node, is_file, read_document

MIN_MAX_POINTS = 0.01
"""Smallest number of points that the best possible result can have."""

MAX_GROUP_SIZE = 20

_DAYS = Catalogue("day", ".day.yaml", lambda: (Path(__file__).parent,))


@dataclass(frozen=True, slots=True)
class DisciplineRules:
    """The rules of one contest in a day.

    Attributes:
        contest: its name.
        share: points of the day for the best possible result.
        max_points: points of the best possible result in the contest's own table.
        places: points for the first, second, ... place, for a contest without a table of its own.
        needs: name of a contest that must have been passed.
        rules: path of a document of rules that replaces the contest's own; empty for its own.
        jury: whether a jury gives the points.
    """

    contest: str
    share: float
    max_points: Annotated[float, Bounds(low=MIN_MAX_POINTS)]
    places: tuple[float, ...] = ()
    needs: str = ""
    rules: str = ""
    jury: bool = False


@dataclass(frozen=True, slots=True)
class DayRules:
    """The rules of a day.

    Attributes:
        name: the name of the rules.
        title: the title for display.
        disciplines: rules of the contests, in the order in which they are played.
        group_size: largest number of entries in a group of duels.
        advancing: number of entries of a group that reach the bracket.
        sources: the sources of the numbers.
    """

    name: str
    title: str
    disciplines: tuple[DisciplineRules, ...]
    group_size: Annotated[int, Bounds(low=2, high=MAX_GROUP_SIZE)]
    advancing: Annotated[int, Bounds(low=1, high=MAX_GROUP_SIZE)]
    sources: Mapping[str, str] = field(repr=False)


def day_names() -> tuple[str, ...]:
    """Return the names of the rules that come with the package."""
    return _DAYS.names()


def read_day_rules(name: str | Path) -> DayRules:
    """Read the rules of a day, by name or path.

    Raises:
        UnknownNameError: no rules have this name.
        DocumentError: the document is invalid.
    """
    path = _DAYS.find(name)
    required = ("day", "title", "contests", "group_size", "advancing", "sources")
    parts = read_document(path).fields(required=required, optional=())
    contest_nodes = parts["contests"].fields(optional=contests.contest_names())
    group_size = parts["group_size"].integer(low=2, high=MAX_GROUP_SIZE)
    return DayRules(
        name=parts["day"].text(),
        title=parts["title"].text(),
        disciplines=tuple(
            _read_discipline(name, node, order=tuple(contest_nodes), folder=path.parent)
            for name, node in contest_nodes.items()
        ),
        group_size=group_size,
        advancing=parts["advancing"].integer(low=1, high=group_size - 1),
        sources={key: node.text() for key, node in parts["sources"].fields().items()},
    )


def _read_discipline(contest: str, node: Node, order: tuple[str, ...], folder: Path) -> DisciplineRules:
    """Return the rules of one contest in the day.

    Args:
        contest: its name.
        node: its entry in the document.
        order: the names of all contests, in the order of the document.
        folder: the folder of the document.
    """
    parts = node.fields(required=("share", "most"), optional=("places", "needs", "rules", "jury"))
    needs = parts["needs"].text() if "needs" in parts else ""
    if needs and needs not in order[: order.index(contest)]:
        parts["needs"].fail(
            f"{needs!r:.60} is not played before {contest}", hint=f"a contest listed above {contest}"
        )
    return DisciplineRules(
        contest,
        share=parts["share"].number(low=0.0, high=1000.0),
        max_points=parts["most"].number(low=MIN_MAX_POINTS, high=1000.0),
        places=tuple(place.number(low=0.0) for place in parts["places"].items()) if "places" in parts else (),
        needs=needs,
        rules=_rules_path(parts["rules"], folder) if "rules" in parts else "",
        jury="jury" in parts and parts["jury"].boolean(),
    )


def _rules_path(node: Node, folder: Path) -> str:
    """Return the path of rules in the document's folder, or of rules in the folder of a contest."""
    name = node.text()
    shipped = Path(contests.__file__).parent.rglob("*.rules.yaml")
    for path in (folder / name, *(path for path in shipped if path.name == name)):
        if is_file(path):
            return str(path)
    return node.fail(
        f"there are no rules {name!r:.80}",
        hint="a file in the folder of this document, or rules of a contest",
    )
