"""Arenas: the field as a contest describes it, knowing neither physics nor rules.

Field frame: x along the field from the start wall, y from its middle line to the left, z up [m].
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
    from posewright.arenas.arena import Role as Role
    from posewright.arenas.arena import Shape as Shape
    from posewright.arenas.arena import Spot as Spot
    from posewright.arenas.arena import arena as arena
    from posewright.arenas.arena import arena_names as arena_names
    from posewright.arenas.arena import read_arena as read_arena
    from posewright.arenas.check import Fault as Fault
    from posewright.arenas.check import FaultKind as FaultKind
    from posewright.arenas.check import check_layout as check_layout
    from posewright.arenas.check import layout_faults as layout_faults
    from posewright.arenas.hulls import MOST_POINTS as MOST_POINTS
    from posewright.arenas.hulls import all_directions as all_directions
    from posewright.arenas.hulls import hull_outline as hull_outline
    from posewright.arenas.hulls import hull_points as hull_points
    from posewright.arenas.hulls import placed_hull as placed_hull
    from posewright.arenas.layout import layout as layout
    from posewright.arenas.layout import layout_names as layout_names
    from posewright.arenas.layout import layout_text as layout_text
    from posewright.arenas.layout import random_layout as random_layout
    from posewright.arenas.layout import read_layout as read_layout
    from posewright.arenas.layout import write_layout as write_layout
    from posewright.arenas.recognition import Piece as Piece
    from posewright.arenas.recognition import Recognised as Recognised
    from posewright.arenas.recognition import recognise as recognise
    from posewright.arenas.rectangles import corners as corners
    from posewright.arenas.rectangles import pair_distances as pair_distances
    from posewright.arenas.rectangles import point_distances as point_distances
    from posewright.arenas.rectangles import shadows as shadows
    from posewright.arenas.writing import write_arena as write_arena
else:
    __getattr__, __dir__, __all__ = lazy(__name__)
