"""Section 3 of an OMTN motion: where its keyframes are, and whether they can be true."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posewright.formats.omtn.document import LONG_BYTES, MAX_ANGLE_URAD, MAX_BETWEEN, SHORT_BYTES, Integers
from posewright.formats.omtn.sections import Sections

SHORT_DESIGN = "DRX-700"
"""How the design of an ERS-110 or ERS-111 begins."""

MAX_WAY_MS = 86_400_000
"""A day: as much as a way of a motion may last."""

_BEFORE_JOINTS = ("frames", "roll", "pitch", "yaw")


@dataclass(frozen=True)
class KeyframeSection:
    """Where the keyframes are.

    Attributes:
        body: where the first of them begins.
        end: where section 3 ends.
        is_short: whether its size takes two bytes.
    """

    body: int
    end: int
    is_short: bool


def keyframe_section(sections: Sections, start: int, shape: tuple[int, int], design: str) -> KeyframeSection:
    """Return where the keyframes are in section 3, which begins at `start`.

    On the ERS-110 and ERS-111 its size takes two bytes instead of four, which does not change the number
    read there, as the bytes behind it are zero. A size that fits exactly tells which it is; where surplus
    bytes follow the keyframes, the design tells.

    Args:
        sections: the file.
        start: where section 3 begins.
        shape: numbers of keyframes and joints.
        design: the design label.

    Raises:
        FormatError: it is another section, is too small, is cut off, or holds data of an unknown type.
    """
    n_keyframes, n_joints = shape
    words = 4 * (n_keyframes * (4 + n_joints) - 1)
    end = sections.open(3, start, 8).end
    size, long, short = end - start, LONG_BYTES + words, SHORT_BYTES + words
    is_short = size == short or (size > short and size != long and design.startswith(SHORT_DESIGN))
    if not is_short and size < long:
        counted = f"{n_keyframes} keyframes of {n_joints} joints take {long}"
        sections.place.fail(f"section 3 says it has {size} bytes, but {counted}", start + 4)
    section = KeyframeSection(start + (SHORT_BYTES if is_short else LONG_BYTES), end, is_short)
    kind = int.from_bytes(sections.data[section.body - 4 : section.body], "little")
    if kind:
        sections.place.fail(
            f"the keyframes are of type {kind}, which nobody knows", section.body - 4, "0 is angles"
        )
    return section


def keyframe_words(
    sections: Sections, section: KeyframeSection, locators: tuple[str, ...], n_keyframes: int, step_ms: int
) -> Integers:
    """Return what the keyframes say.

    Returns:
        (n_keyframes, 4 + n_joints): frames before it, 0 for the first; roll, pitch, yaw; angles of joints
        [micro-radians].

    Raises:
        FormatError: an angle is more than a turn, or a way takes longer than can be.
    """
    columns = 4 + len(locators)
    raw = np.frombuffer(sections.data, "<i4", n_keyframes * columns - 1, section.body)
    words = (
        np.concatenate([np.zeros(1, np.int32), raw])
        .reshape(n_keyframes, columns)
        .astype(np.int32, copy=False)
    )
    finder = _Finder(sections, section.body, words, (*_BEFORE_JOINTS, *locators))
    most = min(MAX_BETWEEN, MAX_WAY_MS // step_ms - 1)
    finder.refuse(words[:, :1].view(np.uint32) > most, f"the largest honest number is {most}")
    beyond = (words > MAX_ANGLE_URAD) | (words < -MAX_ANGLE_URAD)
    finder.refuse(beyond[:, 4:], f"a whole turn is {MAX_ANGLE_URAD} micro-radians", first_column=4)
    finder.note(beyond[:, 1:4], first_column=1)
    return words


@dataclass(frozen=True)
class _Finder:
    """Finds the first of the numbers that cannot be true, and says where it stands."""

    sections: Sections
    body: int
    words: Integers
    columns: tuple[str, ...]

    def refuse(self, wrong: NDArray[np.bool_], hint: str, first_column: int = 0) -> None:
        """Raise a FormatError at the first of the `wrong`, whose columns begin with `first_column`."""
        if wrong.any():
            self.sections.place.fail(*self._first(wrong, first_column), hint)

    def note(self, wrong: NDArray[np.bool_], first_column: int) -> None:
        """Remark the first of the `wrong`, as `refuse` does."""
        if wrong.any():
            self.sections.note(*self._first(wrong, first_column))

    def _first(self, wrong: NDArray[np.bool_], first_column: int) -> tuple[str, int]:
        row, column = divmod(int(wrong.argmax()), wrong.shape[1])
        column += first_column
        value = int(self.words[row, column])
        if not column:
            value &= 0xFFFFFFFF
        offset = self.body + 4 * (row * len(self.columns) + column - 1)
        unit = "frames before it" if not column else f"{self.columns[column]}, more than a whole turn"
        return f"keyframe {row + 1} has {value} {unit}", offset
