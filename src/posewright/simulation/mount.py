"""The site or body a sensor is fixed to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mujoco

from posewright.arrays import Floats
from posewright.errors import UnknownNameError


@dataclass(frozen=True, slots=True, eq=False)
class Mount:
    """A frame of the model that moves with the robot.

    Attributes:
        kind: MuJoCo's type of the thing: a site or a body.
        index: its number among those.
        position: where it is, `(3,)` [m]; a live view of MuJoCo's state.
        rotation: its axes as columns, `(3, 3)`; a live view of MuJoCo's state.
    """

    kind: int
    index: int
    position: Floats
    rotation: Floats

    def body(self, model: Any) -> int:
        """Return the number of the body it belongs to."""
        is_site = self.kind == int(mujoco.mjtObj.mjOBJ_SITE)
        return int(model.site_bodyid[self.index]) if is_site else self.index


def find_mount(model: Any, data: Any, name: str) -> Mount:
    """Return the site, or else the body, of that name.

    Raises:
        UnknownNameError: the model has neither.
    """
    site, body = mujoco.mjtObj.mjOBJ_SITE, mujoco.mjtObj.mjOBJ_XBODY
    index = int(mujoco.mj_name2id(model, site, name))
    if index >= 0:
        return Mount(int(site), index, data.site_xpos[index], data.site_xmat[index].reshape(3, 3))
    index = int(mujoco.mj_name2id(model, body, name))
    if index >= 0:
        return Mount(int(body), index, data.xpos[index], data.xmat[index].reshape(3, 3))
    sites = [model.site(i).name for i in range(model.nsite)]
    bodies = [model.body(i).name for i in range(model.nbody)]
    raise UnknownNameError.among("site or body of the model", name, filter(None, (*sites, *bodies)))
