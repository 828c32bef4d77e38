"""The passivity test as a contest: a robot must touch a box 20 cm ahead within 30 s, in one of two tries."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from posewright.arenas import Arena, Box, corners, read_arena
from posewright.arenas.arena import BOX
from posewright.arrays import Floats
from posewright.bodies import PlanarPose, Supervisor
from posewright.contests.contest import NEW_TRY, DefaultEntry, Note, NotebookTable, ScoreTable
from posewright.contests.observation import (
    RecordedRows,
    StartDetector,
    false_start_warnings,
    list_tries,
    measured_or_commanded,
    require_ground_truth,
    require_positions,
)
from posewright.contests.own_fields import (
    BUILD_TOLERANCE_M,
    FieldFault,
    find_start_faults,
    layout_faults,
)
from posewright.contests.picture import ContestPicture, Mark, MarkKind, Series, consecutive_spans
from posewright.contests.ruled_contest import SPARE_S, RuledContest, create_field_generator
from posewright.control import Block
from posewright.documents import Bounds
from posewright.errors import InputError
from posewright.recordings import Event, Recording

_FOLDER = Path(__file__).parent

Time = Annotated[float, Bounds(0.1, 600.0)]
Length = Annotated[float, Bounds(0.0, 0.6)]
Edge = Annotated[float, Bounds(0.01, 1.0)]


@dataclass(frozen=True, slots=True)
class PassivityRules:
    """The rules.

    Attributes:
        wait_s: time a robot stands still at the beginning of a try [s].
        limit_s: the limit for the touch, from the end of the wait [s].
        tries: greatest number of tries.
        distance_m: the distance from the toes to the box [m].
        moved_rad: change of a joint angle that counts as a move [rad].
        toes_m: distance of a robot's toes from its middle [m].
        aside_m: greatest sideways offset of the box [m].
        turned_rad: greatest rotation of the box [rad].
        box_size_m: edges of the box; None for the arena's own [m].
    """

    rules: str
    title: str
    wait_s: Annotated[float, Bounds(0.0, 60.0)]
    limit_s: Time
    tries: Annotated[int, Bounds(1, 10)]
    distance_m: Length
    moved_rad: Annotated[float, Bounds(0.0, math.pi)]
    toes_m: Length
    aside_m: Length
    turned_rad: Annotated[float, Bounds(0.0, math.pi)]
    sources: Mapping[str, str] = field(repr=False)
    box_size_m: tuple[Edge, Edge, Edge] | None = None


@dataclass(frozen=True, slots=True)
class Try:
    """One try.

    Attributes:
        began_s: the time of the beginning, in the recording's time [s].
        touched_s: the time of the touch, in the recording's time; None without a touch that counts [s].
        reason: how it ended.
    """

    began_s: float
    touched_s: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class PassivityScore(NotebookTable):
    """The result of a passivity test, which a robot must pass to wrestle.

    Attributes:
        contest: name of the rules.
        tries: the tries in the order of time.
        time_s: the time of the last try, from the end of the wait to the touch; None without a touch [s].
        warnings: such as a false start.
    """

    contest: str
    tries: tuple[Try, ...]
    time_s: float | None
    warnings: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether the box was touched in time."""
        return self.time_s is not None

    @property
    def points(self) -> float:
        """1 for a robot that passed, else 0."""
        return float(self.passed)

    @property
    def ranking(self) -> tuple[float, ...]:
        """Whether the robot passed, then the time."""
        return self.points, -(self.time_s or 0.0)

    @property
    def figures(self) -> dict[str, float | str | None]:
        """Points, time, tries, and how the last try ended."""
        return {
            "points": self.points,
            "passed": self.passed,
            "time_s": self.time_s,
            "tries": len(self.tries),
            "ended": self.tries[-1].reason,
        }

    @property
    def incidents(self) -> tuple[str, ...]:
        """How tries without a touch ended."""
        return tuple(attempt.reason for attempt in self.tries if attempt.touched_s is None)

    def to_dict(self) -> dict[str, Any]:
        """Return the score as JSON types."""
        return {**asdict(self), "passed": self.passed, "points": self.points}

    def table(self) -> ScoreTable:
        """Return a table with one row for each try."""
        rows = [
            (
                f"try {number}",
                "" if attempt.touched_s is None else f"{attempt.touched_s:.2f} s",
                "",
                attempt.reason,
            )
            for number, attempt in enumerate(self.tries, 1)
        ]
        time = "" if self.time_s is None else f"{self.time_s:.2f} s"
        verdict = "passed" if self.passed else "not passed"
        columns = ("", "touched at", "time after the wait", "how it ended")
        return ScoreTable(columns, tuple(rows), (verdict, "", time, ""))


