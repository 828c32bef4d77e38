"""Motions that are made when they are looked at: an archive holds thousands, and a person wants one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, overload

from posewright.motions import Motion


class Glance(NamedTuple):
    """What a list of motions shows of one, known without making it."""

    name: str
    keyframes: int
    duration_s: float


class LazyMotions(Sequence[Motion]):
    """A sequence of motions, each made the first time it is asked for, and then kept.

    Args:
        makers: one function a motion.
        glances: what a list shows of each motion; empty where nobody knows before it is made.
    """

    def __init__(self, makers: Sequence[Callable[[], Motion]], glances: Sequence[Glance] = ()) -> None:
        self.glances = tuple(glances)
        self._makers = tuple(makers)
        self._made: dict[int, Motion] = {}

    def __len__(self) -> int:
        return len(self._makers)

    @overload
    def __getitem__(self, place: int) -> Motion: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Motion, ...]: ...
    def __getitem__(self, place: int | slice) -> Motion | tuple[Motion, ...]:
        """Return one motion, or several as a tuple; raises what the making of one raises."""
        if isinstance(place, slice):
            return tuple(self[i] for i in range(*place.indices(len(self))))
        place = range(len(self))[place]
        if place not in self._made:
            self._made[place] = self._makers[place]()
        return self._made[place]
