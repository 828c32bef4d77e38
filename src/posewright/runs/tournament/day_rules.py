"""The rules of a day: which contests count how much, and who may take part in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from posewright import contests
from posewright.documents import Catalogue, Node, is_file, read_document

_DAYS = Catalogue("day", ".day.yaml", lambda: (Path(__file__).parent,))


@dataclass(frozen=True, slots=True)
class Counting:
    """How one contest counts.

    Attributes:
        contest: its name.
        share: what the best can earn in it is worth so much in the sum.
        most: what the best can earn in it, by its own table of points.
        places: what places earn, where the contest has no table of its own; the first comes first.
        needs: a contest that must be passed before.
        rules: path of a document of rules, where they are not the contest's own.
        jury: whether people give the points.
    """

    contest: str
    share: float
    most: float
    places: tuple[float, ...] = ()
    needs: str = ""
    rules: str = ""
    jury: bool = False


@dataclass(frozen=True, slots=True)
class DayRules:
    """The rules of a day.

    Attributes:
        counting: what is played, in this order.
        group_size: so many at most wrestle each other before the bracket.
        advancing: so many of a group go on.
    """

    name: str
    title: str
    counting: tuple[Counting, ...]
    group_size: int
    advancing: int
    sources: Mapping[str, str] = field(repr=False)


def day_names() -> tuple[str, ...]:
    """Return the names of the rules of a day that ship."""
    return _DAYS.names()


def read_day_rules(name: str | Path) -> DayRules:
    """Read the rules of a day, by name or from a document.

    Raises:
        UnknownNameError: there are none of that name.
        DocumentError: it is no document of a day's rules.
    """
    path = _DAYS.find(name)
    required = ("day", "title", "contests", "group_size", "advancing", "sources")
    parts = read_document(path).fields(required=required, optional=())
    told = parts["contests"].fields(optional=contests.contest_names())
    group_size = parts["group_size"].integer(low=2, high=20)
    return DayRules(
        name=parts["day"].text(),
        title=parts["title"].text(),
        counting=tuple(_counting(one, told[one], tuple(told), path.parent) for one in told),
        group_size=group_size,
        advancing=parts["advancing"].integer(low=1, high=group_size - 1),
        sources={key: node.text() for key, node in parts["sources"].fields().items()},
    )


def _counting(contest: str, node: Node, others: tuple[str, ...], folder: Path) -> Counting:
    parts = node.fields(required=("share", "most"), optional=("places", "needs", "rules", "jury"))
    needs = parts["needs"].text() if "needs" in parts else ""
    if needs and needs not in others[: others.index(contest)]:
        parts["needs"].fail(f"{needs!r:.60} is not played before", hint=f"one that stands above {contest}")
    return Counting(
        contest,
        share=parts["share"].number(low=0.0, high=1000.0),
        most=parts["most"].number(low=0.01, high=1000.0),
        places=tuple(one.number(low=0.0) for one in parts["places"].items()) if "places" in parts else (),
        needs=needs,
        rules=_rules(parts["rules"], folder) if "rules" in parts else "",
        jury="jury" in parts and parts["jury"].boolean(),
    )


def _rules(node: Node, folder: Path) -> str:
    """Return the path of rules that lie beside the document, or that ship with a contest."""
    name = node.text()
    shipped = Path(contests.__file__).parent.rglob("*.rules.yaml")
    for path in (folder / name, *(one for one in shipped if one.name == name)):
        if is_file(path):
            return str(path)
    return node.fail(f"there are no rules {name!r:.80}", hint="beside this document, or those of a contest")
