"""What a motion does to a robot under gravity: numbers in plain values, and what a person should know."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from posewright.display import Lines, Table, build_line, style_level, table
from posewright.documents.plain import PlainData, PlainMapping, plain_mapping, to_plain
from posewright.evaluation.motion.played import PlayedMotion
from posewright.evaluation.motion.self_collision import MM_PER_M, longest_slips, self_collision, self_contacts
from posewright.evaluation.motion.servo_load import lags, saturations, servo_load
from posewright.evaluation.motion.stability import Fall, falls_of, stability
from posewright.evaluation.thresholds import PhysicsRules
from posewright.motions import Finding, Level
from posewright.recordings import Recording
from posewright.robots import Robot
from posewright.rotation import roll_pitch_yaw

DECIMALS = 6
MOST_JOINTS = 3
"""So many joints are named of those that lag or give all their torque."""


@dataclass(frozen=True, eq=False)
class MotionResult:
    """What a motion does to a robot under gravity; its findings, the worst first."""

    played: PlayedMotion
    rules: PhysicsRules
    falls: tuple[Fall, ...]
    findings: tuple[Finding, ...]

    def __repr__(self) -> str:
        return f"<MotionResult of {self.played.name} on {self.robot.name}: {len(self.findings)} findings>"

    @property
    def recording(self) -> Recording:
        """Everything that happened."""
        return self.played.trajectory.recording

    @property
    def robot(self) -> Robot:
        """Who played it."""
        return self.played.robot

    def figures(self) -> PlainMapping:
        """Return the numbers and the findings, ready for JSON."""
        return {
            "motion": self.played.name,
            "robot": self.robot.name,
            "is_whole": self.played.is_whole,
            **numbers_of(self.played, self.rules, self.falls),
            "recording_digest": self.recording.digest(),
            "findings": [finding_data(finding) for finding in self.findings],
        }

    to_dict = figures

    def lines(self) -> Lines:
        """Yield what was found, a line each, and the numbers."""
        for finding in self.findings:
            yield build_line(style_level(finding.level.value, 7), f" {finding.rule:<8} {finding.message}")
        yield from self.number_lines()

    def number_lines(self) -> Lines:
        """Yield the numbers, a line each."""
        return _number_lines(self.figures())


def evaluate_motion(
    recording: Recording, *, robot: Robot | None = None, rules: PhysicsRules | None = None
) -> MotionResult:
    """Measure a recorded motion: all numbers and findings follow from the recording alone.

    Raises:
        InputError: the recording is of something else, or lacks what is measured.
    """
    played, rules = PlayedMotion.of(recording, robot=robot), rules or PhysicsRules()
    falls = falls_of(played, rules)
    found = (*stability(played, rules, falls), *self_collision(played, rules), *servo_load(played, rules))
    badness = list(Level)
    findings = tuple(sorted(found, key=lambda finding: badness.index(finding.level)))
    return MotionResult(played, rules, falls, findings)


def _number_lines(figures: PlainMapping) -> Lines:
    """Yield the numbers of a motion, a line each."""
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
    late = sorted(figures["lag_deg"].items(), key=lambda lag: -lag[1]["max"])
    lags = [f"{joint} {lag['max']:.0f} deg (rms {lag['rms']:.0f})" for joint, lag in late[:MOST_JOINTS]]
    yield f"  lag           {', '.join(lags)}"
    weak = sorted(figures["saturated"], key=lambda stretch: -stretch["longest_s"])
    longest = [
        f"{stretch['joint']} {stretch['longest_s']:.2f} s ({stretch['share']:.0%})"
        for stretch in weak[:MOST_JOINTS]
    ]
    yield f"  full torque   {', '.join(longest) or 'never'}"


def _contacts_text(contacts: Sequence[PlainMapping]) -> str:
    texts = [
        f"{' and '.join(contact['parts'])} at {contact['time_s']:.2f} s ({contact['force_n']:.0f} N)"
        for contact in contacts
    ]
    return ", ".join(texts) or "none"


def physics_table(figures: Iterable[tuple[int, PlainMapping]]) -> Table:
    """Return one row a motion, what is worth comparing, from pages and what `figures` returns of each."""
    columns = ("page", "name", "played s", "way m", "falls", "tilt deg", "touches", "slip mm", "lag deg")
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
    """Return a finding, ready for JSON."""
    data = plain_mapping(finding)
    del data["keyframes"]
    return data


def numbers_of(played: PlayedMotion, rules: PhysicsRules, falls: Sequence[Fall]) -> PlainMapping:
    """Return everything measured, ready for JSON; times are seconds since the motion began."""
    return {
        "played_s": played.ends_s,
        "settled_s": -_round(played.times[0] - played.frame_s) if played.begin else 0.0,
        "held_s": _round(played.times[-1] - played.ends_s),
        "falls": [to_plain(fall) for fall in falls],
        "travel": _travel(played),
        **_attitude(played),
        "self_contacts": [
            {
                "parts": list(contact.parts),
                **_moment(played, contact.frame),
                **_rounded(contact, "depth_mm", "force_n", "total_s"),
                "at_first": contact.at_first,
                "first_n": _round(contact.first_n),
            }
            for contact in self_contacts(played)
        ],
        "saturated": [
            {
                "joint": stretch.joint,
                **_moment(played, stretch.begin),
                **_rounded(stretch, "longest_s", "share"),
            }
            for stretch in saturations(played, rules)
        ],
        "slip_mm": _slips(played),
        "lag_deg": {
            lag.joint: {"max": _round(lag.max_deg), "rms": _round(lag.rms_deg), **_moment(played, lag.frame)}
            for lag in lags(played)
        },
    }


def _travel(played: PlayedMotion) -> dict[str, PlainData]:
    """Return how far the base went from the motion's beginning to its end, seen from where it began."""
    track, begin, end = played.trajectory, played.begin, played.end
    (x, y), yaw = track.base[end, :2] - track.base[begin, :2], float(track.yaw[begin])
    distance_m = math.hypot(x, y)
    return {
        "distance_m": _round(distance_m),
        "forward_m": _round(math.cos(yaw) * x + math.sin(yaw) * y),
        "left_m": _round(math.cos(yaw) * y - math.sin(yaw) * x),
        "turn_deg": _round(math.degrees(float(track.yaw[end]) - yaw)),
        "speed_m_s": _round(distance_m / played.ends_s) if end > begin else 0.0,
    }


