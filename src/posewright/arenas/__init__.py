"""Arenas: the fields of contests as data, without physics or rules.

Field frame: x along the field from the start wall, y from the middle line to the left, z up [m].
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from posewright.lazy import lazy

if TYPE_CHECKING:
    from posewright.arenas.arena import BOX as BOX
    from posewright.arenas.arena import FLOOR as FLOOR
    from posewright.arenas.arena import WALLS as WALLS
    from posewright.arenas.arena import Arena as Arena
    from posewright.arenas.arena import Box as Box
    from posewright.arenas.arena import BoxKind as BoxKind
    from posewright.arenas.arena import Colour as Colour
    from posewright.arenas.arena import Role as Role
    from posewright.arenas.arena import Shape as Shape
    from posewright.arenas.arena import Spot as Spot
    from posewright.arenas.arena import arena as arena
    from posewright.arenas.arena import arena_names as arena_names
    from posewright.arenas.arena import edge_walls as edge_walls
    from posewright.arenas.arena import parse_arena as parse_arena
    from posewright.arenas.arena import read_arena as read_arena
    from posewright.arenas.arena_writer import format_arena as format_arena
    from posewright.arenas.arena_writer import write_arena as write_arena
    from posewright.arenas.hulls import MAX_HULL_POINTS as MAX_HULL_POINTS
    from posewright.arenas.hulls import hull_outline as hull_outline
    from posewright.arenas.hulls import hull_points as hull_points
    from posewright.arenas.hulls import place_hull as place_hull
    from posewright.arenas.hulls import spread_directions as spread_directions
    from posewright.arenas.layout import format_layout as format_layout
    from posewright.arenas.layout import layout as layout
    from posewright.arenas.layout import layout_names as layout_names
    from posewright.arenas.layout import random_layout as random_layout
    from posewright.arenas.layout import read_layout as read_layout
    from posewright.arenas.layout import write_layout as write_layout
    from posewright.arenas.layout_check import LayoutFault as LayoutFault
    from posewright.arenas.layout_check import LayoutFaultKind as LayoutFaultKind
    from posewright.arenas.layout_check import check_layout as check_layout
    from posewright.arenas.layout_check import require_valid_layout as require_valid_layout
    from posewright.arenas.obstacles import fixed_obstacles as fixed_obstacles
    from posewright.arenas.obstacles import obstacle_distances as obstacle_distances
    from posewright.arenas.obstacles import overlap_depth as overlap_depth
    from posewright.arenas.obstacles import shape_outline as shape_outline
    from posewright.arenas.recognition import Piece as Piece
    from posewright.arenas.recognition import RecognisedArena as RecognisedArena
    from posewright.arenas.recognition import recognise_arena as recognise_arena
    from posewright.arenas.rectangles import corners as corners
    from posewright.arenas.rectangles import footprints as footprints
    from posewright.arenas.rectangles import pair_distances as pair_distances
    from posewright.arenas.rectangles import point_distances as point_distances
else:
    __getattr__, __dir__, __all__ = lazy(__name__)
