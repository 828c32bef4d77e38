"""What is asked of `aibo add`: a motion that begins and ends as its name says, and how it is registered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from posewright.errors import FormatError, UnknownNameError, Where
from posewright.formats import (
    DESIGN,
    FORMATS,
    OMTN,
    STAND,
    PageReference,
    Rendering,
    WriteOptions,
    carry_to_robot,
    describe_carrying_losses,
    describe_unmoved_joints,
    moved_joints,
    read_motion_file,
    require_no_losses,
)
from posewright.motions import Level, Motion, check_motion, robot_of_motion
from posewright.robots import Robot
from posewright.runtimes.openr.stick.finding import MonetFinding
from posewright.runtimes.openr.stick.jumps import LEGS, jumps
from posewright.runtimes.openr.stick.limits import (
    AGENTS,
    MODELS,
    MOTION_AGENT,
    NUMBER_BYTES,
    SOUND_AGENT,
    follows_grammar,
    postures_of,
    refuse_name,
)

MAX_ID = 10**NUMBER_BYTES - 1

COMMENT = "#####"


@dataclass(frozen=True)
class Registration:
    """A command that plays a motion."""

    id: int
    name: str
    agent: str = MOTION_AGENT
    sound: str | None = None
    sync: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.id <= MAX_ID:
            raise FormatError(f"{self.id} is no id of a command", hint=f"right is 0 to {MAX_ID}")
        refuse_name(self.name)
        if self.sound is not None:
            refuse_name(self.sound)
        moving = [name for name, agent in AGENTS.items() if agent.plays == "OMTN"]
        if self.agent not in moving:
            raise UnknownNameError.among("agent that plays motions", self.agent, moving)

    @property
    def head(self) -> str:
        """The head line of the command."""
        return f"{self.id} {len(self.lines)} {int(self.sync)}"

    @property
    def lines(self) -> tuple[str, ...]:
        """The agent lines; -1 has the motion looked up by its own name."""
        motion = f"{self.agent} {self.name} -1"
        return (motion,) if self.sound is None else (motion, f"{SOUND_AGENT} {self.sound} -1")

    @property
    def comment(self) -> tuple[str, ...]:
        """The comment before the command."""
        return (COMMENT, caption(self.name), COMMENT)


def caption(name: str) -> str:
    """Return the comment that says what a command plays."""
    return f"# {name}"


def motion_to_add(
    motion: Motion | Path | str, page: PageReference | None = None, robot: str | Robot | None = None
) -> Motion:
    """Return the motion that is meant: itself, or the one in a file."""
    if isinstance(motion, Motion):
        return motion
    file = read_motion_file(motion, robot=robot)
    if page is None and len(file.motions) > 1:
        names = ", ".join(label.name for label in file.pages[:8])
        more = ", ..." if len(file.pages) > 8 else ""
        what = f"the file holds {len(file.motions)} motions"
        raise FormatError(what, where=Where(path=Path(motion)), hint=f"say which with --page: {names}{more}")
    return file.motion(page)


def name_for(motion: Motion, name: str | None) -> str:
    """Return what the motion is to be called: as asked, or as it is if that tells the robot enough."""
    if name is not None:
        return name
    if not follows_grammar(motion.name):
        what = f"the motion's own name, {motion.name!r}, does not say in which postures it begins and ends"
        hint = "give it one with --name, as a_stand#stand_kick: all of it, from standing to standing"
        raise FormatError(what, hint=hint)
    return motion.name


STRAIGHT = WriteOptions(straighten=True)


def fitted(
    motion: Motion, model: str, name: str, *, accept_loss: bool = False, path: Path | None = None
) -> tuple[Rendering, tuple[MonetFinding, ...]]:
    """Return the motion as MoNet plays it on a model: of its whole body, under that name."""
    if model not in MODELS:
        raise UnknownNameError.among("robot that MONET runs on", model, MODELS)
    carried = carry_to_robot(motion, MODELS[model].robot)
    extras = {**carried.motion.extras, DESIGN: MODELS[model].design}
    moved = replace(carried.motion, name=name, extras=extras)
    omtn = FORMATS[OMTN]
    moved = omtn.prepare_motion(moved, STRAIGHT)  # the robot knows no curves
    rendering = omtn.render(moved, Path(f"{name}.mtn"), STRAIGHT)
    losses = (*describe_carrying_losses(carried), *_lost_by_standing(moved), *rendering.losses)
    require_no_losses(losses, OMTN, path or Path(name), accept_loss=accept_loss)
    remarks = (*describe_unmoved_joints(carried), *_broken_rules(moved), *rendering.remarks)
    return replace(rendering, losses=losses, remarks=remarks), tuple(jumps(moved, postures_of(moved.name)))


def _broken_rules(motion: Motion) -> Iterator[str]:
    """Yield that the design rules find errors in the motion, and the first of them.

    Where it begins and ends, and how long it lasts, is left out: MoNet knows postures, and has time.
    """
    errors = [finding for finding in check_motion(motion) if finding.level is Level.ERROR]
    if errors:
        yield f"`motion check` finds {len(errors)} errors in it, the first: {errors[0].message}"


def _lost_by_standing(motion: Motion) -> Iterator[str]:
    """Yield that legs which the motion never moves are put where its name does not say they are."""
    legs = robot_of_motion(motion).groups.get(LEGS, ())
    unset = [joint for joint in legs if joint not in moved_joints(motion)]
    said = postures_of(motion.name)
    if unset and said.said and said != (STAND, STAND):
        what = "the legs" if len(unset) == len(legs) else ", ".join(unset)
        where = f"they go to the pose {STAND!r}, whatever the posture"
        yield f"that it leaves {what} alone: MoNet plays motions of the whole body, so {where}"