def _attitude(played: PlayedMotion) -> dict[str, PlainData]:
    worst = played.begin + int(played.lean[played.begin :].argmax())
    at_first = max(0, played.begin - 1)
    roll, pitch, _ = np.degrees(roll_pitch_yaw(played.record.base[at_first, 3:])).tolist()
    return {
        "first_attitude_deg": {"roll": _round(roll), "pitch": _round(pitch)},
        "first_tilt_deg": _round(played.lean[at_first]),
        "max_tilt_deg": _round(played.lean[worst]),
        "max_tilt": {**_moment(played, worst), "side": played.way_of_leaning(worst)},
        "last_tilt_deg": _round(played.lean[-1]),
        "max_off_deg": _round(played.off[played.begin :].max()),
        "author_says_attitude": played.wanted is not None,
    }


def _slips(played: PlayedMotion) -> dict[str, PlainData]:
    """Return of each foot how far it slid: over the whole motion, and longest without being lifted."""
    total = played.slips[played.begin :].sum(axis=0) * MM_PER_M
    longest = {slip.foot: slip for slip in longest_slips(played)}
    return {
        foot: {"total": _round(way), "longest": _round(longest[foot].way_mm) if foot in longest else 0.0}
        for foot, way in zip(played.robot.feet, total, strict=True)
    }


def _moment(played: PlayedMotion, frame: int) -> dict[str, PlainData]:
    return {"time_s": _round(played.times[frame]), "keyframe": int(played.keyframes[frame])}


def _rounded(row: object, *names: str) -> dict[str, PlainData]:
    return {name: _round(getattr(row, name)) for name in names}


def _round(value: float) -> float:
    return round(float(value), DECIMALS) + 0.0
