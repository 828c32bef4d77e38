"""The rules of the sumo as data: every number, and where it comes from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from posewright.documents import Bounds

Time = Annotated[float, Bounds(0.0, 3600.0)]
Limit = Annotated[float, Bounds(0.1, 3600.0)]
Length = Annotated[float, Bounds(0.0, 1.0)]
Angle = Annotated[float, Bounds(0.0, math.pi)]
Number = Annotated[int, Bounds(0, 100)]


@dataclass(frozen=True, slots=True)
class BoutRules:
    """Rounds, their clock and their end, and how robots wait.

    Attributes:
        limit_s: a bout is over after so long in any case [s].
        wait_s: how long robots stand still after every start [s].
        settle_s: how much of that they may settle in [s].
        moved_rad: the turn of a joint that is a move [rad].
        halt_s: from a stop until the robots are put back [s].
    """

    rounds: Annotated[int, Bounds(1, 99)]
    round_s: Limit
    win_points: Annotated[int, Bounds(1, 100)]
    limit_s: Limit
    wait_s: Time
    settle_s: Time
    moved_rad: Angle
    halt_s: Time


@dataclass(frozen=True, slots=True)
class PlaceRules:
    """How far the toes are before a robot's middle, and how exactly robots are set down [m, rad].

    Attributes:
        drawn: so many places of each robot are drawn; restarts take one after the other.
    """

    toes_m: Length
    drawn: Annotated[int, Bounds(1, 100)]
    off_m: Length
    turned_rad: Angle


@dataclass(frozen=True, slots=True)
class Yuhkoh:
    """What the opponent earns for each thing that may happen to a robot."""

    outside: Number
    hand: Number
    fell_by_itself: Number
    fell_after_own_attack: Number
    knocked_down: Number
    attacker_fell_too: Number
    knees: Number


@dataclass(frozen=True, slots=True)
class AttackRules:
    """Who touched the other within this time [s] attacked, if it went so far towards it [m] or swung an arm.

    Attributes:
        swing_rad: the turn of a joint of an arm that makes the arm's touch a blow [rad].
    """

    within_s: Time
    push_m: Length
    swing_rad: Angle


@dataclass(frozen=True, slots=True)
class FallRules:
    """When a robot has fallen, what belongs to one fall, and when one got up again.

    Attributes:
        tilt_rad: a base tilted farther is down [rad].
        height_share: so is one below this share of the height it stood at.
        lasting_s: one that is down for so long has fallen [s].
        together_s: two falls, or a step out and a fall, no farther apart are one thing [s].
        hand_before_s: a hand on the floor so shortly before a fall is part of it [s].
        same_s: what happens to both no farther apart happened at once [s].
        get_up_s: how long an attacker who fell may take to get up [s].
        up_s: who is up for so long has got up [s].
    """

    tilt_rad: Angle
    height_share: Annotated[float, Bounds(0.0, 1.0)]
    lasting_s: Time
    together_s: Time
    hand_before_s: Time
    same_s: Time
    get_up_s: Time
    up_s: Time


@dataclass(frozen=True, slots=True)
class IdleRules:
    """After how long without a touch, or without getting so far, robots are stopped [s, m]."""

    limit_s: Limit
    moved_m: Length


@dataclass(frozen=True, slots=True)
class KneeRules:
    """Knees bent farther, for longer, are against the rules [rad, s]."""

    bent_rad: Angle
    lasting_s: Time


@dataclass(frozen=True, slots=True)
class SumoRules:
    """The rules; `sources` says by `section.key` where each number comes from."""

    rules: str
    title: str
    arena: str
    bout: BoutRules
    place: PlaceRules
    yuhkoh: Yuhkoh
    attack: AttackRules
    fall: FallRules
    idle: IdleRules
    knees: KneeRules
    place_points: tuple[Annotated[float, Bounds(0.0, 1e6)], ...]
    sources: Mapping[str, str] = field(repr=False)
