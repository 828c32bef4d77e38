"""Names of motions in an OMTN: which letters it holds, and how long they may be."""

from __future__ import annotations

from collections.abc import Iterator

MONET_NAME, SDK_NAME = 31, 127
"""Letters that a MONET command, and the SDK's player, have room for (formats.md 1.1 and 1.3)."""


def remarks_on_name(name: str) -> Iterator[str]:
    """Yield what is to be said of a long name."""
    if len(name) > SDK_NAME:
        yield f"the name has {len(name)} letters: more than {SDK_NAME} crash the player of Sony's SDK"
    elif len(name) > MONET_NAME:
        yield f"the name has {len(name)} letters: a MONETCMD.CFG can call a motion by {MONET_NAME} at most"


def in_latin_1(name: str) -> str:
    """Return a name with `_` for the letters that an OMTN cannot hold."""
    return "".join(letter if ord(letter) < 256 else "_" for letter in name)
