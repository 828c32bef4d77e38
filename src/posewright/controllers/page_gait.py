"""A gait made of pages: a vendor's walk, played as the robot's board plays it, and tuned.

```python
walk = read_page_gait("humanoid.mtn", "F_S_L")
faster = walk.with_values({"rate": 1.1, "lean_rad": 0.05, "amplitude.hip_roll": 1.2})
write_page_gait(faster, "faster.mtn")
```
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Self

import numpy as np

from posewright.arrays import Floats
from posewright.controllers.page_plan import PagePlan, plan_pages
from posewright.controllers.page_sequence import PageSequence
from posewright.documents import Node, flow_mapping, read_record
from posewright.errors import InputError, UnknownNameError
from posewright.formats import (
    MotionFile,
    PageReference,
    format_named,
    read_linked_motions,
    read_motion_file,
    retarget_file_to_robot,
    robot_of_motion,
    write_motion_file,
)
from posewright.formats.native import render
from posewright.gaits import OPEN_LOOP, STILL, Explanation, GaitCycle, VelocityCommand
from posewright.gaits.entries import Tree
from posewright.gaits.feedback import Tilt
from posewright.hazards import find_faults, require_no_faults
from posewright.motions import Motion, Pose
from posewright.motions.motion import STAND
from posewright.robots import RIGHT, SIDES, Robot

RATE = "rate"
LEAN = "lean_rad"
AMPLITUDE = "amplitude"

EXPLANATIONS: Mapping[str, Explanation] = MappingProxyType(
    {
        RATE: Explanation(
            "rate", "", 0.2, 5.0,
            "Factor of the rate of every page: higher is faster.",
        ),
        LEAN: Explanation(
            "lean", "rad", -0.5, 0.5,
            "How much farther forward than in the pages the trunk leans.",
        ),
        AMPLITUDE: Explanation(
            "amplitude", "", 0.0, 3.0,
            "Factor of how far these joints move from their mean in the walk.",
        ),
    }
)  # fmt: skip

HIP_PITCH_FROM_FOOT = -4
"""Index of the hip's pitch among the joints of a biped's leg, with or without a yaw at the hip."""

COMMAND_TOLERANCE = 1e-6
"""Commands that differ by less are equal [m/s, rad/s]."""


def read_page_gait(
    path: Path | str, page: PageReference | None = None, robot: Robot | str | None = None
) -> PageGait:
    """Read a walk made of pages.

    Args:
        path: a motion file, such as a RoboPlus `.mtn`.
        page: name or number of the page with which the walk begins; by default the first.
        robot: the robot that walks, or its name; by default that of the file.

    Raises:
        FormatError: the file cannot be read.
        UnknownNameError: there is no such page or robot.
        InputError: the page leads to no page that repeats, or the robot's card describes no legs.
    """
    file = retarget_file_to_robot(read_motion_file(path, robot=robot), robot)
    return PageGait(file, file.page_number(page), robot_of_motion(file.motion(page)))


def write_page_gait(gait: PageGait, path: Path | str, *, accept_faults: bool = False) -> tuple[str, ...]:
    """Write the file of a walk with the adjusted pages; all other pages stay as they are.

    Args:
        gait: the walk.
        path: the file to write.
        accept_faults: whether it is written although `motion check` reports errors in a page of the walk.

    Returns:
        The errors that were accepted.

    Raises:
        UnsafeMotionError: there are such errors, and `accept_faults` is false; nothing is written.
        InputError: the pages are in several files.
        OutputError: the file cannot be written.
    """
    faults = find_page_faults(gait)
    require_no_faults(faults, f"walk {gait.name!r}", accept_faults=accept_faults, path=gait.file.path)
    write_motion_file(gait.adjusted_file, path, repair=True)
    return faults


def find_page_faults(gait: PageGait) -> tuple[str, ...]:
    """Return the errors that `motion check` reports in the pages of a walk."""
    return tuple(f"{motion.name}: {fault}" for motion in gait.pages.values() for fault in find_faults(motion))


@dataclass(frozen=True, eq=False)
class PageGait:
    """A walk made of pages that follow each other; a `Gait`.

    It follows two commands: the velocity at which the pages lead ahead, and STILL, at which the robot leaves
    the walk through the exit pages and stands. Pages that lead nowhere are played at STILL.

    Attributes:
        file: the file of the pages.
        first_page: number of the page with which the walk begins.
        card: the robot.
        changes: changed values by dotted name.
        source: where the values come from.

    Raises:
        InputError: the page leads to no page that repeats, or the robot's card describes no legs.
    """

    file: MotionFile = field(repr=False)
    first_page: int
    card: Robot = field(repr=False)
    changes: Mapping[str, float] = field(default_factory=dict)
    source: str = field(default="", repr=False)

    feedback = OPEN_LOOP
    path: Path | None = None

    def __post_init__(self) -> None:
        """Plan the walk of the file, so that errors in its pages come early."""
        self._plan_in_file  # noqa: B018 -- computes it

    def __getstate__(self) -> dict[str, object]:
        """Return the state for pickling, without what is computed from it."""
        return {entry.name: getattr(self, entry.name) for entry in fields(self)}

    @property
    def name(self) -> str:
        """Name of the first page."""
        return self.file.motion(self.first_page).name

    @property
    def robot(self) -> str:
        """Name of the robot."""
        return self.card.name

    @property
    def pose(self) -> str:
        """The robot's pose `stand`, or its first one; raises InputError if it has none."""
        if not self.card.poses:
            raise InputError(
                f"the card of {self.robot} has no pose", hint="a pose `stand` in its block `poses:`"
            )
        return STAND if STAND in self.card.poses else next(iter(self.card.poses))

    @property
    def description(self) -> str:
        """The pages in words."""
        return f"page {self.first_page} of {self.file.path.name} and those that follow"

    @property
    def flat(self) -> Mapping[str, float]:
        """All numbers by dotted name: `rate`, `lean_rad`, and `amplitude.hip_roll` for each joint group."""
        values = {RATE: 1.0}
        if self.card.biped is not None:
            values[LEAN] = 0.0
        values |= {f"{AMPLITUDE}.{group}": 1.0 for group in joint_groups(self.card)}
        return {**values, **self.changes}

    def explanation(self, name: str) -> Explanation:
        """Return the explanation of a name that `with_values` takes, or raise UnknownNameError."""
        if self._expand_name(name) == [name] and name not in self.flat:
            raise UnknownNameError.among("value", name, self.flat, owner="of a walk made of pages")
        return EXPLANATIONS[name.partition(".")[0]]

    def with_values(self, values: Mapping[str, float]) -> Self:
        """Return the walk with other values for some dotted names.

        `amplitude.legs` with the name of a group of the robot's card sets all joints in it.

        Raises:
            UnknownNameError: there is no such name.
            InputError: a value is out of its range.
        """
        changes = dict(self.changes)
        for name, value in values.items():
            for key in self._expand_name(name):
                self.explanation(key).check(name, value)
                changes[key] = float(value)
        return replace(self, changes=changes)

    def with_origin(self, *, name: str, description: str, source: str) -> Self:  # noqa: ARG002 -- see below
        """Return the walk with a source; name and description stay, as they lead to its page in the file."""
        return replace(self, source=source)

    def reconcile_values(self, values: Mapping[str, float], robot: Robot) -> dict[str, float]:  # noqa: ARG002
        """Return the values as they are: they do not contradict each other."""
        return dict(values)

    @property
    def other_settings(self) -> tuple[object, ...]:
        """The pages in the file, as native documents."""
        return tuple(render(motion).decode() for motion in self._pages_in_file.values())

    def _expand_name(self, name: str) -> list[str]:
        """Return the names in `flat` that a dotted name stands for; a name that is not known stays as it is.

        `amplitude.<group>`, with a group of joints from the robot's card such as `legs`, stands for the
        amplitude of each left and right pair, or single joint, that has a joint in this group.
        """
        kind, _, group = name.partition(".")
        if name in self.flat or kind != AMPLITUDE or group not in self.card.groups:
            return [name]
        group_joints = set(self.card.groups[group])
        return [
            f"{AMPLITUDE}.{pair_name}"
            for pair_name, pair_joints in joint_groups(self.card).items()
            if group_joints & set(pair_joints)
        ]

    @cached_property
    def _pages_in_file(self) -> Mapping[str, Motion]:
        """The first page and all that it leads to, as they are in the file."""
        return read_linked_motions(self.file, self.first_page)

    @cached_property
    def _plan_in_file(self) -> PagePlan:
        """The plan of these pages."""
        return plan_pages(self._pages_in_file, next(iter(self._pages_in_file)), self.card)

    @property
    def _is_in_several_files(self) -> bool:
        """Whether the pages are native files beside each other."""
        return len(self._pages_in_file) > len(self.file.pages)

    @cached_property
    def adjusted_file(self) -> MotionFile:
        """The file with adjusted pages, their angles and times rounded as it stores them.

        Raises:
            InputError: the pages are in several files, so there is no single one to change.
        """
        if self._is_in_several_files:
            raise InputError(
                f"the pages of {self.name} are in several files",
                hint="a walk of one file, such as a RoboPlus .mtn, can be written",
            )
        if not self.changes:
            return self.file
        motion_format = format_named(self.file.format)
        edited_file = self.file
        for key, motion in self._pages_in_file.items():
            is_single = len(self._pages_in_file) == 1
            page = self.first_page if is_single else self.file.page_number(key)
            edited_file = edited_file.with_motion(page, self._adjust(motion))
        if motion_format.render_file is None or self.file.document is None:
            return edited_file
        return motion_format.read(motion_format.render_file(edited_file).data, self.file.path, self.card)

    @cached_property
    def pages(self) -> Mapping[str, Motion]:
        """The adjusted pages, by the names that `next` and `exit` use; the first one is the walk's first."""
        if not self.changes:
            return self._pages_in_file
        if self._is_in_several_files:
            return {name: self._adjust(motion) for name, motion in self._pages_in_file.items()}
        return read_linked_motions(self.adjusted_file, self.first_page)

    def _adjust(self, motion: Motion) -> Motion:
        """Return a page with the walk's rate, lean and amplitudes."""
        values = self.flat
        factors = np.ones(len(self.card.joint_names))
        for group, joints in joint_groups(self.card).items():
            for joint in joints:
                factors[self.card.index(joint)] = values[f"{AMPLITUDE}.{group}"]
        offsets = np.zeros(len(self.card.joint_names))
        if self.card.biped is not None:
            for side in SIDES:
                hip_pitch = self.card.biped.joints[side][HIP_PITCH_FROM_FOOT]
                offsets[self.card.index(hip_pitch)] = -values[LEAN]
        columns = [self.card.index(joint) for joint in motion.joints]
        mean = self._plan_in_file.mean_pose[columns]

        def adjust_pose(pose: Pose) -> Pose:
            """Return a pose scaled about the mean pose, with the lean added."""
            angles = mean + factors[columns] * (pose.angles - mean) + offsets[columns]
            return Pose(pose.joints, angles, pose.free)

        return replace(
            motion,
            keyframes=tuple(
                replace(keyframe, pose=adjust_pose(keyframe.pose)) for keyframe in motion.keyframes
            ),
            start=None if motion.start is None else adjust_pose(motion.start),
            speed=motion.speed * values[RATE],
        )

    @cached_property
    def plan(self) -> PagePlan:
        """The plan of the adjusted pages."""
        return (
            plan_pages(self.pages, next(iter(self.pages)), self.card) if self.changes else self._plan_in_file
        )

    @property
    def velocity(self) -> VelocityCommand:
        """The velocity at which the pages lead ahead if no foot slips and no joint lags."""
        return self.plan.velocity

    def generator(self, robot: Robot) -> PageGenerator:
        """Return a generator that stands where the first page begins; raises InputError for another robot."""
        return PageGenerator(self, robot)

    def cycle(self, robot: Robot) -> GaitCycle:  # noqa: ARG002 -- the pages are made for the robot
        """Return the times of its cycle, the pages that repeat."""
        return self.plan.cycle

    def document(self, old_document: Tree, path: Path | None) -> Tree:  # noqa: ARG002 -- never overwritten
        """Return what a recording has of the walk: its file, page and values, and its cycle."""
        cycle = self.plan.cycle
        return {
            "gait": self.name,
            "robot": self.robot,
            "pages": self.description,
            "source": self.source,
            "values": dict(self.flat),
            CYCLE: {
                "n_frames": cycle.n_frames,
                "period_s": cycle.period_s,
                "air_share": cycle.air_share,
                "lift_phases": flow_mapping(cycle.lift_phases),
            },
        }


