"""An OPEN-R object that turns the head from side to side, whatever the legs do."""

from posewright.runtimes.openr import CommandVectorSubject, OObject, interpolate

PAN = "PRM:/r1/c1/c2-Joint2:12"
FARTHEST = 700_000  # micro-radians, 40 degrees
BLOCKS = 6  # of 16 frames, 0.77 s from one side to the other


class LookAround(OObject):
    """Sends OVirtualRobotComm vectors of 16 frames, each when it is ready for the next."""

    def __init__(self) -> None:
        super().__init__()
        self.move = CommandVectorSubject(self, "Move", ready=self.next_block)
        self.path: list[int] = []
        self.target = FARTHEST

    def next_block(self) -> None:
        pan = self.openr.open_primitive(PAN)
        if not self.path:
            self.path = interpolate(self.openr.get_joint_value(pan), self.target, 16 * BLOCKS)
            self.enter_state("LEFT" if self.target > 0 else "RIGHT")
            self.target = -self.target
        block, self.path = self.path[:16], self.path[16:]
        self.move.send_frames({pan: block})
