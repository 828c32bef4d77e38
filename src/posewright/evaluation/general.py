"""What can be said of any recording: how long, how far, how fast, how upright, how hard for the joints."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from posewright.display import Lines, table
from posewright.documents.plain import PlainData
from posewright.evaluation.motion import played
from posewright.evaluation.motion.report import MotionResult, evaluate_motion
from posewright.evaluation.thresholds import PhysicsRules
from posewright.evaluation.trajectory import Trajectory
from posewright.evaluation.walking import walk
from posewright.evaluation.walking.figures import walk_lines
from posewright.evaluation.walking.report import WalkResult, evaluate_walk, figure_data
from posewright.recordings import Recording
from posewright.recordings.falls import describe_direction
from posewright.recordings.plausibility import require_plausible
from posewright.robots import Robot


@dataclass(frozen=True, kw_only=True)
class RobotFigures:
    """What one robot of a recording did; None where nobody knew.

    The way is its base's over the ground, the distance straight from first to last place; `turned_deg` counts
    whole turns, to the left. One that sits or lies down has not fallen: `Trajectory.tip_overs`. Ratios are of
    the card's greatest speed and of the stall torque.
    """

    robot: str
    controller: str
    path_m: float | None = None
    distance_m: float | None = None
    mean_speed_m_s: float | None = None
    turned_deg: float | None = None
    falls: int | None = None
    fall_times_s: tuple[float, ...] = ()
    fall_sides: tuple[str, ...] = ()
    max_tilt_deg: float | None = None
    max_joint_speed_ratio: float | None = None
    fastest_joint: str | None = None
    max_torque_ratio: float | None = None
    hardest_joint: str | None = None
    faults: Mapping[str, int]


@dataclass(frozen=True, eq=False)
class RunResult:
    """What can be said of any recording; of each robot by its name there."""

    recording: Recording
    robots: Mapping[str, RobotFigures]

    def __repr__(self) -> str:
        return f"<RunResult of {', '.join(self.robots)}>"

    def figures(self) -> dict[str, PlainData]:
        """Return everything as plain data, fit for JSON."""
        header, times = self.recording.header, self.recording.times
        return {
            "contest": header.contest or None,
            "seed": header.seed,
            "duration_s": figure_data(float(times[-1])) if len(times) else 0.0,
            "rate_hz": figure_data(header.rate_hz),
            "events": dict(Counter(event.kind for event in self.recording.events)),
            "robots": {name: figure_data(figures) for name, figures in self.robots.items()},
            "recording_digest": self.recording.digest(),
        }

    def lines(self) -> Lines:
        """Yield the figures as a table, one column a robot."""
        times = self.recording.times
        contest = self.recording.header.contest or "recording"
        title = f"{contest}, {times[-1] if len(times) else 0.0:.1f} s"
        columns = [_texts(figures) for figures in self.robots.values()]
        rows = ((name, *(column[name] for column in columns)) for name in columns[0])
        yield table(("", *self.robots), rows, title=title, text_columns=("",))


def _texts(figures: RobotFigures) -> dict[str, str]:
    """Return the figures of a robot as people read them, by what each is called."""

    def text(value: float | None, form: str) -> str:
        return "-" if value is None else form.format(value)

    faults = ", ".join(f"{count} x {kind}" for kind, count in figures.faults.items())
    times = "".join(
        f" {side} at {at:.2f} s" for side, at in zip(figures.fall_sides, figures.fall_times_s, strict=True)
    )
    return {
        "controller": figures.controller or "-",
        "way": text(figures.path_m, "{:.2f} m"),
        "from first to last place": text(figures.distance_m, "{:.2f} m"),
        "mean speed": text(figures.mean_speed_m_s, "{:.3f} m/s"),
        "turned": text(figures.turned_deg, "{:.0f} deg"),
        "falls": text(figures.falls, "{:d}") + times,
        "greatest tilt": text(figures.max_tilt_deg, "{:.1f} deg"),
        "joint speed / the card's": text(figures.max_joint_speed_ratio, f"{{:.2f}} {figures.fastest_joint}"),
        "torque / stall torque": text(figures.max_torque_ratio, f"{{:.2f}} {figures.hardest_joint}"),
        "faults": faults or "none",
    }


def result_lines(result: WalkResult | MotionResult | RunResult) -> Lines:
    """Return what `evaluate` returned as lines and tables for people."""
    if isinstance(result, WalkResult):
        return walk_lines(result, f"{result.walk.terms.body} body")
    return result.lines()


def evaluate(recording: Recording, *, robot: Robot | None = None) -> WalkResult | MotionResult | RunResult:
    """Measure a recording as what it is of: a gait's walk, a motion, or anything else.

    The card `robot` is needed where it is one that does not ship.

    Raises:
        InputError: the recording lacks what is measured.
        UnknownNameError: the robot's card does not ship.
    """
    require_plausible(recording)
    if walk.EXTRAS in recording.header.extras:
        return evaluate_walk(recording, robot=robot)
    if played.EXTRAS in recording.header.extras:
        return evaluate_motion(recording, robot=robot)
    return evaluate_run(recording, robot=robot)


def evaluate_run(recording: Recording, *, robot: Robot | None = None) -> RunResult:
    """Measure what can be said of any recording; see `evaluate`."""
    return RunResult(recording, {name: _figures(recording, name, robot) for name in recording.robots})


def _figures(recording: Recording, name: str, robot: Robot | None) -> RobotFigures:
    track = Trajectory.of(recording, name, robot=robot)
    header, several = track.record.header, len(recording.robots) > 1
    faults = Counter(
        str(event.data.get("fault"))
        for event in recording.events_of("fault")
        if not several or event.data.get("robot") == name
    )
    figures = RobotFigures(robot=header.robot, controller=header.controller, faults=dict(faults))
    return _with_joints(_with_travel(figures, track), track) if track.last else figures


def _with_travel(figures: RobotFigures, track: Trajectory) -> RobotFigures:
    """Return the figures with the way of the base, where it is known."""
    if not track.knows_place:
        return figures
    path_m, seconds = float(track.way_m.sum()), float(track.times[-1] - track.times[0])
    falls = track.tip_overs(PhysicsRules())
    return replace(
        figures,
        path_m=path_m,
        distance_m=float(np.linalg.norm(track.base[-1, :2] - track.base[0, :2])),
        mean_speed_m_s=path_m / seconds if seconds else None,
        turned_deg=math.degrees(float(track.yaw[-1] - track.yaw[0])),
        falls=len(falls),
        fall_times_s=tuple(fall.since_s for fall in falls),
        fall_sides=tuple(describe_direction(-track.up[fall.begin]) for fall in falls),
        max_tilt_deg=float(track.tilt_deg.max()),
    )


def _with_joints(figures: RobotFigures, track: Trajectory) -> RobotFigures:
    """Return the figures with the fastest and the hardest joint; NaN, where nobody measured, is left out."""
    speeds = np.nan_to_num(track.speeds(track.positions)).max(axis=0) / track.robot.max_speeds
    efforts, joints = track.record.efforts, track.robot.joint_names
    fastest = int(speeds.argmax())
    figures = replace(figures, max_joint_speed_ratio=float(speeds[fastest]), fastest_joint=joints[fastest])
    if not np.isfinite(efforts).any():
        return figures
    torques = np.nan_to_num(np.abs(efforts)).max(axis=0) / track.stall_nm
    hardest = int(torques.argmax())
    return replace(figures, max_torque_ratio=float(torques[hardest]), hardest_joint=joints[hardest])
