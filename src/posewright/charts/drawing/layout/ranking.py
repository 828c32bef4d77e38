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
        thickness: size along r [px].
        breadth: size along v [px].
        before: free room at its lower v [px].
        after: free room at its higher v [px].
        pin: the side of all other items on which it must be, in a layer of its own.
        is_first: it is the first of its layer.
        ports: fixed positions of wires from its lowest v [px]; other wires are placed freely.
        zones: part of a side for freely placed wires, from its lowest v [px]; default all of it.
        is_point: all wires meet it in its middle.
        gap: room between it and its neighbours [px].
        port_gap: room between freely placed wires [px].
        port_edge: room beside them [px].
        min_thickness: room along r for what is drawn beside it, such as a title [px].
    """

    key: str
    thickness: int = 0
    breadth: int = 0
    before: int = 0
    after: int = 0
    pin: PortSide | None = None
    is_first: bool = False
    ports: Mapping[int, int] = field(default_factory=dict)
    zones: Mapping[PortSide, tuple[int, int]] = field(default_factory=dict)
    is_point: bool = False
    gap: int = 14
    port_gap: int = 14
    port_edge: int = 8
    min_thickness: int = 0


@dataclass(frozen=True)
class LayoutWire:
    """An arrow between two items.

    Attributes:
        label: thickness and breadth of its label, None if it has none.
        is_short: it starts at an initial dot, needs no room for a label, and may connect neighbouring layers.
    """

    key: int
    start: str
    end: str
    label: tuple[int, int] | None = None
    is_short: bool = False


@dataclass(frozen=True)
class Ranking:
    """The layer of every item, and the wires that lead backwards."""

    layers: Mapping[str, int]
    back_wires: frozenset[int]

    def side(self, wire: LayoutWire, key: str) -> PortSide:
        """Return the side on which a wire meets the item `key`, one of its ends."""
        leaves = (wire.start == key) != (wire.key in self.back_wires)
        return PortSide.FRONT if leaves else PortSide.BACK


@dataclass(frozen=True)
class Arrangement:
    """Positions of items and wires.

    Attributes:
        thickness: size of the whole along r [px].
        breadth: size of the whole along v [px].
        places: lowest r and lowest v of every item [px].
        routes: the corners of every wire, from its start to its end.
        labels: middle of the label of every wire that has one.
        crossings: approximate number of crossings of wires.
    """

    thickness: int
    breadth: int
    places: Mapping[str, tuple[int, int]]
    routes: Mapping[int, tuple[tuple[int, int], ...]]
    labels: Mapping[int, tuple[int, int]]
    crossings: int = 0


LAYER_STEP = 2
"""Distance of the layers of items; the layers between hold labels."""

MAX_PERMUTED_COLOURS = 5
"""Greatest number of colour groups whose orders are all tried."""

LayerOrder = Callable[[Sequence[str], Mapping[str, list[str]]], list[str]]
"""Orders items, given the successors of each, so that arrows mostly lead from earlier to later ones."""


def order_by_depth(keys: Sequence[str], successors: Mapping[str, list[str]]) -> list[str]:
    """Return the items in reverse postorder of a depth-first search: few arrows lead back."""
    visited: set[str] = set()
    finished: list[str] = []
    for root in keys:
        stack = [] if root in visited else [(root, iter(successors[root]))]
        visited.add(root)
        while stack:
            key, remaining = stack[-1]
            for successor in remaining:
                if successor not in visited:
                    visited.add(successor)
                    stack.append((successor, iter(successors[successor])))
                    break
            else:
                finished.append(key)
                stack.pop()
    return finished[::-1]


def order_by_breadth(keys: Sequence[str], successors: Mapping[str, list[str]]) -> list[str]:
    """Return the items in breadth-first order: few layers."""
    ordered: list[str] = []
    visited: set[str] = set()
    for root in keys:
        level = [] if root in visited else [root]
        visited.add(root)
        while level:
            ordered += level
            next_level = dict.fromkeys(
                successor for key in level for successor in successors[key] if successor not in visited
            )
            level = list(next_level)
            visited |= next_level.keys()
    return ordered


def order_by_colour(keys: Sequence[str], successors: Mapping[str, list[str]]) -> list[str]:
    """Return the items by colour of a greedy graph colouring (DSATUR), the colours in the best order.

    Items of one colour are not connected and can share a layer, so there are few layers.
    """
    neighbours: dict[str, set[str]] = {key: set() for key in keys}
    for key in keys:
        for neighbour in successors[key]:
            if neighbour != key:
                neighbours[key].add(neighbour)
                neighbours[neighbour].add(key)
    colour: dict[str, int] = {}
    while len(colour) < len(keys):
        uncoloured = [key for key in keys if key not in colour]
        key = max(
            uncoloured,
            key=lambda key: (
                len({colour.get(neighbour, -1) for neighbour in neighbours[key]}),
                len(neighbours[key]),
            ),
        )
        used = {colour.get(neighbour) for neighbour in neighbours[key]}
        colour[key] = next(i for i in range(len(keys)) if i not in used)
    count = max(colour.values(), default=0) + 1
    first = colour[keys[0]] if keys else 0
    colour_orders = (
        permutations(range(count)) if count <= MAX_PERMUTED_COLOURS else iter([tuple(range(count))])
    )

    def forward_count(ranks: tuple[int, ...]) -> int:
        """Return how many arrows lead to a higher rank, and more if the first item's colour is first."""
        n_forward = sum(
            ranks[colour[key]] < ranks[colour[neighbour]] for key in keys for neighbour in successors[key]
        )
        return n_forward + len(keys) * (ranks[first] == 0)

    ranks = max(colour_orders, key=forward_count)
    return sorted(keys, key=lambda key: ranks[colour[key]])


