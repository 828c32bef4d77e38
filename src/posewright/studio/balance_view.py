"""Balance in the 3-D view: what the robot stands on, and where its centre of mass is over it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from posewright.arrays import Floats

if TYPE_CHECKING:
    from posewright.simulation.balance import Balance

NODE = "/balance"
STANDS, FALLS = (29, 122, 72), (200, 44, 34)

_ABOVE_M = 0.001
"""The support is drawn this high above the floor, so that the floor's lines do not cut it."""


class BalanceView:
    """The support of a robot as an area, and a plumb line from its centre of mass."""

    def __init__(self, scene: Any) -> None:
        self._root = scene.add_frame(NODE, show_axes=False)
        corner = np.zeros((3, 3), dtype=np.float32)
        self._area = scene.add_mesh_simple(
            f"{NODE}/support", corner, np.array([[0, 1, 2]], dtype=np.uint32), color=STANDS, opacity=0.35,
            side="double", cast_shadow=False, receive_shadow=False,
        )  # fmt: skip
        self._edge = scene.add_line_segments(
            f"{NODE}/edge", np.zeros((1, 2, 3)), STANDS, thickness=3.0, thickness_units="screen"
        )
        self._plumb = scene.add_line_segments(
            f"{NODE}/plumb", np.zeros((1, 2, 3)), STANDS, thickness=2.0, thickness_units="screen"
        )
        self._foot = scene.add_icosphere(f"{NODE}/foot", radius=0.005, color=STANDS, subdivisions=2)
        self._centre = scene.add_icosphere(f"{NODE}/centre", radius=0.008, color=STANDS, subdivisions=2)

    def set_visible(self, is_visible: bool) -> None:
        """Show or hide it."""
        self._root.visible = is_visible

    def show(self, balance: Balance, centre_of_mass: Floats) -> None:
        """Draw how a robot stands whose centre of mass is at `(3,)` [m]."""
        ring = np.column_stack([balance.polygon, np.full(len(balance.polygon), _ABOVE_M)]).astype(np.float32)
        fan = [(0, place, place + 1) for place in range(1, len(ring) - 1)]
        foot = np.array([*centre_of_mass[:2], _ABOVE_M])
        self._area.vertices, self._area.faces = ring, np.array(fan, dtype=np.uint32)
        self._edge.points = np.stack([ring, np.roll(ring, -1, axis=0)], axis=1)
        self._plumb.points = np.array([[centre_of_mass, foot]], dtype=np.float32)
        self._foot.position, self._centre.position = foot, centre_of_mass
        colour = STANDS if balance.margin_m > 0.0 else FALLS
        for node in (self._area, self._foot, self._centre):
            node.color = colour
        for lines in (self._edge, self._plumb):
            lines.colors = np.array(colour, dtype=np.uint8)


def in_words(margin_m: float) -> str:
    """Say how a robot stands, for people who do not see red."""
    away = f"{abs(margin_m) * 1e3:.0f} mm"
    if margin_m > 0.0:
        return f"Balanced: the centre of mass is {away} inside the support"
    return f"Falls: the centre of mass is {away} outside the support"
