"""The layered layout, piece by piece: numbers that are the best there are, lanes that do not touch."""

from __future__ import annotations

from itertools import combinations, pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.charts.drawing.layout.arranging import (
    MIN_LINE_DISTANCE,
    Jog,
    Obstacle,
    WeightedChain,
    arrange_items,
    assign_lanes,
    compact_layout,
)
from posewright.charts.drawing.layout.ordering import ObstacleKind
from posewright.charts.drawing.layout.ranking import (
    LayoutItem,
    LayoutWire,
    PortSide,
    order_by_breadth,
    order_by_colour,
    order_by_depth,
    rank_items,
)
from posewright.charts.drawing.layout.spacing import Spacing, solve_spacings

ORDERS = (order_by_depth, order_by_breadth, order_by_colour)


@st.composite
def gaps(draw: st.DrawFn) -> tuple[int, list[Spacing]]:
    count = draw(st.integers(2, 9))
    ends = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)).filter(
        lambda pair: pair[0] < pair[1]
    )
    found = draw(st.lists(st.tuples(ends, st.integers(-9, 20), st.integers(0, 5)), min_size=1, max_size=30))
    return count, [Spacing(a, b, least, weight) for (a, b), least, weight in found]


def cost(numbers: list[int], wanted: list[Spacing]) -> int | None:
    """Return what numbers cost; None where they do not meet every gap."""
    if any(numbers[gap.upper] - numbers[gap.lower] < gap.min_distance for gap in wanted):
        return None
    return sum(gap.weight * (numbers[gap.upper] - numbers[gap.lower]) for gap in wanted)


@settings(max_examples=40, deadline=None)
@given(gaps())
def test_places_meet_every_gap_at_the_least_cost(problem: tuple[int, list[Spacing]]) -> None:
    """The cost is L-natural convex: where shifting no group of places by one saves anything, nothing does."""
    count, wanted = problem
    numbers = solve_spacings(count, wanted)
    least = cost(numbers, wanted)
    assert least is not None
    for group in range(1, 2**count):
        shifted = [number + (group >> i & 1) for i, number in enumerate(numbers)]
        other = cost(shifted, wanted)
        assert other is None or other >= least


def test_gaps_may_run_in_a_circle_that_asks_for_nothing() -> None:
    between = [Spacing(0, 1, 3, 0), Spacing(1, 0, -8, 0), Spacing(0, 2, 6, 1), Spacing(1, 2, 0, 5)]
    assert solve_spacings(3, between) == [0, 6, 6]


@st.composite
def machines(draw: st.DrawFn) -> tuple[list[LayoutItem], list[LayoutWire]]:
    keys = [f"s{i}" for i in range(draw(st.integers(2, 8)))]
    pairs = st.tuples(st.sampled_from(keys), st.sampled_from(keys)).filter(lambda pair: pair[0] != pair[1])
    ends = draw(st.lists(pairs, max_size=14, unique=True))
    items = [LayoutItem(key, draw(st.integers(10, 90)), draw(st.integers(30, 90))) for key in keys]
    return items, [LayoutWire(i, a, b, (20, draw(st.integers(10, 120)))) for i, (a, b) in enumerate(ends)]


@settings(max_examples=30, deadline=None)
@given(machines(), st.sampled_from(ORDERS))
def test_wires_lead_to_later_layers_or_are_turned(
    machine: tuple[list[LayoutItem], list[LayoutWire]], order: object
) -> None:
    items, wires = machine
    ranking = rank_items(items, wires, order)  # type: ignore[arg-type]
    for wire in wires:
        start, end = ranking.layers[wire.start], ranking.layers[wire.end]
        assert start > end if wire.key in ranking.back_wires else start < end
        assert ranking.side(wire, wire.start) is (
            PortSide.BACK if wire.key in ranking.back_wires else PortSide.FRONT
        )


@settings(max_examples=30, deadline=None)
@given(machines(), st.sampled_from(ORDERS))
def test_items_do_not_overlap_and_wires_join_them(
    machine: tuple[list[LayoutItem], list[LayoutWire]], order: object
) -> None:
    items, wires = machine
    found = arrange_items(items, wires, rank_items(items, wires, order))  # type: ignore[arg-type]
    sizes = {item.key: (item.thickness, item.breadth) for item in items}
    for one, other in combinations(found.item_positions, 2):
        (r, v), (s, w) = found.item_positions[one], found.item_positions[other]
        apart_r = r + sizes[one][0] <= s or s + sizes[other][0] <= r
        assert apart_r or v + sizes[one][1] <= w or w + sizes[other][1] <= v
    for wire in wires:
        route = found.routes[wire.key]
        for key, (r, v) in ((wire.start, route[0]), (wire.end, route[-1])):
            low_r, low_v = found.item_positions[key]
            assert r in {low_r, low_r + sizes[key][0]}
            assert low_v <= v <= low_v + sizes[key][1]
        assert all(a[0] == b[0] or a[1] == b[1] for a, b in pairwise(route))


def test_pinned_items_are_first_and_last() -> None:
    items = [
        LayoutItem("a", 20, 20),
        LayoutItem("in", pinned_side=PortSide.BACK),
        LayoutItem("out", pinned_side=PortSide.FRONT),
    ]
    wires = [LayoutWire(0, "in", "a"), LayoutWire(1, "a", "out"), LayoutWire(2, "a", "in")]
    ranking = rank_items(items, wires, order_by_depth)
    assert ranking.back_wires == {2}
    found = arrange_items(items, wires, ranking)
    assert (
        found.item_positions["in"][0]
        == 0
        < found.item_positions["a"][0]
        < found.item_positions["out"][0]
        == found.thickness
    )


def test_few_colours_make_few_layers() -> None:
    items = [LayoutItem(f"s{i}", 20, 20) for i in range(6)]
    ring = [LayoutWire(i, f"s{i}", f"s{(i + 1) % 6}") for i in range(6)]
    assert len(set(rank_items(items, ring, order_by_colour).layers.values())) == 2
    assert len(set(rank_items(items, ring, order_by_depth).layers.values())) == 6


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 90), st.integers(0, 90)), max_size=9))
def test_jogs_that_would_touch_are_in_different_lanes(ends: list[tuple[int, int]]) -> None:
    jogs = [Jog(i, a, b) for i, (a, b) in enumerate(ends)]
    for (one, a), (other, b) in combinations(zip(jogs, assign_lanes(jogs), strict=True), 2):
        if one.low_v - MIN_LINE_DISTANCE < other.high_v and other.low_v - MIN_LINE_DISTANCE < one.high_v:
            assert a != b


def test_compaction_moves_things_together_but_never_past_one_another() -> None:
    edge, item = Obstacle(ObstacleKind.EDGE, 0, 0, 0, 100), Obstacle(ObstacleKind.ITEM, 80, 20, 0, 40)
    beside, behind = (
        Obstacle(ObstacleKind.ITEM, 200, 20, 60, 100),
        Obstacle(ObstacleKind.ITEM, 300, 20, 0, 100),
    )
    end = Obstacle(ObstacleKind.EDGE, 400, 0, 0, 100)
    first, a, b, c, last = compact_layout(
        [edge, item, beside, behind, end], [WeightedChain([0, 1, 3, 4], 1), WeightedChain([0, 2, 3], 1)]
    )
    assert first == 0 < a == b
    assert a + 20 < c
    assert c + 20 < last < 120
