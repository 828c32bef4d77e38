"""A format of motion files: how it is read and written, and how precise it is."""

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
    """At which times a format with separate key times for every joint writes a joint's angle.

    OWN: only at the times where the joint's motion changes.
    ALL: at every keyframe, for every joint.
    """

    OWN = "own"
    ALL = "all"


@dataclass(frozen=True)
class WriteOptions:
    """Options of a writer.

    Attributes:
        keys: which key times are written, in formats that have them for every joint.
        straighten: whether curved segments are replaced by short straight ones first.
    """

    keys: KeyTimes = KeyTimes.OWN
    straighten: bool = False


@dataclass(frozen=True)
class Quantum:
    """The smallest steps of a format; None for a step that is too fine to matter."""

    angle_rad: float | None = None
    time_s: float | None = None


EXACT = Quantum()


@dataclass(frozen=True)
class Rendering:
    """A motion as the bytes of a file.

    Attributes:
        data: the bytes of the whole file.
        losses: descriptions of what the format cannot hold; a file with losses is only written if the user
            accepts them.
        remarks: descriptions of what was filled in or expressed differently, without a loss.
        times_s: when each keyframe of the motion is reached in the file [s]; None for one that is merged into
            another or whose time is unknown. Empty if the format has no times.
    """

    data: bytes = field(repr=False)
    losses: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    times_s: tuple[float | None, ...] = field(default=(), repr=False)


Document = TypeVar("Document")


class WrittenDocument(NamedTuple, Generic[Document]):
    """A motion as a document of a format.

    Attributes:
        document: the document.
        losses: descriptions of what the format cannot hold.
        remarks: descriptions of what was filled in or expressed differently, without a loss.
        times_s: when each keyframe of the motion is reached in the file [s]; None for one that is merged into
            another or whose time is unknown. Empty if the format has no times.
    """

    document: Document
    losses: tuple[str, ...]
    remarks: tuple[str, ...]
    times_s: tuple[float | None, ...]


def exact_key_times(motion: Motion) -> tuple[float, ...]:
    """Return when each keyframe is reached in a file that holds the motion exactly [s]."""
    return tuple(motion.keyframe_times.tolist())


@dataclass(frozen=True)
class MotionFormat:
    """A format that is read and written.

    Attributes:
        kind: its name in programs, its title, and how its files are recognized.
        suffixes: suffixes of file names that select it for writing; they do not matter for reading.
        read: turns bytes, path and the requested robot (if any) into the file; raises FormatError.
        render: turns a motion, its future path and the options into the file's bytes; raises FormatError.
        quantum: its smallest steps.
        supports_robot: whether motions of a robot can be written; chooses between formats of one suffix.
        render_file: turns a file of several motions, some perhaps edited, into its bytes; None if a file
            holds one motion.
        is_self_contained: whether its files never load other files; only such files are cached.
        wrapped_kinds: kinds of file that hold a file of this format in gzip or similar; `read` unpacks it.
        names_robot: whether a file names its robot.
        allows_page_changes: whether `render_file` accepts added, removed and renumbered pages.
        is_played_by_robots: whether a robot plays its files as they are, so that a motion with faults is not
            written without being asked for.
    """

    kind: FileKind
    suffixes: tuple[str, ...]
    read: Callable[[bytes, Path, Robot | None], MotionFile]
    render: Callable[[Motion, Path, WriteOptions], Rendering]
    quantum: Quantum
    supports_robot: Callable[[Robot], bool] = lambda _: True
    render_file: Callable[[MotionFile], Rendering] | None = None
    is_self_contained: bool = True
    wrapped_kinds: tuple[FileKind, ...] = ()
    names_robot: bool = True
    allows_page_changes: bool = False
    is_played_by_robots: bool = False

    def __repr__(self) -> str:
        return f"MotionFormat({self.name!r})"

    @property
    def name(self) -> str:
        """Its name in programs."""
        return self.kind.name

    def prepare_motion(self, motion: Motion, options: WriteOptions) -> Motion:
        """Return the motion to render: straightened on the format's clock if the options say so."""
        return straighten_motion(motion, grid_s=self.quantum.time_s) if options.straighten else motion


@dataclass(frozen=True)
class Rounding:
    """The changes of a motion by the steps of a format.

    Attributes:
        angle_rad: the largest change of an angle at a keyframe [rad].
        time_s: the largest change of the time of a keyframe [s].
    """

    angle_rad: float
    time_s: float


def read_back(motion: Motion, rendering: Rendering, motion_format: MotionFormat) -> Motion | None:
    """Return the motion that a rendered file holds; None if the file cannot be read on its own.

    Raises:
        FormatError: the file could not be read, because the motion has something that no such file may have.
    """
    try:
        file = motion_format.read(rendering.data, Path("as written"), robot_of_motion(motion))
        return file.motion()
    except UnknownNameError:  # the robot has no card
        return None
    except InputError as error:
        if not motion_format.is_self_contained:  # it needs other files
            return None
        message = f"motion {motion.name!r} cannot be written as {motion_format.name}: {error.message}"
        raise FormatError(message, hint=error.hint) from error


def measure_rounding(
    motion: Motion, written_motion: Motion, rendering: Rendering, motion_format: MotionFormat
) -> Rounding | None:
    """Return the rounding of a written motion; None if the file has different keyframes.

    Keyframes that were merged into others do not count, since they are listed as losses.

    Args:
        motion: the motion before it was written.
        written_motion: the motion read back from the file.
        rendering: the file.
        motion_format: its format.
    """
    joints = tuple(name for name in motion.joints if name in written_motion.joints)
    if not joints:
        return None
    file_times_s = _key_times_in_file(written_motion, rendering)
    is_written = np.isfinite(file_times_s)
    if len(file_times_s) != len(motion.keyframes) or not is_written.any():
        return None
    _, *keyframe_poses = motion.resolved_poses()  # the first one is the start pose
    intended_angles = np.array([pose.with_joints(joints).angles for pose in keyframe_poses])[is_written]
    columns = [written_motion.joints.index(name) for name in joints]
    written_angles = written_motion.sample_at(file_times_s[is_written]).angles[:, columns]
    changes = np.abs(intended_angles - written_angles)
    largest_change = float(changes[np.isfinite(changes)].max(initial=0.0))
    has_times = rendering.times_s or motion_format.quantum.time_s is not None
    shifts_s = np.abs(file_times_s - motion.keyframe_times)[is_written]
    return Rounding(largest_change, float(shifts_s.max()) if has_times else 0.0)


def _key_times_in_file(written_motion: Motion, rendering: Rendering) -> Floats:
    """Return when each keyframe is reached in the file, NaN for one that is not in it [s].

    If the writer gives no times, the keyframes of the file count, one after the other.
    """
    if rendering.times_s:
        return np.array([np.nan if time is None else time for time in rendering.times_s])
    return written_motion.keyframe_times