CYCLE = "cycle"
"""The entry of a walk's document with its cycle."""


@dataclass(frozen=True)
class PageWalkRecord:
    """The document of a walk made of pages in a recording; see `PageGait.document`."""

    gait: str
    robot: str
    pages: str
    source: str
    values: Mapping[str, float]
    cycle: GaitCycle


def is_page_walk(document: Node) -> bool:
    """Return whether a gait's document in a recording is that of a walk made of pages."""
    return CYCLE in document.fields()


def read_page_cycle(document: Node, robot: Robot) -> GaitCycle:
    """Return the cycle in the document that a recording has of a walk made of pages.

    Raises:
        DocumentError: the document is malformed, or has a foot that the robot lacks.
    """
    cycle = read_record(document, PageWalkRecord, degrees=False).cycle
    if set(cycle.lift_phases) != set(robot.feet):
        document.fail(f"the cycle has the feet {', '.join(cycle.lift_phases)}", hint=", ".join(robot.feet))
    return cycle


def joint_groups(robot: Robot) -> dict[str, tuple[str, ...]]:
    """Return the joints whose amplitude is one value, by name: a left and right pair, or a single joint."""
    groups: dict[str, tuple[str, ...]] = {}
    paired_joints: set[str] = set()
    for pair in robot.mirror_pairs:
        groups[pair.right.replace(f"{RIGHT}_", "", 1)] = (pair.right, pair.left)
        paired_joints |= {pair.right, pair.left}
    singles = {joint: (joint,) for joint in robot.joint_names if joint not in paired_joints}
    return groups | singles


