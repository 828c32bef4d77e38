"""A format of motion files: how it is read and written, and how exactly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from posewright.arrays import Floats
from posewright.errors import FormatError, InputError, UnknownNameError
from posewright.formats.file_kind import FileKind
from posewright.formats.motion_file import MotionFile
from posewright.motions import Motion, robot_of_motion, straighten_motion
from posewright.robots import Robot


class KeyTimes(Enum):
    """At which times a format that has key times of its own for every joint writes a joint's angle.

    OWN: only where the joint does something, so that each joint keeps its own key times.
    ALL: flattened: every joint at every keyframe.
    """

    OWN = "own"
    ALL = "all"


@dataclass(frozen=True)
class WriteOptions:
    """What a person may ask of a writer."""

    keys: KeyTimes = KeyTimes.OWN
    straighten: bool = False


@dataclass(frozen=True)
class Quantum:
    """The smallest step that a format can say; None where it is finer than anything that matters."""

    angle_rad: float | None = None
    time_s: float | None = None


EXACT = Quantum()


@dataclass(frozen=True)
class Rendering:
    """A motion in the bytes of a format.

    Attributes:
        data: the whole file.
        losses: what of the motion the format cannot hold, in words; it is written only if that is accepted.
        remarks: what had to be filled in or said in another way, in words; nothing is lost by it.
        times_s: when each keyframe of the motion is reached in the file [s]; None for one that is merged away
            or nobody can tell. Empty where the format says no times.
    """

    data: bytes = field(repr=False)
    losses: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    times_s: tuple[float | None, ...] = field(default=(), repr=False)


Document = TypeVar("Document")


class Written(NamedTuple, Generic[Document]):
    """A motion in a document of a format; else as a `Rendering`."""

    document: Document
    losses: tuple[str, ...]
    remarks: tuple[str, ...]
    times_s: tuple[float | None, ...]


def as_they_are(motion: Motion) -> tuple[float, ...]:
    """Return when each keyframe is reached in a file that says just what the motion does [s]."""
    return tuple(motion.keyframe_times.tolist())


@dataclass(frozen=True)
class MotionFormat:
    """A format that is read and written.

    Attributes:
        kind: its name in programs, its title, and how its files are told from others.
        suffixes: of file names to write it under; for reading they mean nothing.
        read: bytes, path and the robot asked for, if one was, to the file; or a FormatError that says where.
        render: a motion, the path it will have and what is asked, to the file's bytes; or a FormatError.
        quantum: its smallest steps.
        suits: whether motions of a robot can be written so at all; tells apart formats of one suffix.
        stands_alone: whether its files never load others; only those are kept between two readings.
        render_file: a file of several motions, some perhaps edited, to its bytes; None where a file is
            one motion.
        names_robot: whether a file tells for which robot it is.
        wrapped: kinds of file that hold such a file in some wrapping, which `read` takes off.
        renumbers: whether `render_file` takes pages that were added, taken away or given other numbers.
    """

    kind: FileKind
    suffixes: tuple[str, ...]
    read: Callable[[bytes, Path, Robot | None], MotionFile]
    render: Callable[[Motion, Path, WriteOptions], Rendering]
    quantum: Quantum
    suits: Callable[[Robot], bool] = lambda _: True
    render_file: Callable[[MotionFile], Rendering] | None = None
    stands_alone: bool = True
    wrapped: tuple[FileKind, ...] = ()
    names_robot: bool = True
    renumbers: bool = False

    def __repr__(self) -> str:
        return f"MotionFormat({self.name!r})"

    @property
    def name(self) -> str:
        """Its name in programs."""
        return self.kind.name

    def prepared(self, motion: Motion, options: WriteOptions) -> Motion:
        """Return the motion as it is to be rendered: straightened on the format's clock, if that is asked."""
        return straighten_motion(motion, grid_s=self.quantum.time_s) if options.straighten else motion


@dataclass(frozen=True)
class Rounding:
    """What the steps of a format did to a motion.

    Attributes:
        angle_rad: the largest change of an angle at a keyframe [rad].
        time_s: the largest change of the time of a keyframe [s].
    """

    angle_rad: float
    time_s: float


def read_back(motion: Motion, rendering: Rendering, wanted: MotionFormat) -> Motion | None:
    """Return what a file that is about to be written says; None where it cannot be read by itself.

    Raises:
        FormatError: nobody could read it, since the motion has something that no such file may have.
    """
    try:
        return wanted.read(rendering.data, Path("as written"), robot_of_motion(motion)).motion()
    except UnknownNameError:  # of a robot nobody has a card of
        return None
    except InputError as error:
        if not wanted.stands_alone:  # it leans on its neighbours
            return None
        what = f"motion {motion.name!r} cannot be written as {wanted.name}: {error.message}"
        raise FormatError(what, hint=error.hint) from error


def measured(motion: Motion, back: Motion, rendering: Rendering, wanted: MotionFormat) -> Rounding | None:
    """Return what was rounded; None where the file's keyframes are others.

    A keyframe that was merged away counts nothing: that is told as a loss.
    """
    shared = tuple(name for name in motion.joints if name in back.joints)
    if not shared:
        return None
    times = _times(back, rendering)
    known = np.isfinite(times)
    if len(times) != len(motion.keyframes) or not known.any():
        return None
    asked = np.array([pose.on(shared).angles for pose in motion.resolved_poses()[1:]])[known]
    got = back.sample_at(times[known]).angles[:, [back.joints.index(name) for name in shared]]
    change = np.abs(asked - got)
    shift = np.abs(times - motion.keyframe_times)[known]
    says_times = rendering.times_s or wanted.quantum.time_s is not None
    return Rounding(
        float(change[np.isfinite(change)].max(initial=0.0)), float(shift.max()) if says_times else 0.0
    )


def _times(back: Motion, rendering: Rendering) -> Floats:
    """Return when each keyframe is reached in the file, NaN for one that is not in it [s].

    Where the writer does not say, the file's own keyframes count, one after the other.
    """
    if rendering.times_s:
        return np.array([np.nan if time is None else time for time in rendering.times_s])
    return back.keyframe_times
