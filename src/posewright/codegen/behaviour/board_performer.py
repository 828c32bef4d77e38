"""The Python counterpart of `performer.c` on a board: motions and gaits, one after the other.

It follows the rules of `controllers.behaviours.Performer`. Motions are played in integer arithmetic. Gaits
are walked by their own generators, whose joint angles are then rounded to positions.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto

from posewright.codegen.behaviour.integer_player import PagePlayer
from posewright.codegen.behaviour.tables import PageTables
from posewright.controllers.behaviours.outputs import STAND, Action
from posewright.gaits import GaitGenerator


class _Source(Enum):
    """What the frames come from."""

    MOTION = auto()
    JOIN = auto()  # the way to a gait's standing pose
    GAIT = auto()
    HALT = auto()  # a gait that comes to stand


class BoardPerformer:
    """Performs actions frame by frame as a board does; no action moves joints separately.

    Args:
        tables: the motions.
        gaits: generators of the gaits by name; no name is that of a motion.
    """

    def __init__(self, tables: PageTables, gaits: Mapping[str, GaitGenerator]) -> None:
        self._tables = tables
        self._gaits = gaits
        self._player = PagePlayer(tables)
        self.restart()

    def restart(self) -> None:
        """Stand in the start pose, with nothing requested."""
        self._player.restart()
        self._source = _Source.MOTION
        self._action = STAND
        self._gait_name = ""  # that is joined to, walked or halted

    @property
    def playing(self) -> str | None:
        """The motion or gait that is performed; None while the robot stands still."""
        if self._source is _Source.MOTION:
            return self._player.playing
        return None if self._has_halted() else self._gait_name

    @property
    def ticks(self) -> tuple[int, ...]:
        """Goal positions of the servos in the last frame [servo ticks]."""
        return self._player.ticks

    @property
    def speed(self) -> int:
        """Speed of the servos in the last frame, as `PagePlayer` has it."""
        return self._player.speed

    @property
    def _gait(self) -> GaitGenerator:
        return self._gaits[self._gait_name]

    def request(self, action: Action) -> None:
        """Request an action, at a tick of the chart; a velocity beyond the gait's range is scaled down."""
        self._action = action
        is_walk_requested = action.velocity is not None
        if self._source is _Source.MOTION:
            self._player.request(None if is_walk_requested else action.name)
        elif self._source is not _Source.JOIN and is_walk_requested and action.name == self._gait_name:
            self._request_velocity()
            self._source = _Source.GAIT
        elif self._source is _Source.GAIT:
            self._gait.halt()
            self._source = _Source.HALT
        if self._has_halted():
            self._leave_gait()
        if self._source is _Source.MOTION and is_walk_requested and self._player.playing is None:
            self._begin_join()

    def advance_frame(self) -> None:
        """Advance by one frame, and compute the positions that are sent to the servos in it."""
        if self._source is _Source.JOIN and not self._player.is_joining:
            self._begin_gait()
        if self._source in (_Source.MOTION, _Source.JOIN):
            self._player.advance_frame()
        else:
            self._player.put(self._tables.round_angles(self._gait.frames(1)[0]))

    def _has_halted(self) -> bool:
        return self._source is _Source.HALT and self._gait.is_standing

    def _begin_join(self) -> None:
        """Begin the way to the standing pose of the requested gait, which may take no frames."""
        self._gait_name = str(self._action.name)
        self._player.join(self._tables.round_angles(self._gait.standing_pose))
        self._source = _Source.JOIN

    def _begin_gait(self) -> None:
        """Start the gait after the join, unless another action has been requested meanwhile."""
        self._gait.reset()
        if self._action.velocity is not None and self._action.name == self._gait_name:
            self._request_velocity()
            self._source = _Source.GAIT
        else:
            self._leave_gait()

    def _request_velocity(self) -> None:
        """Request the action's velocity, scaled down to the gait's range."""
        if self._action.velocity is not None:
            self._gait.request(self._gait.clip_command(self._action.velocity))

    def _leave_gait(self) -> None:
        """Hand over to the player in the gait's standing pose, and request the present action of it."""
        self._player.put(self._tables.round_angles(self._gait.standing_pose))
        self._source = _Source.MOTION
        self._player.request(None if self._action.velocity is not None else self._action.name)
