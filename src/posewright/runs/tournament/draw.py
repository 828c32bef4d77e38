"""Groups and brackets for any number of entries: pairings, standings and places."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, zip_longest

WIN_POINTS = 2
DRAW_POINTS = 1

Pair = tuple[str, str]
Results = Mapping[Pair, str | None]
"""The winner of each bout by its pair; None for a draw."""


@dataclass(frozen=True, slots=True)
class GroupPlace:
    """An entry's standing in its group: points and won bouts."""

    name: str
    points: int
    wins: int


def draw_groups(names: Sequence[str], size: int, seed: int) -> tuple[tuple[str, ...], ...]:
    """Return random groups of nearly equal size, with at most `size` entries each."""
    shuffled = list(names)
    random.Random(seed).shuffle(shuffled)  # noqa: S311 -- not security relevant
    n_groups = max(1, math.ceil(len(shuffled) / size))
    return tuple(tuple(shuffled[n::n_groups]) for n in range(n_groups)) if shuffled else ()


def pairs_of(group: Sequence[str]) -> tuple[Pair, ...]:
    """Return the pairs of a round robin; everybody is on each side equally often, give or take one.

    The side alternates with the distance of two entries in the group.
    """
    return tuple(
        (a, b) if (place_of_b - place_of_a) % 2 else (b, a)
        for (place_of_a, a), (place_of_b, b) in combinations(enumerate(group), 2)
    )


def standings(group: Sequence[str], results: Results) -> tuple[GroupPlace, ...]:
    """Return a group's order: by points, wins, bouts among equals, and finally the order of the draw.

    Args:
        group: names of the entries, in the order of the draw.
        results: the winner of each bout of the group, by the pair of names; None for a draw.
    """
    places: list[GroupPlace] = []
    for name in group:
        winners = [winner for pair, winner in results.items() if name in pair]
        wins = winners.count(name)
        points = WIN_POINTS * wins + DRAW_POINTS * winners.count(None)
        places.append(GroupPlace(name, points, wins))

    def sort_key(place: GroupPlace) -> tuple[int, int, int, int]:
        """Return the key that orders places from best to worst."""
        tied_names = {  # with the name of the place itself
            rival.name for rival in places if (rival.points, rival.wins) == (place.points, place.wins)
        }
        wins_among_tied = sum(
            winner == place.name for pair, winner in results.items() if tied_names.issuperset(pair)
        )
        return -place.points, -place.wins, -wins_among_tied, group.index(place.name)

    return tuple(sorted(places, key=sort_key))


def qualified(groups: Sequence[Sequence[GroupPlace]], advancing: int) -> tuple[str, ...]:
    """Return who advances: the winners in the order of the groups, then the seconds, and so on."""
    ranks = zip_longest(*(group[:advancing] for group in groups))
    return tuple(place.name for rank in ranks for place in rank if place is not None)


def first_round(seeds: Sequence[str]) -> tuple[tuple[str, str | None], ...]:
    """Return the first round of a bracket; the best seeds have a bye if it is not full.

    The first and second seed can meet in the final only, the first four in semifinals only.

    Args:
        seeds: names of the entries, from best to worst.

    Returns:
        The two names of each bout; None as the second for a bye.
    """
    # the order of the bracket doubles until all fit: each seed is followed by its opponent in the new round
    order = [0]
    while len(order) < len(seeds):
        worst_seed = 2 * len(order) - 1
        order = [seed for better in order for seed in (better, worst_seed - better)]
    names = [seeds[seed] if seed < len(seeds) else None for seed in order]
    pairs = zip(names[::2], names[1::2], strict=True) if len(names) > 1 else ()
    return tuple((a, b) for a, b in pairs if a is not None)


def next_round(winners: Sequence[str]) -> tuple[Pair, ...]:
    """Return the next round: winners of neighbouring bouts meet."""
    return tuple(zip(winners[::2], winners[1::2], strict=True)) if len(winners) > 1 else ()


def bracket_places(losers: Sequence[Sequence[str]], winner: str) -> dict[str, int]:
    """Return the places of a bracket from the losers of each round, who share a place."""
    place_of_name = {winner: 1}
    for names in reversed(losers):
        place_of_name |= dict.fromkeys(names, len(place_of_name) + 1)
    return place_of_name


def all_places(bracket: Mapping[str, int], groups: Sequence[Sequence[GroupPlace]]) -> dict[str, int]:
    """Return everybody's place: those of the bracket, then the others by their rank in the group."""
    place_of_name = dict(bracket)
    for rank in zip_longest(*groups):
        names = [place.name for place in rank if place is not None and place.name not in place_of_name]
        place_of_name |= dict.fromkeys(names, len(place_of_name) + 1)
    return place_of_name
