"""Which item is in which layer, such that most arrows lead forward and none is longer than it need be.

What is laid out are items and wires between them, on a plane with a way forward (r) and a way across (v).
Which of the two is x and which is y is decided elsewhere: layers may be columns or rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import permutations

from posewright.charts.drawing.layout.spacing import Spacing, solve_spacings


class Side(Enum):
    """The side of an item that looks back to where arrows come from, or forward to where they lead."""

    BACK = "back"
    FRONT = "front"


@dataclass(frozen=True)
class Item:
    """Something that takes room.

    Attributes:
        thick, broad: its size along r and along v [px].
        before, after: room kept free beside it, below and above its own v [px].
        pin: it must be in a layer before all others, or in one after them.
        leads: it is the first of its layer.
        ports: where, from its lowest v, wires meet it [px]; those that are not named find their own place
        zones: in which part of a side, from its lowest v; all of it where nothing is said [px].
        point: all wires meet it in its middle.
        gap: room between it and its neighbours [px].
        port_gap, port_edge: room between wires that find their own place, and beside them [px].
        reach: its least thickness together with what is drawn beside it [px].
    """

    key: str
    thick: int = 0
    broad: int = 0
    before: int = 0
    after: int = 0
    pin: Side | None = None
    leads: bool = False
    ports: Mapping[int, int] = field(default_factory=dict)
    zones: Mapping[Side, tuple[int, int]] = field(default_factory=dict)
    point: bool = False
    gap: int = 14
    port_gap: int = 14
    port_edge: int = 8
    reach: int = 0


@dataclass(frozen=True)
class Wire:
    """An arrow between two items.

    Attributes:
        label: thickness and breadth of what is written on it, None where nothing is.
        short: it needs no room for a label and may join neighbouring layers.
    """

    key: int
    start: str
    end: str
    label: tuple[int, int] | None = None
    short: bool = False


@dataclass(frozen=True)
class Ranking:
    """The layer of every item, and the wires that lead backwards."""

    layers: Mapping[str, int]
    turned: frozenset[int]

    def side(self, wire: Wire, key: str) -> Side:
        """Return the side on which a wire meets one of its ends."""
        leaves = (wire.start == key) != (wire.key in self.turned)
        return Side.FRONT if leaves else Side.BACK


@dataclass(frozen=True)
class Arrangement:
    """Items and wires in their places.

    Attributes:
        thick, broad: of all together [px].
        places: lowest r and lowest v of every item [px].
        routes: the corners of every wire, from its start to its end.
        labels: middle of the label of every wire that has one.
        crossings: how often wires cross, about.
    """

    thick: int
    broad: int
    places: Mapping[str, tuple[int, int]]
    routes: Mapping[int, tuple[tuple[int, int], ...]]
    labels: Mapping[int, tuple[int, int]]
    crossings: int = 0


STEP = 2
"""Layers from an item to the next: those between hold the labels."""

MOST_COLOURS = 5
"""Groups of items of which every order is tried."""

LayerOrder = Callable[[Sequence[str], Mapping[str, list[str]]], list[str]]
"""Puts items in a row in which arrows mostly lead from the elder to the younger."""


def by_depth(keys: Sequence[str], ways: Mapping[str, list[str]]) -> list[str]:
    """Return the items as a walk meets them that follows arrows as far as they lead: few lead back."""
    seen: set[str] = set()
    done: list[str] = []
    for root in keys:
        stack = [] if root in seen else [(root, iter(ways[root]))]
        seen.add(root)
        while stack:
            key, rest = stack[-1]
            for other in rest:
                if other not in seen:
                    seen.add(other)
                    stack.append((other, iter(ways[other])))
                    break
            else:
                done.append(key)
                stack.pop()
    return done[::-1]


def by_breadth(keys: Sequence[str], ways: Mapping[str, list[str]]) -> list[str]:
    """Return the items by their distance from the beginning: few layers."""
    found: list[str] = []
    seen: set[str] = set()
    for root in keys:
        level = [] if root in seen else [root]
        seen.add(root)
        while level:
            found += level
            nearby = dict.fromkeys(other for key in level for other in ways[key] if other not in seen)
            level = list(nearby)
            seen |= nearby.keys()
    return found


def by_colour(keys: Sequence[str], ways: Mapping[str, list[str]]) -> list[str]:
    """Return the items in as few groups as can be found of which no two inside a group are joined.

    Groups become layers: there are hardly more of them than items that are all joined to one another.
    """
    near: dict[str, set[str]] = {key: set() for key in keys}
    for key in keys:
        for other in ways[key]:
            if other != key:
                near[key].add(other)
                near[other].add(key)
    colour: dict[str, int] = {}
    while len(colour) < len(keys):
        open_keys = [key for key in keys if key not in colour]
        key = max(
            open_keys, key=lambda key: (len({colour.get(other, -1) for other in near[key]}), len(near[key]))
        )
        taken = {colour.get(other) for other in near[key]}
        colour[key] = next(i for i in range(len(keys)) if i not in taken)
    count = max(colour.values(), default=0) + 1
    first = colour[keys[0]] if keys else 0
    rows = permutations(range(count)) if count <= MOST_COLOURS else iter([tuple(range(count))])

    def forward(row: tuple[int, ...]) -> int:
        ahead = sum(row[colour[key]] < row[colour[other]] for key in keys for other in ways[key])
        return ahead + len(keys) * (row[first] == 0)

    row = max(rows, key=forward)
    return sorted(keys, key=lambda key: row[colour[key]])


def rank(items: Sequence[Item], wires: Sequence[Wire], order: LayerOrder) -> Ranking:
    """Return the layers of items; the first of them are where reading begins.

    Args:
        items: pinned ones go into layers of their own.
        wires: from item to item; one that leads from an item to itself is left out.
        order: how to find out which arrows lead back.
    """
    free = [item.key for item in items if item.pin is None]
    pins = {item.key: item.pin for item in items if item.pin is not None}
    back = turned(items, wires, order)
    place = {key: i for i, key in enumerate(free)}
    first = len(free)
    last = len(free) + 1
    gaps = [Spacing(first, i, 0, 0) for i in range(first)] + [Spacing(i, last, 0, 0) for i in range(first)]
    gaps.append(Spacing(first, last, 0, 1))
    for wire in wires:
        a, b = (wire.end, wire.start) if wire.key in back else (wire.start, wire.end)
        if a in pins and b in pins:
            continue
        pinned = a in pins or b in pins
        step = 0 if pinned else 1 if wire.short else STEP
        gaps.append(Spacing(place.get(a, first), place.get(b, last), step, 1 if pinned else 4))
    numbers = solve_spacings(len(free) + 2, gaps)
    layers = _even({key: numbers[place[key]] for key in free}, wires)
    return Ranking({**layers, **_pinned(layers, pins)}, back)


def turned(items: Sequence[Item], wires: Sequence[Wire], order: LayerOrder) -> frozenset[int]:
    """Return the wires that lead back in an order."""
    free = [item.key for item in items if item.pin is None]
    pins = {item.key: item.pin for item in items if item.pin is not None}
    dots = [wire.start for wire in wires if wire.short]
    begins = dict.fromkeys(wire.end for wire in wires if wire.short and wire.end not in pins)
    keys = [*begins, *(key for key in free if key not in begins and key not in dots)]
    ways: dict[str, list[str]] = {key: [] for key in keys}
    for wire in wires:
        if wire.start in ways and wire.end in ways:
            ways[wire.start].append(wire.end)
    age = {key: i for i, key in enumerate((*dots, *order(keys, ways)))}
    age |= {key: -1 if pin is Side.BACK else len(free) for key, pin in pins.items()}
    return frozenset(wire.key for wire in wires if age[wire.start] > age[wire.end])


def _even(layers: dict[str, int], wires: Sequence[Wire]) -> dict[str, int]:
    """Return the layers shifted so that items with labels before them are in even ones."""
    dots = {wire.start for wire in wires if wire.short}
    odd = sum(layer % 2 for key, layer in layers.items() if key not in dots)
    even = sum(1 - layer % 2 for key, layer in layers.items() if key not in dots)
    return {key: layer + (odd > even) for key, layer in layers.items()}


def _pinned(layers: Mapping[str, int], pins: Mapping[str, Side]) -> dict[str, int]:
    low = min(layers.values(), default=0)
    high = max(layers.values(), default=0)
    ends = {Side.BACK: low - STEP, Side.FRONT: high + STEP}
    return {key: ends[pin] for key, pin in pins.items()}
