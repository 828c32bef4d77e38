"""Motions of an archive as frames of joints, as the robot's player or one that misses nothing sends them.

Source: formats.md 1.1; MTNAgent7.cc of Sony's OPEN-R SDK. Joints are found by their locators, and those that
a motion does not name stay as they are. What a motion says of the body's attitude moves no joint.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posewright.errors import FormatError, InputError, Where
from posewright.formats import EntryKind, OmtnDocument, archive_motion, document_of, sdk_path
from posewright.runtimes.openr.kernel import OpenR
from posewright.runtimes.openr.regions import MICRO
from posewright.sticks import MonetSetup
from posewright.sticks.finding import quoted
from posewright.sticks.limits import AGENTS, is_null
from posewright.sticks.lookup import target_of
from posewright.sticks.text import AgentLine

NONE = -1
"""The index of what is in no archive."""


@dataclass(frozen=True, eq=False)
class Frames:
    """Where some joints are to be in each frame.

    Attributes:
        primitives: the joints, k of them.
        rows: `(n_frames, k)` [micro-radians].
    """

    primitives: tuple[int, ...]
    rows: NDArray[np.integer]

    def __repr__(self) -> str:
        return f"Frames({len(self.rows)} of {len(self.primitives)} joints)"


def index_of(line: AgentLine, setup: MonetSetup) -> int:
    """Return where what a line plays is in its archive; for an agent without one, the line's own number."""
    agent = AGENTS.get(line.agent)
    if agent is None or agent.plays is None:
        return NONE if line.index is None else line.index
    target = target_of(line, setup)
    return NONE if target is None or target.place is None else target.place


def refuse_line(line: AgentLine, setup: MonetSetup, openr: OpenR) -> None:
    """Refuse a line that names a motion which cannot be played; otherwise as `document_at`."""
    agent = AGENTS.get(line.agent)
    if agent is None or agent.plays != "OMTN" or is_null(line.name):
        return
    index = index_of(line, setup)
    if index == NONE:
        where = Where(path=line.line.path, line=line.line.number)
        if setup.motions is None:
            raise FormatError(f"{quoted(line.name)}: no archive of motions was read", where=where)
        hint = "posewright monet check says which there are"
        what = f"no motion in {setup.motions.path.name} is meant by {quoted(line.name)} {line.word(2)}"
        raise FormatError(what, where=where, hint=hint)
    document_at(index, setup, openr)


def document_at(index: int, setup: MonetSetup, openr: OpenR) -> tuple[OmtnDocument, tuple[int, ...]]:
    """Return the motion of an entry, and the joints that it moves.

    Raises:
        FormatError: there is no such entry, or no motion that can be read in it.
        InputError: it is for a robot with other joints.
    """
    archive = setup.motions
    if archive is None or not 0 <= index < len(archive.entries):
        raise FormatError(f"there is no motion of index {index}")
    entry = archive.entries[index]
    if entry.contents.kind is not EntryKind.MOTION:
        where = Where(path=archive.path, offset=entry.offset)
        raise FormatError(f"entry {index}, {quoted(entry.name)}, is no motion", where=where)
    document = document_of(entry, index + 1, archive.archive)
    try:
        return document, tuple(map(openr.open_primitive, document.locators))
    except InputError as error:
        what = f"{quoted(document.name)} is for {quoted(document.design)}, not {openr.robot.name}"
        raise InputError(f"{what}: {error.message}", where=Where(path=archive.path)) from error


def motion_frames(index: int, setup: MonetSetup, openr: OpenR, *, exact: bool) -> Frames:
    """Return the frames of an entry, as Sony's player sends them or as one that misses nothing does.

    Raises:
        InputError: as `document_at`; or Sony's player sends nothing of it.
    """
    document, primitives = document_at(index, setup, openr)
    rows = sdk_path(document)
    if exact and setup.motions is not None:
        motion = archive_motion(index + 1, setup.motions.archive, setup.motions.path, openr.robot)
        times = np.arange(len(rows) + 1) * document.step_ms / 2000.0  # two rows a frame
        rows = np.rint(motion.sample_at(times).angles * MICRO).astype(np.int32)
    elif not len(rows):
        hint = "the exact player sends it"
        raise InputError(f"{quoted(document.name)} has one keyframe, and Sony's player sends none", hint=hint)
    return Frames(primitives, rows)
