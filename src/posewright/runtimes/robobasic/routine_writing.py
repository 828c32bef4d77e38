"""The routine of a motion: MOVE, SPEED, WAIT, DELAY, SERVO and MOTOROFF, keyframe by keyframe.

A keyframe is a MOVE for each group, at the SPEED whose time comes nearest, and DELAY for what is left of its
time and for its pause; a jump is SERVO, a joint that is let go MOTOROFF. Times are planned from the beginning
of the motion, so that what one keyframe comes too late does not add to the next.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from posewright.errors import InputError
from posewright.formats.path_losses import describe_lost_lights
from posewright.motions import Keyframe, Motion
from posewright.robots import Robot
from posewright.runtimes.robobasic.motion_reading import standing_counts
from posewright.runtimes.robobasic.paces import Pace, all_paces, kept_paces
from posewright.runtimes.robobasic.servos import GROUPS, board_facts, pulses_for

LIMBS = {name: GROUPS[name] for name in ("G6A", "G6B", "G6C", "G6D", "G6E")}
"""The groups of six, of which a leg or an arm has one each."""

COUNTER = "TIMES"
MOST_TIMES = 0xFFFF
"""The most that a FOR counts, and the most milliseconds of one DELAY."""


class RoutineWriter:
    """Writes a motion keyframe by keyframe, and knows where the servos and the clock are by then.

    Raises:
        InputError: a joint is asked beyond 10..190 counts.

    Attributes:
        angle_rad: the most that an angle was rounded [rad].
        time_s: the most that a keyframe comes too early or late [s].
        goes_high: whether it ever needs HIGHSPEED, which is off before and after it.
    """

    def __init__(self, motion: Motion, robot: Robot, speed_counts_s: float | None) -> None:
        self.motion, facts = motion, board_facts()
        self._servos = {joint: robot.servo(joint) for joint in motion.joints}
        self._numbers = {joint: self._servos[joint].id or 0 for joint in motion.joints}
        self._all = standing_counts(robot).keys()
        self._period_s, self._facts = robot.frame_period_s, facts
        per_speed = facts.speed_counts_s if speed_counts_s is None else speed_counts_s
        self._rates = {pace: pace.rate(per_speed) for pace in all_paces()}
        self._places = standing_counts(robot)
        self._pace: Pace | None = None
        self._free: set[int] = set()
        self._wanted, self._said = 0.0, 0  # pulses until now, as the motion has it and as the board will
        self._past_us = 0  # where the program is by then, after the latest pulse
        self.angle_rad = self.time_s = 0.0
        self.goes_high = False
        self._counted = [self._counts(number, frame) for number, frame in enumerate(motion.keyframes, 1)]

    def _counts(self, number: int, frame: Keyframe) -> dict[int, int]:
        """Return where a keyframe sends servos, by their numbers; a joint that is held is left out."""
        low, high = self._facts.counts
        found = {}
        for joint, angle in zip(frame.pose.joints, frame.pose.angles.tolist(), strict=True):
            if math.isnan(angle):
                continue
            counts = round(self._servos[joint].to_ticks(angle)) if math.isfinite(angle) else -1
            if not low <= counts <= high:
                what = f"motion {self.motion.name!r}, keyframe {number}: {joint} is asked to"
                ends = sorted(math.degrees(self._servos[joint].from_ticks(end)) for end in (low, high))
                hint = f"MOVE takes {low}..{high}, which are {ends[0]:.0f}..{ends[1]:.0f} deg"
                raise InputError(f"{what} {math.degrees(angle):.1f} deg, {counts} counts", hint=hint)
            self.angle_rad = max(self.angle_rad, abs(self._servos[joint].from_ticks(counts) - angle))
            found[self._numbers[joint]] = counts
        return found

    def routine(self, label: str) -> Iterator[str]:
        """Yield the lines below the label."""
        again = self.motion.repeat
        if again != 1:  # a pass begins where the one before ended
            for counts in self._counted:
                self._places |= counts
        body = self._pass()
        if again is None:
            yield from (*body, f"GOTO {label}")
        elif again > 1:
            yield f"FOR {COUNTER} = 1 TO {min(again, MOST_TIMES)}"
            yield from (*(f"    {line}" for line in body), f"NEXT {COUNTER}", "RETURN")
        else:
            yield from (*body, "RETURN")

    def _pass(self) -> Iterator[str]:
        frames = zip(self.motion.keyframes, self._counted, kept_paces(self.motion), strict=True)
        for frame, counts, kept in frames:
            let_go = [*self._let_go({self._numbers[joint] for joint in frame.pose.free})]
            self._past_us += (len(let_go) + len(counts)) * self._facts.statement_us
            yield from let_go
            reach, pause = (self._pulses(seconds) for seconds in (frame.reach_s, frame.pause_s))
            self._free -= counts.keys()
            if counts and reach:
                yield from self._move(counts, reach, kept)
            else:
                yield from (f"SERVO {servo}, {to}" for servo, to in sorted(counts.items()))
                self._wanted += reach
            self._places |= counts
            self._wanted += pause
            yield from self._delay()
        if self._pace is not None and self._pace.high:
            yield "HIGHSPEED SETOFF"
            self._pace = Pace(self._pace.speed)

    def _pulses(self, seconds: float) -> float:
        return seconds / self.motion.speed / self._period_s

    def _let_go(self, servos: set[int]) -> Iterator[str]:
        """Yield what lets servos go: of a group where all of it is off by then."""
        fresh, self._free = servos - self._free, self._free | servos
        for name, group in LIMBS.items():
            own = self._all & set(group)
            if own & fresh and own <= self._free:
                yield f"MOTOROFF {name}"
            else:
                yield from (f"MOTOROFF {servo}" for servo in sorted(own & fresh))

    def _move(self, counts: Mapping[int, int], reach: float, kept: Pace | None) -> Iterator[str]:
        travel = max(abs(to - self._places[servo]) for servo, to in counts.items())
        self._wanted += reach
        pace, pulses = self._fitting(travel, kept)
        self._said, self._past_us = self._said + pulses, self._facts.statement_us
        if travel:
            self.time_s = max(self.time_s, abs(self._said - self._wanted) * self._period_s)
        if pace.high != (self._pace is not None and self._pace.high):
            yield f"HIGHSPEED {'SETON' if pace.high else 'SETOFF'}"
        if self._pace is None or pace.speed != self._pace.speed:
            yield f"SPEED {pace.speed}"
        self._pace = pace
        self.goes_high |= pace.high
        for name, group in LIMBS.items():
            fields = [str(counts.get(servo, "")) for servo in group]
            while fields and not fields[-1]:
                fields.pop()
            if fields:
                yield f"MOVE {name}, {', '.join(fields)}"
        yield "WAIT"

    def _fitting(self, travel: float, kept: Pace | None) -> tuple[Pace, int]:
        """Return the pace that is there nearest the time, and its pulses; of several the kept one."""
        n = {pace: pulses_for(travel, rate, self._period_s) for pace, rate in self._rates.items()}
        left = self._wanted - self._said
        nearest = min(n.values(), key=lambda pulses: (round(abs(pulses - left), 6), pulses))
        fits = [pace for pace, pulses in n.items() if pulses == nearest]
        liked = (kept, self._pace, Pace(self._facts.first_speed))
        return next((one for one in liked if one is not None and one in fits), fits[0]), nearest

    def _delay(self) -> Iterator[str]:
        """Yield what waits until just after the pulse where the motion has it, so that none tears a pose."""
        pulses = round(self._wanted) - self._said
        if pulses < 1:
            return
        self._past_us += self._facts.statement_us - round(1e6 * pulses * self._period_s)
        left = max(0, math.ceil(-self._past_us / 1000))
        self._said, self._past_us = self._said + pulses, self._past_us + 1000 * left
        while left:
            yield f"DELAY {min(left, MOST_TIMES)}"
            left -= min(left, MOST_TIMES)

    def losses(self) -> Iterator[str]:
        """Yield what is lost, in words."""
        motion = self.motion
        curved = sorted({frame.easing.value for frame in motion.keyframes if frame.is_curved})
        if curved:
            yield f"easing {', '.join(curved)}: the servos go straight"
        if stiff := {joint for frame in motion.keyframes for joint in frame.stiffness or ()}:
            yield f"the stiffness of {', '.join(joint for joint in motion.joints if joint in stiff)}"
        yield from describe_lost_lights(motion)
        if self.time_s > self._period_s + 1e-6:
            yield f"times of keyframes, by up to {self.time_s:.2g} s: no SPEED gives them"
        if (motion.repeat or 1) > MOST_TIMES:
            yield f"that it repeats {motion.repeat} times: it does {MOST_TIMES} times"
        if motion.next is not None:
            yield f"that motion {motion.next!r} comes next"
        if motion.exit is not None:
            yield f"that it is left through motion {motion.exit!r}"
        if motion.start is not None:
            yield "the pose it is to be started from"
