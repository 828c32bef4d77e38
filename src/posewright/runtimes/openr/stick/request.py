"""Requests of `aibo add`: a motion for a robot model, and the command that plays it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from posewright.errors import FormatError, UnknownNameError, Where
from posewright.formats import (
    DESIGN,
    FORMATS,
    OMTN,
    STAND,
    PageReference,
    Rendering,
    WriteOptions,
    describe_retargeting_losses,
    describe_unmoved_joints,
    moved_joints,
    read_motion_file,
    require_no_losses,
    retarget_to_robot,
)
from posewright.hazards import find_faults
from posewright.motions import Motion, robot_of_motion
from posewright.robots import Robot
from posewright.runtimes.openr.stick.finding import MonetFinding
from posewright.runtimes.openr.stick.limits import (
    AGENTS,
    MODELS,
    MOTION_AGENT,
    MOTION_ENTRY,
    NUMBER_BYTES,
    SOUND_AGENT,
    follows_grammar,
    postures_of,
    require_valid_name,
)
from posewright.runtimes.openr.stick.posture_transitions import LEGS, check_jumps

MAX_ID = 10**NUMBER_BYTES - 1

COMMENT = "#####"

MAX_LISTED_PAGES = 8
"""Names of pages in a message."""


@dataclass(frozen=True)
class CommandRegistration:
    """A command that plays a motion.

    Attributes:
        id: the ID by which programs request it.
        name: the name of the motion.
        agent: plays the motion.
        sound: name of a sound that is played with it; None for none.
        sync: whether both begin together.

    Raises:
        FormatError: the ID or a name is not valid.
        UnknownNameError: there is no such agent.
    """

    id: int
    name: str
    agent: str = MOTION_AGENT
    sound: str | None = None
    sync: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.id <= MAX_ID:
            raise FormatError(f"{self.id} is not a valid id", hint=f"ids are 0 to {MAX_ID}")
        require_valid_name(self.name)
        if self.sound is not None:
            require_valid_name(self.sound)
        motion_agents = [name for name, agent in AGENTS.items() if agent.entry_type == MOTION_ENTRY]
        if self.agent not in motion_agents:
            raise UnknownNameError.among("agent that plays motions", self.agent, motion_agents)

    @property
    def head(self) -> str:
        """The head line of the command."""
        return f"{self.id} {len(self.lines)} {int(self.sync)}"

    @property
    def lines(self) -> tuple[str, ...]:
        """The agent lines; the index -1 means that the motion is looked up by its own name."""
        motion = f"{self.agent} {self.name} -1"
        return (motion,) if self.sound is None else (motion, f"{SOUND_AGENT} {self.sound} -1")

    @property
    def comment(self) -> tuple[str, ...]:
        """The lines of the comment above the command."""
        return (COMMENT, build_comment(self.name), COMMENT)


def build_comment(name: str) -> str:
    """Return the comment with the name of the motion."""
    return f"# {name}"


def read_motion_to_add(
    motion: Motion | Path | str, page: PageReference | None = None, robot: str | Robot | None = None
) -> Motion:
    """Return the motion to add: the given one, or that of a file.

    Args:
        motion: the motion, or a file.
        page: the motion in a file with several.
        robot: the robot of a file that does not name its robot.

    Raises:
        FormatError: the file has several motions and no page is given, or cannot be read.
    """
    if isinstance(motion, Motion):
        return motion
    file = read_motion_file(motion, robot=robot)
    if page is None and len(file.motions) > 1:
        names = [label.name for label in file.pages[:MAX_LISTED_PAGES]]
        if len(file.pages) > MAX_LISTED_PAGES:
            names.append("...")
        message = f"the file holds {len(file.motions)} motions"
        hint = f"choose one with --page: {', '.join(names)}"
        raise FormatError(message, where=Where(path=Path(motion)), hint=hint)
    return file.motion(page)


def resolve_name(motion: Motion, name: str | None) -> str:
    """Return the name of the motion to add: the given one, otherwise its own.

    Raises:
        FormatError: its own name does not state its postures.
    """
    if name is not None:
        return name
    if not follows_grammar(motion.name):
        message = (
            f"the motion's own name, {motion.name!r}, does not state in which postures it begins and ends"
        )
        hint = "name it with --name, such as a_stand#stand_kick for a motion from standing to standing"
        raise FormatError(message, hint=hint)
    return motion.name


STRAIGHT = WriteOptions(straighten=True)


class MonetMotion(NamedTuple):
    """A motion as MoNet plays it.

    Attributes:
        rendering: the converted motion.
        jumps: findings about jumps from the posture in which it begins, and to that in which it ends.
        faults: errors of `motion check`.
    """

    rendering: Rendering
    jumps: tuple[MonetFinding, ...]
    faults: tuple[str, ...]


def prepare_motion(
    motion: Motion, model: str, name: str, *, accept_loss: bool = False, path: Path | None = None
) -> MonetMotion:
    """Convert a motion for MoNet on a robot model.

    Args:
        motion: the motion.
        model: the robot model, such as ERS-7.
        name: the name of the converted motion.
        accept_loss: whether the robot may leave out parts of the motion.
        path: the path of the motion's file, for messages.

    Raises:
        LossError: parts would be left out, and `accept_loss` is false.
    """
    retargeted = retarget_to_robot(motion, MODELS[model].robot)
    extras = {**retargeted.motion.extras, DESIGN: MODELS[model].design}
    monet_motion = replace(retargeted.motion, name=name, extras=extras)
    omtn = FORMATS[OMTN]
    faults = find_faults(monet_motion)  # before it is straightened, so that the messages name its keyframes
    monet_motion = omtn.prepare_motion(monet_motion, STRAIGHT)  # the robot knows no curves
    rendering = omtn.render(monet_motion, Path(f"{name}.mtn"), STRAIGHT)
    retargeting_losses = describe_retargeting_losses(retargeted)
    losses = (*retargeting_losses, *_standing_legs_loss(monet_motion), *rendering.losses)
    require_no_losses(losses, OMTN, path or Path(name), accept_loss=accept_loss)
    remarks = (*describe_unmoved_joints(retargeted), *rendering.remarks)
    jumps = tuple(check_jumps(monet_motion, postures_of(monet_motion.name)))
    return MonetMotion(replace(rendering, losses=losses, remarks=remarks), jumps, faults)


def _standing_legs_loss(motion: Motion) -> Iterator[str]:
    """Yield a loss if legs that the motion does not move get another posture than its name states."""
    legs = robot_of_motion(motion).groups.get(LEGS, ())
    unmoved_legs = [joint for joint in legs if joint not in moved_joints(motion)]
    postures = postures_of(motion.name)
    if unmoved_legs and postures.has_start_and_end and postures != (STAND, STAND):
        joints = "the legs" if len(unmoved_legs) == len(legs) else ", ".join(unmoved_legs)
        yield (
            f"that it leaves {joints} alone: MoNet plays motions of the whole body, so they go to the pose "
            f"{STAND!r}, whatever the posture"
        )
