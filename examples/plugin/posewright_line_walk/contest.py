"""Line walk: a contest for the distance that a robot walks along a line in 20 s."""

from dataclasses import asdict, dataclass

from posewright.arenas import Arena, Role, Shape
from posewright.contests import ContestPicture, DefaultEntry, PlanarPose, ScoreTable, Series
from posewright.control import Block
from posewright.documents import parse_document
from posewright.recordings import Recording

RULES = "title: Line walk\nlimit_s: 20   # from the start\n"
LINE = Shape("line", Role.LINE, x=2.0, y=0.0, size_m=(4.0, 0.02, 0.0))
FIELD = Arena(
    "line_walk", (4.0, 2.0), (LINE,), {}, {"floor": (0.2, 0.6, 0.2), "line": (1, 1, 1)}, friction=0.5
)


@dataclass(frozen=True)
class Distance:
    """The score: the distance [m], with one point for each centimetre."""

    contest: str
    distance_m: float
    warnings: tuple[str, ...] = ()

    @property
    def points(self) -> float:
        return 100.0 * self.distance_m

    def to_dict(self) -> dict:
        return {**asdict(self), "points": self.points}

    def table(self) -> ScoreTable:
        return ScoreTable(("distance", "points"), ((f"{self.distance_m:.2f} m", f"{self.points:.0f}"),))


class Timekeeper:
    """The referee: it ends the walk when the time is over."""

    def __init__(self, limit_s: float) -> None:
        self.limit_s = limit_s
        self.time_s = 0.0

    def watch(self, block: Block) -> bool:
        self.time_s = float(block.states.times[-1])
        return self.time_s >= self.limit_s

    def progress(self) -> str:
        return f"{self.limit_s - self.time_s:.0f} s left"


class LineWalk:
    """The contest, with its own rules or others."""

    name = "line-walk"
    title = "Line walk"
    entries = {"robot": DefaultEntry("robotis_bioloid", "passivity_test")}
    needs_contacts = False

    def __init__(self, rules: str = RULES) -> None:
        self.rules_text = rules
        fields = parse_document(rules).fields(required=("title", "limit_s"))
        self.longest_s = fields["limit_s"].number(low=1.0, high=600.0)

    def field(self, layout: str, seed: int, *, legal: bool = False) -> Arena:
        return FIELD

    def start(self, role: str, arena: Arena) -> PlanarPose:
        return 0.2, 0.0, 0.0

    def referee(self, arena: Arena, supervisors: dict, note: object) -> Timekeeper:
        return Timekeeper(self.longest_s)

    def judge(self, recording: Recording) -> Distance:
        x = recording.robot().base[:, 0]
        return Distance(self.name, round(float(x[-1] - x[0]), 4))

    def picture(self, recording: Recording) -> ContestPicture:
        x = recording.robot().base[:, 0]
        walked = Series("walked", "m", recording.times, x - x[0])
        return ContestPicture(f"{self.judge(recording).distance_m:.2f} m", series=(walked,))
