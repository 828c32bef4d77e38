"""Which motion follows which: requests, repeats, and the links between pages. No time, no angles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from posewright.errors import UnknownNameError
from posewright.motions import Motion


@dataclass(frozen=True, slots=True)
class Turn:
    """One pass of one motion.

    Attributes:
        lap: which of its passes, counted from 0.
        linked: whether the page before led here, rather than a request.
    """

    name: str
    lap: int = 0
    linked: bool = False


class Succession:
    """What is played, pass by pass.

    A motion that is left goes through its `exit` motion, that through its own, and so on, no motion
    twice; then what is asked for begins. (ROBOTIS' action module stops a page in the same way.)
    """

    def __init__(self, motions: Mapping[str, Motion]) -> None:
        """Prepare."""
        self._motions = dict(motions)
        self._asked: str | None = None
        self._served: str | None = None  # the request that the present turn belongs to
        self._left_through: frozenset[str] = frozenset()  # exits played since something else was asked for
        self.now: Turn | None = None
        for name, motion in motions.items():
            for link in (motion.next, motion.exit):
                if link is not None and link not in motions:
                    raise UnknownNameError.among(f"motion that {name!r} leads to", link, motions)

    def request(self, name: str | None) -> None:
        """Ask for a motion, or for none."""
        if name is not None and name not in self._motions:
            raise UnknownNameError.among("motion", name, self._motions)
        self._asked = name
        if self.now is None and name is None:
            self._served = None  # nothing to leave: the next request counts as new

    @property
    def is_left(self) -> bool:
        """Whether something else was asked for than what is played."""
        return self._asked != self._served or bool(self._left_through)

    def following(self) -> Turn | None:
        """Return the turn after the present one, as things stand now; None for standing still."""
        now = self.now
        if now is None:
            return Turn(self._asked) if self._asked is not None and self.is_left else None
        motion = self._motions[now.name]
        if self.is_left:
            if now.name in self._left_through and now.lap + 1 < (motion.repeat or 1):
                return Turn(now.name, now.lap + 1)
            if motion.exit is not None and motion.exit not in self._left_through:
                return Turn(motion.exit, linked=True)
            return None if self._asked is None else Turn(self._asked)
        if motion.repeat is None or now.lap + 1 < motion.repeat:
            return Turn(now.name, now.lap + 1)
        return None if motion.next is None else Turn(motion.next, linked=True)

    def advance(self) -> Turn | None:
        """Go on to the following turn and return it; None for standing still."""
        turn = self.following()
        if turn is not None and turn.linked and self.is_left:
            self._left_through |= {turn.name}
        elif turn is None or not turn.lap:
            self._left_through = frozenset()
            if turn is None or not turn.linked:
                self._served = self._asked
        self.now = turn
        return turn
