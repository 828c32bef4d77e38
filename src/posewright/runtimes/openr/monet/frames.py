"""The joint angles of each frame that the motion agents play, and checks of what they can play.

Source: formats.md 1.1; MTNAgent7.cc and NeutralAgent7.cc of Sony's OPEN-R SDK. The joints of a motion are
found by their locators, all others stay as they are. The body attitudes of a motion move no joint.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from posewright.errors import FormatError, InputError, Where
from posewright.formats import EntryKind, archive_motion, document_of, sdk_path
from posewright.runtimes.openr.kernel import OpenR
from posewright.runtimes.openr.regions import MAX_FRAMES, MICRO_PER_UNIT, interpolate, to_micro_radians
from posewright.runtimes.openr.stick import MonetSetup
from posewright.runtimes.openr.stick.check import PostureTransition
from posewright.runtimes.openr.stick.finding import quoted
from posewright.runtimes.openr.stick.limits import AGENTS, NEUTRAL_AGENT, SOUND_AGENT, is_null, known_agents
from posewright.runtimes.openr.stick.lookup import find_entry_index
from posewright.runtimes.openr.stick.text import AgentLine

Frames: TypeAlias = Mapping[int, NDArray[np.integer]]
"""Angles by primitive, `(n_frames,)` each [micro-radians]."""

ROWS_PER_STEP = 2
"""Rows of angles in a step of a motion's document: a step lasts two frames."""

NEUTRAL_POSES = ("broad_base", "sleep")
"""Poses of the card that the neutral agent passes: legs spread, so that none is caught, then lying."""

NEUTRAL_FRAMES = 24 * MAX_FRAMES
"""Frames to each of them, 3.072 s: NeutralAgent7.h, `BROADBASE_MAX_COUNTER`, `SLEEPING_MAX_COUNTER`."""


def require_playable_transition(transition: PostureTransition, setup: MonetSetup, openr: OpenR) -> None:
    """Raise an InputError unless the agents can play all lines of a transition, with at most one motion.

    Raises:
        InputError: there is a second motion, for which the agent would be busy; or a line that cannot be
            played.
    """
    for line in transition.agent_lines:
        require_playable_line(line, setup, openr)
    motions = [line for line in transition.agent_lines if line.agent != SOUND_AGENT]
    for line in motions[1:]:
        # a first motion that plays nothing does not keep the agent busy
        if not plays_nothing(motions[0].name, find_entry_index(motions[0], setup)):
            message = f"a second motion in one command, after line {motions[0].text_line.number}"
            where = Where(path=line.text_line.path, line=line.text_line.number)
            raise FormatError(
                message, where=where, hint="a command has one motion, and one sound to go with it"
            )


def require_playable_line(line: AgentLine, setup: MonetSetup, openr: OpenR) -> None:
    """Raise an InputError unless an agent can play a line; sounds are checked by their agent.

    Raises:
        InputError: there is no such agent or motion, or as `motion_frames` and `neutral_frames`.
    """
    where = Where(path=line.text_line.path, line=line.text_line.number)
    index = find_entry_index(line, setup)
    if line.agent not in AGENTS:
        raise FormatError(f"there is no {line.agent} here", where=where, hint=f"known: {', '.join(AGENTS)}")
    if line.agent == NEUTRAL_AGENT:
        neutral_frames(index, setup, openr)
    elif line.agent != SOUND_AGENT and not plays_nothing(line.name, index):
        if setup.motions is None:
            hint = "name its .ODA file, too; posewright aibo check reports why a file could not be read"
            message = f"no archive of motions was read, so {quoted(line.name)} cannot be looked up"
            raise FormatError(message, hint=hint)
        if index < 0:
            hint = "posewright aibo check lists the motions"
            key = f"the index {line.index}"
            if (line.index or 0) < 0:
                key = f"the name {quoted(line.name)}"
            message = f"no motion in {setup.motions.path.name} has {key}"
            raise FormatError(message, where=where, hint=hint)
        motion_frames(index, setup, openr, exact=True)


