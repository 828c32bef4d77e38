"""Figures of any recording: travel, falls and tilt of each robot, and loads of its joints."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from posewright.display import Lines, table
from posewright.documents.plain import PlainData
from posewright.evaluation.motion import played_motion
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
    """Figures of one robot of a recording; None if unknown.

    Attributes:
        robot: name of its card.
        controller: as in the recording's header.
        path_m: length of the base's path over the ground [m].
        distance_m: straight from its first to its last position [m].
        mean_speed_m_s: along the path [m/s].
        turned_deg: to the left, including whole turns [deg].
        falls: number of falls as by `Trajectory.tip_overs`: sitting or lying down is none.
        fall_times_s: their times [s].
        fall_sides: their directions.
        max_tilt_deg: greatest tilt of the base [deg].
        max_joint_speed_ratio: greatest joint speed as a share of the card's greatest speed.
        fastest_joint: the joint of that speed.
        max_torque_ratio: greatest torque as a share of the stall torque.
        hardest_joint: the joint of that torque.
        faults: number of faults by kind.
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
    """Figures of any recording.

    Attributes:
        recording: the recording.
        robots: figures of each robot, by its name in the recording.
    """

    recording: Recording
    robots: Mapping[str, RobotFigures]

    def __repr__(self) -> str:
        return f"<RunResult of {', '.join(self.robots)}>"

    def figures(self) -> dict[str, PlainData]:
        """Return all figures as plain data for JSON."""
        header = self.recording.header
        times = self.recording.times
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
        """Yield the figures as a table with one column per robot."""
        times = self.recording.times
        contest = self.recording.header.contest or "recording"
        title = f"{contest}, {times[-1] if len(times) else 0.0:.1f} s"
        columns = [_format_figures(figures) for figures in self.robots.values()]
        rows = [(label, *(column[label] for column in columns)) for label in columns[0]]
        yield table(("", *self.robots), rows, title=title, text_columns=("",))


def _format_figures(figures: RobotFigures) -> dict[str, str]:
    """Return the figures of a robot as texts, by label."""

    def format_value(value: float | None, template: str) -> str:
        return "-" if value is None else template.format(value)

    faults = ", ".join(f"{count} x {kind}" for kind, count in figures.faults.items())
    falls = "".join(
        f" {side} at {time_s:.2f} s"
        for side, time_s in zip(figures.fall_sides, figures.fall_times_s, strict=True)
    )
    return {
        "controller": figures.controller or "-",
        "path": format_value(figures.path_m, "{:.2f} m"),
        "distance, start to end": format_value(figures.distance_m, "{:.2f} m"),
        "mean speed": format_value(figures.mean_speed_m_s, "{:.3f} m/s"),
        "turned": format_value(figures.turned_deg, "{:.0f} deg"),
        "falls": format_value(figures.falls, "{:d}") + falls,
        "greatest tilt": format_value(figures.max_tilt_deg, "{:.1f} deg"),
        "joint speed / the card's": format_value(
            figures.max_joint_speed_ratio, f"{{:.2f}} {figures.fastest_joint}"
        ),
        "torque / stall torque": format_value(figures.max_torque_ratio, f"{{:.2f}} {figures.hardest_joint}"),
        "faults": faults or "none",
    }


def result_lines(result: WalkResult | MotionResult | RunResult) -> Lines:
    """Return a result of `evaluate` as lines and tables for the terminal."""
    if isinstance(result, WalkResult):
        return walk_lines(result, f"{result.walk.settings.body} body")
    return result.lines()


def evaluate(recording: Recording, *, robot: Robot | None = None) -> WalkResult | MotionResult | RunResult:
    """Return the figures of a recording: those of a walk, of a motion, or else the general ones.

    Args:
        recording: the recording of any kind.
        robot: the recorded robot; required unless it ships with Posewright.

    Raises:
        InputError: the recording is impossible, or lacks data that its figures need.
        UnknownNameError: the robot's card does not ship.
    """
    require_plausible(recording)
    if walk.EXTRAS in recording.header.extras:
        return evaluate_walk(recording, robot=robot)
    if played_motion.EXTRAS in recording.header.extras:
        return evaluate_motion(recording, robot=robot)
    return evaluate_run(recording, robot=robot)


def evaluate_run(recording: Recording, *, robot: Robot | None = None) -> RunResult:
    """Return the general figures of a recording of any kind; see `evaluate`."""
    return RunResult(recording, {name: _measure_robot(recording, name, robot) for name in recording.robots})


def _measure_robot(recording: Recording, name: str, robot: Robot | None) -> RobotFigures:
    """Return the figures of one robot, by its name in the recording."""
    trajectory = Trajectory.of(recording, name, robot=robot)
    header = trajectory.record.header
    is_alone = len(recording.robots) == 1
    faults = Counter(
        str(event.data.get("fault"))
        for event in recording.events_of("fault")
        if is_alone or event.data.get("robot") == name
    )
    figures = RobotFigures(robot=header.robot, controller=header.controller, faults=dict(faults))
    if not trajectory.last_row:
        return figures
    if trajectory.knows_place:
        figures = _add_travel(figures, trajectory)
    return _add_joint_loads(figures, trajectory)


def _add_travel(figures: RobotFigures, trajectory: Trajectory) -> RobotFigures:
    """Return the figures with those of travel, falls and tilt."""
    path_m = float(trajectory.step_lengths_m.sum())
    seconds = float(trajectory.times[-1] - trajectory.times[0])
    falls = trajectory.tip_overs(PhysicsRules())
    return replace(
        figures,
        path_m=path_m,
        distance_m=float(np.linalg.norm(trajectory.base[-1, :2] - trajectory.base[0, :2])),
        mean_speed_m_s=path_m / seconds if seconds else None,
        turned_deg=math.degrees(float(trajectory.yaw[-1] - trajectory.yaw[0])),
        falls=len(falls),
        fall_times_s=tuple(fall.since_s for fall in falls),
        fall_sides=tuple(describe_direction(-trajectory.up_in_base[fall.begin]) for fall in falls),
        max_tilt_deg=float(trajectory.tilt_deg.max()),
    )


def _add_joint_loads(figures: RobotFigures, trajectory: Trajectory) -> RobotFigures:
    """Return the figures with the fastest joint and the joint with the highest torque; NaN is ignored."""
    joints = trajectory.robot.joint_names
    speed_ratios = trajectory.max_speeds(trajectory.positions) / trajectory.robot.max_speeds
    if np.isfinite(speed_ratios).any():
        fastest = int(np.nanargmax(speed_ratios))
        figures = replace(
            figures, max_joint_speed_ratio=float(speed_ratios[fastest]), fastest_joint=joints[fastest]
        )
    efforts = trajectory.record.efforts
    if not np.isfinite(efforts).any():
        return figures
    torque_ratios = np.nan_to_num(np.abs(efforts)).max(axis=0) / trajectory.stall_torques_nm
    most_loaded = int(torque_ratios.argmax())
    return replace(
        figures, max_torque_ratio=float(torque_ratios[most_loaded]), hardest_joint=joints[most_loaded]
    )
