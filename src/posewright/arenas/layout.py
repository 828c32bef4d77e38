"""Layouts: where the boxes stand, as a document a person writes.

```yaml
layout: my_layout          # optional, as are title and description
boxes:
  - [1.0, 0.3]             # x, y of the centre [m]
  - [1.5, -0.4, 30]        # and how far it is turned to the left [deg]
  - {x: 1.2, y: -0.9, yaw_deg: 5, kind: post}   # of a kind that the arena has; `box` unless told
yaw_deg: [0, 0, 0]         # optional: added to each box's own; one number turns all
```
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from posewright.arenas.arena import BOX, Arena, Box
from posewright.arenas.arena import arena as shipped_arena
from posewright.arenas.check import check_layout, layout_faults
from posewright.arenas.rectangles import corners, point_distances
from posewright.arrays import Flags, Floats
from posewright.documents import Catalogue, Node, flow_mapping, read_document, render_document, save_document
from posewright.errors import InputError
from posewright.units import DEG_PER_RAD, RAD_PER_DEG

LAYOUTS = Catalogue("layout", ".layout.yaml", lambda: (Path(__file__).parent / "layouts",))
_MOST_BOXES = 100
"""More than any field holds; a longer list is not a layout."""


def layout_names() -> tuple[str, ...]:
    """Return the names of the layouts that ship."""
    return LAYOUTS.names()


@cache
def layout(name: str) -> tuple[Box, ...]:
    """Return the shipped layout of that name."""
    return read_layout(LAYOUTS.shipped_path(name))


def read_layout(path: Path | str, arena: Arena | None = None, *, legal: bool = True) -> tuple[Box, ...]:
    """Read where boxes stand from a layout document.

    Args:
        path: the document.
        arena: the field; the CEABOT obstacle field where none is given.
        legal: whether a layout that breaks the contest's rules is refused; boxes standing in one
            another or in a wall are refused always.

    Raises:
        DocumentError: it is not a layout document.
        InputError: the boxes cannot, or may not, stand so.
    """
    optional = ("layout", "title", "description", "arena", "yaw_deg")
    fields = read_document(path).fields(required=("boxes",), optional=optional)
    nodes = fields["boxes"].items()
    if len(nodes) > _MOST_BOXES:
        fields["boxes"].fail(f"{len(nodes)} boxes are no layout")
    field = shipped_arena() if arena is None else arena
    turns = _turns_deg(fields.get("yaw_deg"), len(nodes))
    boxes = tuple(_box(node, turn, field) for node, turn in zip(nodes, turns, strict=True))
    check_layout(boxes, field, legal=legal, wheres=[node.where for node in nodes])
    return boxes


def write_layout(path: Path | str, boxes: Sequence[Box], *, name: str | None = None) -> None:
    """Write where boxes stand, to the tenth of a millimetre and of a degree.

    Raises:
        InputError: there is a number that is not finite.
        OutputError: the file cannot be written.
    """
    save_document(path, _document(boxes, name or Path(path).name.split(".")[0]))


def layout_text(boxes: Sequence[Box], name: str) -> str:
    """Return the document that `write_layout` would write."""
    return render_document(_document(boxes, name))


def _document(boxes: Sequence[Box], name: str) -> dict[str, object]:
    return {"layout": name, "boxes": [_box_data(box) for box in boxes]}


def _box_data(box: Box) -> list[float] | Mapping[str, object]:
    if not all(map(math.isfinite, (box.x, box.y, box.yaw_rad))):
        raise InputError(f"a box at {box.x}, {box.y} cannot be written", hint="finite metres and angles")
    x, y, yaw_deg = round(box.x, 4), round(box.y, 4), round(box.yaw_rad * DEG_PER_RAD, 1)
    if box.kind != BOX:
        return flow_mapping({"x": x, "y": y, "yaw_deg": yaw_deg, "kind": box.kind})
    return [x, y, yaw_deg] if yaw_deg else [x, y]


def _turns_deg(node: Node | None, count: int) -> list[float]:
    if node is None:
        return [0.0] * count
    if not isinstance(node.value, list):
        return [node.number(low=-360.0, high=360.0)] * count
    turns = [item.number(low=-360.0, high=360.0) for item in node.items()]
    if len(turns) != count:
        node.fail(f"{len(turns)} angles for {count} boxes", hint="one for each box, or one number for all")
    return turns


def _box(node: Node, turn_deg: float, field: Arena) -> Box:
    if isinstance(node.value, dict):
        parts = node.fields(required=("x", "y"), optional=("yaw_deg", "kind"))
    else:
        items = node.items()
        if len(items) not in {2, 3}:
            node.fail(f"a box of {len(items)} numbers", hint="[x, y] or [x, y, yaw_deg]")
        parts = dict(zip(("x", "y", "yaw_deg"), items, strict=False))
    x, y = (parts[key].number(low=-100.0, high=100.0) for key in ("x", "y"))
    yaw_deg = turn_deg + (parts["yaw_deg"].number(low=-360.0, high=360.0) if "yaw_deg" in parts else 0.0)
    return Box(
        x,
        y,
        yaw_deg * RAD_PER_DEG,
        parts["kind"].choice("kind of box", field.box_kinds) if "kind" in parts else BOX,
    )


FEWEST_BOXES = 3
"""Fewer would often leave the way open; a field may hold fewer where its maximum is lower."""

NEAR_THE_LINE_M = 0.25
"""A robot that just walks ahead bumps into a box whose centre is this near to the middle line."""

_NEAR_SHARE = 0.9
_GROUP_SIZES, _GROUP_SHARES = (1, 2, 3), (0.55, 0.25, 0.2)
_LEANING_SHARES = {1: 0.25, 2: 0.6, 3: 0.6}
_TURNED_SHARE = 0.4
_BESIDE_M = 0.005
"""Boxes of one group stand this far apart, so that a simulation need not compute their contact."""

_TRIES = 48
_DRAWS = 200


def random_layout(seed: int, arena: Arena | None = None, *, boxes: int | None = None) -> tuple[Box, ...]:
    """Return a legal layout of ordinary boxes, the same for the same seed.

    Args:
        seed: 0 or more.
        arena: the field; the CEABOT obstacle field where none is given.
        boxes: how many; three to the field's maximum, each as likely, where none is given.

    Raises:
        InputError: the seed is negative, or so many boxes do not fit the field.
    """
    field = shipped_arena() if arena is None else arena
    if seed < 0:
        raise InputError(f"the seed {seed} is negative", hint="0 or more")
    rng = np.random.default_rng(seed)
    fewest = min(FEWEST_BOXES, field.max_boxes)
    count = int(rng.integers(fewest, field.max_boxes + 1)) if boxes is None else boxes
    if not 0 <= count <= field.max_boxes:
        raise InputError(f"{count} boxes", hint=f"0 to {field.max_boxes}")
    for _ in range(_DRAWS):
        drawn = _draw(rng, count, field)
        if drawn is not None and not layout_faults(drawn, field):
            return drawn
    raise InputError(f"found no legal layout of {count} boxes", hint="fewer boxes or a larger field")


def _draw(rng: np.random.Generator, count: int, arena: Arena) -> tuple[Box, ...] | None:
    standing = np.empty((0, 3))
    in_the_way = rng.random() < _NEAR_SHARE
    for size in _group_sizes(rng, count):
        candidates = _candidates(rng, size, arena)
        free = _fits(candidates, standing, arena)
        if len(standing) == 0 and in_the_way:
            free &= (np.abs(candidates[..., 1]) < NEAR_THE_LINE_M).any(axis=1)
        if not free.any():
            return None
        standing = np.concatenate([standing, candidates[int(free.argmax())]])
    return tuple(Box(x, y, yaw) for x, y, yaw in standing.tolist())


def _group_sizes(rng: np.random.Generator, count: int) -> list[int]:
    sizes: list[int] = []
    while sum(sizes) < count:
        size = int(rng.choice(_GROUP_SIZES, p=_GROUP_SHARES))
        sizes.append(min(size, count - sum(sizes)))
    return sizes


def _candidates(rng: np.random.Generator, size: int, arena: Arena) -> Floats:
    """Return places for one kind of group, tried all over the zone, `(tries, size, 3)`."""
    pitch = arena.box_size[1] + _BESIDE_M
    x = np.round(rng.uniform(*arena.box_zone, _TRIES), 3)
    side = np.round(rng.uniform(-arena.size_y / 2.0, arena.size_y / 2.0, _TRIES), 3)
    leaning, turned = rng.random() < _LEANING_SHARES[size], rng.random() < _TURNED_SHARE
    degrees = rng.integers(-90, 90, _TRIES)
    yaw = np.radians(degrees if turned and not leaning else 0 * degrees)
    y = np.copysign(arena.size_y / 2.0 - size * pitch / 2.0, side) if leaning else side
    along = (np.arange(size) - (size - 1) / 2.0) * pitch
    return np.stack(
        [
            x[:, None] - along * np.sin(yaw)[:, None],
            y[:, None] + along * np.cos(yaw)[:, None],
            np.broadcast_to(yaw[:, None], (_TRIES, size)),
        ],
        axis=-1,
    )


def _fits(groups: Floats, standing: Floats, arena: Arena) -> Flags:
    """Return which groups lie in the zone and leave a gap to all that stands and the walls, `(tries,)`."""
    low, high = arena.box_zone
    size, flat = arena.box_kind.footprint_m, groups.reshape(-1, 3)
    outline = corners(flat, size).reshape(len(groups), -1, 2)
    x, to_wall = outline[..., 0], arena.size_y / 2.0 - np.abs(outline[..., 1]).max(axis=1)
    fit = (x.min(axis=1) >= low) & (x.max(axis=1) <= high)
    fit &= (to_wall >= arena.gap_m) | ((to_wall >= 0.0) & (to_wall <= _BESIDE_M))
    if len(standing):
        fit &= point_distances(outline, standing, size).min(axis=(1, 2)) >= arena.gap_m
        back = point_distances(corners(standing, size), flat, size).min(axis=(0, 1))
        fit &= back.reshape(groups.shape[:2]).min(axis=1) >= arena.gap_m
    return np.asarray(fit)
