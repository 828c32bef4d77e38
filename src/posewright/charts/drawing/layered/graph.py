"""What is laid out: items and wires between them, on a plane with a way forward (r) and a way across (v).

Which of the two is x and which is y is decided elsewhere: layers may be columns or rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum


class Side(Enum):
    """The side of an item that looks back to where arrows come from, or forward to where they lead."""

    BACK = "back"
    FRONT = "front"


class Pin(Enum):
    """Where an item has to be: in a layer before all others, or in one after them."""

    FIRST = "first"
    LAST = "last"


@dataclass(frozen=True)
class Item:
    """Something that takes room.

    Attributes:
        thick, broad: its size along r and along v [px].
        before, after: room kept free beside it, below and above its own v [px].
        pin: the layer it must be in.
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
    pin: Pin | None = None
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