class PageGenerator:
    """Generates the frames of a walk made of pages; a `GaitGenerator`.

    Raises:
        InputError: the walk is another robot's.
    """

    def __init__(self, gait: PageGait, robot: Robot) -> None:
        if robot.name != gait.robot:
            raise InputError(
                f"walk {gait.name!r} is made for {gait.robot}", hint=f"the robot is {robot.name}"
            )
        self._gait = gait
        self._sequence = PageSequence(gait.pages, next(iter(gait.pages)), robot)
        self._command = STILL

    @property
    def standing_pose(self) -> Floats:
        """The pose in which the first page begins, `(n_joints,)` [rad]."""
        return self._sequence.start_pose

    @property
    def command(self) -> VelocityCommand:
        """The command requested last."""
        return self._command

    @property
    def stiffness(self) -> Floats | None:
        """Stiffness of the joints in the next frame, by the page's compliance; see `GaitGenerator`."""
        return self._sequence.stiffness

    @property
    def is_standing(self) -> bool:
        """Whether it stood in the last frame."""
        return self._sequence.is_standing

    def request(self, command: VelocityCommand) -> None:
        """Play the pages, or leave them at STILL if they lead anywhere; raises InputError otherwise."""
        self.require_in_range(command)
        if command == STILL and self._gait.velocity != STILL:
            self.halt()
            return
        self._command = command
        self._sequence.start()

    def require_in_range(self, command: VelocityCommand) -> None:
        """Raise InputError unless each component of a command is 0 or that of the pages."""
        pages = self._gait.velocity
        for requested, planned in zip(_components(command), _components(pages), strict=True):
            if requested != 0.0 and abs(requested - planned) > COMMAND_TOLERANCE:
                raise InputError(
                    f"the pages of {self._gait.name} cannot follow a command",
                    hint=f"they lead {pages.forward_m_s:.3f} m/s forward, {pages.left_m_s:.3f} m/s left and "
                    f"turn {pages.turn_rad_s:.3f} rad/s; `rate` makes them faster",
                )

    def clip_command(self, command: VelocityCommand) -> VelocityCommand:
        """Return the velocity of the pages if they lead in the direction of a command, else STILL."""
        velocity = self._gait.velocity
        leads_there = float(np.dot(_components(command), _components(velocity))) > 0.0
        return velocity if leads_there else STILL

    def set_excess_tilt(self, tilt: Tilt) -> None:
        """Do nothing: pages do not react to a tilt."""

    def halt(self) -> None:
        """Leave the walk through the exit pages, and stand until the next request."""
        self._command = STILL
        self._sequence.leave()

    def reset(self) -> None:
        """Reset to standing, as before the first page, and drop the command."""
        self._command = STILL
        self._sequence.reset()

    def frames(self, n: int) -> Floats:
        """Return the next n frames, in the order of the robot's joints, `(n, n_joints)` [rad]."""
        return self._sequence.frames(n)


def _components(command: VelocityCommand) -> Floats:
    """Return a command as an array, `(3,)` [m/s, m/s, rad/s]."""
    return command.components(seconds=1.0)
