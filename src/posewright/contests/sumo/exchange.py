"""Judging one exchange of a sumo bout: from a start to the end by a point, by idleness or by the clock.

Everything is computed from rows, and from no row later than the decision needs. So the referee during a bout
and the judge of its recording agree.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from posewright.arrays import Floats
from posewright.contests.sumo.incidents import (
    Attack,
    Fighter,
    Incident,
    Reason,
    Ring,
    find_attack,
    find_incidents,
)
from posewright.contests.sumo.rules import SumoRules
from posewright.contests.sumo.wrestler_rows import WrestlerRows


@dataclass(frozen=True, slots=True)
class Award:
    """Points for one robot.

    Attributes:
        to: the robot.
        points: the points for it.
        reason: what happened to the opponent.
        at_s: when, in the recording's time [s].
        text: the reason in a sentence.
    """

    to: str
    points: int
    reason: Reason
    at_s: float
    text: str


@dataclass(frozen=True, slots=True)
class ExchangeEnd:
    """The end of an exchange.

    Attributes:
        reason: why it ended.
        at_s: when its clock stopped, in the recording's time [s].
        clock_s: time on its clock [s].
        awards: the awards of points.
    """

    reason: str
    at_s: float
    clock_s: float
    awards: tuple[Award, ...] = ()


def judge_exchange(
    rules: SumoRules,
    ring: Ring,
    rows: Mapping[str, WrestlerRows],
    wait_end_s: float,
    left_s: float,
    *,
    is_complete: bool,
) -> ExchangeEnd | None:
    """Return how an exchange ended, the fight from a start to the next halt; None if it is not decided yet.

    It ends by the first incident, such as a fall or a step out of the ring, or by idleness, or by the clock.

    Args:
        rules: the rules of the sumo.
        ring: the ring.
        rows: the rows of both robots since the start.
        wait_end_s: end of the robots' wait [s].
        left_s: remaining time on the round's clock [s].
        is_complete: whether there will be no further rows.
    """
    first_fighter, second_fighter = (
        Fighter.from_rows(
            rules.fall,
            name,
            waiting=robot_rows.select(robot_rows.times <= wait_end_s),
            fighting=robot_rows.select(robot_rows.times > wait_end_s),
        )
        for name, robot_rows in rows.items()
    )
    times = first_fighter.rows.times
    if not len(times):
        return ExchangeEnd("stopped", wait_end_s, clock_s=0.0) if is_complete else None
    last_s = float(times[-1])
    incidents = [
        *find_incidents(rules, ring, first_fighter, is_complete=is_complete),
        *find_incidents(rules, ring, second_fighter, is_complete=is_complete),
    ]
    first_incident = min(incidents, key=lambda incident: incident.at_s, default=None)
    idle_end_s, idle_reason = _find_idle_end(rules, first_fighter.rows, second_fighter.rows, wait_end_s)
    # without an incident before, it ends by the clock or by idleness, whichever comes first
    end_s, end_reason = min((wait_end_s + left_s, "time"), (idle_end_s, idle_reason))
    has_incident_before = first_incident is not None and first_incident.at_s < end_s
    if first_incident is None or not has_incident_before:
        if last_s >= end_s:
            return ExchangeEnd(end_reason, end_s, clock_s=end_s - wait_end_s)
        return ExchangeEnd("stopped", last_s, clock_s=last_s - wait_end_s) if is_complete else None
    # before this time, another incident may still belong to the first one
    decided_s = first_incident.at_s + rules.fall.together_s + rules.fall.lasting_s
    if last_s < decided_s and not is_complete:
        return None
    awards = _AwardJudge(
        rules, first_fighter, second_fighter, incidents, first_incident, is_complete=is_complete
    ).decide()
    if awards is None:
        return None
    reason = "point" if awards else "both fell"
    return ExchangeEnd(reason, first_incident.at_s, clock_s=first_incident.at_s - wait_end_s, awards=awards)


class _AwardJudge:
    """Decides the awards for the first incident of an exchange and those that belong to it.

    Incidents of either robot shortly after the first one belong to it. The loser is the robot of the first
    incident, the rival the other one.

    Args:
        rules: the rules of the sumo.
        first_fighter: one robot.
        second_fighter: the other robot.
        incidents: the incidents of both robots.
        first_incident: the earliest of them.
        is_complete: whether there will be no further rows.
    """

    def __init__(
        self,
        rules: SumoRules,
        first_fighter: Fighter,
        second_fighter: Fighter,
        incidents: list[Incident],
        first_incident: Incident,
        *,
        is_complete: bool,
    ) -> None:
        """Find the loser and the rival, and the incidents of each that belong to the first incident."""
        self._rules = rules
        self._first_incident = first_incident
        self._may_rows_follow = not is_complete
        if first_incident.robot == first_fighter.name:
            self._loser = first_fighter
            self._rival = second_fighter
        else:
            self._loser = second_fighter
            self._rival = first_fighter
        until_s = first_incident.at_s + rules.fall.together_s
        related = [incident for incident in incidents if incident.at_s <= until_s]
        self._loser_incidents = [incident for incident in related if incident.robot == self._loser.name]
        self._rival_incidents = [incident for incident in related if incident.robot != self._loser.name]

    def decide(self) -> tuple[Award, ...] | None:
        """Return the awards of points; None while an attacker who fell may still get up.

        The rival earns points for the loser's incidents; the loser too, if the rival has incidents at the
        same time.
        """
        loser_fall = _first_fall(self._loser_incidents)
        rival_fall = _first_fall(self._rival_incidents)
        if loser_fall is not None and rival_fall is not None:
            return self._decide_double_fall(loser_fall, rival_fall)
        awards = [self._best_award(self._loser, self._rival, self._loser_incidents)]
        simultaneous = [
            incident
            for incident in self._rival_incidents
            if incident.at_s - self._first_incident.at_s <= self._rules.fall.same_s
        ]
        if simultaneous:
            awards.append(self._best_award(self._rival, self._loser, simultaneous))
        return tuple(awards)

    def _best_award(self, loser: Fighter, rival: Fighter, incidents: list[Incident]) -> Award:
        """Return the award with most points among a robot's incidents; of equals, the first."""
        awards = [self._award_for(loser, rival, incident) for incident in incidents]
        return max(awards, key=lambda award: award.points)

    def _award_for(self, loser: Fighter, rival: Fighter, incident: Incident) -> Award:
        """Return the rival's award for one incident of the loser; for a fall it depends on who attacked."""
        name = loser.name
        at_s = incident.at_s
        if incident.reason is not None:
            text = {
                Reason.OUTSIDE: "stepped out of the ring",
                Reason.HAND: "put a hand on the floor",
                Reason.KNEES: f"had its knees bent for {self._rules.knees.lasting_s:g} s",
            }[incident.reason]
            return self._award(rival, incident.reason, at_s, text=f"{name} {text}")
        rival_attack = find_attack(self._rules, attacker=rival, attacked=loser, at_s=at_s)
        if rival_attack is not None:
            text = f"{name} fell; {rival_attack.describe(name)}"
            return self._award(rival, Reason.KNOCKED_DOWN, at_s, text)
        own_attack = find_attack(self._rules, attacker=loser, attacked=rival, at_s=at_s)
        if own_attack is not None:
            text = f"{name} fell after its own attack; {own_attack.describe(rival.name)}"
            return self._award(rival, Reason.FELL_AFTER_OWN_ATTACK, at_s, text)
        return self._award(rival, Reason.FELL_BY_ITSELF, at_s, text=f"{name} fell, and nobody had attacked")

    def _decide_double_fall(self, loser_fall: Incident, rival_fall: Incident) -> tuple[Award, ...] | None:
        """Return the awards when both robots fell; None while the attacker may still get up.

        There are none without an attack, or if both attacked and fell at once.
        """
        first_fell_s = min(loser_fall.at_s, rival_fall.at_s)
        fell_s = {self._loser.name: loser_fall.at_s, self._rival.name: rival_fall.at_s}
        loser_attack = find_attack(self._rules, self._loser, self._rival, first_fell_s)
        rival_attack = find_attack(self._rules, self._rival, self._loser, first_fell_s)
        fell_at_once = abs(loser_fall.at_s - rival_fall.at_s) <= self._rules.fall.same_s
        if loser_attack is not None and rival_attack is not None and fell_at_once:
            return ()
        # of two attacks, that of the robot that fell later counts
        rival_fell_later = rival_fall.at_s > loser_fall.at_s
        if rival_attack is not None and (loser_attack is None or rival_fell_later):
            return self._award_fallen_attacker(rival_attack, self._rival, self._loser, fell_s)
        if loser_attack is not None:
            return self._award_fallen_attacker(loser_attack, self._loser, self._rival, fell_s)
        return ()

    def _award_fallen_attacker(
        self, attack: Attack, attacker: Fighter, attacked: Fighter, fell_s: Mapping[str, float]
    ) -> tuple[Award, ...] | None:
        """Return the awards when an attack made both robots fall; None while the attacker may still get up.

        If the attacker gets up in time, it alone has an award, for knocking its opponent down. If it does
        not, its opponent has an award, too, since the attacker fell.

        Args:
            attack: the attack.
            attacker: the robot that attacked.
            attacked: its opponent.
            fell_s: when each robot fell, by name [s].
        """
        attacker_award = self._award(
            attacker,
            reason=Reason.KNOCKED_DOWN,
            at_s=fell_s[attacked.name],
            text=f"{attacked.name} fell; {attack.describe(attacked.name)}",
        )
        if attacker.got_up(self._rules.fall, fell_s[attacker.name]):
            return (attacker_award,)
        fall_rules = self._rules.fall
        latest_up_s = fell_s[attacker.name] + fall_rules.get_up_s
        decided_s = latest_up_s + fall_rules.up_s  # it must also stay up for so long
        if attacker.rows.times[-1] < decided_s and self._may_rows_follow:
            return None
        attacked_award = self._award(
            attacked,
            reason=Reason.ATTACKER_FELL_TOO,
            at_s=fell_s[attacker.name],
            text=f"{attacker.name} fell with its own attack and did not get up",
        )
        return attacker_award, attacked_award

    def _award(self, to: Fighter, reason: Reason, at_s: float, text: str) -> Award:
        """Return the award to a robot, with the points of the reason."""
        return Award(to.name, reason.points(self._rules.yuhkoh), reason, at_s, text)


