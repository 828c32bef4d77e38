"""An OPEN-R object of one's own: it turns the head from side to side, whatever the legs do."""

from posewright.runtimes.openr import OCommandVectorData, OObject, OReadyEvent, RCRegion, find_free_region
from posewright.runtimes.openr.regions import interpolated

PAN = "PRM:/r1/c1/c2-Joint2:12"
FARTHEST = 700_000  # micro-radians, 40 degrees
BLOCKS = 6  # of 16 frames, 0.77 s from one side to the other


class LookAround(OObject):
    """Sends OVirtualRobotComm a vector of 16 frames, and the next when it is ready for it."""

    def __init__(self) -> None:
        super().__init__()
        self.move = self.subject("Move", "OCommandVectorData", ready=self.next_block)
        self.way: list[int] = []
        self.side = FARTHEST

    def do_init(self) -> None:
        self.pan = self.openr.open_primitive(PAN)
        self.regions = [RCRegion(OCommandVectorData.with_room_for(1)) for _ in range(2)]

    def next_block(self, event: OReadyEvent) -> None:
        region = find_free_region(self.regions)
        if not event.is_ready or region is None:
            return
        if not self.way:
            start = self.openr.get_joint_value(self.pan)
            self.way = interpolated(start, self.side, 16 * BLOCKS)
            self.enter("LEFT" if self.side > 0 else "RIGHT")
            self.side = -self.side
        region.data.set(0, self.pan, self.way[:16])
        region.data.set_n_data(1)
        self.way = self.way[16:]
        self.move.send(region)
