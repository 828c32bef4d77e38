"""The script of words that a Robi recognises: `472@3.0, 1@20`, numbers with times from the start [s]."""

from __future__ import annotations

import re
from dataclasses import dataclass

from posewright.errors import FormatError

MAX_NUMBER = 0xFFFF
MAX_TIME_S = 3600.0
MAX_WORDS = 10_000
_ENTRY = re.compile(r"([0-9]{1,5})\s*@\s*([0-9]{1,9}(?:\.[0-9]{0,9})?)", re.ASCII)


@dataclass(frozen=True, slots=True, order=True)
class RecognisedWord:
    """A spoken word, by its number, that the robot recognises at a time [s]."""

    time_s: float
    number: int


def read_words(text: str) -> tuple[RecognisedWord, ...]:
    """Return the words of a script, whose entries are separated by commas, in the order of their times.

    Raises:
        FormatError: an entry has another form or is out of range, or there are too many.
    """
    n_commas = text.count(",")
    if n_commas > MAX_WORDS:
        raise FormatError(f"the script has {n_commas + 1:,} words", hint=f"expected at most {MAX_WORDS:,}")
    entries = [entry.strip() for entry in text.split(",") if entry.strip()]
    words: list[RecognisedWord] = []
    for entry in entries:
        match = _ENTRY.fullmatch(entry)
        if match is None or not 0 < int(match[1]) <= MAX_NUMBER or float(match[2]) > MAX_TIME_S:
            limits = f"1..{MAX_NUMBER}, 0..{MAX_TIME_S:g} s"
            hint = f"expected NUMBER@SECONDS, as in 472@3.0; {limits}"
            raise FormatError(f"--word {entry[:40]!r} is not a word with its time", hint=hint)
        words.append(RecognisedWord(float(match[2]), int(match[1])))
    return tuple(sorted(words, key=lambda word: word.time_s))
