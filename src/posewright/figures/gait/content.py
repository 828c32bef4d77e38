"""Content of gait pictures: the planned paths of the feet in a steady cycle, and the executed ones."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from posewright.arrays import Floats
from posewright.errors import PosewrightError
from posewright.figures.style import colours_of
from posewright.gaits import (
    AirPath,
    GaitCycle,
    GaitTiming,
    ParametricGait,
    QuadrupedGait,
    SteadyWalk,
    VelocityCommand,
    air_path,
    gait_names,
    read_gait,
    se2_exp,
    steady_walk,
    timing_of,
    to_moved_frame,
)
from posewright.kinematics import MountedLeg, legs_by_foot
from posewright.robots import Robot

ORDER = ("left_front", "right_front", "left_rear", "right_rear")
"""Order of the feet in a phase diagram, from top to bottom."""

SHORT_FOOT_NAMES = {"left_front": "LF", "right_front": "RF", "left_rear": "LH", "right_rear": "RH"}
"""Short names of the feet; H is for hind, as in the literature."""

COLOURS = colours_of(ORDER)

MM = 1e3
"""Millimetres in a metre: lengths are drawn in them."""

_MAX_CHANGES = 2
"""Greatest number of changes of a gait that are listed beside its name."""

_MAX_NAME_LENGTH = 30
"""Greatest length of the name before the changes."""

TOLERANCE = 1e-6
"""Smaller differences are rounding errors: of times as shares of a cycle, lengths [m], angles [rad]."""


def name_and_changes(gait: ParametricGait, robot: Robot) -> str:
    """Return a gait's name, followed by the first parameters that differ from its document, if any do.

    A gait without a document is compared with the shipped gait of its name; if there is none, only the name
    is returned.
    """
    try:
        if gait.path is None and gait.name not in gait_names(robot):  # a name in a recording is no path
            return gait.name
        original_values = read_gait(gait.path or gait.name, robot=robot).flat
    except PosewrightError:  # there is no document to compare with
        return gait.name
    changes = [
        f"{name} {value:.4g}" for name, value in gait.flat.items() if original_values.get(name) != value
    ]
    if not changes:
        return gait.name
    name = textwrap.shorten(gait.name, _MAX_NAME_LENGTH, placeholder=" ...")
    suffix = f", {len(changes) - _MAX_CHANGES} more" if len(changes) > _MAX_CHANGES else ""
    return f"{name}, changed: {', '.join(changes[:_MAX_CHANGES])}{suffix}"


@dataclass(frozen=True, eq=False, repr=False)
class FootPath:
    """The path of a foot's lowest point over a cycle, in the base frame.

    Times are counted from lift-off: the foot is in the air first, then down.

    Attributes:
        content: the cycle.
        foot: `left_front`, ...
        leg: the leg of the foot.
    """

    content: GaitContent
    foot: str
    leg: MountedLeg

    @property
    def timing(self) -> GaitTiming:
        """The times of the cycle."""
        return self.content.timing

    @cached_property
    def equilibrium_m(self) -> Floats:
        """Its equilibrium point, `(3,)` [m]."""
        return np.array(self.content.gait.parameters.equilibrium_m[self.foot])

    @cached_property
    def lift_off_s(self) -> float:
        """When in the cycle it leaves the ground [s]."""
        phases = self.content.gait.phases
        return (phases.offsets[self.foot] - phases.starts[0]) * self.timing.period_s

    @cached_property
    def _air(self) -> AirPath:
        return air_path(self.content.gait.parameters, self.timing, self.foot)

    @cached_property
    def landing_point(self) -> Floats:
        """Its landing point, `(3,)` [m]."""
        return to_moved_frame(self.equilibrium_m, se2_exp(-0.5 * self.content.feet_motion))

    @cached_property
    def lift_off_point(self) -> Floats:
        """Its lift-off point, `(3,)` [m]."""
        return to_moved_frame(self.landing_point, se2_exp(self.content.feet_motion))

    @cached_property
    def air_times(self) -> Floats:
        """Times of its planned points in the air, `(n,)` [s]."""
        return self._air.point_phases * self.timing.air_s

    @cached_property
    def ground_times(self) -> Floats:
        """Times of its planned points on the ground, `(ground_points,)` [s]."""
        n_points = self.content.gait.parameters.ground_points
        return self.timing.air_s + np.linspace(0.0, self.timing.ground_s, n_points)

    @cached_property
    def lift_times_of_other_feet(self) -> Floats:
        """Times when another foot lifts, without those of planned points, `(n,)` [s]."""
        point_times = np.concatenate([self.air_times, self.ground_times])
        lift_times = (self.content.step_starts_s - self.lift_off_s) % self.timing.period_s
        gaps = np.abs(lift_times[:, np.newaxis] - point_times).min(axis=1)
        return np.asarray(lift_times[gaps > TOLERANCE * self.timing.period_s])

    def planned_positions(self, times: Floats) -> Floats:
        """Return the planned positions, `(n, 3)` [m], at times since lift-off, `(n,)` [s].

        In the air the foot moves straight from lift-off to landing point, with a height on top; on the ground
        it moves with the ground, as the base moves over it.
        """
        fractions, heights = self._air.stroke_shares_and_heights(np.clip(times / self.timing.air_s, 0.0, 1.0))
        air_positions = self.lift_off_point + fractions[:, np.newaxis] * (
            self.landing_point - self.lift_off_point
        )
        air_positions[:, 2] += heights
        ground_phases = (times - self.timing.air_s) / self.timing.ground_s
        base_motions = se2_exp(ground_phases[:, np.newaxis] * self.content.feet_motion)
        ground_positions = to_moved_frame(self.landing_point, base_motions)
        return np.where((times < self.timing.air_s)[:, np.newaxis], air_positions, ground_positions)

    @cached_property
    def executed_positions(self) -> Floats:
        """Positions from the joint angles, frame by frame since the cycle began, `(n_frames + 1, 3)` [m]."""
        middle = self.leg.forward(self.content.angles[:, list(self.leg.indices)])
        return middle - (0.0, 0.0, self.leg.foot_radius_m)

    @cached_property
    def executed_times(self) -> Floats:
        """The time since lift-off of each row of `executed`, `(n_frames + 1,)` [s]."""
        frames = np.linspace(0.0, self.timing.period_s, self.timing.n_frames + 1) - self.lift_off_s
        return np.asarray(frames % self.timing.period_s)

    @cached_property
    def executed_since_lift(self) -> tuple[Floats, Floats]:
        """`executed_times` and `executed` of a cycle, sorted by time since lift-off."""
        order = np.argsort(self.executed_times[:-1], kind="stable")
        return self.executed_times[:-1][order], self.executed_positions[:-1][order]


@dataclass(frozen=True, eq=False, repr=False)
class CycleContent:
    """The joints in a steady cycle of a gait at one command, computed when its properties are read.

    Raises:
        InputError: by properties: the command is out of the gait's range, or the gait is inconsistent.
        UnreachableError: by properties: a foot cannot reach its place.
    """

    gait: ParametricGait
    robot: Robot
    command: VelocityCommand

    @cached_property
    def cycle(self) -> GaitCycle:
        """The times of the cycle."""
        return self.gait.cycle(self.robot)

    @cached_property
    def _walk(self) -> SteadyWalk:
        return steady_walk(self.gait, self.robot, self.command)

    @property
    def standing_pose(self) -> Floats:
        """All joints with every foot on its equilibrium point, `(n_joints,)` [rad]."""
        return self._walk.standing

    @cached_property
    def angles(self) -> Floats:
        """All joints, by frame over a cycle including its beginning, `(n_frames + 1, n_joints)` [rad]."""
        cycle = self._walk.cycle
        return np.concatenate([cycle[-1:], cycle])

    @cached_property
    def times(self) -> Floats:
        """Times of the rows of `angles`, `(n_frames + 1,)` [s]."""
        return np.linspace(0.0, self.cycle.period_s, self.cycle.n_frames + 1)

    @cached_property
    def speeds(self) -> Floats:
        """Speeds between frames, as shares of the joints' greatest speeds, `(n_frames, n_joints)`."""
        turned = np.abs(np.diff(self.angles, axis=0)) / self.robot.frame_period_s
        return np.asarray(turned / self.robot.max_speeds)

    @cached_property
    def fastest_joint_and_share(self) -> tuple[str, float]:
        """The joint with the greatest share of its speed limit, and that share."""
        max_shares = self.speeds.max(axis=0)
        joint = int(max_shares.argmax())
        return self.robot.joint_names[joint], float(max_shares[joint])


