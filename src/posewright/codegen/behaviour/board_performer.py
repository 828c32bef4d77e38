"""The Python counterpart of `performer.c` on a board: motions and gaits, one after the other.

It follows the rules of `controllers.behaviours.Performer`. Motions are played in integer arithmetic. Gaits
are walked by their own walkers, whose joint angles are then rounded to positions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum, auto

from posewright.bodies import BodyState
from posewright.codegen.behaviour.integer_player import PagePlayer
from posewright.codegen.behaviour.tables import PageTables
from posewright.control.loop import MAX_BLOCK_FRAMES
from posewright.controllers.behaviours.outputs import STAND, Action
from posewright.controllers.walker import REACTION_FRAMES, Walker


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
        walkers: walkers of the gaits by name of the gait; no name is that of a motion.
    """

    def __init__(self, tables: PageTables, walkers: Mapping[str, Walker]) -> None:
        self._tables = tables
        self._walkers = walkers
        self._player = PagePlayer(tables)
        self.restart()

    def restart(self) -> None:
        """Stand in the start pose, with nothing requested."""
        self._player.restart()
        self._source = _Source.MOTION
        self._action = STAND
        self._gait_name = ""  # the gait that is joined to, walked or halted; empty before the first
        self._n_frames_left = 0  # until the source may change, and a walk reacts to the sensors

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
    def _walker(self) -> Walker:
        """The walker of the gait that is joined to, walked or halted."""
        return self._walkers[self._gait_name]

    def request(self, action: Action) -> None:
        """Request an action, at a tick of the chart; a velocity beyond the gait's range is scaled down."""
        if action.at_once and action.name != self._action.name:
            self._player.interrupt()
            self._source = _Source.MOTION
        self._action = action
        if self._source is _Source.MOTION:
            self._request_motion()
        elif self._source is not _Source.JOIN and self._is_gait_requested():
            self._request_velocity()
            self._source = _Source.GAIT
        elif self._source is _Source.GAIT:
            self._walker.halt()
            self._source = _Source.HALT
        self._n_frames_left = 0

    def advance_frame(self, observe: Callable[[], BodyState]) -> None:
        """Advance by one frame, and compute the positions that are sent to the servos in it.

        Args:
            observe: returns the present state of the body; called for gaits only.
        """
        is_join_over = self._source is _Source.JOIN and not self._player.is_joining
        if not self._n_frames_left or is_join_over:
            self._update_source(observe)
        self._n_frames_left -= 1
        if self._source in (_Source.MOTION, _Source.JOIN):
            self._player.advance_frame()
        else:
            self._player.put(self._tables.round_angles(self._walker.frames_without_reaction(1)[0]))

    def _update_source(self, observe: Callable[[], BodyState]) -> None:
        """Change the source of the frames where that is due, and let a walk react to the sensors."""
        if self._has_halted():
            self._leave_gait()
        is_idle = self._source is _Source.MOTION and self._player.playing is None
        if is_idle and self._action.velocity is not None:
            self._begin_join()
        if self._source is _Source.JOIN and not self._player.is_joining:
            self._begin_gait()
        self._n_frames_left = MAX_BLOCK_FRAMES
        if self._source in (_Source.GAIT, _Source.HALT):
            self._walker.react(observe())
            self._n_frames_left = REACTION_FRAMES if self._walker.reads_sensors else MAX_BLOCK_FRAMES

    def _has_halted(self) -> bool:
        return self._source is _Source.HALT and self._walker.is_standing

    def _is_gait_requested(self) -> bool:
        """Return whether the action is to walk the gait that is joined to, walked or halted."""
        return self._action.velocity is not None and self._action.name == self._gait_name

    def _begin_join(self) -> None:
        """Begin the way to the standing pose of the requested gait, which may take no frames."""
        self._gait_name = str(self._action.name)
        self._player.join(self._tables.round_angles(self._walker.standing_pose))
        self._source = _Source.JOIN

    def _begin_gait(self) -> None:
        """Start the gait after the join, unless another action has been requested meanwhile."""
        self._walker.reset()
        if self._is_gait_requested():
            self._request_velocity()
            self._source = _Source.GAIT
        else:
            self._leave_gait()

    def _request_velocity(self) -> None:
        """Request the action's velocity, scaled down to the gait's range."""
        if self._action.velocity is not None:
            self._walker.request(self._walker.clip_command(self._action.velocity))

    def _request_motion(self) -> None:
        """Request the action of the player if it is a motion, else to stand still."""
        self._player.request(self._action.name if self._action.velocity is None else None)

    def _leave_gait(self) -> None:
        """Hand over to the player in the gait's standing pose."""
        self._player.put(self._tables.round_angles(self._walker.standing_pose))
        self._source = _Source.MOTION
        self._request_motion()
