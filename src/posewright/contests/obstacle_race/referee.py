"""The referee: does to the robot during a trial what a human judge would do, and notes it.

It watches block after block, keeps the same account of the race as the judge, and has hands: a fallen
robot is put back where it last stood, a jammed one a little back along its own way. A fall's direction
is where the robot looked when it last stood, not the side it fell to: a robot that fell backwards is
not turned round.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from posewright.arenas import Arena
from posewright.arrays import Flags, Floats
from posewright.bodies import GroundTruth, JointStates, Supervisor
from posewright.contests.obstacle_race.put_back import clear_place, turned_towards
from posewright.contests.obstacle_race.race import Race, Rows
from posewright.contests.obstacle_race.rules import FallRules, JamRules, Rules, check_field
from posewright.contests.obstacle_race.score import Result
from posewright.contests.watching import RowsKept, truth_of
from posewright.control import Block
from posewright.recordings import ROWS_EVERY, Event
from posewright.recordings.falls import FallDetector
from posewright.rotation import heading, roll_pitch_yaw, uprightness
from posewright.units import DEG_PER_RAD, wrap_angle

_TRAIL_BLOCKS = 600
"""How many blocks of its own way are remembered, about a minute."""


class RaceReferee:
    """Watches a race, puts the robot back where needed, and stops it when it is over.

    It judges by the rows that the recording will have, one in `every` frames. Where there are several robots
    it looks at the blocks of the one that is named.

    Attributes:
        race: the account so far: leg, clock, distance, penalties.

    Raises:
        InputError: the arena is not the one the rules name.
    """

    def __init__(
        self,
        rules: Rules,
        arena: Arena,
        supervisor: Supervisor,
        note: Callable[[Event], None],
        *,
        robot: str | None = None,
        every: int = ROWS_EVERY,
    ) -> None:
        check_field(rules, arena.to_dict())
        self.race = Race(rules)
        self._rules = rules
        self._arena = arena
        self._supervisor = supervisor
        self._note = note
        self._robot = robot
        self._kept = RowsKept(every)
        self._fall = FallWatch(rules.fall)
        self._jam = JamWatch(rules.jam, arena)
        self._trail: deque[tuple[float, float]] = deque(maxlen=_TRAIL_BLOCKS)

    @property
    def result(self) -> Result:
        """The result as it stands; after the run, what the judge will find in its recording."""
        return self.race.result()

    def progress(self) -> str:
        """Return leg, distance and penalties so far."""
        race = self.race
        return f"leg {race.leg}  {race.distance_cm:5.1f} cm  {len(race.penalties())} penalties"

    def watch(self, block: Block) -> bool:
        """Look at a block, do what a judge would do; return whether the race is over.

        Raises:
            BodyError: the body does not know where it is.
        """
        if self._robot not in {None, block.robot}:
            return False
        states = block.states
        for hit in self.race.advance(Rows.of_block(block, self._kept.of(block))):
            data = {"box": hit.box, "displacement_m": hit.displacement_m}
            self._tell(hit.time_s, "box_moved", data)
        if len(states) and not self.race.done:
            self._intervene(states, truth_of(block))
        if self.race.done:
            self._tell(float(states.times[-1]), "stop", {"reason": self._ending()})
        return self.race.done

    def _intervene(self, states: JointStates, world: GroundTruth) -> None:
        fall = self._fall.advance(states.times, world.base, world.footprints)
        time_s = float(states.times[-1])
        if fall is not None:
            self._pick_up(time_s, fall, world)
            return
        jam = self._jam.advance(time_s, world.base[-1], world.box_contacts)
        if jam is not None:
            self._take_off(time_s, jam, world)
        else:
            x_m, y_m = world.base[-1, :2].tolist()
            self._trail.append((x_m, y_m))

    def _pick_up(self, time_s: float, fall: Fall, world: GroundTruth) -> None:
        roll, pitch, _ = (roll_pitch_yaw(world.base[-1, 3:]) * DEG_PER_RAD).tolist()
        data = {"since_s": fall.since_s, "roll_deg": roll, "pitch_deg": pitch}
        self._tell(time_s, "fall", data)
        yaw = turned_towards(fall.heading_rad, self.race.goal_yaw_rad, self._rules.fall.turn_rad)
        self._put((fall.x_m, fall.y_m), yaw, world, time_s, {"reason": "fall", "since_s": fall.since_s})

    def _take_off(self, time_s: float, jam: Jam, world: GroundTruth) -> None:
        about = {} if jam.box is None else {"box": jam.box}
        self._tell(time_s, "jam", {"since_s": jam.since_s, **about})
        place = self._way_back(*world.base[-1, :2].tolist())
        yaw = float(heading(world.base[-1, 3:]))
        self._put(place, yaw, world, time_s, {"reason": "jam", "since_s": jam.since_s, **about})

    def _way_back(self, x_m: float, y_m: float) -> tuple[float, float]:
        """Return the last place on its own way far enough off and not ahead, else one straight back."""
        step, forward = self._rules.put_back.step_back_m, math.cos(self.race.goal_yaw_rad)
        for x, y in reversed(self._trail):
            if math.hypot(x - x_m, y - y_m) >= step and forward * (x - x_m) <= 0.0:
                return x, y
        return x_m - step * forward, y_m

    def _put(
        self, place: tuple[float, float], yaw: float, world: GroundTruth, time_s: float, why: dict[str, Any]
    ) -> None:
        x_m, y_m = clear_place(
            *place,
            world.boxes[-1],
            self._arena,
            rules=self._rules.put_back,
            forward=math.cos(self.race.goal_yaw_rad),
        )
        self._supervisor.place_robot(x_m, y_m, yaw)
        self._tell(time_s, "touch", {**why, "x_m": x_m, "y_m": y_m, "yaw_deg": yaw * DEG_PER_RAD})
        self._fall.forget()
        self._jam.forget()
        self._trail.clear()

    def _ending(self) -> str:
        last = self.race.legs[1] if self.race.legs[0].finished else self.race.legs[0]
        return "finished" if last.finished else last.reason

    def _tell(self, time_s: float, kind: str, data: dict[str, Any]) -> None:
        event = Event(time_s, kind, data)
        self.race.note(event)
        self._note(event)


@dataclass(frozen=True, slots=True)
class Fall:
    """A fall: when the base went down, and where the robot last stood, between its soles, and looked.

    That heading, 0 along the field's x, is the fall's direction.
    """

    since_s: float
    x_m: float
    y_m: float
    heading_rad: float


class FallWatch:
    """Watches a base; a fall is seen when it has been down for the rules' time without a break."""

    def __init__(self, rules: FallRules) -> None:
        self._cos_upright = math.cos(rules.upright_rad)
        self._detector = FallDetector(rules.limits)
        self._stood: tuple[Floats, Floats] | None = None

    def advance(self, times: Floats, base: Floats, footprints: Floats) -> Fall | None:
        """Look at some more frames; return a fall if there is one at their end.

        Of each: base x y z qw qx qy qz `(n, 7)`, sole corners in the field frame `(n, n_feet, 4, 3)` [m].
        """
        if not len(times):
            return None
        if self._stood is None:
            self._stood = base[0].copy(), footprints[0].copy()
        upright = uprightness(base[:, 3:])
        standing = (upright > self._cos_upright).nonzero()[0]
        if len(standing):
            self._stood = base[standing[-1]].copy(), footprints[standing[-1]].copy()
        spell = self._detector.add(times, self._detector.down(base, upright))
        if spell is None:
            return None
        stood, soles = self._stood
        x, y = soles[..., :2].reshape(-1, 2).mean(axis=0).tolist()
        return Fall(spell.since_s, x, y, float(heading(stood[3:])))

    def forget(self) -> None:
        """Begin anew: somebody has put the robot on its feet."""
        self._detector.forget()


