"""Groups and brackets: everybody is drawn once, meets everybody of the group, and gets a place."""

from __future__ import annotations

from itertools import combinations

import pytest

from posewright.runs.tournament import draw


def names(count: int) -> list[str]:
    return [f"entry {number:02}" for number in range(count)]


def the_first_in_the_alphabet_wins(group: tuple[str, ...]) -> dict[draw.Pair, str | None]:
    return {pair: min(pair) for pair in draw.pairs_of(group)}


def played(count: int, size: int = 4, advancing: int = 2) -> dict[str, int]:
    groups = draw.draw_groups(names(count), size, seed=3)
    standing = [draw.standings(group, the_first_in_the_alphabet_wins(group)) for group in groups]
    if len(groups) == 1:
        return {entry.name: place for place, entry in enumerate(standing[0], 1)}
    left = [*draw.first_round(draw.qualified(standing, advancing))]
    losers = []
    winners = [""]
    while left:
        winners = [a if b is None else min(a, b) for a, b in left]
        losers.append([max(a, b) for a, b in left if b is not None])
        left = [*draw.next_round(winners)]
    return draw.all_places(draw.bracket_places(losers, winners[0]), standing)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 8, 9, 13, 17, 31, 40, 100])
def test_any_number_of_entries_is_placed_and_the_best_is_first(count: int) -> None:
    places = played(count)
    assert sorted(places) == names(count)
    assert places["entry 00"] == 1
    assert list(places.values()).count(1) == 1
    for place in set(places.values()):  # places after shared ones are skipped
        assert sum(rival < place for rival in places.values()) == place - 1


@pytest.mark.parametrize("count", [2, 5, 9, 16, 33])
def test_groups_are_as_even_as_can_be(count: int) -> None:
    sizes = [len(group) for group in draw.draw_groups(names(count), 4, seed=0)]
    assert sum(sizes) == count
    assert max(sizes) <= 4
    assert max(sizes) - min(sizes) <= 1


def test_the_seed_draws_the_groups() -> None:
    draws = {draw.draw_groups(names(9), 4, seed) for seed in range(20)}
    assert len(draws) > 10
    assert draw.draw_groups(names(9), 4, 7) == draw.draw_groups(names(9), 4, 7)


@pytest.mark.parametrize("size", [2, 3, 4, 5, 8])
def test_everybody_meets_everybody_once_and_changes_sides(size: int) -> None:
    pairs = draw.pairs_of(names(size))
    assert sorted(map(sorted, pairs)) == sorted(map(sorted, combinations(names(size), 2)))
    for name in names(size):
        first = sum(pair[0] == name for pair in pairs)
        assert abs(first - (size - 1 - first)) <= 1


def test_the_bout_between_equal_ones_decides() -> None:
    group = ("a", "b", "c", "d")
    results: dict[draw.Pair, str | None] = {
        ("a", "b"): "b", ("a", "c"): "a", ("a", "d"): "a",
        ("b", "c"): "b", ("b", "d"): "d", ("c", "d"): "d",
    }  # fmt: skip
    assert [entry.name for entry in draw.standings(group, results)][-1] == "c"
    two = draw.standings(("a", "b"), {("a", "b"): "b"})
    assert [entry.name for entry in two] == ["b", "a"]


def test_a_draw_is_worth_half_a_win() -> None:
    (first, second) = draw.standings(("a", "b"), {("a", "b"): None})
    assert (first.name, first.points, second.points) == ("a", 1, 1)


@pytest.mark.parametrize("count", [2, 3, 5, 6, 8, 12])
def test_the_two_best_seeds_meet_in_the_final_only(count: int) -> None:
    left = [*draw.first_round(names(count))]
    byes = [a for a, b in left if b is None]
    assert set(byes) == set(names(count)[: len(byes)])
    while len(left) > 1:
        assert ("entry 00", "entry 01") not in left
        left = [*draw.next_round([a if b is None else min(a, b) for a, b in left])]
    assert left == [("entry 00", "entry 01")]


def test_two_of_one_group_do_not_meet_in_the_semifinal() -> None:
    groups = [
        [draw.GroupPlace("A1", 4, 2), draw.GroupPlace("A2", 2, 1)],
        [draw.GroupPlace("B1", 4, 2), draw.GroupPlace("B2", 2, 1)],
    ]
    seeds = draw.qualified(groups, 2)
    assert seeds == ("A1", "B1", "A2", "B2")
    assert {frozenset(pair) for pair in draw.first_round(seeds)} == {
        frozenset(("A1", "B2")), frozenset(("B1", "A2")),
    }  # fmt: skip
