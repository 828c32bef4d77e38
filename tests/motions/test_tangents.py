"""A keyframe's tangents set the speed at which a joint goes through it on a spline."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline

from posewright.errors import DocumentError
from posewright.formats import native, read_motion, write_motion
from posewright.hazards import find_faults
from posewright.motions import (
    Easing,
    Keyframe,
    Motion,
    Pose,
    Tangent,
    check_design_rules,
    mirror_motion,
    retarget_motion,
    reverse_motion,
    straighten_motion,
)
from posewright.robots import robot

BIOLOID = robot("robotis_bioloid")
JOINTS = ("left_elbow", "right_elbow")
ANGLES = (0.0, 0.4, -0.2, 0.3)
TIMES_S = (0.5, 0.9, 1.5)
"""When the keyframes are reached."""

SLOPES = (0.0, 0.8, -1.1, 0.2)
"""Speeds of the left elbow at the start and at the keyframes [rad/s]."""


def frame(
    angle: float, reach_s: float, tangents: dict[str, Tangent] | None = None, **more: float
) -> Keyframe:
    pose = Pose.of(JOINTS, {"left_elbow": angle, "right_elbow": -angle})
    return Keyframe(pose, reach_s, easing=Easing.PCHIP, tangents=tangents, **more)


def curved(repeat: int | None = 1) -> Motion:
    """Return a motion of splines with tangents at its keyframes."""
    reaches_s = np.diff((0.0, *TIMES_S))
    frames = tuple(
        frame(angle, reach_s, {"left_elbow": Tangent(slope, slope)})
        for angle, reach_s, slope in zip(ANGLES[1:], reaches_s.tolist(), SLOPES[1:], strict=True)
    )
    start = Pose.of(JOINTS, {"left_elbow": ANGLES[0], "right_elbow": -ANGLES[0]})
    return Motion("curved", BIOLOID.name, JOINTS, frames, repeat=repeat, start=start, card=BIOLOID)


def test_the_curve_is_the_cubic_hermite_spline_of_scipy_between_keyframes_with_tangents() -> None:
    reference = CubicHermiteSpline(TIMES_S, ANGLES[1:], SLOPES[1:])
    times = np.linspace(TIMES_S[0], TIMES_S[-1], 200)
    assert curved().sample_at(times).angles[:, 0] == pytest.approx(reference(times), abs=1e-12)


def test_a_joint_without_tangents_goes_as_computed() -> None:
    motion = curved()
    plain = Motion(
        "plain",
        BIOLOID.name,
        JOINTS,
        tuple(Keyframe(one.pose, one.reach_s, easing=Easing.PCHIP) for one in motion.keyframes),
        start=motion.start,
    )
    times = np.linspace(0.0, motion.duration, 100)
    assert (motion.sample_at(times).angles[:, 1] == plain.sample_at(times).angles[:, 1]).all()
    assert not np.allclose(motion.sample_at(times).angles[:, 0], plain.sample_at(times).angles[:, 0])


def test_a_loop_leaves_its_last_keyframe_by_the_tangent_and_a_pause_has_a_speed_at_each_side() -> None:
    arriving, leaving = curved(repeat=3).spline_tangents()
    assert arriving[:, 0] == pytest.approx(SLOPES[1:])
    assert leaving[:, 0] == pytest.approx(SLOPES[1:])
    assert math.isnan(curved().spline_tangents()[1][-1, 0]), "nothing follows"
    frames = (frame(0.4, 0.5, {"left_elbow": Tangent(0.3, -0.6)}, pause_s=0.2), frame(-0.2, 0.5))
    motion = Motion("pausing", BIOLOID.name, JOINTS, frames)
    step_s = 1e-5
    before, arrived = motion.sample_at(np.array([0.5 - step_s, 0.5])).angles[:, 0]
    left, after = motion.sample_at(np.array([0.7, 0.7 + step_s])).angles[:, 0]
    assert (arrived - before) / step_s == pytest.approx(0.3, abs=1e-3)
    assert (after - left) / step_s == pytest.approx(-0.6, abs=1e-3)


def test_mirrored_reversed_and_retargeted_curves_are_the_curve() -> None:
    motion = curved()
    times = np.linspace(TIMES_S[0], TIMES_S[-1], 50)
    angles = motion.sample_at(times).angles
    mirrored = mirror_motion(motion, BIOLOID).sample_at(times).angles
    sign = next(pair.sign for pair in BIOLOID.mirror_pairs if "left_elbow" in (pair.left, pair.right))
    assert mirrored[:, 1] == pytest.approx(sign * angles[:, 0])
    back = reverse_motion(motion).sample_at(motion.duration - times).angles
    assert back[:, 0] == pytest.approx(angles[:, 0], abs=1e-12)
    other = retarget_motion(motion, BIOLOID).motion  # its joints are in the robot's order
    column = other.joints.index("left_elbow")
    assert other.sample_at(times).angles[:, column] == pytest.approx(angles[:, 0])
    pieces = straighten_motion(motion, step_s=0.01)
    assert all(one.tangents is None for one in pieces.keyframes)
    assert pieces.sample_at(times).angles == pytest.approx(angles, abs=2e-3)


def test_limits_and_speeds_are_those_of_the_curve_not_of_the_keyframes() -> None:
    """The cubic from 0 to 0 in 1 s that leaves at 16 rad/s has its peak at 4/27 of 16 rad: 135.8 degrees."""
    away = {"left_elbow": Tangent(0.0, 16.0)}
    frames = (frame(0.0, 0.5, away), frame(0.0, 1.0))
    motion = Motion("swing", BIOLOID.name, JOINTS, frames, card=BIOLOID)
    (fault,) = [fault for fault in find_faults(motion, BIOLOID) if "limit" in fault]
    assert fault.startswith("on the way into keyframe 2: left_elbow is commanded to 135.")
    fast = (frame(0.0, 0.5, {"left_elbow": Tangent(0.0, 60.0)}), frame(0.0, 0.2))
    findings = check_design_rules(Motion("fast", BIOLOID.name, JOINTS, fast, card=BIOLOID), BIOLOID)
    speed = next(finding for finding in findings if finding.rule == "speed")
    assert speed.level.value == "error", "it is too fast all the way"


def test_tangents_are_kept_in_the_document_and_lost_elsewhere_with_the_curve(tmp_path: Path) -> None:
    path = tmp_path / "curved.motion.yaml"
    write_motion(curved(), path)
    text = path.read_text()
    written = f"{{left_elbow: {round(math.degrees(0.8), 9)}}}"
    assert f"tangents_deg_s: {written}" in text
    assert [one.tangents for one in read_motion(path).keyframes] == [
        {"left_elbow": pytest.approx(one.tangents["left_elbow"], abs=1e-6)}
        for one in curved().keyframes
        if one.tangents
    ]
    two_sided = text.replace(written, f"{{left_elbow: [{math.degrees(0.8)}, 0]}}")
    assert native.read(two_sided.encode(), card=BIOLOID).keyframes[0].tangents == {
        "left_elbow": pytest.approx(Tangent(0.8, 0.0), abs=1e-6)
    }
    for broken, message in (("[1, 2, 3]", "3 speeds"), ("fast", "number"), ("{}", "number")):
        with pytest.raises(DocumentError, match=message):
            native.read(text.replace(written, f"{{left_elbow: {broken}}}").encode(), card=BIOLOID)
    with pytest.raises(Exception, match="pchip"):
        write_motion(read_motion(path), tmp_path / "curved.mtn")
