"""The vision test as a contest: the robot reads a code, turns as it says, and reads the next one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from posewright.arenas import Arena, read_arena
from posewright.bodies import PlanarPose, Supervisor
from posewright.contests.contest import DefaultEntry, Note, RankedScore
from posewright.contests.observation import RecordedRows, false_start_warnings, require_ground_truth
from posewright.contests.own_fields import FieldFault, find_start_faults, layout_faults
from posewright.contests.picture import ContestPicture, Mark, MarkKind, Series, Span
from posewright.contests.ruled_contest import SPARE_S, RuledContest, create_field_generator
from posewright.contests.vision.rules import VisionRules, create_random_field, parse_turn
from posewright.contests.vision.scorekeeper import VisionScore, VisionScorekeeper
from posewright.control import Block
from posewright.errors import InputError
from posewright.recordings import Event, Recording
from posewright.rotation import heading

_FOLDER = Path(__file__).parent

EXTERNAL_PC = "external_pc"
"""The event of a recording in which another computer than the robot's own decided."""


class Vision(RuledContest[VisionRules]):
    """One robot between boxes with codes; CEABOT 2017's rules by default."""

    entries: Mapping[str, DefaultEntry] = {"robot": DefaultEntry("robotis_bioloid", "read_codes")}

    def __init__(self, text: str | None = None) -> None:
        super().__init__(VisionRules, _FOLDER / "vision.rules.yaml", text)

    @property
    def longest_s(self) -> float:
        """The wait and the time limit of all turns [s]."""
        return self.rules.wait_s + self.rules.limit_s + SPARE_S

    def field(self, layout: str, seed: int, *, legal: bool = False) -> Arena:  # noqa: ARG002 -- drawn, so legal
        """Return the field with random boxes and codes."""
        empty_arena = read_arena(_FOLDER / "vision.arena.yaml")
        return create_random_field(empty_arena, self.rules, create_field_generator(seed, layout))

    def prepare_field(self, arena: Arena, layout: str, seed: int, *, legal: bool = False) -> Arena:  # noqa: ARG002 -- checked later
        """Return an arena with its own codes; on one without codes, boxes and codes are drawn."""
        rng = create_field_generator(seed, layout)
        return create_random_field(arena, self.rules, rng) if not arena.markers else arena

    def check_field(self, arena: Arena) -> tuple[FieldFault, ...]:
        """Return how the codes of an arena differ from those of the rules."""
        x, y, _ = self.start("robot", arena)
        faults = [*find_start_faults(arena, [(x, y)], self.rules.nearest_m / 2.0), *layout_faults(arena)]
        if len(arena.markers) != self.rules.boxes:
            names = tuple(marker.name for marker in arena.markers)
            hint = f"{self.name} has {self.rules.boxes} around the middle of the field"
            faults.append(FieldFault(f"it has {len(arena.markers)} codes", hint, shapes=names))
        for marker in arena.markers:
            try:
                parse_turn(marker.text, self.rules)
            except InputError as error:
                faults.append(FieldFault(error.message, error.hint or "", shapes=(marker.name,)))
        return tuple(faults)

    def start(self, role: str, arena: Arena) -> PlanarPose:  # noqa: ARG002 -- one robot
        """Return the middle of the field; the robot faces the first box."""
        return arena.size_x / 2.0, 0.0, 0.0

    def referee(self, arena: Arena, supervisors: Mapping[str, Supervisor], note: Note) -> VisionReferee:
        """Return a referee for the first robot."""
        return VisionReferee(
            VisionScorekeeper(self.rules, arena), self.rules, robot=next(iter(supervisors)), note=note
        )

    def judge(self, recording: Recording) -> VisionScore:
        """Return which turns were right, computed from the robot's heading.

        Raises:
            InputError: the field has another number of codes, or the recording lacks positions.
        """
        arena = Arena.from_dict(recording.header.arena)
        record = recording.robot()
        if len(arena.markers) != self.rules.boxes:
            raise InputError(
                f"the field has {len(arena.markers)} codes", hint=f"the vision test has {self.rules.boxes}"
            )
        if not np.isfinite(record.base).all(axis=1).any():
            raise InputError(
                "the recording does not say where the robot was", hint="judge a recording of a simulation"
            )
        scorekeeper = VisionScorekeeper(self.rules, arena)
        scorekeeper.advance(recording.times, record.base)
        right_ends_s = [turn.ended_s for turn in scorekeeper.turns if turn.is_right]
        is_external = bool(recording.events_of(EXTERNAL_PC))
        return VisionScore(
            contest=self.name,
            turns=tuple(scorekeeper.turns),
            n_turns=self.rules.turns,
            most_points=self.rules.points * (1.0 - self.rules.external_pc_share * is_external),
            time_s=right_ends_s[-1] - self.rules.wait_s if right_ends_s else None,
            end_reason=scorekeeper.reason or "the recording ends before",
            external_pc=is_external,
            warnings=false_start_warnings(scorekeeper.false_start_s, self.rules.wait_s),
        )

    def earned(self, scores: Sequence[RankedScore]) -> tuple[float, ...]:
        """Return the points of each score, as those of 2017 do not depend on places."""
        return tuple(score.points for score in scores)

    def picture(self, recording: Recording) -> ContestPicture:
        """Return the turns and the robot's heading."""
        score = self.judge(recording)
        base = recording.robot().base
        is_known = np.isfinite(base).all(axis=1)
        heading_deg = np.degrees(np.unwrap(heading(base[is_known, 3:])))
        series = (Series("heading", unit="deg", times=recording.times[is_known], values=heading_deg),)
        marks = [
            Mark(
                turn.ended_s,
                x=None,
                y=None,
                label=f"{turn.code}: {turn.reason}",
                kind=MarkKind.MILESTONE if turn.is_right else MarkKind.PENALTY,
            )
            for turn in score.turns
        ]
        spans = [
            Span(turn.began_s, turn.ended_s, f"turn {number}") for number, turn in enumerate(score.turns, 1)
        ]
        headline = f"{score.right} of {score.n_turns} turns right"
        return ContestPicture(headline, tuple(marks), series, spans=tuple(spans), series_title="heading")


class VisionReferee:
    """Watches one robot, with the same scorekeeper as the judge.

    Args:
        scorekeeper: judges the turns that the robot makes at the codes.
        rules: the rules of the test.
        robot: its name in the plant; blocks of other robots are ignored.
        note: writes an event into the recording.
    """

    def __init__(self, scorekeeper: VisionScorekeeper, rules: VisionRules, robot: str, note: Note) -> None:
        """Store the arguments; the scorekeeper has the state of the test."""
        self._scorekeeper = scorekeeper
        self._rules = rules
        self._robot = robot
        self._note = note
        self._recorded_rows = RecordedRows()
        self._now_s = 0.0  # time of the last frame processed

    def progress(self) -> str:
        """Return the number of turns and the time."""
        return f"turn {len(self._scorekeeper.turns)} of {self._rules.turns}  {self._now_s:5.1f} s"

    def watch(self, block: Block) -> bool:
        """Process a block, and return whether the test is over."""
        if block.robot != self._robot:
            return False
        times = block.states.times
        rows = self._recorded_rows.select(block)
        self._now_s = float(times[-1])
        if not self._scorekeeper.advance(times[rows], require_ground_truth(block).base[rows]):
            return False
        self._note(Event(self._now_s, "stop", {"reason": self._scorekeeper.reason}))
        return True
