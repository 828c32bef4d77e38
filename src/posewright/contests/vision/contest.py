"""The vision test as a contest: read the code ahead, turn as it says, read the next one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from posewright.arenas import Arena, read_arena
from posewright.bodies import PlanarPose, Supervisor
from posewright.contests.contest import Entry, Note, Ranked
from posewright.contests.picture import ContestPicture, Mark, MarkKind, Series, Span
from posewright.contests.ruled import SPARE_S, Ruled, drawn_by
from posewright.contests.vision.account import Account, VisionScore
from posewright.contests.vision.rules import VisionRules, drawn
from posewright.contests.watching import RowsKept, false_start, truth_of
from posewright.control import Block
from posewright.errors import InputError
from posewright.recordings import Event, Recording
from posewright.rotation import heading

_FOLDER = Path(__file__).parent

EXTERNAL_PC = "external_pc"
"""The event by which a recording tells that another computer than the robot's own decided."""


class Vision(Ruled[VisionRules]):
    """One robot between boxes with codes; by CEABOT 2017's rules where no text of others is given."""

    entries: Mapping[str, Entry] = {"robot": Entry("robotis_bioloid", "read_codes")}

    def __init__(self, text: str | None = None) -> None:
        super().__init__(VisionRules, _FOLDER / "vision.rules.yaml", text)

    @property
    def longest_s(self) -> float:
        """The wait and all turns [s]."""
        return self.rules.wait_s + self.rules.limit_s + SPARE_S

    def field(self, layout: str, seed: int, *, legal: bool = False) -> Arena:  # noqa: ARG002 -- drawn, so legal
        """Return the field with boxes and codes as the seed draws them."""
        return drawn(read_arena(_FOLDER / "vision.arena.yaml"), self.rules, drawn_by(seed, layout))

    def start(self, role: str, arena: Arena) -> PlanarPose:  # noqa: ARG002 -- one robot
        """Return the middle of the field; the robot looks at the first box."""
        return arena.size_x / 2.0, 0.0, 0.0

    def referee(self, arena: Arena, supervisors: Mapping[str, Supervisor], note: Note) -> VisionReferee:
        """Return a referee of the first robot."""
        return VisionReferee(Account(self.rules, arena), self.rules, next(iter(supervisors)), note)

    def judge(self, recording: Recording) -> VisionScore:
        """Return which turns were right, from where the robot looked."""
        arena, record = Arena.from_dict(recording.header.arena), recording.robot()
        if len(arena.markers) != self.rules.boxes:
            told = f"{len(arena.markers)} codes on the field"
            raise InputError(told, hint=f"the vision test has {self.rules.boxes}")
        if not np.isfinite(record.base).all(axis=1).any():
            hint = "a recording of a simulation"
            raise InputError("the recording does not say where the robot was", hint=hint)
        account = Account(self.rules, arena)
        account.look(recording.times, record.base)
        right = [turn.ended_s for turn in account.turns if turn.is_right]
        is_external = bool(recording.events_of(EXTERNAL_PC))
        return VisionScore(
            self.name,
            tuple(account.turns),
            self.rules.turns,
            self.rules.points * (1.0 - self.rules.external_pc_share * is_external),
            right[-1] - self.rules.wait_s if right else None,
            account.reason or "the recording ends before",
            is_external,
            false_start(account.false_start_s, self.rules.wait_s),
        )

    def earned(self, scores: Sequence[Ranked]) -> tuple[float, ...]:
        """Return each entry's own points: those of 2017 are not earned by places."""
        return tuple(score.points for score in scores)

    def picture(self, recording: Recording) -> ContestPicture:
        """Return the turns, and where the robot looked."""
        score, base = self.judge(recording), recording.robot().base
        known = np.isfinite(base).all(axis=1)
        looked = np.degrees(np.unwrap(heading(base[known, 3:])))
        series = (Series("heading", "deg", recording.times[known], looked),)
        marks = [
            Mark(
                turn.ended_s,
                None,
                None,
                f"{turn.code}: {turn.reason}",
                MarkKind.MILESTONE if turn.is_right else MarkKind.PENALTY,
            )
            for turn in score.turns
        ]
        spans = [Span(turn.began_s, turn.ended_s, f"turn {n}") for n, turn in enumerate(score.turns, 1)]
        headline = f"{score.right} of {score.n_turns} turns right"
        return ContestPicture(headline, tuple(marks), series, tuple(spans), "heading")


class VisionReferee:
    """Watches one robot's blocks and keeps the account by which the judge will judge."""

    def __init__(self, account: Account, rules: VisionRules, robot: str, note: Note) -> None:
        self._account, self._rules, self._robot, self._note = account, rules, robot, note
        self._kept, self._now_s = RowsKept(), 0.0

    def progress(self) -> str:
        """Return how many turns are done, and the time."""
        return f"turn {len(self._account.turns)} of {self._rules.turns}  {self._now_s:5.1f} s"

    def watch(self, block: Block) -> bool:
        """Look at a block; return whether the test is over."""
        if block.robot != self._robot:
            return False
        times, kept = block.states.times, self._kept.of(block)
        self._now_s = float(times[-1])
        if not self._account.look(times[kept], truth_of(block).base[kept]):
            return False
        self._note(Event(self._now_s, "stop", {"reason": self._account.reason}))
        return True