class PassivityTest(RuledContest[PassivityRules]):
    """One robot in front of one box; CEABOT's rules of a year by default."""

    entries: Mapping[str, DefaultEntry] = {"robot": DefaultEntry("robotis_bioloid", "passivity_test")}

    def __init__(self, text: str | None = None, *, year: int = 2013) -> None:
        super().__init__(PassivityRules, _FOLDER / "passivity_test.rules.yaml", text, year)

    @property
    def longest_s(self) -> float:
        """The time of all tries [s]."""
        return self.rules.tries * (self.rules.wait_s + self.rules.limit_s) + SPARE_S

    def field(self, layout: str, seed: int, *, legal: bool = False) -> Arena:  # noqa: ARG002 -- drawn, so legal
        """Return the field with a box at a random place in front of the robot."""
        arena = read_arena(_FOLDER / "passivity_test.arena.yaml")
        rng = create_field_generator(seed, layout)
        if self.rules.box_size_m is not None:
            arena = replace(arena, box_kinds={BOX: replace(arena.box_kind, size_m=self.rules.box_size_m)})
        return self._with_drawn_box(arena, rng)

    def prepare_field(self, arena: Arena, layout: str, seed: int, *, legal: bool = False) -> Arena:  # noqa: ARG002 -- checked later
        """Return an arena with its own box; one without boxes gets one at a random place."""
        rng = create_field_generator(seed, layout)
        if (arena.boxes and not layout) or not arena.lines or not arena.box_kinds:
            return arena
        return self._with_drawn_box(arena, rng)

    def check_field(self, arena: Arena) -> tuple[FieldFault, ...]:
        """Return whether an arena lacks the start line or the box in front of the robot."""
        faults = list(layout_faults(arena))
        if not arena.lines:
            hint = f"{self.name} starts with the toes on the first line of the field"
            return (*faults, FieldFault("it has no line", hint))
        x, y, _ = self.start("robot", arena)
        faults += find_start_faults(arena, [(x, y)], self.rules.toes_m)
        if len(arena.boxes) != 1:
            numbers = tuple(range(2, len(arena.boxes) + 1))
            faults.append(
                FieldFault(f"it has {len(arena.boxes)} boxes", f"{self.name} has one", boxes=numbers)
            )
            return tuple(faults)
        box = arena.boxes[0]
        outline = corners([(box.x, box.y, box.yaw_rad)], arena.kind_of(box).footprint_m)[0]
        distance_m = float(outline[:, 0].min()) - x - self.rules.toes_m
        if abs(distance_m - self.rules.distance_m) > BUILD_TOLERANCE_M:
            faults.append(
                FieldFault(
                    f"box 1 is {distance_m:.3f} m from the toes",
                    f"{self.rules.distance_m:g} m by {self.name}",
                    boxes=(1,),
                    prevents_run=False,
                )
            )
        return tuple(faults)

    def _with_drawn_box(self, arena: Arena, rng: np.random.Generator) -> Arena:
        """Return an arena with one box at a random place in front of the robot."""
        aside = float(rng.uniform(-self.rules.aside_m, self.rules.aside_m))
        yaw = float(rng.uniform(-self.rules.turned_rad, self.rules.turned_rad))
        length, width = arena.box_kind.footprint_m
        half_extent = (length * abs(math.cos(yaw)) + width * abs(math.sin(yaw))) / 2.0
        x, _, _ = self.start("robot", arena)
        ahead = self.rules.toes_m + self.rules.distance_m + half_extent
        return arena.with_boxes([Box(round(x + ahead, 4), round(aside, 4), round(yaw, 4))])

    def start(self, role: str, arena: Arena) -> PlanarPose:  # noqa: ARG002 -- one robot
        """Return the place where the robot's toes are on the first line."""
        return arena.lines[0].x - self.rules.toes_m, 0.0, 0.0

    def referee(self, arena: Arena, supervisors: Mapping[str, Supervisor], note: Note) -> PassivityReferee:
        """Return a referee for the first robot."""
        robot, supervisor = next(iter(supervisors.items()))
        return PassivityReferee(self.rules, robot, supervisor, start=self.start("robot", arena), note=note)

    def judge(self, recording: Recording) -> PassivityScore:
        """Return whether the box was touched in time, computed from contacts and the begins of tries.

        Raises:
            InputError: the recording has not exactly one box, or lacks positions.
        """
        record = recording.robot()
        times = recording.times
        if len(recording.header.boxes) != 1:
            raise InputError(
                f"the recording has {len(recording.header.boxes)} boxes", hint="the passivity test has one"
            )
        require_positions(record)
        touches = times[record.box_contacts[:, 0]]
        tries: list[Try] = []
        for begin, end in list_tries(recording)[: self.rules.tries]:
            tries.append(
                _judge_try(
                    self.rules,
                    touches=touches[(touches >= begin) & (touches < end)],
                    began_s=begin,
                    times=times,
                )
            )
            if tries[-1].touched_s is not None:
                break
        last_try = tries[-1]
        time_s = None
        if last_try.touched_s is not None:
            time_s = last_try.touched_s - last_try.began_s - self.rules.wait_s
        start_detector = StartDetector(self.rules.wait_s, self.rules.moved_rad)
        start_detector.advance(times, measured_or_commanded(record.positions, record.commands))
        warnings = false_start_warnings(start_detector.early_s, self.rules.wait_s)
        return PassivityScore(self.name, tuple(tries), time_s, warnings)

    def picture(self, recording: Recording) -> ContestPicture:
        """Return the tries, the touch, and the robot's distance from the box."""
        score = self.judge(recording)
        base = recording.robot().base
        begins_s = (attempt.began_s for attempt in score.tries)
        spans = consecutive_spans(begins_s, recording.duration_s, "try")
        distance_m = np.hypot(*(base[:, :2] - recording.boxes[:, 0, :2]).T)
        series = (Series("base to box", "m", recording.times, values=distance_m),)
        touched_s = score.tries[-1].touched_s
        marks: tuple[Mark, ...] = ()
        headline = "not touched in time"
        if touched_s is not None:
            marks = (Mark.at(recording, time_s=touched_s, label="touch", kind=MarkKind.MILESTONE),)
            headline = f"touched after {score.time_s:.2f} s"
        return ContestPicture(headline, marks, series, spans, series_title="distance")


