"""Places in a ranking, and the points they earn."""

from __future__ import annotations

from collections.abc import Sequence


def rank_places(rankings: Sequence[tuple[float, ...]]) -> tuple[int, ...]:
    """Return each ranking's place, 1 for the greatest; equal ones share it, and the next are skipped."""
    return tuple(1 + sum(rival > ranking for rival in rankings) for ranking in rankings)


def earned_by_places(places: Sequence[int], points: Sequence[float]) -> tuple[float, ...]:
    """Return the points that places earn.

    Entries that share a place get the mean of its points and those of the places skipped after it.

    Args:
        places: the places, from 1.
        points: the points of each place, the first place first; further places earn 0.
    """
    points_of_place = {}
    for place in set(places):
        n_entries = places.count(place)
        points_of_place[place] = sum(points[place - 1 : place - 1 + n_entries]) / n_entries
    return tuple(points_of_place[place] for place in places)
