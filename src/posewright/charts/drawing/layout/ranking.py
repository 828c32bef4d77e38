"""Assignment of items to layers, so that most arrows lead forward and all are short.

Items and the wires between them are laid out on a plane with an axis r across the layers and an axis v along
them. Which of the two is x and which is y is decided elsewhere: layers may be columns or rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import permutations

from posewright.charts.drawing.layout.spacing import Spacing, solve_spacings


class PortSide(Enum):
    """The side of an item that arrows come from (back) or lead to (front)."""

    BACK = "back"
    FRONT = "front"


@dataclass(frozen=True)
class LayoutItem:
    """A rectangle to be placed.

    Attributes:
        key: its name.
        thickness: size along r, the axis across the layers [px].
        breadth: size along v, the axis along the layers [px].
        room_before: room at its lower v that must stay free [px].
        room_after: room at its higher v that must stay free [px].
        pinned_side: the side of all other items on which it must be, in a layer of its own; mostly None.
        is_first: it is the first of its layer.
        port_positions: position of each wire with a fixed end, by wire, from the item's lowest v [px]; other
            wires are placed freely.
        free_zones: part of a side for freely placed wires, from its lowest v [px]; default all of it.
        is_point: all wires meet it in its middle.
        gap: room between it and its neighbours [px].
        port_gap: room between freely placed wires [px].
        port_edge: room beside them [px].
        min_thickness: room along r for what is drawn beside it, such as a title [px].
    """

    key: str
    thickness: int = 0
    breadth: int = 0
    room_before: int = 0
    room_after: int = 0
    pinned_side: PortSide | None = None
    is_first: bool = False
    port_positions: Mapping[int, int] = field(default_factory=dict)
    free_zones: Mapping[PortSide, tuple[int, int]] = field(default_factory=dict)
    is_point: bool = False
    gap: int = 14
    port_gap: int = 14
    port_edge: int = 8
    min_thickness: int = 0


@dataclass(frozen=True)
class LayoutWire:
    """An arrow between two items.

    Attributes:
        label_size: thickness and breadth of its label, None if it has none.
        starts_at_dot: it starts at an initial dot, so it has no label and may connect adjacent layers.
    """

    key: int
    start: str
    end: str
    label_size: tuple[int, int] | None = None
    starts_at_dot: bool = False


@dataclass(frozen=True)
class Ranking:
    """The layer of every item, and the wires that lead backwards."""

    layers: Mapping[str, int]
    back_wires: frozenset[int]

    def side(self, wire: LayoutWire, key: str) -> PortSide:
        """Return the side on which a wire meets the item `key`, one of its ends."""
        is_start = wire.start == key
        is_back_wire = wire.key in self.back_wires
        return PortSide.FRONT if is_start != is_back_wire else PortSide.BACK


@dataclass(frozen=True)
class Arrangement:
    """Positions of items and wires.

    Attributes:
        thickness: size of the whole along r [px].
        breadth: size of the whole along v [px].
        item_positions: lowest r and lowest v of every item, by key [px].
        routes: the corners (r, v) of every wire, from its start to its end [px].
        label_positions: middle (r, v) of the label of every wire that has one [px].
        n_crossings: approximate number of crossings of wires.
    """

    thickness: int
    breadth: int
    item_positions: Mapping[str, tuple[int, int]]
    routes: Mapping[int, tuple[tuple[int, int], ...]]
    label_positions: Mapping[int, tuple[int, int]]
    n_crossings: int = 0


LAYER_STEP = 2
"""Distance of the layers of items; the layers between hold labels."""

WIRE_WEIGHT = 4
PINNED_WIRE_WEIGHT = 1
LAYER_COUNT_WEIGHT = 1
"""Cost per layer of a wire's span, of the span of a wire to a pinned item, and of the number of layers: short
wires matter most, and a wire to the border is long anyway."""

MAX_PERMUTED_COLOURS = 5
"""Greatest number of colour groups whose orders are all tried."""

LayerOrder = Callable[[Sequence[str], Mapping[str, list[str]]], list[str]]
"""Orders items, given the successors of each, so that arrows mostly lead from earlier to later ones."""


def order_by_depth(keys: Sequence[str], successors: Mapping[str, list[str]]) -> list[str]:
    """Return the items in reverse postorder of a depth-first search: few arrows lead back.

    The search starts at each item that an earlier search did not reach, in the order of `keys`.
    """
    visited: set[str] = set()
    finished: list[str] = []
    for root in keys:
        if root in visited:
            continue
        visited.add(root)
        stack = [(root, iter(successors[root]))]
        while stack:
            key, remaining_successors = stack[-1]
            successor = next((key for key in remaining_successors if key not in visited), None)
            if successor is None:
                finished.append(key)
                stack.pop()
            else:
                visited.add(successor)
                stack.append((successor, iter(successors[successor])))
    return finished[::-1]


def order_by_breadth(keys: Sequence[str], successors: Mapping[str, list[str]]) -> list[str]:
    """Return the items in breadth-first order, which makes few layers.

    The search starts at each item that an earlier search did not reach, in the order of `keys`.
    """
    ordered: list[str] = []
    visited: set[str] = set()
    for root in keys:
        if root in visited:
            continue
        visited.add(root)
        level = [root]
        while level:
            ordered += level
            next_level = dict.fromkeys(
                successor for key in level for successor in successors[key] if successor not in visited
            )
            level = list(next_level)
            visited |= next_level.keys()
    return ordered


def order_by_colour(keys: Sequence[str], successors: Mapping[str, list[str]]) -> list[str]:
    """Return the items, grouped by the colours of a greedy graph colouring (DSATUR).

    Items of one colour are not connected and can share a layer, so there are few layers. The order of the
    colours is the one in which most arrows lead forward, with the first item's colour first.
    """
    neighbours: dict[str, set[str]] = {key: set() for key in keys}
    for key in keys:
        for neighbour in successors[key]:
            if neighbour != key:
                neighbours[key].add(neighbour)
                neighbours[neighbour].add(key)
    colours = _colour_greedily(keys, neighbours)
    n_colours = max(colours.values(), default=0) + 1
    first_colour = colours[keys[0]] if keys else 0

    def rate_order(place_of_colour: tuple[int, ...]) -> int:
        """Return how many arrows lead forward; more if the order begins with the colour of the first item.

        Args:
            place_of_colour: the place of each colour in the order.
        """
        n_forward = sum(
            place_of_colour[colours[key]] < place_of_colour[colours[successor]]
            for key in keys
            for successor in successors[key]
        )
        begins_with_first_item = place_of_colour[first_colour] == 0
        return n_forward + len(keys) if begins_with_first_item else n_forward

    place_of_colour = tuple(range(n_colours))
    if n_colours <= MAX_PERMUTED_COLOURS:
        place_of_colour = max(permutations(place_of_colour), key=rate_order)
    return sorted(keys, key=lambda key: place_of_colour[colours[key]])


def _colour_greedily(keys: Sequence[str], neighbours: Mapping[str, set[str]]) -> dict[str, int]:
    """Return the colour of every item, from 0, so that neighbours differ.

    As in DSATUR, the next item is one whose neighbours have most colours, then one with most neighbours.
    """
    colours: dict[str, int] = {}

    def saturation(key: str) -> tuple[int, int]:
        """Return the number of colours around an item ("none" is one more), and that of its neighbours."""
        colours_around = {colours.get(neighbour) for neighbour in neighbours[key]}
        return len(colours_around), len(neighbours[key])

    while len(colours) < len(keys):
        key = max((key for key in keys if key not in colours), key=saturation)
        used_colours = {colours.get(neighbour) for neighbour in neighbours[key]}
        colours[key] = next(i for i in range(len(keys)) if i not in used_colours)
    return colours


def rank_items(items: Sequence[LayoutItem], wires: Sequence[LayoutWire], order: LayerOrder) -> Ranking:
    """Return the layer of every item, so that wires span few layers, and the wires that lead backwards.

    The layers of items that are not pinned are found by a linear program with a variable for each item. Two
    more variables bound all layers from below and above; they stand for the layers of pinned items.

    Args:
        items: pinned ones go into layers of their own, before or after all others.
        wires: the wires between different items.
        order: orders the items; wires against the order lead back.
    """
    unpinned_keys = [item.key for item in items if item.pinned_side is None]
    pinned_sides = _pinned_sides(items)
    back_wires = find_back_wires(items, wires, order)
    variable_of_item = {key: i for i, key in enumerate(unpinned_keys)}
    below_all = len(unpinned_keys)
    above_all = len(unpinned_keys) + 1
    spacings = [Spacing(lower=below_all, upper=variable) for variable in variable_of_item.values()]
    spacings += [Spacing(lower=variable, upper=above_all) for variable in variable_of_item.values()]
    spacings.append(Spacing(lower=below_all, upper=above_all, weight=LAYER_COUNT_WEIGHT))
    for wire in wires:
        leads_back = wire.key in back_wires
        earlier, later = (wire.end, wire.start) if leads_back else (wire.start, wire.end)
        if earlier in pinned_sides and later in pinned_sides:
            continue
        if earlier in pinned_sides or later in pinned_sides:
            min_distance = 0  # to a bound, not to the pinned item itself
            weight = PINNED_WIRE_WEIGHT
        else:
            min_distance = 1 if wire.starts_at_dot else LAYER_STEP
            weight = WIRE_WEIGHT
        lower = variable_of_item.get(earlier, below_all)
        upper = variable_of_item.get(later, above_all)
        spacings.append(Spacing(lower, upper, min_distance, weight))
    positions = solve_spacings(len(unpinned_keys) + 2, spacings)
    layers = _shift_to_even({key: positions[variable] for key, variable in variable_of_item.items()}, wires)
    return Ranking({**layers, **_pinned_layers(layers, pinned_sides)}, back_wires)


def _pinned_sides(items: Sequence[LayoutItem]) -> dict[str, PortSide]:
    """Return the side of every pinned item, by key."""
    return {item.key: item.pinned_side for item in items if item.pinned_side is not None}


def find_back_wires(
    items: Sequence[LayoutItem], wires: Sequence[LayoutWire], order: LayerOrder
) -> frozenset[int]:
    """Return the keys of the wires that lead back, from a later item to an earlier one.

    Initial dots come first, then the initial states and the others as `order` puts them. Pinned items come
    before or after all others.

    Args:
        items: the items.
        wires: the wires between them.
        order: orders the items that are neither initial dots nor pinned.
    """
    unpinned_keys = [item.key for item in items if item.pinned_side is None]
    pinned_sides = _pinned_sides(items)
    initial_dots = [wire.start for wire in wires if wire.starts_at_dot]
    initial_states = dict.fromkeys(
        wire.end for wire in wires if wire.starts_at_dot and wire.end not in pinned_sides
    )
    other_states = [key for key in unpinned_keys if key not in initial_states and key not in initial_dots]
    keys = [*initial_states, *other_states]
    successors: dict[str, list[str]] = {key: [] for key in keys}
    for wire in wires:
        if wire.start in successors and wire.end in successors:
            successors[wire.start].append(wire.end)
    ordered_keys = (*initial_dots, *order(keys, successors))
    place_of_item = {key: i for i, key in enumerate(ordered_keys)}
    for key, side in pinned_sides.items():
        place_of_item[key] = -1 if side is PortSide.BACK else len(unpinned_keys)  # before or after all others
    return frozenset(wire.key for wire in wires if place_of_item[wire.start] > place_of_item[wire.end])


def _shift_to_even(layers: dict[str, int], wires: Sequence[LayoutWire]) -> dict[str, int]:
    """Return the layers, all shifted by one if more items are in odd layers than in even ones.

    Labels prefer odd layers, so the items should be in the even ones. Initial dots may be in either.
    """
    initial_dots = {wire.start for wire in wires if wire.starts_at_dot}
    n_odd = sum(layer % 2 for key, layer in layers.items() if key not in initial_dots)
    n_even = sum(1 - layer % 2 for key, layer in layers.items() if key not in initial_dots)
    shift = 1 if n_odd > n_even else 0
    return {key: layer + shift for key, layer in layers.items()}


def _pinned_layers(layers: Mapping[str, int], pinned_sides: Mapping[str, PortSide]) -> dict[str, int]:
    """Return the layer of every pinned item: one before those of all others, or one after them."""
    lowest = min(layers.values(), default=0)
    highest = max(layers.values(), default=0)
    side_layers = {PortSide.BACK: lowest - LAYER_STEP, PortSide.FRONT: highest + LAYER_STEP}
    return {key: side_layers[side] for key, side in pinned_sides.items()}
