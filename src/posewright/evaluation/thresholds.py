"""Thresholds for findings about a motion under gravity, with the reason for each."""

from __future__ import annotations

import math
from dataclasses import dataclass

from posewright.recordings.falls import FALL_SIDEWAYS_DEG, FALL_TILT_DEG, FallLimits

SLACK_S = 1e-9
"""Tolerance for rounding in times that are multiples of a frame [s]."""


@dataclass(frozen=True)
class PhysicsRules:
    """What counts as fallen, tilted, touching, overloaded, sliding and late. The values are our choice.

    A base is *down* if it is tilted beyond one of the first two limits. A robot *falls* if it is down for
    `min_fall_s`.

    Attributes:
        fall_tilt_deg: tilt beyond which a base is down if other parts than the feet are on the floor. About
            the tilt at which a referee intervenes; ROBOTIS' own bow reaches 68 deg, but on its feet.
        fall_sideways_deg: sideways tilt beyond which a base is down, whatever supports it. An AIBO sits with
            its base 38 deg back, but at 45 deg to a side it lies, propped up by shoulder and paws.
        fall_attitude_error_deg: if the author states attitudes, a base is down only if it is farther than
            this from the stated one, so a roll onto the back may be intended. A robot that turns farther than
            this in its first pose falls.
        min_fall_s: shortest time of a fall; anything shorter is a stumble.
        fall_tilting_deg_s: speed of tilting beyond which a robot falls; more slowly it lies down. ROBOTIS'
            push-up lies down at 86 deg/s and its bow reaches 81; robots that tip over reach 200 and more.
        fall_descent_m_s: speed of a descent, of 5 mm or more, beyond which it is a fall. The push-up lowers
            its base at 0.16 m/s.
        max_settling_deg: greatest change of attitude while the robot should stand in its first pose. Soft
            servos let a Bioloid sink by 3 deg.
        max_attitude_error_deg: greatest difference between a base and the attitude its author states. Sony's
            own sit-to-stand, which states an attitude in every keyframe, stays within 9 deg.
        max_tilt_increase_deg: greatest increase of the tilt since the first pose if the author states no
            attitudes.
        press_force_n: force beyond which two parts of the robot press against each other instead of just
            touching. Half a kilogram, a third of an AIBO.
        max_force_ratio: parts that touch in the first pose are a finding only if their force later exceeds
            `press_force_n` and this multiple of the first force, because forces of parts at rest vary, but do
            not double.
        max_saturated_s: longest time a servo may give its full torque; starting and stopping takes 0.1 to 0.2
            s.
        max_saturated_share: largest share of the motion's time a servo may give its full torque.
        full_torque_share: share of the stall torque from which on a torque counts as full.
        max_slip_mm: greatest distance a foot may slide without being lifted. 1 to 4 mm in ROBOTIS' and Sony's
            walks.
        max_lag_deg: greatest difference between a joint and its command. 13 deg in ROBOTIS' walks, 22 in
            Sony's.
        max_speed_share: share of the no-load speed from which on a commanded speed is too high.
        bridge_s: two times down with less time between them count as one fall.
    """

    fall_tilt_deg: float = FALL_TILT_DEG
    fall_sideways_deg: float = FALL_SIDEWAYS_DEG
    fall_attitude_error_deg: float = 45.0
    min_fall_s: float = 0.3
    fall_tilting_deg_s: float = 150.0
    fall_descent_m_s: float = 0.3
    max_settling_deg: float = 10.0
    max_attitude_error_deg: float = 15.0
    max_tilt_increase_deg: float = 30.0
    press_force_n: float = 5.0
    max_force_ratio: float = 2.0
    max_saturated_s: float = 0.25
    max_saturated_share: float = 1.0 / 3.0
    full_torque_share: float = 0.99
    max_slip_mm: float = 15.0
    max_lag_deg: float = 25.0
    max_speed_share: float = 1.0
    bridge_s: float = 0.1

    def fall_limits(self, frame_s: float, height_share: float = 0.0) -> FallLimits:
        """Return the limits of a fall for a detector.

        It measures from the first to the last row that is down, a frame less than the time down, and the time
        between two falls a frame more.

        Args:
            frame_s: time from row to row of the recording [s].
            height_share: a base lower than this share of its first height is down, too.
        """
        return FallLimits(
            tilt_rad=math.radians(self.fall_sideways_deg),
            height_share=height_share,
            lasting_s=self.min_fall_s - frame_s - SLACK_S,
            bridge_s=self.bridge_s + frame_s + SLACK_S,
            ends_down=True,
        )
