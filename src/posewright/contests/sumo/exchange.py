"""One exchange: from a start, or a restart, to the stop that a point, idleness or the clock brings about.

Everything is worked out from rows alone, and from no row later than what decides: the referee, who sees
them come, and the judge, who has them all, find the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from posewright.arrays import Floats
from posewright.contests.sumo.incidents import (
    Fighter,
    Incident,
    Reason,
    Ring,
    attack,
    incidents,
)
from posewright.contests.sumo.rules import SumoRules
from posewright.contests.sumo.side import Side


@dataclass(frozen=True, slots=True)
class Award:
    """Points to one robot for what happened to the other at a time of the recording [s], and why."""

    to: str
    points: int
    reason: Reason
    at_s: float
    text: str


@dataclass(frozen=True, slots=True)
class Stop:
    """The end of an exchange: why, when its clock stopped [s], for how long it ran [s], and the awards."""

    reason: str
    at_s: float
    clock_s: float
    awards: tuple[Award, ...] = ()


def settle(
    rules: SumoRules, ring: Ring, sides: Mapping[str, Side], allowed_s: float, left_s: float, *, ended: bool
) -> Stop | None:
    """Return how an exchange ended; None while that is open.

    Args:
        rules: of the sumo.
        ring: where it is.
        sides: the rows of both since the start.
        allowed_s: the end of the robots' wait [s].
        left_s: on the round's clock [s].
        ended: whether there will be no further rows.
    """
    one, other = (
        Fighter.of(rules.fall, name, side.rows(side.times <= allowed_s), side.rows(side.times > allowed_s))
        for name, side in sides.items()
    )
    times = one.side.times
    if not len(times):
        return Stop("stopped", allowed_s, 0.0) if ended else None
    found = [incident for it in (one, other) for incident in incidents(rules, ring, it, ended=ended)]
    first = min(found, key=lambda incident: incident.at_s, default=None)
    idle_s, why = _idle(rules, one.side, other.side, allowed_s)
    end_s, reason = min((allowed_s + left_s, "time"), (idle_s, why))
    if first is None or first.at_s >= end_s:
        if times[-1] >= end_s:
            return Stop(reason, end_s, end_s - allowed_s)
        return Stop("stopped", float(times[-1]), float(times[-1]) - allowed_s) if ended else None
    known_s = first.at_s + rules.fall.together_s + rules.fall.lasting_s
    if times[-1] < known_s and not ended:
        return None
    awards = _Settling(rules, one, other, found, first, ended=ended).awards()
    if awards is None:
        return None
    reason = "point" if awards else "both fell"
    return Stop(reason, first.at_s, first.at_s - allowed_s, awards)


class _Settling:
    """Says who earns what for the first incident of an exchange and what belongs to it."""

    def __init__(
        self,
        rules: SumoRules,
        one: Fighter,
        other: Fighter,
        found: list[Incident],
        first: Incident,
        *,
        ended: bool,
    ) -> None:
        self._rules, self._first, self._ended = rules, first, ended
        self._loser, self._rival = (one, other) if first.robot == one.name else (other, one)
        until_s = first.at_s + rules.fall.together_s
        self._own = [it for it in found if it.robot == first.robot and it.at_s <= until_s]
        self._theirs = [it for it in found if it.robot != first.robot and it.at_s <= until_s]

    def awards(self) -> tuple[Award, ...] | None:
        """Return them; None while an attacker who fell may still get up."""
        fall = _fall_of(self._own)
        rival_fall = _fall_of(self._theirs) if fall is not None else None
        if fall is not None and rival_fall is not None:
            return self._both_fell(fall, rival_fall)
        awards = [self._highest(self._loser, self._rival, self._own)]
        at_once = [it for it in self._theirs if it.at_s - self._first.at_s <= self._rules.fall.same_s]
        if at_once:
            awards.append(self._highest(self._rival, self._loser, at_once))
        return tuple(awards)

    def _highest(self, loser: Fighter, rival: Fighter, told: list[Incident]) -> Award:
        """Return the award for what is worth most of what happened to a robot; of equals, for the first."""
        return max((self._award(loser, rival, one) for one in told), key=lambda award: award.points)

    def _award(self, loser: Fighter, rival: Fighter, incident: Incident) -> Award:
        name, at_s = loser.name, incident.at_s
        if incident.reason is not None:
            text = {
                Reason.OUTSIDE: "stepped out of the ring",
                Reason.HAND: "put a hand on the floor",
                Reason.KNEES: f"had its knees bent for {self._rules.knees.lasting_s:g} s",
            }[incident.reason]
            return self._given(rival, incident.reason, at_s, f"{name} {text}")
        by_rival = attack(self._rules, rival, loser, at_s)
        if by_rival is not None:
            return self._given(rival, Reason.KNOCKED_DOWN, at_s, f"{name} fell; {by_rival.told(name)}")
        own = attack(self._rules, loser, rival, at_s)
        if own is not None:
            text = f"{name} fell after its own attack; {own.told(rival.name)}"
            return self._given(rival, Reason.FELL_AFTER_OWN_ATTACK, at_s, text)
        return self._given(rival, Reason.FELL_BY_ITSELF, at_s, f"{name} fell, and nobody had attacked")

    def _both_fell(self, fall: Incident, rival_fall: Incident) -> tuple[Award, ...] | None:
        at_s = min(fall.at_s, rival_fall.at_s)
        pairs = ((self._loser, self._rival), (self._rival, self._loser))
        attacks = [(attack(self._rules, by, on, at_s), by, on) for by, on in pairs]
        made = [(told, by, on) for told, by, on in attacks if told is not None]
        at_once = abs(fall.at_s - rival_fall.at_s) <= self._rules.fall.same_s
        if not made or (len(made) > 1 and at_once):
            return ()
        fell = {fall.robot: fall.at_s, rival_fall.robot: rival_fall.at_s}
        told, by, on = max(made, key=lambda entry: fell[entry[1].name])  # of two attacks, who fell later
        text = f"{on.name} fell; {told.told(on.name)}"
        won = self._given(by, Reason.KNOCKED_DOWN, fell[on.name], text)
        if by.got_up(self._rules.fall, fell[by.name]):
            return (won,)
        limit_s = fell[by.name] + self._rules.fall.get_up_s + self._rules.fall.up_s
        if by.side.times[-1] < limit_s and not self._ended:
            return None
        text = f"{by.name} fell with its own attack and did not get up"
        return won, self._given(on, Reason.ATTACKER_FELL_TOO, fell[by.name], text)

    def _given(self, to: Fighter, reason: Reason, at_s: float, text: str) -> Award:
        return Award(to.name, reason.worth(self._rules.yuhkoh), reason, at_s, text)


def _fall_of(told: list[Incident]) -> Incident | None:
    return next((incident for incident in told if incident.reason is None), None)


def _idle(rules: SumoRules, one: Side, other: Side, allowed_s: float) -> tuple[float, str]:
    """Return when robots must be stopped because nothing happens, and why; infinity for never."""
    times, limit = one.times, rules.idle.limit_s
    marks = np.concatenate([[allowed_s], times[one.touch], times[-1:]])
    gaps = np.flatnonzero(np.diff(marks) >= limit)
    apart_s = float(marks[gaps[0]]) + limit if len(gaps) else np.inf
    since = np.concatenate([[allowed_s], times[1:]])
    held = _held(rules, since, np.stack([one.feet, other.feet], axis=1))
    if held is None or since[held] + limit > apart_s:
        return apart_s, "no touch"
    end_s = float(since[held]) + limit
    window = slice(held, int(np.searchsorted(times, end_s)) + 1)
    joints = np.concatenate([one.joints[window], other.joints[window]], axis=1)
    moves = (np.abs(joints - joints[:1]) > rules.bout.moved_rad).any()
    return end_s, "no progress" if moves else "no motion"


def _held(rules: SumoRules, times: Floats, feet: Floats) -> int | None:
    """Return the row from which on no robot gets anywhere for as long as is allowed; None for none.

    `feet` are the places of both, `(n, 2, 2)` [m].
    """
    row = 0
    while times[-1] - times[row] >= rules.idle.limit_s:
        end = int(np.searchsorted(times, times[row] + rules.idle.limit_s)) + 1
        away = np.linalg.norm(feet[row:end] - feet[row], axis=2).max(axis=1) > rules.idle.moved_m
        if not away.any():
            return row
        row += int(away.argmax())
    return None