def plays_nothing(name: str, index: int) -> bool:
    """Return whether the robot is to stay as it is, by a name that is in no archive."""
    return index < 0 and is_null(name)


def motion_frames(index: int, setup: MonetSetup, openr: OpenR, *, exact: bool) -> Frames:
    """Return the frames of a motion.

    Args:
        index: the index of the entry in the archive.
        setup: the setup with the archive.
        openr: the OpenR object of the robot.
        exact: reach each keyframe, instead of the frames that Sony's player sends.

    Raises:
        FormatError: there is no such entry, or it holds no readable motion.
        InputError: the motion is for other joints, or far too long; or Sony's player sends nothing of it.
    """
    archive = setup.motions
    if archive is None or not 0 <= index < len(archive.entries):
        raise FormatError(f"there is no motion of index {index}")
    entry = archive.entries[index]
    if entry.content.kind is not EntryKind.MOTION:
        where = Where(path=archive.path, offset=entry.offset)
        raise FormatError(f"entry {index}, {quoted(entry.name)}, is not a motion", where=where)
    document = document_of(entry, index + 1, archive.oda_archive)
    try:
        primitives = [openr.open_primitive(locator) for locator in document.locators]
    except InputError as error:
        message = f"{quoted(document.name)} is for {quoted(document.design)}, not {openr.robot.name}"
        raise InputError(f"{message}: {error.message}", where=Where(path=archive.path)) from error
    frame_angles = sdk_path(document)  # those of Sony's player, `(n_frames, n_joints)` [micro-radians]
    if exact:
        motion = archive_motion(index + 1, archive.oda_archive, archive.path, openr.robot)
        # one frame more than Sony's player, which never sends the last keyframe
        times = np.arange(len(frame_angles) + 1) * document.step_ms / (1000.0 * ROWS_PER_STEP)
        frame_angles = np.rint(motion.sample_at(times).angles * MICRO_PER_UNIT).astype(np.int32)
    elif len(frame_angles) == 0:
        hint = "the exact player sends it"
        message = f"{quoted(document.name)} has a single keyframe, for which Sony's player sends no frame"
        raise InputError(message, hint=hint)
    return dict(zip(primitives, frame_angles.T, strict=True))


def neutral_frames(index: int, setup: MonetSetup, openr: OpenR) -> Frames:
    """Return the frames by which the neutral agent lays the robot down: angles by joint [micro-radians].

    As with Sony's agent, the first vector, of `MAX_FRAMES` frames, holds the present angles; then the robot
    moves to each of `NEUTRAL_POSES` in `NEUTRAL_FRAMES` frames. Joints with two positions only, the ears, do
    not move.

    Args:
        index: the number after the motion's name in the line that is played; the agent knows a few.
        setup: the MONET files.
        openr: the OpenR object of the robot.

    Raises:
        InputError: the agent does not know the index, or the card lacks the poses.
    """
    robot = openr.robot
    indices = known_agents(is_older_monet=setup.is_older_monet)[NEUTRAL_AGENT].indices
    if index not in indices or not robot.poses.keys() >= set(NEUTRAL_POSES):
        hint = f"expected {' or '.join(map(str, indices))}, and a card with {' and '.join(NEUTRAL_POSES)}"
        raise InputError(f"{NEUTRAL_AGENT} has no index {index} for {robot.name}", hint=hint)
    frames: dict[int, NDArray[np.integer]] = {}
    for primitive, joint in enumerate(robot.joints):  # the primitive of a joint is its index
        if joint.two_state:
            continue
        angles = [openr.get_joint_value(primitive)] * MAX_FRAMES
        for pose_name in NEUTRAL_POSES:
            goal = to_micro_radians(robot.poses[pose_name][joint.name])
            angles += interpolate(angles[-1], goal, NEUTRAL_FRAMES)
        frames[primitive] = np.array(angles)
    return frames
