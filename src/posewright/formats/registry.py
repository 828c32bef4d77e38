"""The formats that are read and written, by name: built-in ones and those of installed packages.

A package adds a format by an entry point of the group `posewright.formats` that names a `MotionFormat`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

from posewright.documents import build_ending_error, plugins, real_path
from posewright.errors import FormatError, UnknownNameError, Where
from posewright.formats.ekmoves.format import FORMAT as EKMOVES
from posewright.formats.motion_file import origin_of
from posewright.formats.motion_format import MotionFormat
from posewright.formats.native.format import FORMAT as NATIVE
from posewright.formats.oda.format import FORMAT as ODA
from posewright.formats.omtn.format import FORMAT as OMTN
from posewright.formats.roboplus.format import FORMAT as ROBOPLUS
from posewright.formats.tekkotsu.format import MOT, POS
from posewright.formats.uc3m import FORMAT as UC3M
from posewright.formats.webots.format import FORMAT as WEBOTS
from posewright.motions import Motion, robot_of_motion

GROUP = "posewright.formats"

_BUILT_IN = (NATIVE, ROBOPLUS, UC3M, OMTN, ODA, EKMOVES, MOT, POS, WEBOTS)


class Formats(Mapping[str, MotionFormat]):
    """Formats by name; installed packages are searched at the first look-up."""

    def __getitem__(self, name: str) -> MotionFormat:
        return self._formats[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._formats)

    def __len__(self) -> int:
        return len(self._formats)

    def __repr__(self) -> str:
        return f"Formats({', '.join(self)})"

    @cached_property
    def _formats(self) -> dict[str, MotionFormat]:
        """The formats of Posewright and of plugins, by name."""
        formats = {built_in.name: built_in for built_in in _BUILT_IN}
        entry_points = plugins(GROUP)
        for name, motion_format in entry_points.items():
            if not isinstance(motion_format, MotionFormat):
                raise entry_points.build_error(name, "is not a MotionFormat")
            if motion_format.name in formats:
                raise entry_points.build_error(name, f"is a second format {motion_format.name!r}")
            formats[motion_format.name] = motion_format
        return formats


FORMATS = Formats()


def is_read(name: str) -> bool:
    """Return whether files of a kind are read, as they are or wrapped, for example in gzip."""
    return name in FORMATS or name in _formats_by_wrapped_kind()


def format_named(name: str) -> MotionFormat:
    """Return the format with a name.

    The name may also be that of a wrapped kind: files of the format with something around them, as in gzip.

    Raises:
        UnknownNameError: no format has that name.
    """
    name = _formats_by_wrapped_kind().get(name, name)
    if name not in FORMATS:
        raise UnknownNameError.among("motion format", name, FORMATS)
    return FORMATS[name]


def _formats_by_wrapped_kind() -> dict[str, str]:
    """Return the name of the format inside each kind of wrapped files, by the name of the kind."""
    return {
        kind.name: motion_format.name
        for motion_format in FORMATS.values()
        for kind in motion_format.wrapped_kinds
    }


ROBI_PROGRAMS = (".rm4", ".lst")


def format_for(motion: Motion, path: Path, name: str | None = None) -> MotionFormat:
    """Return the format to write a motion in.

    If several formats share a suffix, as four share `.mtn`, it is the one the motion came from, or else the
    first that supports the robot. The file that the motion was read from keeps its format, whatever its name.

    Args:
        motion: the motion to write.
        path: the file to write; its name suggests the format if none is given.
        name: the name of the format.

    Raises:
        InputError: the file's name does not give a format.
        FormatError: it is that of a robot's program.
        UnknownNameError: no format has the name.
    """
    if name is not None:
        return format_named(name)
    file_name = path.name.lower()
    if file_name.endswith(ROBI_PROGRAMS):
        hint = "`posewright robi assemble MOTION -o PROGRAM.rm4` makes one of a motion"
        raise FormatError("a Robi's program is not a motion file", where=Where(path), hint=hint)
    if file_name.endswith(".bas"):
        hint = "`posewright basic motions MOTION -o PROGRAM.bas` makes one of a motion"
        raise FormatError("a RoboBASIC program is not a motion file", where=Where(path), hint=hint)
    origin = origin_of(motion)
    candidates = [candidate for candidate in FORMATS.values() if file_name.endswith(candidate.suffixes)]
    if candidates:
        card = robot_of_motion(motion)
        candidates = [candidate for candidate in candidates if candidate.supports_robot(card)] or candidates
        for candidate in candidates:
            if origin is not None and candidate.name == origin.format:
                return candidate
        return candidates[0]
    origin_path = origin.path if origin is not None and origin.format in FORMATS else None
    if origin is not None and origin_path is not None and real_path(origin_path) == real_path(path):
        return FORMATS[origin.format]
    raise build_ending_error(path, list_suffixes(), "a motion file")


def list_suffixes() -> tuple[str, ...]:
    """Return the suffixes of the motion files that can be written, the first one of each format."""
    suffixes = [motion_format.suffixes[0] for motion_format in FORMATS.values() if motion_format.suffixes]
    return tuple(dict.fromkeys(suffixes))
