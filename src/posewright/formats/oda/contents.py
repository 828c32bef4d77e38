"""What an entry of an ODA archive holds, told by its own first bytes: the table's type can lie.

Source: formats.md 1.2 (an ERS-210's NEWMTN.ODA says OMTN of recording slots that hold none).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from posewright.formats.binary import head_of, is_wrapped

_HEAD_BYTES = 16


class Kind(Enum):
    """What an entry holds, as people say it."""

    MOTION = "motion"
    PLACEHOLDER = "placeholder"
    SOUND = "sound"
    MIDI = "midi"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Contents:
    """What an entry holds.

    Attributes:
        kind: what it is.
        is_packed: whether gzip is around it.
    """

    kind: Kind
    is_packed: bool = False


TYPE_OF = {Kind.MOTION: "OMTN", Kind.PLACEHOLDER: "OMTN", Kind.SOUND: "WAVE", Kind.MIDI: "MIDI"}
"""The type that the table gives to what is of a kind."""

TYPES = ("OMTN", "WAVE", "MIDI", "LED", "SYN", "STT ", "OSND")
"""The types that Sony's tools know; the table has an empty one for what they do not."""

_SUFFIX_OF_KIND = {Kind.MOTION: ".mtn", Kind.PLACEHOLDER: ".mtn", Kind.SOUND: ".wav", Kind.MIDI: ".mid"}
_SUFFIX_OF_TYPE = {"LED": ".led", "SYN": ".syn", "STT ": ".stt", "OSND": ".osnd"}


def contents_of(data: bytes) -> Contents:
    """Tell what `data` is, looking at its first bytes only."""
    head = head_of(data, _HEAD_BYTES)
    return Contents(_kind_of(head), is_wrapped(data))


def suffix_of(kind: Kind, type_name: str) -> str:
    """Return how the name of a file ends that holds such an entry."""
    return _SUFFIX_OF_KIND.get(kind) or _SUFFIX_OF_TYPE.get(type_name, ".bin")


def _kind_of(head: bytes) -> Kind:
    if head.startswith(b"OMTN"):
        return Kind.MOTION
    if head.startswith(b"NotOMTN "):
        return Kind.PLACEHOLDER
    if head.startswith(b"RIFF") and head[8:12] == b"WAVE":
        return Kind.SOUND
    return Kind.MIDI if head.startswith(b"MThd") else Kind.UNKNOWN
