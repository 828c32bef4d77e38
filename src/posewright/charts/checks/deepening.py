"""Searches that need to know more values than a chart tells apart by itself."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from posewright.charts.checks.journey import Journeys
from posewright.charts.checks.repeating import shown_by_repeating
from posewright.charts.checks.search import Search
from posewright.charts.checks.survey import look_through
from posewright.charts.reachability import Exploration

MAX_APART = 8
"""Groups of variables that are followed each by itself, where together they have too many values."""

Explore = Callable[[Collection[str]], Exploration]
"""Explores a chart while it tells some variables apart by their values."""


def look_deeper(searches: Mapping[Search, frozenset[str]], kept: frozenset[str], explore: Explore) -> None:
    """Settle searches, as far as that goes: of all variables at once, or else of each group by itself.

    Args:
        searches: with the variables whose values each of them needs.
        kept: variables that are followed anyway.
        explore: explores the chart.
    """
    names = kept.union(*searches.values())
    together = explore(names)
    look_through(Journeys(together), searches, ())
    if together.complete:
        return
    groups: dict[frozenset[str], list[Search]] = {}
    for search, missed in searches.items():
        if not _shown(search, missed, together):
            own = frozenset(search.names & together.looked.keeps.keys())
            groups.setdefault(own, []).append(search)
    for own, group in list(groups.items())[:MAX_APART]:
        if own != names:
            _look_again({search: searches[search] for search in group}, explore(own))


def _look_again(searches: Mapping[Search, Collection[str]], explored: Exploration) -> None:
    """Settle searches in what was explored for them alone."""
    for search in searches:
        search.waiting.clear()
        search.undecided = ""
    look_through(Journeys(explored), searches, ())
    if not explored.complete:
        for search, missed in searches.items():
            _shown(search, missed, explored)


def _shown(search: Search, missed: Collection[str], explored: Exploration) -> bool:
    """Return whether a search has a witness, be it in a long run; where it has none, it is undecided."""
    if search.witness is None:
        search.witness = shown_by_repeating(Journeys(explored), search)
    if search.witness is None:
        search.undecided = f"too many values of {', '.join(sorted(missed))}"
    return search.witness is not None
