"""Incidents of a robot in the ring: falls, hands on the floor, steps out, bent knees, and attacks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

import numpy as np

from posewright.arrays import Flags, Floats
from posewright.contests.sumo.rules import SumoFallRules, SumoRules, Yuhkoh
from posewright.contests.sumo.wrestler_rows import WrestlerRows
from posewright.recordings.falls import FallDetector, FallLimits, true_intervals


class Reason(Enum):
    """A reason for which a robot's opponent earns points; each is a key of the rules' table `Yuhkoh`."""

    OUTSIDE = "outside"
    HAND = "hand"
    FELL_BY_ITSELF = "fell_by_itself"
    FELL_AFTER_OWN_ATTACK = "fell_after_own_attack"
    KNOCKED_DOWN = "knocked_down"
    ATTACKER_FELL_TOO = "attacker_fell_too"
    KNEES = "knees"

    def points(self, table: Yuhkoh) -> int:
        """Return the points that it earns."""
        return int(getattr(table, self.value))


@dataclass(frozen=True, slots=True)
class Incident:
    """An incident of one robot.

    Attributes:
        robot: its name.
        reason: the reason of the opponent's award; None for a fall, whose reason depends on who attacked.
        at_s: the time, in the recording's time [s].
    """

    robot: str
    reason: Reason | None
    at_s: float


@dataclass(frozen=True, slots=True)
class Ring:
    """The middle of the ring and the radius of its outer edge [m]."""

    x: float
    y: float
    radius_m: float


@dataclass(frozen=True, slots=True, eq=False)
class Fighter:
    """One robot after the end of its wait.

    Attributes:
        name: the name of the robot.
        rows: the rows after the wait.
        is_down: whether it is down, `(n,)`.
    """

    name: str
    rows: WrestlerRows
    is_down: Flags

    @classmethod
    def from_rows(
        cls, rules: SumoFallRules, name: str, *, waiting: WrestlerRows, fighting: WrestlerRows
    ) -> Fighter:
        """Return a fighter, which is down while its base is tilted or low.

        Low is a share of the height at which the robot stood before the fight.

        Args:
            rules: the rules of falls.
            name: the name of the robot.
            waiting: its rows while it waits for the start.
            fighting: its rows after the wait.
        """
        standing = waiting if len(waiting) else fighting
        standing_height_m = float(np.median(standing.base[:, 2])) if len(standing) else 0.0
        is_tilted = fighting.upright < np.cos(rules.tilt_rad)
        is_low = fighting.base[:, 2] < rules.height_share * standing_height_m
        return cls(name, fighting, is_down=is_tilted | is_low)

    def find_falls(self, rules: SumoFallRules, *, is_complete: bool) -> list[float]:
        """Return when each fall began [s].

        Args:
            rules: the rules of falls.
            is_complete: whether there are no further rows; a robot down at the end has then fallen.
        """
        detector = FallDetector(FallLimits(rules.tilt_rad, lasting_s=rules.lasting_s, ends_down=is_complete))
        detector.advance_flags(self.rows.times, self.is_down)
        return [fall.since_s for fall in detector.falls()]

    def got_up(self, rules: SumoFallRules, fell_s: float) -> bool:
        """Return whether the robot got up soon enough after a fall at a time [s], and stayed up."""
        for begin, end in true_intervals(~self.is_down):
            up_since_s = self.rows.times[begin]
            up_until_s = self.rows.times[end - 1]
            is_in_time = fell_s < up_since_s <= fell_s + rules.get_up_s
            stayed_up = up_until_s - up_since_s >= rules.up_s
            if is_in_time and stayed_up:
                return True
        return False


def find_incidents(rules: SumoRules, ring: Ring, fighter: Fighter, *, is_complete: bool) -> list[Incident]:
    """Return the incidents of a robot in the order of time.

    Steps out of the ring, hands on the floor and bent knees count only while the robot is up.

    Args:
        rules: the rules of the sumo.
        ring: the ring.
        fighter: the robot after its wait.
        is_complete: as for `Fighter.find_falls`.
    """
    rows = fighter.rows
    times = rows.times
    is_up = ~fighter.is_down
    falls_s = fighter.find_falls(rules.fall, is_complete=is_complete)
    sole_distances = np.hypot(rows.footprints[..., 0] - ring.x, rows.footprints[..., 1] - ring.y).max(axis=2)
    is_outside = (rows.has_foot_down & (sole_distances > ring.radius_m)).any(axis=1) & is_up
    has_hand_down = rows.arm_touches_floor & is_up
    for fell_s in falls_s:
        # a hand on the floor just before a fall is part of the fall
        has_hand_down &= (times < fell_s - rules.fall.hand_before_s) | (times >= fell_s)
    incidents = [Incident(fighter.name, reason=None, at_s=fell_s) for fell_s in falls_s]
    for reason, flags in ((Reason.OUTSIDE, is_outside), (Reason.HAND, has_hand_down)):
        incidents += [
            Incident(fighter.name, reason, float(times[begin])) for begin, _ in true_intervals(flags)
        ]
    for begin, end in true_intervals((rows.knee_bend > rules.knees.bent_rad) & is_up):
        if times[end - 1] - times[begin] > rules.knees.lasting_s:
            at_s = float(times[begin]) + rules.knees.lasting_s
            incidents.append(Incident(fighter.name, Reason.KNEES, at_s))
    return sorted(incidents, key=lambda incident: incident.at_s)


@dataclass(frozen=True, slots=True)
class Attack:
    """One robot's attack on the other.

    Attributes:
        by: name of the attacker.
        touched_s: last touch [s].
        pushed_m: how far the attacker went towards the other [m].
        swung_rad: how far it swung an arm that touched; 0 without a blow [rad].
    """

    by: str
    touched_s: float
    pushed_m: float
    swung_rad: float

    def describe(self, attacked: str) -> str:
        """Return the attack on a robot in a sentence."""
        pushed_cm = 100.0 * self.pushed_m
        actions = [f"touched {attacked} until {self.touched_s:.2f} s", f"went {pushed_cm:.0f} cm towards it"]
        if self.swung_rad:
            actions.append(f"swung an arm by {math.degrees(self.swung_rad):.0f} degrees")
        return f"{self.by} {', '.join(actions[:-1])} and {actions[-1]}"


def find_attack(rules: SumoRules, attacker: Fighter, attacked: Fighter, at_s: float) -> Attack | None:
    """Return an attack of one robot on the other shortly before a time; None if there was none.

    An attack needs a touch, and a push or a blow: the attacker went towards the other robot, or swung an arm
    that touched it.

    Args:
        rules: the rules of the sumo.
        attacker: the robot that may have attacked.
        attacked: its opponent.
        at_s: the time [s].
    """
    times = attacker.rows.times
    is_recent = (times > at_s - rules.attack.within_s) & (times <= at_s)
    is_touching = is_recent & attacker.rows.touches_opponent
    if not is_touching.any():
        return None
    positions = attacker.rows.middle_of_feet[is_recent]
    to_attacked = attacked.rows.middle_of_feet[is_recent][0] - positions[0]
    direction = to_attacked / max(float(np.hypot(*to_attacked)), 1e-9)  # no division by 0
    distances_along: Floats = positions @ direction
    # from where it was farthest away, to where it was nearest afterwards
    pushed_m = float((distances_along - np.minimum.accumulate(distances_along)).max())
    arm_angles = attacker.rows.arm_angles[is_recent]
    swung_rad = 0.0
    if arm_angles.size and attacker.rows.arm_touches_opponent[is_recent].any():
        swung_rad = float(np.ptp(arm_angles, axis=0).max())
    is_blow = swung_rad > 0.0 and swung_rad >= rules.attack.swing_rad
    is_push = pushed_m >= rules.attack.push_m
    if not is_blow and not is_push:
        return None
    return Attack(
        attacker.name,
        touched_s=float(times[is_touching][-1]),
        pushed_m=pushed_m,
        swung_rad=swung_rad if is_blow else 0.0,
    )