def rank_items(items: Sequence[LayoutItem], wires: Sequence[LayoutWire], order: LayerOrder) -> Ranking:
    """Return the layers of items.

    Args:
        items: pinned ones go into layers of their own.
        wires: the wires between different items.
        order: orders the items; wires against the order lead back.
    """
    free = [item.key for item in items if item.pin is None]
    pins = {item.key: item.pin for item in items if item.pin is not None}
    back_wires = find_back_wires(items, wires, order)
    index = {key: i for i, key in enumerate(free)}
    first = len(free)  # a variable below all items, and one above them
    last = len(free) + 1
    spacings = [Spacing(first, head=i, min_distance=0, weight=0) for i in range(first)] + [
        Spacing(i, head=last, min_distance=0, weight=0) for i in range(first)
    ]
    spacings.append(Spacing(first, head=last, min_distance=0, weight=1))
    for wire in wires:
        tail, head = (wire.end, wire.start) if wire.key in back_wires else (wire.start, wire.end)
        if tail in pins and head in pins:
            continue
        pinned = tail in pins or head in pins
        step = 0 if pinned else 1 if wire.is_short else LAYER_STEP
        spacings.append(
            Spacing(
                index.get(tail, first),
                head=index.get(head, last),
                min_distance=step,
                weight=1 if pinned else 4,
            )
        )
    numbers = solve_spacings(len(free) + 2, spacings)
    layers = _shift_to_even({key: numbers[index[key]] for key in free}, wires)
    return Ranking({**layers, **_pinned_layers(layers, pins)}, back_wires)


def find_back_wires(
    items: Sequence[LayoutItem], wires: Sequence[LayoutWire], order: LayerOrder
) -> frozenset[int]:
    """Return the wires that lead back, against the order of the items."""
    free = [item.key for item in items if item.pin is None]
    pins = {item.key: item.pin for item in items if item.pin is not None}
    initial_dots = [wire.start for wire in wires if wire.is_short]
    starts = dict.fromkeys(wire.end for wire in wires if wire.is_short and wire.end not in pins)
    keys = [*starts, *(key for key in free if key not in starts and key not in initial_dots)]
    successors: dict[str, list[str]] = {key: [] for key in keys}
    for wire in wires:
        if wire.start in successors and wire.end in successors:
            successors[wire.start].append(wire.end)
    position = {key: i for i, key in enumerate((*initial_dots, *order(keys, successors)))}
    position |= {key: -1 if pin is PortSide.BACK else len(free) for key, pin in pins.items()}
    return frozenset(wire.key for wire in wires if position[wire.start] > position[wire.end])


def _shift_to_even(layers: dict[str, int], wires: Sequence[LayoutWire]) -> dict[str, int]:
    """Return the layers, shifted by one if most items are in odd ones."""
    initial_dots = {wire.start for wire in wires if wire.is_short}
    odd = sum(layer % 2 for key, layer in layers.items() if key not in initial_dots)
    even = sum(1 - layer % 2 for key, layer in layers.items() if key not in initial_dots)
    return {key: layer + (odd > even) for key, layer in layers.items()}


def _pinned_layers(layers: Mapping[str, int], pins: Mapping[str, PortSide]) -> dict[str, int]:
    """Return the layers of pinned items, before and after those of all others."""
    low = min(layers.values(), default=0)
    high = max(layers.values(), default=0)
    ends = {PortSide.BACK: low - LAYER_STEP, PortSide.FRONT: high + LAYER_STEP}
    return {key: ends[pin] for key, pin in pins.items()}
