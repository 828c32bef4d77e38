"""Motions as a RoboBASIC program: a routine for each, and a beginning that calls one after the other.

    bow:
        SPEED 5
        MOVE G6A, 100, 58, 135, 160, 100      ' an empty field leaves its servo
        MOVE G6D, 100, 58, 135, 160, 100
        WAIT
        DELAY 500
        RETURN

A keyframe is a MOVE for each group, at the SPEED whose time comes nearest, and DELAY for what is left of its
time and for its pause; a jump is SERVO, a joint that is let go MOTOROFF. Times are planned from the beginning
of the motion, so that what one keyframe comes too late does not add to the next.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from posewright.errors import InputError
from posewright.formats import Rounding
from posewright.formats.unsaid import unlit
from posewright.formats.writing import beyond_the_mechanism
from posewright.motions import Keyframe, Motion
from posewright.robots import Robot
from posewright.runtimes.robobasic.commands import WORDS
from posewright.runtimes.robobasic.motion_reading import standing_counts
from posewright.runtimes.robobasic.paces import Pace, all_paces, kept_paces
from posewright.runtimes.robobasic.servos import board_facts, group_of, pulses_for
from posewright.runtimes.robobasic.syntax import read_line
from posewright.runtimes.robobasic.tree import Gosub

LONGEST_LABEL = 64
MOST_TIMES = 0xFFFF
"""The most that a FOR counts, and the most milliseconds of one DELAY."""

COUNTER = "TIMES"
GROUPS = ("G6A", "G6B", "G6C", "G6D", "G6E")


@dataclass(frozen=True)
class MotionsProgram:
    """Motions as a program.

    Attributes:
        text: of the program, its lines ended by line feeds.
        labels: of the routines, in the order of the motions.
        losses: what of the motions it cannot hold, in words.
        remarks: what had to be said in another way, in words.
        rounding: the largest changes of an angle at a keyframe and of the time of one.
    """

    text: str
    labels: tuple[str, ...]
    losses: tuple[str, ...]
    remarks: tuple[str, ...]
    rounding: Rounding

    @property
    def data(self) -> bytes:
        """The file as their editor has it: CP949, lines ended as DOS does."""
        return self.text.replace("\n", "\r\n").encode("cp949")


def motions_program(
    motions: Sequence[Motion], robot: Robot, speed_counts_s: float | None = None
) -> MotionsProgram:
    """Return a program that plays motions, one after the other, and has a routine for each.

    Args:
        motions: of the robot.
        robot: its servos have the board's numbers as IDs.
        speed_counts_s: counts a second at SPEED 1; the board's by default.

    Raises:
        InputError: there is no motion, one is another robot's, or a joint is asked beyond 10..190 counts.
    """
    if not motions:
        raise InputError("there is no motion to write", hint="one or more")
    for motion in motions:
        if motion.robot != robot.name:
            hint = f"`posewright motion convert --robot {robot.name}` carries its joints over by their names"
            raise InputError(f"motion {motion.name!r} is for {motion.robot}", hint=hint)
    labels = _labels(motions)
    writers = [_Writer(motion, robot, speed_counts_s) for motion in motions]
    routines = [
        line
        for label, writer in zip(labels, writers, strict=True)
        for line in ("", f"{label}:", *(f"    {one}" for one in writer.routine(label)))
    ]
    repeats = any((motion.repeat or 1) > 1 for motion in motions)
    lines = [*_beginning(labels, robot, counts=repeats), *routines]
    many = len(motions) > 1
    losses = [f"{one.motion.name}: {loss}" if many else loss for one in writers for loss in one.losses()]
    remarks = [f"{one.motion.name}: {told}" if many else told for one in writers for told in one.remarks()]
    for label, motion in zip(labels, motions, strict=True):
        if label != motion.name:
            remarks.append(f"motion {motion.name!r} is at the label {label}")
    rounding = Rounding(max(one.angle_rad for one in writers), max(one.time_s for one in writers))
    return MotionsProgram("\n".join(lines) + "\n", labels, tuple(losses), tuple(remarks), rounding)


def _labels(motions: Sequence[Motion]) -> tuple[str, ...]:
    """Return a label for each motion: its name as far as that can be one, and no two alike."""
    labels: list[str] = []
    for motion in motions:
        signs = (sign if _is_word(sign) else "_" for sign in motion.name)
        stem = label = "".join(signs)[: LONGEST_LABEL - 8].strip("_") or "motion"
        if not _is_free(label):
            stem = label = f"motion_{stem}"
        number = 1
        while label.upper() in {one.upper() for one in labels}:
            number += 1
            label = f"{stem}_{number}"
        labels.append(label)
    return tuple(labels)


def _is_word(sign: str) -> bool:
    """Tell whether a sign may stand in a name, and their editor has it."""
    return (sign.isalnum() or sign == "_") and sign == sign.encode("cp949", "replace").decode("cp949")


def _is_free(label: str) -> bool:
    """Tell whether a word is no statement, group or variable, and no number."""
    if label.upper() in WORDS or label.upper() == COUNTER or group_of(label) or not label[0].isidentifier():
        return False
    return read_line(f"GOSUB {label}")[1] == Gosub(label)


def _beginning(labels: Sequence[str], robot: Robot, *, counts: bool) -> Iterator[str]:
    """Yield the lines before the first routine."""
    facts, numbers = board_facts(), {servo.id for servo in robot.servos}
    yield f"' Motions of a RoboNova-1 (MR-C3024), written by Posewright: {', '.join(labels)}."
    if counts:
        yield f"DIM {COUNTER} AS INTEGER"
    yield from ("", "PTP SETON", "PTP ALLON")
    for name in GROUPS:
        group = group_of(name) or range(0)
        if numbers.intersection(group):
            yield f"DIR {name}, {', '.join(str(facts.directions[servo]) for servo in group)}"
    yield ""
    for name in GROUPS:
        group = group_of(name) or range(0)
        if numbers.intersection(group):
            yield f"GETMOTORSET {name}, {', '.join(str(int(servo in numbers)) for servo in group)}"
    yield f"SPEED {facts.first_speed}"
    yield from (f"MOTOR {name}" for name in GROUPS if numbers.intersection(group_of(name) or ()))
    yield ""
    yield from (f"GOSUB {label}" for label in labels)
    yield "END"


class _Writer:
    """Writes a motion keyframe by keyframe, and knows where the servos and the clock are by then.

    Attributes:
        angle_rad: the most that an angle was rounded [rad].
        time_s: the most that a keyframe comes too early or late [s].
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
        self._off = 0.0
        self.angle_rad = self.time_s = 0.0
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
                hint = f"MOVE takes {low}..{high}, which are {ends[0]:g}..{ends[1]:g} deg"
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
            yield from self._let_go({self._numbers[joint] for joint in frame.pose.free})
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

    def _pulses(self, seconds: float) -> float:
        return seconds / self.motion.speed / self._period_s

    def _let_go(self, servos: set[int]) -> Iterator[str]:
        """Yield what lets servos go: of a group where all of it is off by then."""
        fresh, self._free = servos - self._free, self._free | servos
        for name in GROUPS:
            own = self._all & set(group_of(name) or ())
            if own & fresh and own <= self._free:
                yield f"MOTOROFF {name}"
            else:
                yield from (f"MOTOROFF {servo}" for servo in sorted(own & fresh))

    def _move(self, counts: Mapping[int, int], reach: float, kept: Pace | None) -> Iterator[str]:
        travel = max(abs(to - self._places[servo]) for servo, to in counts.items())
        asked = max(1, round(self._wanted + reach) - self._said)
        pace, pulses = self._fitting(travel, asked, kept)
        if pace.high != (self._pace is not None and self._pace.high):
            yield f"HIGHSPEED {'SETON' if pace.high else 'SETOFF'}"
        if self._pace is None or pace.speed != self._pace.speed:
            yield f"SPEED {pace.speed}"
        self._pace = pace
        for name in GROUPS:
            group = group_of(name) or range(0)
            fields = [str(counts.get(servo, "")) for servo in group]
            while fields and not fields[-1]:
                fields.pop()
            if fields:
                yield f"MOVE {name}, {', '.join(fields)}"
        yield "WAIT"
        self._wanted, self._said = self._wanted + reach, self._said + pulses
        late = abs(self._said - self._wanted)
        self.time_s = max(self.time_s, late * self._period_s)
        self._off = max(self._off, late, abs(pulses - asked) if travel else 0)

    def _fitting(self, travel: float, asked: int, kept: Pace | None) -> tuple[Pace, int]:
        """Return the pace whose time comes nearest, and its pulses; of several the kept or present one."""
        n = {pace: pulses_for(travel, rate, self._period_s) for pace, rate in self._rates.items()}
        near = min((abs(pulses - asked), pulses > asked) for pulses in n.values())
        fits = [pace for pace, pulses in n.items() if (abs(pulses - asked), pulses > asked) == near]
        liked = (kept, self._pace, Pace(self._facts.first_speed))
        pace = next((one for one in liked if one is not None and one in fits), fits[0])
        return pace, n[pace]

    def _delay(self) -> Iterator[str]:
        """Yield what waits until the clock is where the motion has it."""
        pulses = round(self._wanted) - self._said
        if pulses < 1:
            return
        wanted_ms = 1000.0 * self._period_s * max(pulses, self._wanted - self._said)
        left = math.ceil(wanted_ms - 1e-6)
        self._said += (left * 1000 + 2 * self._facts.statement_us) // round(self._period_s * 1e6)
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
        yield from unlit(motion)
        if self._off > 1.0 + 1e-6:
            most = self._off * self._period_s
            yield f"times of keyframes, up to {most:.2g} s: no SPEED gives them"
        if (motion.repeat or 1) > MOST_TIMES:
            yield f"that it repeats {motion.repeat} times: it does {MOST_TIMES} times"
        if motion.next is not None:
            yield f"that motion {motion.next!r} comes next"
        if motion.exit is not None:
            yield f"that it is left through motion {motion.exit!r}"
        if motion.start is not None:
            yield "the pose it is to be started from"

    def remarks(self) -> Iterator[str]:
        """Yield what the program says in another way, in words."""
        if self.motion.repeat is None:
            yield "it repeats for ever, so what comes after it is reached by a GOSUB of your own only"
        yield from beyond_the_mechanism(self.motion)
