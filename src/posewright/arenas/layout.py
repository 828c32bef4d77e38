"""Layouts: documents with the positions of boxes.

```yaml
layout: my_layout          # optional, as are title and description
boxes:
  - [1.0, 0.3]             # x, y of the centre [m]
  - [1.5, -0.4, 30]        # and the turn to the left [deg]
  - {x: 1.2, y: -0.9, yaw_deg: 5, kind: post}   # of another kind of the arena than `box`
yaw_deg: [0, 0, 0]         # optional: added to each box's own turn; one number turns all
```
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from posewright.arenas.arena import BOX, Arena, Box
from posewright.arenas.arena import arena as find_arena
from posewright.arenas.layout_check import check_layout, require_valid_layout
from posewright.arenas.obstacles import fixed_obstacles, obstacle_distances
from posewright.arenas.rectangles import corners, point_distances
from posewright.arrays import Flags, Floats
from posewright.documents import (
    Catalogue,
    Node,
    flow_mapping,
    is_file,
    read_document,
    render_document,
    save_document,
)
from posewright.errors import InputError
from posewright.units import DEG_PER_RAD, RAD_PER_DEG

LAYOUTS = Catalogue("layout", ".layout.yaml", lambda: (Path(__file__).parent / "layouts",))
_MAX_COORDINATE_M = 100.0
_MAX_BOXES = 100
"""Largest number of boxes in a document; no field holds so many."""


def layout_names() -> tuple[str, ...]:
    """Return the names of the layouts that ship with the package."""
    return LAYOUTS.names()


@cache
def layout(name: str) -> tuple[Box, ...]:
    """Return the layout of a name that ships with the package."""
    return read_layout(LAYOUTS.shipped_path(name))


# Documents.


def read_layout(path: Path | str, arena: Arena | None = None, *, legal: bool = True) -> tuple[Box, ...]:
    """Read the boxes of a layout document.

    Args:
        path: the document.
        arena: the field; None for the CEABOT obstacle field.
        legal: whether the layout must obey the contest's rules; boxes in one another or in a wall are always
            an error.

    Raises:
        DocumentError: it is not a valid layout document.
        InputError: the boxes cannot or must not stand so.
    """
    optional = ("layout", "title", "description", "arena", "yaw_deg")
    parts = read_document(path).fields(required=("boxes",), optional=optional)
    box_nodes = parts["boxes"].items()
    if len(box_nodes) > _MAX_BOXES:
        parts["boxes"].fail(f"the layout has {len(box_nodes)} boxes", hint=f"expected at most {_MAX_BOXES}")
    field = find_arena() if arena is None else arena
    turns_deg = _read_turns_deg(parts.get("yaw_deg"), len(box_nodes))
    boxes = tuple(_read_box(node, turn, field) for node, turn in zip(box_nodes, turns_deg, strict=True))
    require_valid_layout(boxes, field, legal=legal, locations=[node.where for node in box_nodes])
    return boxes


def _read_turns_deg(node: Node | None, n_boxes: int) -> list[float]:
    """Return the additional turn of each box [deg]: one number for all, a list, or 0 without the entry."""
    if node is None:
        return [0.0] * n_boxes
    if not isinstance(node.value, list):
        return [_read_turn_deg(node)] * n_boxes
    turns_deg = [_read_turn_deg(item) for item in node.items()]
    if len(turns_deg) != n_boxes:
        hint = "one for each box, or one number for all"
        node.fail(f"{len(turns_deg)} angles for {n_boxes} boxes", hint=hint)
    return turns_deg


def _read_turn_deg(node: Node) -> float:
    return node.number(low=-360.0, high=360.0)


def _read_box(node: Node, turn_deg: float, arena: Arena) -> Box:
    """Return a box of a layout, written as a list of numbers or a mapping, turned by `turn_deg` besides."""
    if isinstance(node.value, dict):
        parts = node.fields(required=("x", "y"), optional=("yaw_deg", "kind"))
    else:
        items = node.items()
        if len(items) not in {2, 3}:
            node.fail(f"expected 2 or 3 numbers, found {len(items)}", hint="[x, y] or [x, y, yaw_deg]")
        parts = dict(zip(("x", "y", "yaw_deg"), items, strict=False))
    x, y = (parts[key].number(low=-_MAX_COORDINATE_M, high=_MAX_COORDINATE_M) for key in ("x", "y"))
    own_turn_deg = _read_turn_deg(parts["yaw_deg"]) if "yaw_deg" in parts else 0.0
    kind = parts["kind"].choice("kind of box", arena.box_kinds) if "kind" in parts else BOX
    return Box(x, y, yaw_rad=(turn_deg + own_turn_deg) * RAD_PER_DEG, kind=kind)


def write_layout(path: Path | str, boxes: Sequence[Box], *, name: str | None = None) -> None:
    """Write boxes as a layout document, rounded to a tenth of a millimetre and of a degree.

    If `path` already holds a layout, its title, description and comments stay.

    Args:
        path: the path of the document.
        boxes: the boxes to be written.
        name: the name of the layout; by default that of the file.

    Raises:
        InputError: a number is not finite.
        OutputError: the file cannot be written.
    """
    path = Path(path)
    document = _build_document(boxes, name or path.name.split(".")[0])
    save_document(path, _read_existing_titles(path) | document)


def _read_existing_titles(path: Path) -> dict[str, object]:
    """Return title and description of the layout that a file holds; none if it holds none."""
    if not is_file(path):
        return {}
    try:
        content = read_document(path).value
    except InputError:
        return {}
    if not isinstance(content, dict) or "boxes" not in content:
        return {}
    return {key: content[key] for key in ("title", "description") if key in content}


def format_layout(boxes: Sequence[Box], name: str) -> str:
    """Return the text of the document that `write_layout` writes."""
    return render_document(_build_document(boxes, name))


def _build_document(boxes: Sequence[Box], name: str) -> dict[str, object]:
    return {"layout": name, "boxes": [_box_entry(box) for box in boxes]}


def _box_entry(box: Box) -> list[float] | Mapping[str, object]:
    """Return a box as a layout writes it: a list of numbers, or a mapping if it has a kind."""
    if not all(map(math.isfinite, (box.x, box.y, box.yaw_rad))):
        message = f"a box at {box.x}, {box.y} cannot be written"
        raise InputError(message, hint="finite metres and angles")
    x = round(box.x, 4)
    y = round(box.y, 4)
    yaw_deg = round(box.yaw_rad * DEG_PER_RAD, 1)
    if box.kind != BOX:
        return flow_mapping({"x": x, "y": y, "yaw_deg": yaw_deg, "kind": box.kind})
    return [x, y, yaw_deg] if yaw_deg else [x, y]


# Random layouts.

MIN_BOXES = 3
"""Fewer would often leave the way open; a field with a lower maximum has its maximum."""

_DEFAULT_MAX_BOXES = 6
"""Most random boxes on a field that has no limit of its own, as in the CEABOT race."""

NEAR_MIDDLE_M = 0.25
"""A robot that walks straight ahead bumps into a box whose centre is this near to the middle line [m]."""

_NEAR_PROBABILITY = 0.9
_GROUP_SIZES = (1, 2, 3)
_GROUP_PROBABILITIES = (0.55, 0.25, 0.2)
_AT_WALL_PROBABILITIES = {1: 0.25, 2: 0.6, 3: 0.6}
"""By size, how often a group of boxes stands at a wall."""

_TURNED_PROBABILITY = 0.4
_GROUP_GAP_M = 0.005
"""Distance of the boxes of a group, so that a simulation need not compute their contact [m]."""

_CANDIDATES_PER_GROUP = 48
_MAX_DRAWS = 200


def random_layout(seed: int, arena: Arena | None = None, *, boxes: int | None = None) -> tuple[Box, ...]:
    """Return a legal layout of default boxes, always the same for a seed.

    Args:
        seed: 0 or more.
        arena: the field; None for the CEABOT obstacle field.
        boxes: number of boxes; by default random from three to the field's maximum, or to six if it has none,
            or fewer where fixed shapes leave no room for so many.

    Raises:
        InputError: the seed is negative, or the field cannot hold so many boxes.
    """
    field = find_arena() if arena is None else arena
    if seed < 0:
        raise InputError(f"the seed {seed} is negative", hint="expected 0 or more")
    rng = np.random.default_rng(seed)
    max_boxes = field.max_boxes
    if not max_boxes and field.box_kinds:
        max_boxes = _DEFAULT_MAX_BOXES
    min_boxes = min(MIN_BOXES, max_boxes)
    n_boxes = int(rng.integers(min_boxes, max_boxes + 1)) if boxes is None else boxes
    if not 0 <= n_boxes <= max_boxes:
        raise InputError(f"{n_boxes} boxes", hint=f"expected 0 to {max_boxes}")
    # on a field with furniture, fewer boxes than drawn may have room
    fewest_boxes = n_boxes if boxes is not None or not fixed_obstacles(field) else 0
    for n_placed in range(n_boxes, fewest_boxes - 1, -1):
        for _ in range(_MAX_DRAWS):
            candidate = _draw_layout(rng, n_placed, field)
            if candidate is not None and not check_layout(candidate, field):
                return candidate
    hint = "use fewer boxes or a larger field"
    raise InputError(f"found no legal layout of {n_boxes} boxes", hint=hint)


def _draw_layout(rng: np.random.Generator, n_boxes: int, arena: Arena) -> tuple[Box, ...] | None:
    """Draw groups of boxes one after the other; return None if a group finds no free place."""
    placed_boxes = np.empty((0, 3))
    first_must_be_near_middle = rng.random() < _NEAR_PROBABILITY
    for size in _draw_group_sizes(rng, n_boxes):
        candidates = _draw_group_candidates(rng, size, arena)
        is_free = _find_free_groups(candidates, placed_boxes, arena)
        if len(placed_boxes) == 0 and first_must_be_near_middle:
            is_free &= (np.abs(candidates[..., 1]) < NEAR_MIDDLE_M).any(axis=1)
        if not is_free.any():
            return None
        first_free_group = candidates[int(is_free.argmax())]
        placed_boxes = np.concatenate([placed_boxes, first_free_group])
    return tuple(Box(x, y, yaw) for x, y, yaw in placed_boxes.tolist())


def _draw_group_sizes(rng: np.random.Generator, n_boxes: int) -> list[int]:
    """Return the numbers of boxes of random groups, `n_boxes` in all."""
    sizes: list[int] = []
    while sum(sizes) < n_boxes:
        size = int(rng.choice(_GROUP_SIZES, p=_GROUP_PROBABILITIES))
        sizes.append(min(size, n_boxes - sum(sizes)))
    return sizes


def _draw_group_candidates(rng: np.random.Generator, size: int, arena: Arena) -> Floats:
    """Return candidate poses of a group's boxes all over the zone: x, y, yaw, `(n_candidates, size, 3)`.

    The boxes of a group stand in a row, side by side, at a wall or anywhere.
    """
    n_candidates = _CANDIDATES_PER_GROUP
    box_pitch = arena.box_size[1] + _GROUP_GAP_M  # from the middle of one box to the next
    half_width = arena.size_y / 2.0
    # all numbers are drawn, needed or not, so that a seed gives the same layout
    x = np.round(rng.uniform(*arena.box_zone, n_candidates), 3)
    random_y = np.round(rng.uniform(-half_width, half_width, n_candidates), 3)
    is_at_wall = rng.random() < _AT_WALL_PROBABILITIES[size]
    is_turned = rng.random() < _TURNED_PROBABILITY
    random_yaw_deg = rng.integers(-90, 90, n_candidates)
    y = np.copysign(half_width - size * box_pitch / 2.0, random_y) if is_at_wall else random_y
    yaw = np.radians(random_yaw_deg) if is_turned and not is_at_wall else np.zeros(n_candidates)
    offsets = (np.arange(size) - (size - 1) / 2.0) * box_pitch  # of the boxes from the middle of their row
    return np.stack(
        [
            x[:, None] - offsets * np.sin(yaw)[:, None],
            y[:, None] + offsets * np.cos(yaw)[:, None],
            np.broadcast_to(yaw[:, None], (n_candidates, size)),
        ],
        axis=-1,
    )


def _find_free_groups(groups: Floats, placed_boxes: Floats, arena: Arena) -> Flags:
    """Return which groups lie in the zone and leave a gap to walls, fixed shapes and other boxes.

    Args:
        groups: candidate poses x, y, yaw, `(n_candidates, size, 3)`.
        placed_boxes: x, y and yaw of the boxes drawn before, `(n, 3)`.
        arena: the field.

    Returns:
        `(n_candidates,)`.
    """
    low, high = arena.box_zone
    box_size = arena.box_kind.footprint_m
    flat_groups = groups.reshape(-1, 3)
    outlines = corners(flat_groups, box_size).reshape(len(groups), -1, 2)
    x = outlines[..., 0]
    wall_distance = arena.size_y / 2.0 - np.abs(outlines[..., 1]).max(axis=1)
    is_in_zone = (x.min(axis=1) >= low) & (x.max(axis=1) <= high)
    is_at_wall = (wall_distance >= 0.0) & (wall_distance <= _GROUP_GAP_M)  # it touches: that is no gap
    is_free = is_in_zone & ((wall_distance >= arena.gap_m) | is_at_wall)
    shape_distances = obstacle_distances(outlines.reshape(-1, 2), arena)
    if shape_distances.size:
        is_free &= shape_distances.reshape(len(groups), -1).min(axis=1) >= arena.gap_m
    if len(placed_boxes):
        # The nearest corner may be that of a group or that of a placed box.
        group_corner_distances = point_distances(outlines, placed_boxes, box_size).min(axis=(1, 2))
        is_free &= group_corner_distances >= arena.gap_m
        placed_corners = corners(placed_boxes, box_size)
        distances = point_distances(placed_corners, flat_groups, box_size).min(axis=(0, 1))
        is_free &= distances.reshape(groups.shape[:2]).min(axis=1) >= arena.gap_m
    return np.asarray(is_free)
