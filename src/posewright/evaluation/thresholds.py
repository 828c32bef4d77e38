"""The thresholds of a robot under gravity: numbers, and why they are what they are."""

from __future__ import annotations

import math
from dataclasses import dataclass

from posewright.recordings.falls import FallLimits

SLACK_S = 1e-9
"""Of times that are whole numbers of frames: rounding [s]."""


@dataclass(frozen=True)
class PhysicsRules:
    """What counts as fallen, tilted, touching, overloaded, sliding and late. All are ours.

    Attributes:
        fall_deg: a base that leans farther than this, with more than its feet on the floor, lies. About as
            far as a referee lets a robot lean; ROBOTIS' own bow leans 68 deg, but on its feet alone.
        side_deg: a base that leans sideways farther than this lies, whatever carries it. An AIBO sits with
            its base 38 deg back, but lies on its side at 45 deg already, propped up by shoulder and paws.
        off_deg: where the author says how the base should be, it lies only if it is farther than this from
            there: a roll onto the back is no fall if the author says so. A robot that turns farther than this
            while it should stand in its first pose falls.
        fall_s: it has fallen if it lies for as long as this: shorter is a stumble.
        turning_deg_s: one that leans over faster than this falls, by less it lies down. ROBOTIS' push-up lies
            down with 86 deg/s, its bow bows with 81; what tips over turns with 200 and more.
        hit_m_s: what comes down faster than this fell, 5 mm or more. The push-up lets its base down with
            0.16 m/s.
        stand_deg: farthest a base may turn while the robot should stand in its first pose. Soft servos let
            a Bioloid sink by 3 deg.
        tilt_deg: farthest a base may be from where its author wanted it. Sony's own sit-to-stand, which
            gives every keyframe an attitude, is never farther than 9 deg.
        lean_deg: where the author does not say, farthest it may be from where it was at first.
        touch_n: parts of the robot that meet harder than this press against each other, else they only touch.
            Half a kilogram: a third of an AIBO.
        harder: what touches in the first pose already is told only if it later presses harder than `touch_n`
            and than this many times its force at first: forces of parts at rest waver, but do not double.
        saturated_s: longest a servo may give all its torque: to start and to stop takes it 0.1 to 0.2 s.
        saturated_share: largest share of the motion's time it may do so.
        torque_share: from this share of its stall torque on a servo gives all it has.
        slip_mm: farthest a foot may slide without being lifted. In ROBOTIS' and Sony's walks, 1 to 4 mm.
        lag_deg: farthest a joint may be behind its command. In ROBOTIS' walks it is 13 deg, in Sony's 22.
        speed_share: from this share of its servo's speed without load on a joint is asked for too much.
        meet_s: what happens twice with less time between happens once.
    """

    fall_deg: float = 60.0
    side_deg: float = 40.0
    off_deg: float = 45.0
    fall_s: float = 0.3
    turning_deg_s: float = 150.0
    hit_m_s: float = 0.3
    stand_deg: float = 10.0
    tilt_deg: float = 15.0
    lean_deg: float = 30.0
    touch_n: float = 5.0
    harder: float = 2.0
    saturated_s: float = 0.25
    saturated_share: float = 1.0 / 3.0
    torque_share: float = 0.99
    slip_mm: float = 15.0
    lag_deg: float = 25.0
    speed_share: float = 1.0
    meet_s: float = 0.1

    def fall_limits(self, frame_s: float, height_share: float = 0.0) -> FallLimits:
        """Return what counts as a fall, each row of a recording standing for one frame of `frame_s`.

        A base lower than `height_share` of its height at first lies, too.
        """
        return FallLimits(
            tilt_rad=math.radians(self.side_deg),
            height_share=height_share,
            lasting_s=self.fall_s - frame_s - SLACK_S,
            bridge_s=self.meet_s + frame_s + SLACK_S,
            ends_down=True,
        )
