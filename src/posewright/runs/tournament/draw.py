"""Groups and brackets for any number of entries: who meets whom, and which places come of it."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, zip_longest

WIN, DRAW = 2, 1
"""What a bout of a group is worth."""

Pair = tuple[str, str]
Results = Mapping[Pair, str | None]
"""Who has won a bout, None for nobody, by the two that met."""


@dataclass(frozen=True, slots=True)
class GroupPlace:
    """How one stands in its group: points of the group, and bouts won."""

    name: str
    points: int
    wins: int


def draw_groups(names: Sequence[str], size: int, seed: int) -> tuple[tuple[str, ...], ...]:
    """Return groups as even as can be, of at most `size`, as the seed draws them."""
    drawn = list(names)
    random.Random(seed).shuffle(drawn)  # noqa: S311 -- a draw, no secret
    count = max(1, -(-len(drawn) // size))
    return tuple(tuple(drawn[n::count]) for n in range(count)) if drawn else ()


def pairs_of(group: Sequence[str]) -> tuple[Pair, ...]:
    """Return everybody against everybody, each as often on one side as on the other, but for one."""
    return tuple(
        (a, b) if (place_of_b - place_of_a) % 2 else (b, a)
        for (place_of_a, a), (place_of_b, b) in combinations(enumerate(group), 2)
    )


def standings(group: Sequence[str], results: Results) -> tuple[GroupPlace, ...]:
    """Return the order in a group: by points, then wins, then the bout between equal ones, then the lot."""
    found = []
    for name in group:
        own = [winner for pair, winner in results.items() if name in pair]
        wins = own.count(name)
        found.append(GroupPlace(name, WIN * wins + DRAW * own.count(None), wins))

    def rank(one: GroupPlace) -> tuple[int, int, int, int]:
        equals = {other.name for other in found if (other.points, other.wins) == (one.points, one.wins)}
        between = sum(winner == one.name for pair, winner in results.items() if equals.issuperset(pair))
        return -one.points, -one.wins, -between, group.index(one.name)

    return tuple(sorted(found, key=rank))


def qualified(groups: Sequence[Sequence[GroupPlace]], advancing: int) -> tuple[str, ...]:
    """Return who goes on: the winners in the order of the groups, then the second ones, and so on."""
    rounds = zip_longest(*(group[:advancing] for group in groups))
    return tuple(one.name for places in rounds for one in places if one is not None)


def first_round(seeds: Sequence[str]) -> tuple[tuple[str, str | None], ...]:
    """Return the first round of a bracket; the best have a bye where it is not full.

    The first and the second seed meet in the final at the earliest, the first four in semifinals.
    """
    order = [0]
    while len(order) < len(seeds):
        order = [place for one in order for place in (one, 2 * len(order) - 1 - one)]
    names = [seeds[place] if place < len(seeds) else None for place in order]
    pairs = zip(names[::2], names[1::2], strict=True) if len(names) > 1 else ()
    return tuple((a, b) for a, b in pairs if a is not None)


def next_round(winners: Sequence[str]) -> tuple[Pair, ...]:
    """Return the next round: winners of neighbouring bouts meet."""
    return tuple(zip(winners[::2], winners[1::2], strict=True)) if len(winners) > 1 else ()


def bracket_places(losers: Sequence[Sequence[str]], winner: str) -> dict[str, int]:
    """Return the places of a bracket, by who lost in each of its rounds; those of one round share theirs."""
    found = {winner: 1}
    for names in reversed(losers):
        found |= dict.fromkeys(names, len(found) + 1)
    return found


def all_places(bracket: Mapping[str, int], groups: Sequence[Sequence[GroupPlace]]) -> dict[str, int]:
    """Return the places of all: those of the bracket, then those who were third in a group, and so on."""
    found = dict(bracket)
    for places in zip_longest(*groups):
        late = [one.name for one in places if one is not None and one.name not in found]
        found |= dict.fromkeys(late, len(found) + 1)
    return found
