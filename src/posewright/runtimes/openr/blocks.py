"""Motions in blocks: what MoveHead and MoveLegs share, moving joints on a straight way from where they are.

Source: seeds.md D2: when a motion starts, the start angles are read from the robot, the end angles and the
number of blocks are set; a block is 16 frames of 8 ms, and every Ready from OVirtualRobotComm advances one
block.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from posewright.errors import InputError, UnknownNameError
from posewright.runtimes.openr.regions import (
    FRAME_MS,
    MAX_FRAMES,
    MICRO,
    OCommandVectorData,
    RCRegion,
    find_free_region,
    interpolated,
)
from posewright.runtimes.openr.services import OObject, OReadyEvent

BLOCK_MS = MAX_FRAMES * FRAME_MS
N_REGIONS = 2


@dataclass(frozen=True, slots=True)
class BlockMotion:
    """Where joints go, and in how many blocks.

    Attributes:
        ends: the end angle of each joint that moves, by its locator [micro-radians].
        n_blocks: of 128 ms each; all joints take them all, whatever their way.
    """

    ends: Mapping[str, int]
    n_blocks: int


def micro(deg: float) -> int:
    """Return degrees in whole micro-radians."""
    return round(math.radians(deg) * MICRO)


class BlockPlayer:
    """Plays one motion at a time, a block for every Ready.

    The integers between start and end are those of the whole way, so that blocks join without a jump and the
    last frame hits the end. A motion that is started while a block is still under way waits for its end.
    As the start is where the joint is, and not where it was told to be, one that lags behind its command
    under load begins with a small step back; Safety spreads it where it is faster than the servo.

    Args:
        owner: the object that moves; it gets a subject `Move`.
        done: is called when the last block has been played.
    """

    def __init__(self, owner: OObject, done: Callable[[], None]) -> None:
        self._owner, self._done = owner, done
        self._move = owner.subject("Move", "OCommandVectorData", self._ready)
        self._primitives: dict[str, int] = {}
        self._regions: list[RCRegion[OCommandVectorData]] = []
        self._motion: BlockMotion | None = None
        self._ways: dict[int, list[int]] = {}  # of each primitive, the angles of all frames [micro-radians]
        self._n_sent = 0

    def open(self, locators: tuple[str, ...]) -> None:
        """Open the primitives and make the regions; to be called in `do_init`.

        Raises:
            InputError: the robot has no such joint.
        """
        openr = self._owner.openr
        try:
            self._primitives = {locator: openr.open_primitive(locator) for locator in locators}
        except UnknownNameError as error:
            what = f"{openr.robot.name} cannot run {self._owner.name}: {error.message}"
            raise InputError(what, hint=f"a robot with the joints {', '.join(locators)}") from error
        room = len(locators)
        self._regions = [RCRegion(OCommandVectorData.with_room_for(room)) for _ in range(N_REGIONS)]

    def angle(self, locator: str) -> int:
        """Return where a joint is now [micro-radians]."""
        return self._owner.openr.get_joint_value(self._primitives[locator])

    def play(self, motion: BlockMotion) -> None:
        """Start a motion, at once or when the block under way has ended."""
        self._motion, self._n_sent = motion, 0
        if self._move.is_ready:
            self._send_next(motion)

    def end(self) -> str:
        """End the motion: nothing follows on the block under way. Return where that leads, for people."""
        motion, self._motion = self._motion, None
        self._move.clear_buffer()
        if motion is None or self._n_sent == 0:
            return "nothing of it was sent"
        names = self._owner.openr.robot.joint_names
        last = self._n_sent * MAX_FRAMES - 1
        where = (
            f"{names[joint]} at {math.degrees(way[last] / MICRO):.2f} deg"
            for joint, way in self._ways.items()
        )
        return f"block {self._n_sent} of {motion.n_blocks} is the last; it ends with {', '.join(where)}"

    def _ready(self, _event: OReadyEvent) -> None:
        if self._motion is None or not self._move.is_ready:
            return
        if self._n_sent < self._motion.n_blocks:
            self._send_next(self._motion)
        else:
            self._done()

    def _send_next(self, motion: BlockMotion) -> None:
        region = find_free_region(self._regions)
        if region is None:
            return  # somebody still holds both; the next Ready tries again
        if self._n_sent == 0:
            self._read_start(motion)
        begin = self._n_sent * MAX_FRAMES
        for place, (primitive, way) in enumerate(self._ways.items()):
            region.data.set(place, primitive, way[begin : begin + MAX_FRAMES])
        region.data.set_n_data(len(self._ways))
        self._n_sent += 1
        self._move.send(region)

    def _read_start(self, motion: BlockMotion) -> None:
        n_frames = motion.n_blocks * MAX_FRAMES
        self._ways = {
            self._primitives[locator]: interpolated(self.angle(locator), end, n_frames)
            for locator, end in motion.ends.items()
        }
