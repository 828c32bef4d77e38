"""The formats that are read and written, by name: ours, and those of packages that are installed.

A package offers a format by an entry point of the group `posewright.formats` that names a `MotionFormat`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

from posewright.documents import plugins
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

_OURS = (NATIVE, ROBOPLUS, UC3M, OMTN, ODA, EKMOVES, MOT, POS, WEBOTS)


class Formats(Mapping[str, MotionFormat]):
    """Formats by name; installed packages are asked for theirs when the first one is looked up."""

    def __getitem__(self, name: str) -> MotionFormat:
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def __repr__(self) -> str:
        return f"Formats({', '.join(self)})"

    @cached_property
    def _known(self) -> dict[str, MotionFormat]:
        known, offered = {each.name: each for each in _OURS}, plugins(GROUP)
        for name, each in offered.items():
            if not isinstance(each, MotionFormat):
                raise offered.fault(name, "is no MotionFormat")
            if each.name in known:
                raise offered.fault(name, f"is a second format {each.name!r}")
            known[each.name] = each
        return known


FORMATS = Formats()


def is_read(name: str) -> bool:
    """Tell whether files of a kind are read, in their wrapping too."""
    return name in FORMATS or name in _wrapped()


def format_named(name: str) -> MotionFormat:
    """Return the format of that name, or raise UnknownNameError."""
    name = _wrapped().get(name, name)
    if name not in FORMATS:
        raise UnknownNameError.among("motion format", name, FORMATS)
    return FORMATS[name]


def _wrapped() -> dict[str, str]:
    return {kind.name: known.name for known in FORMATS.values() for kind in known.wrapped}


ROBI_PROGRAMS = (".rm4", ".lst")


def format_for(motion: Motion, path: Path, name: str | None = None) -> MotionFormat:
    """Return the format to write a motion in: as asked, as the file's name suggests, or as it came.

    Where several formats share a suffix, as four share `.mtn`, it is the one the motion came from, or else
    the one that its robot has.

    Raises:
        FormatError: none of the three tells.
        UnknownNameError: there is no format `name`.
    """
    if name is not None:
        return format_named(name)
    if path.name.lower().endswith(ROBI_PROGRAMS):
        hint = "`posewright robi assemble MOTION -o PROGRAM.rm4` makes one of a motion"
        raise FormatError("a Robi's program is no motion file", where=Where(path), hint=hint)
    if path.name.lower().endswith(".bas"):
        hint = "`posewright basic motions MOTION -o PROGRAM.bas` makes one of a motion"
        raise FormatError("a RoboBASIC program is no motion file", where=Where(path), hint=hint)
    origin = origin_of(motion)
    named = [known for known in FORMATS.values() if path.name.lower().endswith(known.suffixes)]
    if named:
        card = robot_of_motion(motion)
        suiting = [known for known in named if known.suits(card)] or named
        return next((known for known in suiting if origin and known.name == origin.format), suiting[0])
    if origin is None or origin.format not in FORMATS or not FORMATS[origin.format].suffixes:
        endings = dict.fromkeys(known.suffixes[0] for known in FORMATS.values() if known.suffixes)
        what = "the file's name does not say in which format to write"
        raise FormatError(what, where=Where(path), hint=f"end it in {', '.join(endings)}")
    return FORMATS[origin.format]