@dataclass(frozen=True, eq=False, repr=False)
class GaitContent(CycleContent):
    """A steady cycle of a gait of four legs at one command, computed when its properties are read.

    Raises:
        InputError: by properties: the command is out of the gait's range, or the gait is inconsistent.
        UnreachableError: by properties: a foot cannot stand on its equilibrium point.
    """

    gait: QuadrupedGait

    @cached_property
    def timing(self) -> GaitTiming:
        """The times of the cycle."""
        return timing_of(self.gait.parameters, self.robot.frame_period_s)

    @cached_property
    def commanded_motion(self) -> Floats:
        """Commanded motion of the body while a foot is down, as components, `(3,)` [m, m, rad]."""
        return self.command.components(self.timing.ground_s)

    @cached_property
    def feet_motion(self) -> Floats:
        """Motion of the feet for `commanded`, with turn multiplier, gain and trim, `(3,)` [m, m, rad]."""
        return self.gait.compensate(self.commanded_motion, self.timing.ground_s)

    @cached_property
    def step_starts_s(self) -> Floats:
        """Beginnings of the steps, `(n_steps,)` [s]; the first at 0."""
        starts = np.array(self.gait.phases.starts)
        return np.asarray((starts - starts[0]) * self.timing.period_s)

    @cached_property
    def feet(self) -> dict[str, FootPath]:
        """The path of each foot."""
        legs = legs_by_foot(self.robot)
        return {foot: FootPath(self, foot, legs[foot]) for foot in self.gait.phases.offsets}

    def base_path(self, components: Floats, seconds: float, n_poses: int = 61) -> Floats:
        """Return poses of a base that moves by `components` in a ground phase, `(n_poses, 3)` [m, m, rad].

        Args:
            components: the components of the motion in a ground phase, `(3,)` [m, m, rad].
            seconds: duration of the path.
            n_poses: number of poses.
        """
        shares = np.linspace(0.0, seconds / self.timing.ground_s, n_poses)
        return se2_exp(shares[:, np.newaxis] * components)
