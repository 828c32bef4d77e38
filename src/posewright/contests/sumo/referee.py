"""The referee of a bout: stops it on a point, or when nothing happens, has the robots put back, goes on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from posewright.bodies import PlanarPose, Supervisor
from posewright.contests.contest import HALT, NEW_TRY, Note
from posewright.contests.sumo.bout import Bout
from posewright.contests.sumo.exchange import Stop, settle
from posewright.contests.sumo.incidents import Ring
from posewright.contests.sumo.rules import SumoRules
from posewright.contests.sumo.side import Frame, Seen, Side, touching
from posewright.contests.watching import RowsKept, done_or_told, truth_of
from posewright.control import Block
from posewright.errors import BodyError
from posewright.recordings import ROWS_EVERY, Event

_LOOK_S = 0.25
"""How often the referee judges what it has seen: soon enough to stop, seldom enough to cost little [s]."""


@dataclass(slots=True)
class Wrestler:
    """Who wrestles: who puts it back and where each time, its arms and knees, and whom it wrestles with.

    Attributes:
        side: its rows since the last start.
        pending: what touched what in frames that make no whole row yet.
    """

    supervisor: Supervisor
    starts: tuple[PlanarPose, ...]
    frame: Frame
    opponent: str
    kept: RowsKept = field(default_factory=RowsKept)
    side: Side | None = None
    pending: Seen = field(default_factory=lambda: np.zeros((0, 3), dtype=np.bool_))

    def look(self, block: Block) -> None:
        """See a block's rows as the recording will have them: a touch between two belongs to the later."""
        states, truth, kept = block.states, truth_of(block), self.kept.of(block)
        if truth.contacts is None:
            raise BodyError(f"a referee cannot see what {block.robot} touches", hint="a simulated body")
        seen = np.concatenate([self.pending, self.frame.seen(truth.contacts, self.opponent, len(states))])
        whole = len(seen) - self.kept.frames % ROWS_EVERY
        self.pending = seen[whole:]
        new = Side(
            self.frame,
            states.times[kept],
            truth.base[kept],
            truth.footprints[kept],
            truth.foot_contacts[kept],
            done_or_told(states.positions[kept], block.commands.angles[kept]),
            np.asarray(seen[:whole].reshape(-1, ROWS_EVERY, 3).any(axis=1)),
        )
        self.side = new if self.side is None else self.side.then(new)


class SumoReferee:
    """Watches both robots' blocks, and keeps the account by the rows that the recording will have.

    Attributes:
        bout: the account so far.
    """

    def __init__(self, rules: SumoRules, ring: Ring, wrestlers: Mapping[str, Wrestler], note: Note) -> None:
        self._rules, self._ring, self._wrestlers, self._note = rules, ring, wrestlers, note
        one, other = wrestlers
        self.bout = Bout(rules.bout, (one, other))
        self._began_s = self._now_s = self._looked_s = 0.0
        self._halted_s: float | None = None
        self._starts = 0

    def progress(self) -> str:
        """Return the round, its points, and rounds won."""
        return self.bout.standing()

    def watch(self, block: Block) -> bool:
        """Look at a block; once both robots' are seen, do what is due; return whether the bout is over."""
        self._wrestlers[block.robot].look(block)
        self._now_s = float(block.states.times[-1])
        if block.robot != list(self._wrestlers)[-1]:
            return False
        if self._now_s >= self._rules.bout.limit_s:
            return self._end("time out")
        if self._halted_s is not None:
            if self._now_s - self._halted_s >= self._rules.bout.halt_s:
                self._restart()
            return False
        if self._now_s - self._looked_s < _LOOK_S:
            return False
        self._looked_s = self._now_s
        stop = self._settled()
        return stop is not None and self._stop(stop)

    def _settled(self) -> Stop | None:
        sides = {name: one.side for name, one in self._wrestlers.items() if one.side is not None}
        allowed_s = self._began_s + self._rules.bout.wait_s
        if len(sides) < len(self._wrestlers) or self._now_s <= allowed_s:
            return None
        return settle(self._rules, self._ring, touching(sides), allowed_s, self.bout.left_s, ended=False)

    def _stop(self, stop: Stop) -> bool:
        number = self.bout.rounds[-1].number
        self.bout.add(stop)
        for award in stop.awards:
            data = {"to": award.to, "points": award.points, "reason": award.reason.value}
            about = {"round": number, "since_s": award.at_s, "text": award.text}
            self._note(Event(self._now_s, "yuhkoh", {**data, **about}))
        if self.bout.is_over:
            return self._end(self.bout.rounds[-1].over)
        self._halted_s = self._now_s
        self._note(Event(self._now_s, HALT, {"reason": stop.reason, "round": number}))
        return False

    def _restart(self) -> None:
        self._starts += 1
        for who in self._wrestlers.values():
            who.supervisor.place_robot(*who.starts[self._starts % len(who.starts)])
            who.side = None
        self.bout.restart(self._now_s)
        self._began_s = self._looked_s = self._now_s
        self._halted_s = None
        self._note(Event(self._now_s, NEW_TRY, {"round": self.bout.rounds[-1].number}))

    def _end(self, reason: str) -> bool:
        self._note(Event(self._now_s, "stop", {"reason": reason}))
        return True
