"""How objects send OVirtualRobotComm where joints are to be, one vector after the other.

Source: seeds.md A4 and A5: regions are used again when nobody needs them; joints of type 2 stand before those
of type 4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from posewright.errors import InputError
from posewright.runtimes.openr.kernel import refuse_uncallable
from posewright.runtimes.openr.regions import DataType, OCommandVectorData, RCRegion, find_free_region
from posewright.runtimes.openr.services import OObject, OReadyEvent, OSubject, ServiceName, Side

N_REGIONS = 2  # one to be written while the other is played


class CommandVectorSubject(OSubject):
    """A subject that sends vectors of joint commands, in regions of its own.

    Args:
        owner: the object that moves joints.
        service: its name in CONNECT.CFG.
        ready: is called whenever a vector can be sent: every observer is ready, and a region is free.
    """

    def __init__(self, owner: OObject, service: str, ready: Callable[[], None]) -> None:
        super().__init__(
            owner, ServiceName(owner.name, service, "OCommandVectorData", Side.SUBJECT), self._answered
        )
        refuse_uncallable(self.name.short, ready)
        owner.subjects[service] = self
        self._tell = ready
        self._regions: list[RCRegion[OCommandVectorData]] = []
        self._is_held = False  # everybody was ready, but no region was free

    @property
    def is_ready(self) -> bool:
        """Whether a vector can be sent: every observer is ready, and a region is free."""
        return self.all_ready and (not self._regions or find_free_region(self._regions) is not None)

    def send_frames(self, frames: Mapping[int, Sequence[int]]) -> None:
        """Send where joints are to be: up to 16 angles [micro-radians] for each primitive that moves.

        Raises:
            InputError: no region is free; `is_ready` was not asked.
        """
        robot = self._owner.openr.robot
        if not self._regions:
            room = len(robot.joints)
            vectors = (OCommandVectorData.with_room_for(room) for _ in range(N_REGIONS))
            self._regions = [RCRegion(vector, self._freed) for vector in vectors]
        region = find_free_region(self._regions)
        if region is None:
            raise InputError(f"{self.name.short} has no free region", hint="send when `ready` was called")
        primitives = sorted(frames, key=lambda one: robot.joints[one].two_state)
        for place, primitive in enumerate(primitives):
            two_state = robot.joints[primitive].two_state
            kind = DataType.JOINT_COMMAND4 if two_state else DataType.JOINT_COMMAND2
            region.data.set(place, primitive, frames[primitive], kind)
        region.data.set_n_data(len(primitives))
        self.send(region)

    def _answered(self, event: OReadyEvent) -> None:
        del event  # of several observers the last one counts
        self._offer()

    def _offer(self) -> None:
        self._is_held = self.all_ready and not self.is_ready
        if self.is_ready:
            self._tell()

    def _freed(self) -> None:
        if self._is_held:
            self._is_held = False
            self._owner.openr.post(self._offer)
