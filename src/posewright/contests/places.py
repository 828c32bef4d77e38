"""Places, and what they earn: by whatever decides a contest, equal ones share a place."""

from __future__ import annotations

from collections.abc import Sequence


def places(rankings: Sequence[tuple[float, ...]]) -> tuple[int, ...]:
    """Return the place of each, 1 for the greatest; equal ones share it, and the next ones are skipped."""
    return tuple(1 + sum(other > one for other in rankings) for one in rankings)


def earned_by_places(places: Sequence[int], table: Sequence[float]) -> tuple[float, ...]:
    """Return what places earn by a table that begins with the first; 0 beyond its end.

    Those who share a place share what it and the places skipped after it earn.
    """
    of_place = {place: _shared(table, place, places.count(place)) for place in set(places)}
    return tuple(of_place[place] for place in places)


def _shared(table: Sequence[float], place: int, count: int) -> float:
    return sum(table[place - 1 : place - 1 + count]) / count
