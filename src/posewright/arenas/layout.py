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
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from posewright.arenas.arena import BOX, Arena, Box
from posewright.arenas.arena_reading import arena as shipped_arena
from posewright.arenas.check import check_layout
from posewright.documents import Catalogue, Node, one_line, read_document, render_document, save_document
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
    """Return the shipped layout of that name.

    Raises:
        UnknownNameError: none ships under that name.
    """
    return read_layout(LAYOUTS.shipped(name))


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
    """Return the document that `write_layout` would write.

    Raises:
        InputError: there is a number that is not finite.
    """
    return render_document(_document(boxes, name))


def _document(boxes: Sequence[Box], name: str) -> dict[str, Any]:
    return {"layout": name, "boxes": [_told(box) for box in boxes]}


def _told(box: Box) -> Any:
    if not all(map(math.isfinite, (box.x, box.y, box.yaw_rad))):
        raise InputError(f"a box at {box.x}, {box.y} cannot be written", hint="finite metres and angles")
    x, y, yaw_deg = round(box.x, 4), round(box.y, 4), round(box.yaw_rad * DEG_PER_RAD, 1)
    if box.kind != BOX:
        return one_line({"x": x, "y": y, "yaw_deg": yaw_deg, "kind": box.kind})
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
