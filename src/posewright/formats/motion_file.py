"""A motion file as a whole: all its pages as motions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from posewright.errors import FormatError, InputError, Where
from posewright.formats.page_reference import Reference, find_page
from posewright.motions import Motion


class PageLabel(NamedTuple):
    """Number and name of a page; a nameless one is called after its number."""

    number: int
    name: str


@dataclass(frozen=True)
class MotionFile:
    """What a motion file holds.

    Attributes:
        format: name of its format.
        path: where it lies.
        motions: a motion for each page that holds something.
        pages: the label of each of `motions`.
        n_pages: pages the file has, empty ones too.
        warnings: what is odd about it but did not keep it from being read, in words.
        document: the file as its format keeps it, for writing it back.
    """

    format: str
    path: Path
    motions: Sequence[Motion]
    pages: tuple[PageLabel, ...]
    n_pages: int = 1
    warnings: tuple[str, ...] = ()
    document: object = None

    def page_number(self, reference: Reference | None = None) -> int:
        """Return the number of the page named by name or number; of the first one without a name.

        Raises:
            FormatError: several pages are called so, or the page is empty.
            UnknownNameError: there is no such page.
        """
        if not self.motions:
            raise FormatError("there is no motion in it: all its pages are empty", where=Where(self.path))
        if reference is None:
            return self.pages[0].number
        return find_page(reference, dict(self.pages), last=self.n_pages, where=Where(self.path))

    def motion(self, reference: Reference | None = None) -> Motion:
        """Return a page as a motion; `reference` as in `page_number`."""
        return self.motions[self._place(self.page_number(reference))]

    def with_motion(self, reference: Reference, motion: Motion) -> MotionFile:
        """Return the file with another motion in one of its pages."""
        place = self._place(self.page_number(reference))
        return replace(self, motions=(*self.motions[:place], motion, *self.motions[place + 1 :]))

    def reachable(self, reference: Reference | None = None) -> dict[str, Motion]:
        """Return a page and all that its next and exit pages lead to, by number, as those name each other.

        Nothing is followed that is no page of the file.
        """
        found: dict[str, Motion] = {}
        open_ends: list[str | None] = [str(self.page_number(reference))]
        while open_ends:
            name = open_ends.pop()
            if name is None or name in found:
                continue
            try:
                motion = self.motion(int(name) if name.isdecimal() else name)
            except InputError:
                continue
            found[name] = motion
            open_ends += [motion.next, motion.exit]
        return found

    def _place(self, number: int) -> int:
        return [label.number for label in self.pages].index(number)
