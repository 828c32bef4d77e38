"""An OPEN-R object of one's own: it turns the head from side to side, whatever the legs do."""

from posewright.runtimes.openr import CommandVectorSubject, OObject, interpolate

PAN = "PRM:/r1/c1/c2-Joint2:12"
FARTHEST = 700_000  # micro-radians, 40 degrees
BLOCKS = 6  # of 16 frames, 0.77 s from one side to the other


class LookAround(OObject):
    """Sends OVirtualRobotComm a vector of 16 frames, and the next when it is ready for it."""

    def __init__(self) -> None:
        super().__init__()
        self.move = CommandVectorSubject(self, "Move", ready=self.next_block)
        self.way: list[int] = []
        self.side = FARTHEST

    def next_block(self) -> None:
        pan = self.openr.open_primitive(PAN)
        if not self.way:
            self.way = interpolate(self.openr.get_joint_value(pan), self.side, 16 * BLOCKS)
            self.enter_state("LEFT" if self.side > 0 else "RIGHT")
            self.side = -self.side
        block, self.way = self.way[:16], self.way[16:]
        self.move.send_frames({pan: block})