def _judge_try(rules: PassivityRules, touches: Floats, began_s: float, times: Floats) -> Try:
    """Return the result of a try.

    Args:
        rules: the rules of the test.
        touches: the times of the touches in the try, in order [s].
        began_s: when the try began.
        times: the times of the rows of the try [s].
    """
    wait_end_s = began_s + rules.wait_s
    valid_touches = touches[(touches >= wait_end_s) & (touches <= wait_end_s + rules.limit_s)]
    if len(valid_touches):
        return Try(began_s, float(valid_touches[0]), "touched")
    if len(touches) and touches[0] < wait_end_s:
        return Try(began_s, touched_s=None, reason="touched during the wait only")
    is_time_over = len(times) and float(times[-1]) >= wait_end_s + rules.limit_s
    return Try(began_s, touched_s=None, reason="time out" if is_time_over else "the recording ends before")


class PassivityReferee:
    """Watches one robot for the touch, and puts it back for another try if there was none in time.

    Args:
        rules: the rules of the test.
        robot: its name in the plant, which simulates all robots of a run.
        supervisor: what puts the robot back by hand, outside its own program.
        start: its start place: x, y [m] and yaw [rad] on the field.
        note: writes an event into the recording.
    """

    def __init__(
        self, rules: PassivityRules, robot: str, supervisor: Supervisor, start: PlanarPose, note: Note
    ) -> None:
        """Begin with the first try, in which the robot waits and then has to touch the box.

        Args:
            rules: the rules of the test, among them the wait, the time limit and the number of tries.
            robot: its name; blocks of other robots are ignored.
            supervisor: what puts the robot back for another try.
            start: where: x, y [m] and yaw [rad] on the field.
            note: writes an event (a new try, the end) into the recording.
        """
        self._rules = rules
        self._robot = robot
        self._supervisor = supervisor
        self._start = start
        self._note = note
        self._try_number = 1  # number of the present try, from 1
        self._began_s = 0.0  # when the present try began
        self._now_s = 0.0  # time of the last frame processed
        self._recorded_rows = RecordedRows()

    def progress(self) -> str:
        """Return the number of the try and its time."""
        return f"try {self._try_number} of {self._rules.tries}  {self._now_s - self._began_s:5.1f} s"

    def watch(self, block: Block) -> bool:
        """Process a block, and return whether the test is over."""
        if block.robot != self._robot:
            return False
        times = block.states.times
        rows = self._recorded_rows.select(block)
        self._now_s = float(times[-1])
        wait_end_s = self._began_s + self._rules.wait_s
        touches = times[rows][require_ground_truth(block).box_contacts[rows][:, 0]]
        if ((touches >= wait_end_s) & (touches <= wait_end_s + self._rules.limit_s)).any():
            return self._stop("touched")
        if self._now_s <= wait_end_s + self._rules.limit_s:
            return False
        if self._try_number == self._rules.tries:
            return self._stop("time out")
        self._try_number += 1
        self._began_s = self._now_s
        self._supervisor.place_robot(*self._start)
        x, y, yaw = self._start
        data = {"number": self._try_number, "x_m": x, "y_m": y, "yaw_rad": yaw}
        self._note(Event(self._now_s, NEW_TRY, data))
        return False

    def _stop(self, reason: str) -> bool:
        """Note the end of the test, and return True."""
        self._note(Event(self._now_s, "stop", {"reason": reason}))
        return True
