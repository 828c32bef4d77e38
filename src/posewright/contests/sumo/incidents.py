"""What may happen to a robot in the ring: it falls, puts a hand down, steps out, bends its knees too long."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

import numpy as np

from posewright.arrays import Flags, Floats
from posewright.contests.sumo.rules import FallRules, SumoRules, Yuhkoh
from posewright.contests.sumo.side import Side
from posewright.recordings.falls import FallDetector, FallLimits, runs


class Reason(Enum):
    """For what a robot's opponent earns points; each is a key of the rules' table of Yuhkoh."""

    OUTSIDE = "outside"
    HAND = "hand"
    FELL_BY_ITSELF = "fell_by_itself"
    FELL_AFTER_OWN_ATTACK = "fell_after_own_attack"
    KNOCKED_DOWN = "knocked_down"
    ATTACKER_FELL_TOO = "attacker_fell_too"
    KNEES = "knees"

    def worth(self, table: Yuhkoh) -> int:
        """Return what it is worth."""
        return int(getattr(table, self.value))


@dataclass(frozen=True, slots=True)
class Incident:
    """Something that happened to a robot at a time of the recording [s].

    A fall has no reason yet: that hangs on who had attacked.
    """

    robot: str
    reason: Reason | None
    at_s: float


@dataclass(frozen=True, slots=True)
class Ring:
    """Where the ring is: its middle and the radius of its outer edge [m]."""

    x: float
    y: float
    radius_m: float


@dataclass(frozen=True, slots=True, eq=False)
class Fighter:
    """One robot's rows since the end of its wait, and in which of them it is down, `(n,)`."""

    name: str
    side: Side
    down: Flags

    @classmethod
    def of(cls, rules: FallRules, name: str, waiting: Side, fighting: Side) -> Fighter:
        """Return it as it fights, once its height is known from how it waits."""
        stood = waiting if len(waiting) else fighting
        low = rules.height_share * float(np.median(stood.base[:, 2])) if len(stood) else 0.0
        down = (fighting.upright < np.cos(rules.tilt_rad)) | (fighting.base[:, 2] < low)
        return cls(name, fighting, down)

    def falls(self, rules: FallRules, *, ended: bool) -> list[float]:
        """Return when each fall began [s]; where all has ended, one that still lasts counts at once."""
        detector = FallDetector(FallLimits(rules.tilt_rad, lasting_s=rules.lasting_s, ends_down=ended))
        detector.add(self.side.times, self.down)
        return [spell.since_s for spell in detector.falls()]

    def got_up(self, rules: FallRules, fell_s: float) -> bool:
        """Tell whether it was up again soon enough after a fall at that time [s], and stayed up."""
        spells = [(self.side.times[begin], self.side.times[end - 1]) for begin, end in runs(~self.down)]
        return any(
            fell_s < begin_s <= fell_s + rules.get_up_s and end_s - begin_s >= rules.up_s
            for begin_s, end_s in spells
        )


def incidents(rules: SumoRules, ring: Ring, one: Fighter, *, ended: bool) -> list[Incident]:
    """Return what happened to a robot, in the order of time."""
    side, times = one.side, one.side.times
    falls = one.falls(rules.fall, ended=ended)
    away = np.hypot(side.footprints[..., 0] - ring.x, side.footprints[..., 1] - ring.y).max(axis=2)
    outside = (side.stands & (away > ring.radius_m)).any(axis=1) & ~one.down
    hand = side.hand & ~one.down
    for fell_s in falls:
        hand &= (times < fell_s - rules.fall.hand_before_s) | (times >= fell_s)
    found = [Incident(one.name, None, at_s) for at_s in falls]
    for reason, flags in ((Reason.OUTSIDE, outside), (Reason.HAND, hand)):
        found += [Incident(one.name, reason, float(times[begin])) for begin, _ in runs(flags)]
    for begin, end in runs((side.knees > rules.knees.bent_rad) & ~one.down):
        if times[end - 1] - times[begin] > rules.knees.lasting_s:
            found.append(Incident(one.name, Reason.KNEES, float(times[begin]) + rules.knees.lasting_s))
    return sorted(found, key=lambda incident: incident.at_s)


@dataclass(frozen=True, slots=True)
class Attack:
    """One robot's attack on the other.

    Attributes:
        touched_s: when it last touched it [s].
        pushed_m: how far it went towards it [m].
        swung_rad: how far it swung an arm that touched, 0 where that was no blow [rad].
    """

    by: str
    touched_s: float
    pushed_m: float
    swung_rad: float

    def told(self, on: str) -> str:
        """Return it in words."""
        pushed_cm = 100.0 * self.pushed_m
        did = [f"touched {on} until {self.touched_s:.2f} s", f"went {pushed_cm:.0f} cm towards it"]
        if self.swung_rad:
            did.append(f"swung an arm by {math.degrees(self.swung_rad):.0f} degrees")
        return f"{self.by} {', '.join(did[:-1])} and {did[-1]}"


def attack(rules: SumoRules, by: Fighter, on: Fighter, at_s: float) -> Attack | None:
    """Return the attack by one robot on the other shortly before a time; None if there was none."""
    times = by.side.times
    window = (times > at_s - rules.attack.within_s) & (times <= at_s)
    touched = window & by.side.touch
    if not touched.any():
        return None
    feet, theirs = by.side.feet[window], on.side.feet[window]
    way = theirs[0] - feet[0]
    along: Floats = feet @ (way / max(float(np.hypot(*way)), 1e-9))
    pushed = float((along - np.minimum.accumulate(along)).max())
    arms = by.side.arms[window]
    swung = float(np.ptp(arms, axis=0).max()) if arms.size and by.side.strikes[window].any() else 0.0
    if swung < rules.attack.swing_rad:
        swung = 0.0
    if not swung and pushed < rules.attack.push_m:
        return None
    return Attack(by.name, float(times[touched][-1]), pushed, swung)
