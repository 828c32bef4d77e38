"""The referee of a bout, who halts it on a point or for idleness, puts the robots back and restarts it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from posewright.bodies import PlanarPose, Supervisor
from posewright.contests.contest import HALT, NEW_TRY, Note
from posewright.contests.observation import RecordedRows, measured_or_commanded, require_ground_truth
from posewright.contests.sumo.bout import Bout
from posewright.contests.sumo.exchange import ExchangeEnd, judge_exchange
from posewright.contests.sumo.incidents import Ring
from posewright.contests.sumo.rules import SumoRules
from posewright.contests.sumo.wrestler_rows import BodyParts, TouchFlags, WrestlerRows, add_mutual_touches
from posewright.control import Block
from posewright.errors import BodyError
from posewright.recordings import ROWS_EVERY, Event

_JUDGE_EVERY_S = 0.25
"""Time between judgements: short enough to halt in time, long enough to cost little [s]."""


@dataclass(slots=True)
class Wrestler:
    """One robot of a bout, as the referee observes it.

    Attributes:
        supervisor: what puts it back on the ring, as a referee does by hand.
        starts: its poses on the ring at the first start and the restarts, used in turn.
        body_parts: its arms and knees.
        opponent: name of the other robot.
        recorded_rows: selects the frames that the recording has as rows.
        rows: its rows since the last start; None before the first one.
        pending_touches: touches in frames after the last complete row, `(n, 3)`.
    """

    supervisor: Supervisor
    starts: tuple[PlanarPose, ...]
    body_parts: BodyParts
    opponent: str
    recorded_rows: RecordedRows = field(default_factory=RecordedRows)
    rows: WrestlerRows | None = None
    pending_touches: TouchFlags = field(default_factory=lambda: np.zeros((0, 3), dtype=np.bool_))

    def observe(self, block: Block) -> None:
        """Add a block's rows as the recording will have them; a touch between two rows belongs to the later.

        Touches after the last of these rows are kept in `pending_touches` for the next block.

        Raises:
            BodyError: the body has no ground truth or no contacts.
        """
        states = block.states
        truth = require_ground_truth(block)
        frames = self.recorded_rows.select(block)
        if truth.contacts is None:
            raise BodyError(
                f"the contacts of {block.robot} are unknown, which a referee needs",
                hint="use a simulated body with contacts",
            )
        new_touches = self.body_parts.find_touches(truth.contacts, self.opponent, len(states))
        touches = np.concatenate([self.pending_touches, new_touches])
        n_frames_in_rows = len(touches) - self.recorded_rows.n_frames % ROWS_EVERY
        self.pending_touches = touches[n_frames_in_rows:]
        new_rows = WrestlerRows(
            self.body_parts,
            times=states.times[frames],
            base=truth.base[frames],
            footprints=truth.footprints[frames],
            has_foot_down=truth.foot_contacts[frames],
            joints=measured_or_commanded(states.positions[frames], block.commands.angles[frames]),
            touches=np.asarray(touches[:n_frames_in_rows].reshape(-1, ROWS_EVERY, 3).any(axis=1)),
        )
        self.rows = new_rows if self.rows is None else self.rows.concatenate(new_rows)


class SumoReferee:
    """Watches both robots, and judges by the rows that the recording will have.

    Args:
        rules: the rules of the sumo.
        ring: the ring's middle and radius.
        wrestlers: both robots as the referee observes them, by their names in the plant; red's first.
        note: writes an event into the recording.

    Attributes:
        bout: the state of the bout.
    """

    def __init__(self, rules: SumoRules, ring: Ring, wrestlers: Mapping[str, Wrestler], note: Note) -> None:
        """Begin with the first exchange of the bout."""
        self._rules = rules
        self._ring = ring
        self._wrestlers = wrestlers
        self._note = note
        first_robot, second_robot = wrestlers
        self.bout = Bout(rules.bout, (first_robot, second_robot))
        self._last_robot = second_robot  # the robot whose block comes last of those of the same frames
        self._now_s = 0.0  # time of the last frame processed
        self._exchange_begin_s = (
            0.0  # begin of the wait before the present exchange: the bout's start or a restart
        )
        self._last_judged_s = 0.0
        self._halted_s: float | None = None  # when the bout was halted; None while the robots fight
        self._n_restarts = 0

    def progress(self) -> str:
        """Return the round, its points, and the rounds won."""
        return self.bout.summary()

    def watch(self, block: Block) -> bool:
        """Add a block of one robot, intervene if need be, and return whether the bout is over.

        The referee intervenes only when the blocks of both robots have been added. It ends the bout at the
        time limit, restarts the robots after a halt, and halts them when the present exchange, the fight from
        one start to the next halt, is decided.
        """
        self._wrestlers[block.robot].observe(block)
        self._now_s = float(block.states.times[-1])
        if block.robot != self._last_robot:
            return False
        if self._now_s >= self._rules.bout.limit_s:
            return self._end("time out")
        if self._halted_s is not None:
            is_halt_over = self._now_s - self._halted_s >= self._rules.bout.halt_s
            if is_halt_over:
                self._restart()
            return False
        if self._now_s - self._last_judged_s < _JUDGE_EVERY_S:
            return False
        self._last_judged_s = self._now_s
        exchange_end = self._judge_exchange()
        if exchange_end is None:
            return False
        return self._halt(exchange_end)

    def _judge_exchange(self) -> ExchangeEnd | None:
        """Return how the present exchange ended; None if it is not decided yet."""
        rows = {
            name: wrestler.rows for name, wrestler in self._wrestlers.items() if wrestler.rows is not None
        }
        wait_end_s = self._exchange_begin_s + self._rules.bout.wait_s
        have_rows_of_both = len(rows) == len(self._wrestlers)
        if not have_rows_of_both or self._now_s <= wait_end_s:
            return None
        return judge_exchange(
            self._rules,
            self._ring,
            rows=add_mutual_touches(rows),
            wait_end_s=wait_end_s,
            left_s=self.bout.left_s,
            is_complete=False,
        )

    def _halt(self, exchange_end: ExchangeEnd) -> bool:
        """Award the points of an exchange, then halt or end the bout; return whether the bout is over."""
        round_number = self.bout.rounds[-1].number
        self.bout.add(exchange_end)
        for award in exchange_end.awards:
            data = {
                "to": award.to,
                "points": award.points,
                "reason": award.reason.value,
                "round": round_number,
                "since_s": award.at_s,
                "text": award.text,
            }
            self._note(Event(self._now_s, "yuhkoh", data))
        if self.bout.is_over:
            return self._end(self.bout.rounds[-1].end_reason)
        self._halted_s = self._now_s
        self._note(Event(self._now_s, HALT, {"reason": exchange_end.reason, "round": round_number}))
        return False

    def _restart(self) -> None:
        """Place the robots at their next start places, and begin another exchange."""
        self._n_restarts += 1
        for wrestler in self._wrestlers.values():
            start = wrestler.starts[self._n_restarts % len(wrestler.starts)]
            wrestler.supervisor.place_robot(*start)
            wrestler.rows = None
        self.bout.restart(self._now_s)
        self._exchange_begin_s = self._now_s
        self._last_judged_s = self._now_s
        self._halted_s = None
        self._note(Event(self._now_s, NEW_TRY, {"round": self.bout.rounds[-1].number}))

    def _end(self, reason: str) -> bool:
        """Note the end of the bout, and return True."""
        self._note(Event(self._now_s, "stop", {"reason": reason}))
        return True
