"""What runs on a Robi: a program, the words that the robot hears, and the posture it begins in."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from posewright.arenas import Arena, arena
from posewright.arrays import Floats
from posewright.bodies import PlanarPose
from posewright.control import Seed, require_known_options
from posewright.errors import UnknownNameError
from posewright.formats import read_motion
from posewright.robots import Robot, SensorSpec, robot
from posewright.runtimes.robi.controller import EVENT, RobiController
from posewright.runtimes.robi.listing import listing
from posewright.runtimes.robi.motions import ROBOT, motion_program
from posewright.runtimes.robi.opening import LISTING, MOTION, breakpoint_in, open_program
from posewright.runtimes.robi.postures import Posture, postures
from posewright.runtimes.robi.program import Program
from posewright.runtimes.robi.programs import program_names
from posewright.runtimes.robi.words import read_words

KIND = "robi"
"""What programs of a Robi are called as a kind of program."""

RM4 = ".rm4"
POSTURE = "standing"
RULE = "consistent"

ROOM = "robi_room"
ON_FURNITURE: Mapping[str, str] = {Posture.CHAIR.word: "chair", Posture.RIDE.word: "ride"}
"""In which postures the robot begins on what, by the spots of the room."""


@dataclass(frozen=True)
class RobiProgram:
    """A `control.Program` of a Robi 2, ready to run.

    Attributes:
        name: of a program that ships, or of its file without the ending.
        program: its tags.
        robot: a Robi, by its card.
        words: numbers of words that the robot recognises, each with its time, as they were written.
        posture: in which the robot begins: standing, sitting, chair or ride.
        breakpoints: addresses of tags in the file at which the program is over.
        until_s: when its run ends at the latest [s]; no word may come later.
        warnings: what is odd about its file, or what was lost when a motion became a program.
    """

    name: str
    program: Program
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
        """Those of the robot's card."""
        return self.robot.sensors

    @property
    def pose(self) -> str:
        """The pose of the card in which the robot begins."""
        return postures().idle[self.posture].pose

    @property
    def start_pose(self) -> Floats:
        """In which the robot begins, `(n_joints,)` [rad]."""
        return self.robot.pose(self.pose)

    @property
    def arena(self) -> Arena | None:
        """The room with the furniture on which the robot begins; None for a bare floor."""
        return arena(ROOM) if self.posture in ON_FURNITURE else None

    @property
    def start(self) -> PlanarPose:
        """Where the robot begins in its room: x, y, yaw [m, m, rad]."""
        room = self.arena
        if room is None:
            return (0.0, 0.0, 0.0)
        spot = room.spot(ON_FURNITURE[self.posture])
        return (spot.x, spot.y, spot.yaw_rad)

    @property
    def documents(self) -> Mapping[str, str]:
        """The program as a listing."""
        return {f"{self.name}{LISTING}": listing(self.program)}

    @property
    def extras(self) -> Mapping[str, Mapping[str, str]]:
        """Under `robi`, which `program` runs, which `words` come, and from which `pose`."""
        return {EVENT: {"program": self.name, "words": self.words, "pose": self.pose}}

    def controller(self, seed: Seed = 0) -> RobiController:  # noqa: ARG002 -- a Robi draws nothing by chance
        """Return a controller that runs it.

        Raises:
            InputError: the robot is no Robi, or a word comes after the end of the run.
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
    """Return a program ready to run; all that is handed in is checked, and nothing moves.

    Args:
        source: a program that ships, or the path of an RM4 file, a listing or a motion.
        words: numbers of words that the robot recognises, each with its time: `472@3.0, 1@20`.
        posture: in which it begins: standing, sitting, chair or ride, or that pose's name on its card. On the
            chair and on the ride it begins in a room that has them, else on a bare floor.
        rule: by which programs that ship judge the posture: consistent, or as it is printed.
        breakpoints: labels, or addresses of tags in the program's file, at which the program is over.
        on: the robot's card; default the one that ships.

    Raises:
        UnknownNameError: there is no such program, posture, rule or label.
        FormatError: the file of the program is wrong, or a word.
        InputError: a motion is another robot's.
    """
    idle = postures().idle
    posture_word = next((word for word, pose in idle.items() if posture in {word, pose.pose}), None)
    if posture_word is None:
        raise UnknownNameError.among("posture", posture, idle)
    if str(source).lower().endswith(MOTION):
        converted = motion_program(read_motion(Path(source)))
        program = converted.program
        losses = (f"lost: {loss}" for loss in converted.losses)
        warnings = (*program.remarks, *losses, *converted.remarks, *converted.rounding_remarks)
    else:
        program = open_program(source, rule)
        warnings = program.remarks
    read_words(words)  # raises what is wrong with them
    return RobiProgram(
        name=Path(source).stem,
        program=program,
        robot=robot(ROBOT) if on is None else on,
        words=words,
        posture=posture_word,
        breakpoints=tuple(breakpoint_in(program, text) for text in breakpoints),
        warnings=warnings,
    )


class RobiKind:
    """How programs of a Robi are found and read: a `control.ProgramKind`."""

    name = KIND
    option_names = ("words", "posture", "rule", "breakpoints")
    """What `set_up_robi` takes; several breakpoints are parted by commas."""

    def names(self, robot: Robot | None) -> tuple[str, ...]:
        """Return the names of the programs that ship; none for another robot than a Robi 2."""
        return program_names() if robot is None or robot.name == ROBOT else ()

    def recognises(self, name: str) -> bool:
        """Tell whether a path is that of an RM4 file or of a listing."""
        return Path(name).suffix.lower() in {RM4, LISTING}

    def read(self, name: str, robot: Robot | None, options: Mapping[str, str]) -> RobiProgram:
        """Return the program of a name or path.

        Raises:
            UnknownNameError: there is no such program, posture, rule, label or option.
            FormatError: the file of the program is wrong, or a word.
            InputError: the robot is no Robi.
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
        program.controller()  # raises what the robot lacks of a Robi
        return program
