"""The field of a contest: an arena with the boxes of a layout, by name, from a file, or drawn by a seed."""

from __future__ import annotations

from pathlib import Path

from posewright.arenas import Arena, arena, layout, layout_names, random_layout, read_layout
from posewright.errors import UnknownNameError

RANDOM = "random"


def lay_out(kind: str, name: str, seed: int, *, legal: bool = True) -> Arena:
    """Return the arena `kind` with a layout on it: by name, path, or drawn by the seed if it is `random`.

    Raises:
        UnknownNameError: no arena or layout of that name, and no such file.
        InputError: the file is no layout, or, where it must be `legal`, breaks the contest's rules.
    """
    field = arena(kind)
    if name == RANDOM:
        return field.with_boxes(random_layout(seed, field))
    if name in layout_names():
        return field.with_boxes(layout(name))
    path = Path(name)
    if not path.is_file() and path.suffix not in (".yaml", ".yml"):
        raise UnknownNameError.among("layout", name, (*layout_names(), RANDOM))
    return field.with_boxes(read_layout(path, field, legal=legal))
