"""The rules of the sumo as data, with the source of every number."""

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
    """The rounds of a bout and the robots' wait.

    Attributes:
        rounds: greatest number of rounds.
        round_s: time of a round [s].
        win_points: points that win a round.
        limit_s: time limit of a bout [s].
        wait_s: time robots stand still after every start [s].
        settle_s: part of the wait in which they may settle [s].
        moved_rad: change of a joint angle that counts as a move [rad].
        halt_s: time from a halt until the robots are put back [s].
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
    """The start places.

    Attributes:
        toes_m: distance of a robot's toes from its middle [m].
        drawn: number of random places for each robot, used one after the other.
        off_m: greatest random offset in x and y [m].
        turned_rad: greatest random rotation [rad].
    """

    toes_m: Length
    drawn: Annotated[int, Bounds(1, 100)]
    off_m: Length
    turned_rad: Angle


@dataclass(frozen=True, slots=True)
class Yuhkoh:
    """Points of the opponent for each kind of incident."""

    outside: Number
    hand: Number
    fell_by_itself: Number
    fell_after_own_attack: Number
    knocked_down: Number
    attacker_fell_too: Number
    knees: Number


@dataclass(frozen=True, slots=True)
class AttackRules:
    """The conditions of an attack: a recent touch with a push or a swing of an arm.

    Attributes:
        within_s: greatest time since the touch [s].
        push_m: least distance towards the other robot [m].
        swing_rad: least rotation of an arm's joint that makes its touch a blow [rad].
    """

    within_s: Time
    push_m: Length
    swing_rad: Angle


@dataclass(frozen=True, slots=True)
class SumoFallRules:
    """The conditions of a fall, of incidents that belong together, and of getting up.

    Attributes:
        tilt_rad: a base tilted more is down [rad].
        height_share: a base lower than this share of its standing height is down.
        lasting_s: shortest time down that is a fall [s].
        together_s: incidents within this time belong together [s].
        hand_before_s: a hand on the floor this shortly before a fall is part of it [s].
        same_s: incidents of both robots within this time are simultaneous [s].
        get_up_s: time for an attacker who fell to get up [s].
        up_s: time up after which a robot has got up [s].
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
    """Time without a touch or without motion over a distance after which robots are stopped [s, m]."""

    limit_s: Limit
    moved_m: Length


@dataclass(frozen=True, slots=True)
class KneeRules:
    """Greatest bend of the knees [rad] for longer than a time [s]."""

    bent_rad: Angle
    lasting_s: Time


@dataclass(frozen=True, slots=True)
class SumoRules:
    """The rules of the sumo; `sources` has the source of each number by `section.key`."""

    rules: str
    title: str
    arena: str
    bout: BoutRules
    place: PlaceRules
    yuhkoh: Yuhkoh
    attack: AttackRules
    fall: SumoFallRules
    idle: IdleRules
    knees: KneeRules
    place_points: tuple[Annotated[float, Bounds(0.0, 1e6)], ...]
    sources: Mapping[str, str] = field(repr=False)
