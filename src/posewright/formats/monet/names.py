"""Names of MONET motions: `a_stand#sit_title` goes from standing to sitting.

Source: formats.md sections 1.1 and 1.3. MoNet splits a name at every `_` and `#`; the second piece is the
posture the motion begins in, the third the one it ends in.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from posewright.errors import FormatError
from posewright.formats.monet.limits import ANY, NAME_BYTES, NULL_TITLE, POSTURES

_PIECES = re.compile(r"[^_#]+")


class Postures(NamedTuple):
    """Where a motion begins and ends, as its name says; empty where the name says nothing."""

    start: str
    end: str

    @property
    def said(self) -> bool:
        """Whether the name says both."""
        return bool(self.start and self.end)

    @property
    def leads_on(self) -> bool:
        """Whether this is a way from one posture to another, that MoNet may take to get there.

        `X#any` is none, though MoNet's graph has it (MoNet.cc, `ReadMoNetConfig`: whatever does not begin in
        `any` and ends elsewhere than it begins). It is a way into a place called `any`, out of which none
        leads, as nothing that begins in `any` is kept; it is never the place MoNet looks for (`Execute`); and
        who plays it remains in X (`NotifyAgentResult` keeps the posture where the end is `any`).
        """
        return self.said and ANY not in self and self.start != self.end

    @property
    def begins_anywhere(self) -> bool:
        """Whether it is played in every posture, and ends in one: MoNet then takes the robot to be there."""
        return self.start == ANY and self.end not in (ANY, "")


NOWHERE = Postures(ANY, ANY)
"""Of a sound: it needs no posture and changes none."""


def postures_of(name: str) -> Postures:
    """Return where a motion of that name begins and ends, as MoNet reads it."""
    pieces = _PIECES.findall(name)
    start, end = (*pieces[1:3], "", "")[:2]
    return Postures(start, end)


def is_null(name: str) -> bool:
    """Tell whether a name says that nothing is to be played: `a_sit#sit_null`."""
    return _PIECES.findall(name)[3:] == [NULL_TITLE]


def follows_grammar(name: str) -> bool:
    """Tell whether a name says where the motion begins and ends, in postures that MoNet knows."""
    return "#" in name and set(postures_of(name)) <= POSTURES


def refuse_name(name: str) -> None:
    """Refuse a name that MoNet could not read.

    Raises:
        FormatError: it is empty or longer than 31 bytes, or holds what ends a name or a line.
    """
    hint = f"a name has 1 to {NAME_BYTES} letters, digits, _ and one #, as in a_stand#stand_kick"
    try:
        data = name.encode("latin-1")
    except UnicodeEncodeError as error:
        raise FormatError(f"{name!r} cannot be written in a MONET file", hint=hint) from error
    if len(data) > NAME_BYTES:
        raise FormatError(
            f"{name!r} has {len(data)} bytes; MoNet has room for {NAME_BYTES} and would crash", hint=hint
        )
    if not data or any(byte <= 32 or byte == 127 for byte in data):
        raise FormatError(f"{name!r} is no name: it is empty, or has blanks or signs in it", hint=hint)
