"""Words that a Robi is to recognise, and when: `472@3.0, 1@20`, its number and seconds from the start."""

from __future__ import annotations

import re
from dataclasses import dataclass

from posewright.errors import FormatError

HIGHEST = 0xFFFF
LATEST_S = 3600.0
MOST_WORDS = 10_000
_WORD = re.compile(r"([0-9]{1,5})\s*@\s*([0-9]{1,9}(?:\.[0-9]{0,9})?)", re.ASCII)


@dataclass(frozen=True, slots=True, order=True)
class Word:
    """A word that is recognised at a time [s]."""

    time_s: float
    number: int


def read_words(text: str) -> tuple[Word, ...]:
    """Return the words of a list, parted by commas, in the order of their times; or raise FormatError."""
    pieces = [piece.strip() for piece in text.split(",") if piece.strip()]
    if len(pieces) > MOST_WORDS:
        raise FormatError(f"{len(pieces):,} words", hint=f"at most {MOST_WORDS:,}")
    return tuple(sorted((_word(piece) for piece in pieces), key=lambda word: word.time_s))


def _word(piece: str) -> Word:
    found = _WORD.fullmatch(piece)
    if found and 0 < int(found[1]) <= HIGHEST and float(found[2]) <= LATEST_S:
        return Word(float(found[2]), int(found[1]))
    hint = f"right is NUMBER@SECONDS, as in 472@3.0; 1..{HIGHEST}, 0..{LATEST_S:g} s"
    raise FormatError(f"--word {piece[:40]!r} is no word with its time", hint=hint)
