"""The formats that are read and written, by name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from posewright.errors import FormatError, UnknownNameError, Where
from posewright.formats.ekmoves.format import FORMAT as EKMOVES_FORMAT
from posewright.formats.kinds import READ_AS
from posewright.formats.motion_file import card_of, origin_of
from posewright.formats.motion_format import MotionFormat
from posewright.formats.native.format import FORMAT as NATIVE_FORMAT
from posewright.formats.oda.format import FORMAT as ODA_FORMAT
from posewright.formats.omtn.format import FORMAT as OMTN_FORMAT
from posewright.formats.roboplus.format import FORMAT as ROBOPLUS_FORMAT
from posewright.formats.tekkotsu.format import MOT as MOT_FORMAT
from posewright.formats.tekkotsu.format import POS as POS_FORMAT
from posewright.formats.uc3m.format import FORMAT as UC3M_FORMAT
from posewright.formats.webots.format import FORMAT as WEBOTS_FORMAT
from posewright.motions import Motion

_KNOWN: tuple[MotionFormat, ...] = (
    NATIVE_FORMAT,
    ROBOPLUS_FORMAT,
    UC3M_FORMAT,
    OMTN_FORMAT,
    ODA_FORMAT,
    EKMOVES_FORMAT,
    MOT_FORMAT,
    POS_FORMAT,
    WEBOTS_FORMAT,
)

FORMATS: Mapping[str, MotionFormat] = MappingProxyType({known.name: known for known in _KNOWN})


def format_named(name: str) -> MotionFormat:
    """Return the format of that name, or raise UnknownNameError."""
    name = READ_AS.get(name, name)
    if name not in FORMATS:
        raise UnknownNameError.among("motion format", name, FORMATS)
    return FORMATS[name]


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
    origin = origin_of(motion)
    named = [known for known in FORMATS.values() if path.name.lower().endswith(known.suffixes)]
    if named:
        card = card_of(motion)
        suiting = [known for known in named if known.suits(card)] or named
        return next((known for known in suiting if origin and known.name == origin.format), suiting[0])
    if origin is None or origin.format not in FORMATS or not FORMATS[origin.format].suffixes:
        endings = dict.fromkeys(known.suffixes[0] for known in FORMATS.values() if known.suffixes)
        raise FormatError(
            "the file's name does not say in which format to write",
            where=Where(path),
            hint=f"end it in {', '.join(endings)}",
        )
    return FORMATS[origin.format]
