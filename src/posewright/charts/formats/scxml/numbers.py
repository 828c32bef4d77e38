"""Times and words of our vocabulary in a document."""

from __future__ import annotations

import math
from enum import Enum
from typing import TypeVar

from posewright.charts.formats.scxml.markup import Element
from posewright.charts.formats.scxml.namespaces import own

LONGEST_S = 86_400.0

Word = TypeVar("Word", bound=Enum)


def seconds_in(element: Element, name: str, *, low: float = 0.0, default: float = 0.0) -> float:
    """Return a time of ours [s]; `default` where it is not there.

    Raises:
        FormatError: it is no time.
    """
    text = element.get(own(name))
    if text is None:
        return default
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not low <= seconds <= LONGEST_S:
        hint = f"a number of seconds, {low:g}..{LONGEST_S:g}"
        element.fail(f"{own(name)}={text!r} is no time", hint=hint)
    return seconds


def word_in(element: Element, name: str, kind: type[Word]) -> Word | None:
    """Return the member that an attribute of ours names, None where it is not there.

    Raises:
        FormatError: there is no such word.
    """
    text = element.get(own(name))
    if text is None:
        return None
    words = [str(member.value) for member in kind]
    if text not in words:
        element.fail(f"{own(name)}={text!r} is no word here", hint=f"one of {', '.join(words)}")
    return kind(text)
