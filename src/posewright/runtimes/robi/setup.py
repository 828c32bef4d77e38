"""Programs of a Robi as programs of a robot: `control.Program` and `control.ProgramKind`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from posewright.arenas import Arena
from posewright.arenas import arena as find_arena
from posewright.arrays import Floats
from posewright.bodies import PlanarPose
from posewright.control import Seed, require_known_options
from posewright.errors import UnknownNameError
from posewright.formats import read_motion
from posewright.robots import Robot, SensorSpec
from posewright.robots import robot as find_robot
from posewright.runtimes.robi.catalogue import program_names
from posewright.runtimes.robi.controller import EVENT, RobiController
from posewright.runtimes.robi.listing import format_listing
from posewright.runtimes.robi.load import LISTING, MOTION, RM4, find_breakpoint, open_program
from posewright.runtimes.robi.motion_writer import ROBOT, motion_to_program
from posewright.runtimes.robi.postures import Posture, posture_table
from posewright.runtimes.robi.program import Rm4Program
from posewright.runtimes.robi.words import read_words

KIND = "robi"
"""The name of this kind of program."""

POSTURE = "standing"
RULE = "consistent"

ROOM = "robi_room"
ON_FURNITURE: Mapping[str, str] = {Posture.CHAIR.word: "chair", Posture.RIDE.word: "ride"}
"""By posture at the start, the spot of the room where the robot is; other postures need no room."""


@dataclass(frozen=True)
class RobiProgram:
    """A `control.Program` for a Robi 2.

    Attributes:
        name: the name of a program that ships with the package, or of its file without the suffix.
        program: its tags.
        robot: a Robi.
        words: script of the words that the robot recognises.
        posture: the posture at the start: standing, sitting, chair or ride.
        breakpoints: addresses of tags in the file before which the program ends.
        until_s: when the run ends at the latest [s]; no word may come later.
        warnings: oddities of its file, or losses of the conversion from a motion.
    """

    name: str
    program: Rm4Program
    robot: Robot
    words: str = ""
    posture: str = POSTURE
    breakpoints: tuple[int, ...] = ()
    until_s: float = math.inf
    warnings: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"RobiProgram({self.name!r}, {self.pose})"

    @property
    def kind(self) -> str:
        """The kind of the program, `robi`."""
        return KIND

    @property
    def sensors(self) -> tuple[SensorSpec, ...]:
        """The sensors of the robot; the program adds none."""
        return self.robot.sensors

    @property
    def pose(self) -> str:
        """The name of the robot's pose at the start."""
        return posture_table().idle[self.posture].pose

    @property
    def start_pose(self) -> Floats:
        """The joint angles at the start, `(n_joints,)` [rad]."""
        return self.robot.pose(self.pose)

    @property
    def arena(self) -> Arena | None:
        """The room with the furniture that the robot starts on; None for a bare floor."""
        return find_arena(ROOM) if self.posture in ON_FURNITURE else None

    @property
    def start(self) -> PlanarPose:
        """The start position in the room: x, y, yaw [m, m, rad]."""
        room = self.arena
        if room is None:
            return (0.0, 0.0, 0.0)
        spot = room.spot(ON_FURNITURE[self.posture])
        return (spot.x, spot.y, spot.yaw_rad)

    @property
    def documents(self) -> Mapping[str, str]:
        """The program as a listing."""
        return {f"{self.name}{LISTING}": format_listing(self.program)}

    @property
    def extras(self) -> Mapping[str, Mapping[str, str]]:
        """The entry of a recording's header: under `robi`, program, words and pose at the start."""
        return {EVENT: {"program": self.name, "words": self.words, "pose": self.pose}}

    def controller(self, seed: Seed = 0) -> RobiController:  # noqa: ARG002 -- nothing is random in it
        """Return a new controller that runs the program.

        Raises:
            InputError: the robot is not a Robi, or a word comes after the end of the run.
        """
        controller = RobiController(
            self.robot, self.program, words=read_words(self.words), breakpoints=self.breakpoints
        )
        controller.ends_at(self.until_s)
        return controller


def set_up_robi(
    source: str | Path = "startup",
    *,
    words: str = "",
    posture: str = POSTURE,
    rule: str = RULE,
    breakpoints: Sequence[str] = (),
    on: Robot | None = None,
) -> RobiProgram:
    """Check a program and its options, and return it ready to run.

    Args:
        source: a program that ships with the package, or the path of an RM4 file, a listing or a motion.
        words: script of the words that the robot recognises: `472@3.0, 1@20`.
        posture: the posture at the start: standing, sitting, chair or ride, or the name of that pose of the
            robot. On chair and ride the robot starts in a room with the furniture, otherwise on a bare floor.
        rule: the rule by which programs of the package judge the posture: `consistent` or `printed`.
        breakpoints: labels, or addresses of tags in the program's file, before which the program ends.
        on: the robot; the Robi 2 of the package by default.

    Raises:
        UnknownNameError: there is no such program, posture, rule or label.
        FormatError: the file of the program, or a word, is wrong.
        InputError: a motion is for another robot.
    """
    idle_poses = posture_table().idle
    posture_word = next((word for word, idle in idle_poses.items() if posture in {word, idle.pose}), None)
    if posture_word is None:
        raise UnknownNameError.among("posture", posture, idle_poses)
    if str(source).lower().endswith(MOTION):
        conversion = motion_to_program(read_motion(Path(source)))
        program = conversion.program
        losses = (f"lost: {loss}" for loss in conversion.losses)
        warnings = (*program.remarks, *losses, *conversion.remarks, *conversion.rounding_remarks)
    else:
        program = open_program(source, rule)
        warnings = program.remarks
    read_words(words)  # raises if they are wrong
    return RobiProgram(
        name=Path(source).stem,
        program=program,
        robot=find_robot(ROBOT) if on is None else on,
        words=words,
        posture=posture_word,
        breakpoints=tuple(find_breakpoint(program, location) for location in breakpoints),
        warnings=warnings,
    )


class RobiKind:
    """Finds and reads programs of a Robi: a `control.ProgramKind`."""

    name = KIND
    option_names = ("words", "posture", "rule", "breakpoints")
    """Arguments of `set_up_robi`; several breakpoints are separated by commas."""

    def names(self, robot: Robot | None) -> tuple[str, ...]:
        """Return the names of the programs that ship with the package; none for another robot."""
        return program_names() if robot is None or robot.name == ROBOT else ()

    def recognises(self, name: str) -> bool:
        """Whether a path has the suffix of an RM4 file or a listing."""
        return Path(name).suffix.lower() in {RM4, LISTING}

    def read(self, name: str, robot: Robot | None, options: Mapping[str, str]) -> RobiProgram:
        """Return the program of a name or path.

        Raises:
            UnknownNameError: there is no such program, posture, rule, label or option.
            FormatError: the file of the program, or a word, is wrong.
            InputError: the robot is not a Robi.
        """
        require_known_options(options, self.option_names, self.name)
        breakpoints = options.get("breakpoints", "")
        program = set_up_robi(
            name,
            words=options.get("words", ""),
            posture=options.get("posture", POSTURE),
            rule=options.get("rule", RULE),
            breakpoints=[part.strip() for part in breakpoints.split(",") if part.strip()],
            on=robot,
        )
        program.controller()  # raises if the robot is not a Robi
        return program