@dataclass(frozen=True, slots=True)
class Jam:
    """A jam: when the robot last got anywhere, and the number of the box it is jammed at; None for a wall."""

    since_s: float
    box: int | None


@dataclass(slots=True)
class _Hold:
    """The place a robot in contact has not left."""

    x_m: float
    y_m: float
    heading_rad: float
    since_s: float


class JamWatch:
    """Watches for contact without progress: no step away from a place, and no turn."""

    def __init__(self, rules: JamRules, arena: Arena) -> None:
        self._rules = rules
        self._arena = arena
        self._hold: _Hold | None = None
        self._touched_s = -math.inf
        self._box: int | None = None

    def advance(self, time_s: float, base: Floats, contacts: Flags) -> Jam | None:
        """Look at one more block.

        Args:
            time_s: at its end [s].
            base: x y z qw qx qy qz at its end, `(7,)`.
            contacts: boxes touched during it, `(n, n_boxes)`.
        """
        x_m, y_m = base[:2].tolist()
        if self._touches(x_m, y_m, contacts):
            self._touched_s = time_s
        if time_s - self._touched_s > self._rules.contact_gap_s:
            self._hold = None
            return None
        hold, heading_rad = self._hold, float(heading(base[3:]))
        if hold is None or self._left(hold, x_m, y_m, heading_rad):
            self._hold = _Hold(x_m, y_m, heading_rad, time_s)
            return None
        if time_s - hold.since_s < self._rules.lasting_s:
            return None
        return Jam(hold.since_s, self._box)

    def forget(self) -> None:
        """Begin anew: somebody has put the robot elsewhere."""
        self._hold, self._touched_s = None, -math.inf

    def _touches(self, x_m: float, y_m: float, contacts: Flags) -> bool:
        if contacts.any():
            self._box = int(contacts.any(axis=0).argmax()) + 1
            return True
        near = self._rules.wall_near_m
        room = min(x_m, self._arena.size_x - x_m, self._arena.size_y / 2.0 - abs(y_m))
        if room < near:
            self._box = None
            return True
        return False

    def _left(self, hold: _Hold, x_m: float, y_m: float, heading_rad: float) -> bool:
        turned = abs(wrap_angle(heading_rad - hold.heading_rad))
        away = math.hypot(x_m - hold.x_m, y_m - hold.y_m)
        return away > self._rules.radius_m or turned > self._rules.turn_rad
