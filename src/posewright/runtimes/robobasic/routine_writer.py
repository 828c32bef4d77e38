"""Writes a motion as a routine: MOVE, SPEED, WAIT, DELAY, SERVO and MOTOROFF, keyframe by keyframe.

A keyframe becomes a MOVE for each group, at the SPEED whose time is nearest, and a DELAY for the remainder of
its time and its pause. A keyframe without time becomes SERVO, and a joint that is released MOTOROFF. Times
count from the beginning of the motion, so that the delay of one keyframe does not add to the next.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from posewright.errors import InputError
from posewright.formats.path_losses import describe_lost_tracks
from posewright.motions import Keyframe, Motion
from posewright.robots import Robot
from posewright.runtimes.robobasic.machine import US_PER_MS
from posewright.runtimes.robobasic.motion_reader import standing_counts
from posewright.runtimes.robobasic.servos import GROUPS, board_parameters, count_pulses
from posewright.runtimes.robobasic.speed_settings import (
    SpeedSetting,
    all_speed_settings,
    decode_speed_settings,
)

LIMBS = {name: GROUPS[name] for name in ("G6A", "G6B", "G6C", "G6D", "G6E")}
"""The groups of six servos; each leg and arm has one."""

COUNTER = "TIMES"
"""The variable of the FOR of motions that repeat."""

US_PER_S = 1e6

MAX_INTEGER = 0xFFFF
"""The largest last value of a FOR, and the longest DELAY [ms]."""


class RoutineWriter:
    """Writes one motion and tracks the positions of the servos and the time.

    Args:
        motion: the motion.
        robot: its servos have the board's numbers as IDs.
        speed_counts_s: counts a second at SPEED 1; None for the board's.

    Raises:
        InputError: a joint angle is outside of 10..190 counts.

    Attributes:
        motion: the motion.
        max_angle_error_rad: largest rounding of an angle [rad].
        max_time_error_s: largest deviation of a keyframe's time [s].
        uses_high_speed: whether it ever sets HIGHSPEED, which is off before and after the routine.
    """

    def __init__(self, motion: Motion, robot: Robot, speed_counts_s: float | None) -> None:
        parameters = board_parameters()
        if speed_counts_s is None:
            speed_counts_s = parameters.speed_counts_s
        self.motion = motion
        self.max_angle_error_rad = 0.0
        self.max_time_error_s = 0.0
        self.uses_high_speed = False
        self._parameters = parameters
        self._pulse_period_s = robot.frame_period_s
        self._servo_of_joint = {joint: robot.servo(joint) for joint in motion.joints}
        self._servo_number_of_joint = {joint: self._servo_of_joint[joint].id or 0 for joint in motion.joints}
        self._positions = standing_counts(robot)  # by servo number [counts]
        self._all_servo_numbers = frozenset(self._positions)
        # counts a second by the setting of SPEED and HIGHSPEED
        self._rates = {setting: setting.rate(speed_counts_s) for setting in all_speed_settings()}
        self._current_setting: SpeedSetting | None = None  # the one that was written last
        self._free_servos: set[int] = set()
        self._planned_pulses = 0.0  # time so far in the motion
        self._written_pulses = 0  # time so far in the routine
        self._us_after_pulse = 0  # of the program's clock, after the latest pulse
        self._keyframe_targets = [  # of each keyframe the counts by servo number
            self._convert_pose(keyframe, number) for number, keyframe in enumerate(motion.keyframes, 1)
        ]

    def _convert_pose(self, keyframe: Keyframe, keyframe_number: int) -> dict[int, int]:
        """Return the counts of a keyframe by servo number, without joints that are held or free.

        Sets `max_angle_error_rad`. The number of the keyframe, from 1, is for errors.

        Raises:
            InputError: an angle is outside of the counts that MOVE takes.
        """
        low, high = self._parameters.counts
        targets: dict[int, int] = {}
        for joint, angle_rad in zip(keyframe.pose.joints, keyframe.pose.angles.tolist(), strict=True):
            if math.isnan(angle_rad):
                continue
            servo = self._servo_of_joint[joint]
            counts = round(servo.to_ticks(angle_rad)) if math.isfinite(angle_rad) else -1  # out of range
            if not low <= counts <= high:
                degrees = math.degrees(angle_rad)
                limits = sorted(math.degrees(servo.from_ticks(limit)) for limit in (low, high))
                where = f"motion {self.motion.name!r}, keyframe {keyframe_number}"
                raise InputError(
                    f"{where}: {joint} is at {degrees:.1f} deg, {counts} counts",
                    hint=f"MOVE takes {low}..{high}, which are {limits[0]:.0f}..{limits[1]:.0f} deg",
                )
            error_rad = abs(servo.from_ticks(counts) - angle_rad)
            self.max_angle_error_rad = max(self.max_angle_error_rad, error_rad)
            targets[self._servo_number_of_joint[joint]] = counts
        return targets

    def write_routine(self, label: str) -> Iterator[str]:
        """Yield the lines of the routine below its label.

        A pass of the motion is written once; a motion that repeats gets a FOR or a GOTO around it.
        """
        repeat = self.motion.repeat  # None for ever
        if repeat != 1:  # a pass starts where the pass before ended
            for targets in self._keyframe_targets:
                self._positions |= targets
        body = self._write_pass()
        if repeat is None:
            yield from body
            yield f"GOTO {label}"
        elif repeat > 1:
            yield f"FOR {COUNTER} = 1 TO {min(repeat, MAX_INTEGER)}"
            yield from (f"    {line}" for line in body)
            yield f"NEXT {COUNTER}"
            yield "RETURN"
        else:
            yield from body
            yield "RETURN"

    def _write_pass(self) -> Iterator[str]:
        """Yield the lines of all keyframes: for each what it releases, its move, and a delay.

        Tracks the positions of the servos, the speed setting, and the planned and written time.
        """
        stored_speeds = decode_speed_settings(self.motion)
        for keyframe, targets, stored_speed in zip(
            self.motion.keyframes, self._keyframe_targets, stored_speeds, strict=True
        ):
            releases = [
                *self._write_releases({self._servo_number_of_joint[joint] for joint in keyframe.pose.free})
            ]
            n_statements = len(releases) + len(targets)
            self._us_after_pulse += n_statements * self._parameters.statement_us
            yield from releases
            self._free_servos -= targets.keys()
            reach_pulses = self._to_pulses(keyframe.reach_s)
            self._planned_pulses += reach_pulses
            if targets and reach_pulses:
                yield from self._write_move(targets, stored_speed)
            else:
                yield from (f"SERVO {servo}, {counts}" for servo, counts in sorted(targets.items()))
            self._positions |= targets
            self._planned_pulses += self._to_pulses(keyframe.pause_s)
            yield from self._write_delay()
        if self._current_setting is not None and self._current_setting.high_speed:
            yield "HIGHSPEED SETOFF"
            self._current_setting = SpeedSetting(self._current_setting.speed)

    def _to_pulses(self, seconds: float) -> float:
        return seconds / self.motion.speed / self._pulse_period_s

    def _write_releases(self, servos: set[int]) -> Iterator[str]:
        """Yield the MOTOROFF of servos: of a whole group if none of its servos is driven any longer."""
        newly_free = servos - self._free_servos
        self._free_servos |= servos
        for name, group in LIMBS.items():
            members = self._all_servo_numbers & set(group)
            if members & newly_free and members <= self._free_servos:
                yield f"MOTOROFF {name}"
            else:
                yield from (f"MOTOROFF {servo}" for servo in sorted(members & newly_free))

    def _write_move(self, targets: Mapping[int, int], stored_speed: SpeedSetting | None) -> Iterator[str]:
        """Yield the lines of a keyframe: HIGHSPEED and SPEED if they change, a MOVE for each group, and WAIT.

        Args:
            targets: counts by servo.
            stored_speed: the setting that the motion's extras store for the keyframe, which is preferred.
        """
        travel = max(abs(counts - self._positions[servo]) for servo, counts in targets.items())
        setting, n_pulses = self._choose_speed(travel, stored_speed)
        self._written_pulses += n_pulses
        self._us_after_pulse = self._parameters.statement_us
        if travel:
            error_s = abs(self._written_pulses - self._planned_pulses) * self._pulse_period_s
            self.max_time_error_s = max(self.max_time_error_s, error_s)
        was_high_speed = self._current_setting is not None and self._current_setting.high_speed
        if setting.high_speed != was_high_speed:
            yield f"HIGHSPEED {'SETON' if setting.high_speed else 'SETOFF'}"
        if self._current_setting is None or setting.speed != self._current_setting.speed:
            yield f"SPEED {setting.speed}"
        self._current_setting = setting
        self.uses_high_speed |= setting.high_speed
        for name, group in LIMBS.items():
            fields = [str(targets.get(servo, "")) for servo in group]
            while fields and not fields[-1]:
                fields.pop()  # empty fields at the end are left out
            if fields:
                yield f"MOVE {name}, {', '.join(fields)}"
        yield "WAIT"

    def _choose_speed(self, travel: float, stored_speed: SpeedSetting | None) -> tuple[SpeedSetting, int]:
        """Return the speed setting whose time is nearest to the planned time, and its pulses.

        Of several such settings the stored one is preferred, then the current one, then the initial one.
        """
        pulses_by_setting = {
            setting: count_pulses(travel, rate, self._pulse_period_s) for setting, rate in self._rates.items()
        }
        available_pulses = self._planned_pulses - self._written_pulses

        def rank(pulses: int) -> tuple[float, int]:
            """Return the deviation from the planned time, then the time, so that of two the shorter wins."""
            return round(abs(pulses - available_pulses), 6), pulses

        nearest_pulses = min(pulses_by_setting.values(), key=rank)
        candidates = [setting for setting, pulses in pulses_by_setting.items() if pulses == nearest_pulses]
        for preferred in (stored_speed, self._current_setting, SpeedSetting(self._parameters.first_speed)):
            if preferred is not None and preferred in candidates:
                return preferred, nearest_pulses
        return candidates[0], nearest_pulses

    def _write_delay(self) -> Iterator[str]:
        """Yield DELAYs that end just after the planned pulse, so that the next MOVEs start with one pulse."""
        pulses = round(self._planned_pulses) - self._written_pulses
        if pulses < 1:
            return
        # where the program's clock would be after the planned pulse without the delay; below 0 it is early
        self._us_after_pulse += self._parameters.statement_us - round(
            US_PER_S * pulses * self._pulse_period_s
        )
        remaining_ms = max(0, math.ceil(-self._us_after_pulse / US_PER_MS))
        self._written_pulses += pulses
        self._us_after_pulse += US_PER_MS * remaining_ms
        while remaining_ms:
            delay_ms = min(remaining_ms, MAX_INTEGER)
            yield f"DELAY {delay_ms}"
            remaining_ms -= delay_ms

    def losses(self) -> Iterator[str]:
        """Yield what of the motion the routine does not contain; call it after `write_routine`."""
        motion = self.motion
        easings = sorted({keyframe.easing.value for keyframe in motion.keyframes if keyframe.is_curved})
        if easings:
            yield f"easing {', '.join(easings)}: servos move at constant speed"
        stiff_joints = {joint for keyframe in motion.keyframes for joint in keyframe.stiffness or ()}
        if stiff_joints:
            yield f"the stiffness of {', '.join(joint for joint in motion.joints if joint in stiff_joints)}"
        yield from describe_lost_tracks(motion)
        if self.max_time_error_s > self._pulse_period_s + 1e-6:
            yield f"times of keyframes, by up to {self.max_time_error_s:.2g} s: no SPEED gives them"
        if (motion.repeat or 1) > MAX_INTEGER:
            yield f"repetitions: {MAX_INTEGER} instead of {motion.repeat}"
        if motion.next is not None:
            yield f"the next motion, {motion.next!r}"
        if motion.exit is not None:
            yield f"the exit motion, {motion.exit!r}"
        if motion.start is not None:
            yield "the start pose"
