"""The subject by which objects send vectors of joint commands to OVirtualRobotComm.

Source: seeds.md A4 and A5: free regions are reused; joints of type 2 come before those of type 4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from posewright.errors import InputError
from posewright.runtimes.openr.kernel import require_callable
from posewright.runtimes.openr.regions import DataType, OCommandVectorData, RCRegion, find_free_region
from posewright.runtimes.openr.services import OObject, OReadyEvent, OSubject, ServiceName, ServiceSide

N_REGIONS = 2  # one is written while the other is played


class CommandVectorSubject(OSubject):
    """A subject that sends vectors of joint commands, in regions of its own.

    Args:
        owner: the object that moves joints.
        service: its name in CONNECT.CFG.
        ready: is called whenever a vector can be sent: every observer is ready, and a region is free.
    """

    def __init__(self, owner: OObject, service: str, ready: Callable[[], None]) -> None:
        super().__init__(
            owner,
            ServiceName(owner.name, service, data_type="OCommandVectorData", side=ServiceSide.SUBJECT),
            self._on_answer,
        )
        require_callable(self.name.short_name, ready)
        owner.subjects[service] = self
        self._on_ready = ready
        self._regions: list[RCRegion[OCommandVectorData]] = []
        self._waits_for_region = False  # every observer was ready, but no region was free

    @property
    def is_ready(self) -> bool:
        """Whether a vector can be sent: every observer is ready, and a region is free."""
        return self.all_ready and (not self._regions or find_free_region(self._regions) is not None)

    def send_frames(self, angles_by_primitive: Mapping[int, Sequence[int]]) -> None:
        """Send a vector of commanded angles to the robot.

        Args:
            angles_by_primitive: for each joint that moves, by its number, the angle in each of up to 16
                frames [micro-radians].

        Raises:
            InputError: no region is free; check `is_ready` first.
        """
        robot = self._owner.openr.robot
        if not self._regions:
            n_joints = len(robot.joints)
            vectors = [OCommandVectorData.with_room_for(n_joints) for _ in range(N_REGIONS)]
            self._regions = [RCRegion(vector, self._on_region_free) for vector in vectors]
        region = find_free_region(self._regions)
        if region is None:
            message = f"{self.name.short_name} has no free region"
            raise InputError(message, hint="send when `ready` is called")
        # joints with two positions only, the ears, come last
        primitives = sorted(angles_by_primitive, key=lambda primitive: robot.joints[primitive].two_state)
        for index, primitive in enumerate(primitives):
            two_state = robot.joints[primitive].two_state
            data_type = DataType.JOINT_COMMAND4 if two_state else DataType.JOINT_COMMAND2
            region.data.set(index, primitive, angles_by_primitive[primitive], data_type)
        region.data.set_n_data(len(primitives))
        self.send(region)

    def _on_answer(self, event: OReadyEvent) -> None:
        del event  # the last of several observers counts
        self._call_if_ready()

    def _call_if_ready(self) -> None:
        self._waits_for_region = self.all_ready and not self.is_ready
        if self.is_ready:
            self._on_ready()

    def _on_region_free(self) -> None:
        if self._waits_for_region:
            self._waits_for_region = False
            self._owner.openr.post(self._call_if_ready)
