"""The result of playing a motion under gravity: figures and findings."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from posewright.display import Lines, Table, build_line, style_level, table
from posewright.documents.plain import PlainData, PlainMapping, plain_mapping, to_plain
from posewright.evaluation.motion.played_motion import PlayedMotion
from posewright.evaluation.motion.self_collision import MM_PER_M, longest_slips, self_collision, self_contacts
from posewright.evaluation.motion.servo_load import joint_lags, saturations, servo_load
from posewright.evaluation.motion.stability import Fall, falls_of, stability
from posewright.evaluation.thresholds import PhysicsRules
from posewright.motions import Finding, Level
from posewright.recordings import Recording
from posewright.robots import Robot
from posewright.rotation import roll_pitch_yaw

DECIMALS = 6
"""Figures are rounded to this many decimals."""

MAX_NAMED_JOINTS = 3
"""Number of joints named in the lines about lags and full torque."""


@dataclass(frozen=True, eq=False)
class MotionResult:
    """The result of playing a motion under gravity.

    Attributes:
        played_motion: the motion as executed.
        rules: thresholds of the findings.
        falls: the falls in the order of time.
        findings: the worst first.
    """

    played_motion: PlayedMotion
    rules: PhysicsRules
    falls: tuple[Fall, ...]
    findings: tuple[Finding, ...]

    def __repr__(self) -> str:
        return (
            f"<MotionResult of {self.played_motion.name} on {self.robot.name}: {len(self.findings)} findings>"
        )

    @property
    def recording(self) -> Recording:
        """The recording of the run."""
        return self.played_motion.trajectory.recording

    @property
    def robot(self) -> Robot:
        """Card of the robot."""
        return self.played_motion.robot

    def figures(self) -> PlainMapping:
        """Return figures and findings as plain data for JSON."""
        return {
            "motion": self.played_motion.name,
            "robot": self.robot.name,
            "is_whole": self.played_motion.is_complete,
            **measure_motion(self.played_motion, self.rules, self.falls),
            "recording_digest": self.recording.digest(),
            "findings": [finding_data(finding) for finding in self.findings],
        }

    to_dict = figures

    def lines(self) -> Lines:
        """Yield the findings, one per line, and the figures."""
        for finding in self.findings:
            level = style_level(finding.level.value, width=7)
            yield build_line(level, f" {finding.rule:<8} {finding.message}")
        yield from self.number_lines()

    def number_lines(self) -> Lines:
        """Yield the figures, one per line."""
        return _figure_lines(self.figures())


def evaluate_motion(
    recording: Recording, *, robot: Robot | None = None, rules: PhysicsRules | None = None
) -> MotionResult:
    """Return figures and findings of a recorded motion. They depend on the recording alone.

    Args:
        recording: made by `motion check --physics` or `try_motion`.
        robot: the recorded robot; required unless it ships with Posewright.
        rules: thresholds; by default those of `PhysicsRules`.

    Raises:
        InputError: the recording is not one of a motion, or lacks frames, contacts or slips.
    """
    played = PlayedMotion.of(recording, robot=robot)
    rules = rules or PhysicsRules()
    falls = falls_of(played, rules)
    findings = [*stability(played, rules, falls), *self_collision(played, rules), *servo_load(played, rules)]
    levels = list(Level)
    findings.sort(key=lambda finding: levels.index(finding.level))
    return MotionResult(played, rules, falls, findings=tuple(findings))


def _figure_lines(figures: PlainMapping) -> Lines:
    """Yield the figures of a motion, as returned by `MotionResult.figures`, one per line."""
    yield f"{figures['motion']} under gravity, {figures['played_s']:.2f} s:"
    falls = ", ".join(f"{fall['side']} at {fall['time_s']:.2f} s" for fall in figures["falls"])
    yield f"  falls         {falls or 'none'}"
    travel = figures["travel"]
    yield (
        f"  distance      {travel['distance_m']:.3f} m at {travel['speed_m_s']:.3f} m/s: "
        f"{travel['forward_m']:+.3f} m forward, {travel['left_m']:+.3f} m left, "
        f"turned {travel['turn_deg']:+.0f} deg"
    )
    tilt = figures["max_tilt"]
    yield (
        f"  tilt          {figures['first_tilt_deg']:.0f} deg at the start, "
        f"at most {figures['max_tilt_deg']:.0f} {tilt['side']} at {tilt['time_s']:.2f} s, "
        f"{figures['last_tilt_deg']:.0f} at the end"
    )
    yield f"  self-contact  {_contacts_text(figures['self_contacts'])}"
    slips = [f"{foot} {slip['longest']:.0f} mm" for foot, slip in figures["slip_mm"].items()]
    yield f"  slip          {', '.join(slips)}"
    lags = figures["lag_deg"]
    joints_by_lag = sorted(lags, key=lambda joint: -lags[joint]["max"])
    lag_texts = [
        f"{joint} {lags[joint]['max']:.0f} deg (rms {lags[joint]['rms']:.0f})"
        for joint in joints_by_lag[:MAX_NAMED_JOINTS]
    ]
    yield f"  lag           {', '.join(lag_texts)}"
    saturations = sorted(figures["saturated"], key=lambda saturation: -saturation["longest_s"])
    saturation_texts = [
        f"{saturation['joint']} {saturation['longest_s']:.2f} s ({saturation['share']:.0%})"
        for saturation in saturations[:MAX_NAMED_JOINTS]
    ]
    yield f"  full torque   {', '.join(saturation_texts) or 'never'}"


def _contacts_text(contacts: Sequence[PlainMapping]) -> str:
    texts = [
        f"{' and '.join(contact['parts'])} at {contact['time_s']:.2f} s ({contact['force_n']:.0f} N)"
        for contact in contacts
    ]
    return ", ".join(texts) or "none"


def physics_table(figures: Iterable[tuple[int, PlainMapping]]) -> Table:
    """Return a table that compares motions, one row each.

    Args:
        figures: number of each motion's page in its file, and its figures as `MotionResult.figures` returns
            them, with units in the names of their keys.
    """
    columns = ("page", "name", "played s", "travel m", "falls", "tilt deg", "touches", "slip mm", "lag deg")
    rows = [
        (
            page,
            motion["motion"],
            f"{motion['played_s']:.2f}",
            f"{motion['travel']['distance_m']:.2f}",
            len(motion["falls"]) or "",
            f"{motion['max_tilt_deg']:.0f}",
            len(motion["self_contacts"]) or "",
            f"{max((slip['longest'] for slip in motion['slip_mm'].values()), default=0.0):.0f}",
            f"{max((lag['max'] for lag in motion['lag_deg'].values()), default=0.0):.0f}",
        )
        for page, motion in figures
    ]
    return table(columns, rows, text_columns=("name",))


def finding_data(finding: Finding) -> dict[str, PlainData]:
    """Return a finding as plain data for JSON."""
    data = plain_mapping(finding)
    del data["keyframes"]
    return data


def measure_motion(played: PlayedMotion, rules: PhysicsRules, falls: Sequence[Fall]) -> PlainMapping:
    """Return the figures of a motion as plain data for JSON; times are since the motion began [s].

    `settled_s` is how long the robot stood in the first pose before, `held_s` how long in the last one after.
    """
    recording_start_s = played.times[0] - played.frame_s  # negative: it settled first
    return {
        "played_s": played.duration_s,
        "settled_s": -_round(recording_start_s) if played.first_frame else 0.0,
        "held_s": _round(played.times[-1] - played.duration_s),
        "falls": [to_plain(fall) for fall in falls],
        "travel": _travel_data(played),
        **_attitude_data(played),
        "self_contacts": [
            {
                "parts": list(contact.parts),
                **_time_data(played, contact.first_frame),
                "depth_mm": _round(contact.depth_mm),
                "force_n": _round(contact.force_n),
                "total_s": _round(contact.total_s),
                "at_first": contact.touches_in_first_pose,
                "first_n": _round(contact.first_pose_force_n),
            }
            for contact in self_contacts(played)
        ],
        "saturated": [
            {
                "joint": saturation.joint,
                **_time_data(played, saturation.first_frame),
                "longest_s": _round(saturation.longest_s),
                "share": _round(saturation.share),
            }
            for saturation in saturations(played, rules)
        ],
        "slip_mm": _slip_data(played),
        "lag_deg": {
            lag.joint: {
                "max": _round(lag.max_deg),
                "rms": _round(lag.rms_deg),
                **_time_data(played, lag.worst_frame),
            }
            for lag in joint_lags(played)
        },
    }


def _travel_data(played: PlayedMotion) -> dict[str, PlainData]:
    """Return the displacement of the base over the motion, in the frame in which it began."""
    trajectory = played.trajectory
    begin = played.first_frame
    end = played.end_frame
    x, y = trajectory.base[end, :2] - trajectory.base[begin, :2]
    yaw = float(trajectory.yaw[begin])
    distance_m = math.hypot(x, y)
    return {
        "distance_m": _round(distance_m),
        "forward_m": _round(math.cos(yaw) * x + math.sin(yaw) * y),
        "left_m": _round(math.cos(yaw) * y - math.sin(yaw) * x),
        "turn_deg": _round(math.degrees(float(trajectory.yaw[end]) - yaw)),
        "speed_m_s": _round(distance_m / played.duration_s) if end > begin else 0.0,
    }


def _attitude_data(played: PlayedMotion) -> dict[str, PlainData]:
    """Return the attitude before the motion, and the greatest and last tilts."""
    frame_before = max(0, played.first_frame - 1)
    tilted_frame = played.first_frame + int(played.tilt_deg[played.first_frame :].argmax())
    roll, pitch, _ = np.degrees(roll_pitch_yaw(played.record.base[frame_before, 3:])).tolist()
    return {
        "first_attitude_deg": {"roll": _round(roll), "pitch": _round(pitch)},
        "first_tilt_deg": _round(played.tilt_deg[frame_before]),
        "max_tilt_deg": _round(played.tilt_deg[tilted_frame]),
        "max_tilt": {**_time_data(played, tilted_frame), "side": played.tilt_direction(tilted_frame)},
        "last_tilt_deg": _round(played.tilt_deg[-1]),
        "max_off_deg": _round(played.attitude_error_deg[played.first_frame :].max()),
        "author_says_attitude": played.intended_attitude is not None,
    }


def _slip_data(played: PlayedMotion) -> dict[str, PlainData]:
    """Return the distance that each foot slid, in total and at most without being lifted [mm]."""
    totals_mm = played.slips_m[played.first_frame :].sum(axis=0) * MM_PER_M
    longest_mm = {slip.foot: slip.distance_mm for slip in longest_slips(played)}
    return {
        foot: {"total": _round(total_mm), "longest": _round(longest_mm.get(foot, 0.0))}
        for foot, total_mm in zip(played.robot.feet, totals_mm, strict=True)
    }


def _time_data(played: PlayedMotion, frame: int) -> dict[str, PlainData]:
    return {"time_s": _round(played.times[frame]), "keyframe": int(played.keyframe_numbers[frame])}


def _round(value: float) -> float:
    """Round a figure; -0.0 becomes 0.0."""
    return round(float(value), DECIMALS) + 0.0
