"""Arenas: the field as a contest describes it, knowing neither physics nor rules.

Field frame: x along the field from the start wall, y from its middle line to the left, z up [m].
"""

from __future__ import annotations

from posewright.arenas.arena import WALLS, Arena, Box, BoxKind, Role, Shape
from posewright.arenas.arena_reading import arena, arena_names, read_arena
from posewright.arenas.check import Fault, FaultKind, check_layout, layout_faults
from posewright.arenas.layout import layout, layout_names, layout_text, read_layout, write_layout
from posewright.arenas.random_layout import random_layout
from posewright.arenas.rectangles import corners, pair_distances, point_distances, shadows

__all__ = [
    "WALLS",
    "Arena",
    "Box",
    "BoxKind",
    "Fault",
    "FaultKind",
    "Role",
    "Shape",
    "arena",
    "arena_names",
    "check_layout",
    "corners",
    "layout",
    "layout_faults",
    "layout_names",
    "layout_text",
    "pair_distances",
    "point_distances",
    "random_layout",
    "read_arena",
    "read_layout",
    "shadows",
    "write_layout",
]
