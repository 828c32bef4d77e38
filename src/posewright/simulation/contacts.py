"""A record of contacts: which parts of the robot touch what, and how far feet slide."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from posewright.arrays import Flags, Floats, Indices
from posewright.bodies import Contacts
from posewright.simulation.arena_model import FLOOR
from posewright.simulation.robot_model import body_name

if TYPE_CHECKING:
    from posewright.simulation.instance import ModelInstance

_NEITHER = -1
"""Nothing that is told of: boxes, of which a sensor tells."""


_NOTHING: Floats = np.empty(0)


class ContactRecorder:
    """Keeps what touches what at the end of each frame, and tells it block by block.

    `note` is called once a frame and must stay cheap. It changes nothing in the world: the same run follows
    with it or without. Of the last frame of a block everything is kept: how far a foot slid in the first
    frame of the next one, and what came to touch in it, follow from both.

    Args:
        one: the robot.
        others: robots of the same world; each is one thing, by its name there.
        only_touches: whether nothing is noted but what touches what: no slips, forces and speeds, which cost
            more than all the rest.
    """

    def __init__(
        self, one: ModelInstance, others: Iterable[ModelInstance] = (), *, only_touches: bool = False
    ) -> None:
        self._only_touches = only_touches
        model, self._data = one.model, one.data
        self._model: Any = model
        self._felt: Any = mujoco.MjData(model)
        bodies = one.bodies.tolist()
        names = [body_name(model, body).removeprefix(one.prefix) for body in bodies]
        solid = () if one.arena is None else tuple(shape.name for shape in one.arena.shapes if shape.is_solid)
        rivals = {other.name: other for other in others if other.name != one.name}
        self._names: tuple[str, ...] = (*names, FLOOR, *solid, *rivals)
        self._floor = len(bodies)
        self._feet = [names.index(foot) for foot in one.robot.feet]
        place = {body: place for place, body in enumerate(bodies)}
        self._thing_of_geom = np.array([place.get(int(body), _NEITHER) for body in model.geom_bodyid])
        for number, name in enumerate((FLOOR, *solid), self._floor):
            self._thing_of_geom[model.geom(name).id] = number
        for number, other in enumerate(rivals.values(), self._floor + 1 + len(solid)):
            self._thing_of_geom[other.own_geoms()] = number
        own = (self._thing_of_geom >= 0) & (self._thing_of_geom < self._floor)
        self._own_geoms = np.flatnonzero(own & _can_touch(model))
        self._place_of_geom = np.full(model.ngeom, _NEITHER)
        self._place_of_geom[self._own_geoms] = np.arange(len(self._own_geoms))
        self._frame_s = one.robot.frame_period_s
        self._found: list[tuple[NDArray[np.int32], Floats, Floats, Floats]] = []
        self._geoms: list[tuple[Floats, Floats]] = []
        self._stacked: tuple[Floats, Floats] | None = None
        self._n_before = 0  # frames kept of the block before: one, or none at first

    def forget(self) -> None:
        """Forget all frames: the robot was put somewhere else, and has not slid there."""
        self._found.clear()
        self._geoms.clear()
        self._stacked, self._n_before = None, 0

    def take(self) -> tuple[Contacts, Floats | None]:
        """Return what touched in the frames noted since the last call, and slips `(n_frames, n_feet)` [m].

        The frames of the contacts are counted from the first of these.
        """
        if self._only_touches:
            contacts = self._touches()
            self._found.clear()
            return contacts, None
        contacts, slips = self._contacts(), self._slips()[self._n_before :]
        del self._found[:-1], self._geoms[:-1]
        self._stacked, self._n_before = None, len(self._found)
        return contacts, slips

    def note(self) -> None:
        """Note the contacts as they are now."""
        data, found = self._data, self._data.contact
        if self._only_touches:
            self._found.append((found.geom.copy(), _NOTHING, _NOTHING, _NOTHING))
            return
        self._stacked = None
        self._found.append((found.geom.copy(), found.dist.copy(), found.pos.copy(), self._forces()))
        self._geoms.append((data.geom_xpos[self._own_geoms], data.geom_xmat[self._own_geoms]))

    def _forces(self) -> Floats:
        """Return how hard each contact of two parts of the robot presses now, `(n,)` [N]; NaN for others.

        MuJoCo knows the forces of a step only in its middle, so they are worked out once more, in a state of
        their own. That costs about as much as one physics step, so only where the robot touches itself.
        """
        things = self._thing_of_geom[self._data.contact.geom]
        own = np.flatnonzero(((things >= 0) & (things < self._floor)).all(axis=1))
        forces = np.full(len(things), np.nan)
        if len(own):
            mujoco.mj_copyData(self._felt, self._model, self._data)
            mujoco.mj_forwardSkip(self._model, self._felt, int(mujoco.mjtStage.mjSTAGE_VEL), 1)
        force = np.empty(6)
        for contact in own.tolist():
            mujoco.mj_contactForce(self._model, self._felt, contact, force)
            forces[contact] = force[0]
        return forces

    def _touches(self) -> Contacts:
        """Return what touched what in the frames noted; nothing is known of it besides."""
        counts = [len(geoms) for geoms, *_ in self._found]
        frames = np.repeat(np.arange(len(counts)), counts)
        geoms = np.concatenate([np.empty((0, 2), np.intp), *(geoms for geoms, *_ in self._found)])
        one, other = self._thing_of_geom[geoms].T
        low, high = np.minimum(one, other), np.maximum(one, other)
        known = (low >= 0) & (low < self._floor)
        n = len(self._names)
        keys = np.unique((frames[known] * n + low[known]) * n + high[known])
        pairs, unknown = np.column_stack((keys // n % n, keys % n)), np.full(len(keys), np.nan)
        return Contacts(self._names, keys // (n * n), pairs, unknown, unknown, unknown)

    def _contacts(self) -> Contacts:
        """Return everything that touched in the frames noted."""
        frames, geoms, points = self._points()
        things = np.sort(self._thing_of_geom[geoms], axis=1)
        known = (things[:, 0] >= 0) & (things[:, 0] < self._floor)
        rows, which = np.unique(np.column_stack((frames, things))[known], axis=0, return_inverse=True)
        depths = -np.concatenate([np.empty(0), *(distances for _, distances, *_ in self._found)])
        deepest = np.zeros(len(rows))
        np.maximum.at(deepest, which.ravel(), depths[known])
        fastest = np.full(len(rows), -np.inf)
        np.maximum.at(fastest, which.ravel(), self._falling(frames[known], geoms[known], points[known]))
        forces = np.zeros(len(rows))
        felt = np.concatenate([np.empty(0), *(forces for *_, forces in self._found)])
        np.add.at(forces, which.ravel(), felt[known])
        speeds = np.where(self._is_new(rows), fastest, np.nan)
        now = rows[:, 0] >= self._n_before
        return Contacts(
            names=self._names,
            frames=rows[now, 0] - self._n_before,
            pairs=rows[now, 1:],
            depths=deepest[now],
            forces=forces[now],
            speeds=speeds[now],
        )

    def _is_new(self, rows: Indices) -> Flags:
        """Return which of the rows (frame, thing, thing) are of things that come to the floor, `(n,)`."""
        touching = np.zeros((len(self._found) + 1, self._floor + 1), dtype=np.bool_)
        on_floor = rows[:, 2] == self._floor
        touching[rows[on_floor, 0] + 1, rows[on_floor, 1]] = True
        return np.asarray(on_floor & (rows[:, 0] > 0) & ~touching[rows[:, 0], rows[:, 1]])

    def _falling(self, frames: Indices, geoms: Indices, points: Floats) -> Floats:
        """Return how fast each point that touches the floor came down in the frame, `(n,)` [m/s]."""
        own = np.where(self._thing_of_geom[geoms[:, 0]] >= self._floor, geoms[:, 1], geoms[:, 0])
        ways = self._ways(frames, self._place_of_geom[own], points, np.maximum(frames - 1, 0))
        return np.asarray(ways[:, 2] / self._frame_s)

    def _slips(self) -> Floats:
        """Return how far each foot slid over the floor in each frame, `(n_frames, n_feet)` [m].

        What counts is the matter of the foot that touches: a ball that rolls does not slide. A foot that
        touches at one end of the frame only has not slid in it.
        """
        slid = np.zeros((len(self._found), len(self._feet)))
        frames, geoms, points = self._points()
        things = self._thing_of_geom[geoms]
        on_floor = (things == self._floor).any(axis=1)
        for column, foot in enumerate(self._feet):
            rows = np.flatnonzero(on_floor & (things == foot).any(axis=1))
            stands = np.zeros(len(self._found) + 1, dtype=np.bool_)
            stands[frames[rows]] = True
            rows = rows[stands[frames[rows] + 1]]
            own = np.where(things[rows, 0] == foot, geoms[rows, 0], geoms[rows, 1])
            after = frames[rows] + 1
            ways = self._ways(frames[rows], self._place_of_geom[own], points[rows], after)
            count = np.bincount(after, minlength=len(slid))
            slid[:, column] = np.bincount(after, np.hypot(ways[:, 0], ways[:, 1]), len(slid))
            slid[:, column] /= np.maximum(count, 1)
        return slid

    def _points(self) -> tuple[Indices, Indices, Floats]:
        """Return of all contacts the frame `(n,)`, the two geoms `(n, 2)` and the place `(n, 3)` [m]."""
        counts = [len(geoms) for geoms, *_ in self._found]
        frames = np.repeat(np.arange(len(counts)), counts)
        geoms = np.concatenate([np.empty((0, 2), np.intp), *(geoms for geoms, *_ in self._found)])
        points = np.concatenate([np.empty((0, 3)), *(points for *_, points, _ in self._found)])
        return frames, geoms, points

    def _poses(self) -> tuple[Floats, Floats]:
        """Return of the robot's geoms where they are, `(n_frames, n, 3)` [m], and how they are turned."""
        if self._stacked is None:
            where = np.stack([position for position, _ in self._geoms])
            turned = np.stack([matrix for _, matrix in self._geoms]).reshape(*where.shape[:2], 3, 3)
            self._stacked = where, turned
        return self._stacked

    def _ways(self, frames: Indices, places: Indices, points: Floats, then: Indices) -> Floats:
        """Return how far points `(n, 3)` [m] of some frames `(n,)` are from there in others, `then`.

        Each moves with the geom at one of the `places` `(n,)` among the robot's own.
        """
        if not len(frames):
            return np.empty((0, 3))
        where, turned = self._poses()
        inside = np.einsum("nji,nj->ni", turned[frames, places], points - where[frames, places])
        return np.asarray(
            where[then, places] + np.einsum("nij,nj->ni", turned[then, places], inside) - points
        )


def _can_touch(model: Any) -> Flags:
    """Return which geoms are not only there to be seen, `(n_geoms,)`."""
    can = np.asarray((model.geom_contype != 0) | (model.geom_conaffinity != 0))
    can[np.concatenate([model.pair_geom1, model.pair_geom2])] = True
    return can