def _first_fall(incidents: list[Incident]) -> Incident | None:
    """Return the first fall among incidents, which has no reason of its own; None without a fall."""
    return next((incident for incident in incidents if incident.reason is None), None)


def _find_idle_end(
    rules: SumoRules, first_rows: WrestlerRows, second_rows: WrestlerRows, wait_end_s: float
) -> tuple[float, str]:
    """Return when the robots are stopped for idleness [s], and why; infinity for never.

    They are stopped when they have not touched each other for too long, or when neither has left its place
    for too long, whichever comes first.

    Args:
        rules: the rules of the sumo.
        first_rows: rows of one robot after the wait.
        second_rows: rows of the other robot.
        wait_end_s: end of the wait, which counts as a touch [s].
    """
    times = first_rows.times
    limit_s = rules.idle.limit_s
    touch_times = np.concatenate([[wait_end_s], times[first_rows.touches_opponent], times[-1:]])
    long_gaps = np.flatnonzero(np.diff(touch_times) >= limit_s)
    no_touch_end_s = math.inf
    if len(long_gaps):
        begin_of_gap_s = float(touch_times[long_gaps[0]])
        no_touch_end_s = begin_of_gap_s + limit_s
    row_times = np.concatenate([[wait_end_s], times[1:]])  # the first row stands for the end of the wait
    feet = np.stack([first_rows.middle_of_feet, second_rows.middle_of_feet], axis=1)
    stuck_row = _find_stuck_row(rules, row_times, feet)
    if stuck_row is None or row_times[stuck_row] + limit_s > no_touch_end_s:
        return no_touch_end_s, "no touch"
    stuck_end_s = float(row_times[stuck_row]) + limit_s
    stuck_rows = slice(stuck_row, int(np.searchsorted(times, stuck_end_s)) + 1)
    joints = np.concatenate([first_rows.joints[stuck_rows], second_rows.joints[stuck_rows]], axis=1)
    has_joint_moved = (np.abs(joints - joints[:1]) > rules.bout.moved_rad).any()
    return stuck_end_s, "no progress" if has_joint_moved else "no motion"


def _find_stuck_row(rules: SumoRules, times: Floats, feet: Floats) -> int | None:
    """Return the first row from which neither robot moves away within the time limit; None if there is none.

    Args:
        rules: the rules of the sumo.
        times: `(n,)` [s].
        feet: middle between the soles of both robots, `(n, 2, 2)` [m].
    """
    row = 0
    while times[-1] - times[row] >= rules.idle.limit_s:
        end = int(np.searchsorted(times, times[row] + rules.idle.limit_s)) + 1
        distances = np.linalg.norm(feet[row:end] - feet[row], axis=2).max(axis=1)
        has_left = distances > rules.idle.moved_m
        if not has_left.any():
            return row
        row += int(has_left.argmax())
    return None
