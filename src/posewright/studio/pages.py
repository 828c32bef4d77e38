"""The pages of a motion file: one state of a document."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from posewright.errors import UnknownNameError
from posewright.formats import MotionFile, PageLabel
from posewright.motions import Motion


@dataclass(frozen=True)
class Pages:
    """All pages of a file, with edits; a page is read when it is first used.

    Attributes:
        file: the file as it was read or saved last.
        labels: number and name of each page, in order.
        edited: edited motions by page number.
    """

    file: MotionFile = field(repr=False)
    labels: tuple[PageLabel, ...]
    edited: Mapping[int, Motion] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "edited", MappingProxyType(dict(self.edited)))

    @classmethod
    def of(cls, file: MotionFile) -> Pages:
        """Return the pages of a file without edits."""
        return cls(file, file.pages)

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the pages, in order."""
        return tuple(label.number for label in self.labels)

    def motion(self, number: int) -> Motion:
        """Return the motion of a page.

        Raises:
            UnknownNameError: there is no such page.
            FormatError: the file's page cannot be made into a motion.
        """
        if number in self.edited:
            return self.edited[number]
        if number not in self.numbers:
            raise UnknownNameError.among("page", str(number), [str(number) for number in self.numbers])
        return self.file.motion(number)

    def with_page(self, number: int, motion: Motion) -> Pages:
        """Return the pages with a motion as the page of that number, which may be a new one."""
        names = {**dict(self.labels), number: motion.name}
        labels = tuple(PageLabel(page, name) for page, name in sorted(names.items()))
        return replace(self, labels=labels, edited={**self.edited, number: motion})

    def without(self, number: int) -> Pages:
        """Return the pages without the page of a number."""
        labels = tuple(label for label in self.labels if label.number != number)
        edited = {page: motion for page, motion in self.edited.items() if page != number}
        return replace(self, labels=labels, edited=edited)

    def as_file(self) -> MotionFile:
        """Return the file with these pages in it, ready to be rendered."""
        if not self.edited and self.labels == self.file.pages:
            return self.file
        motions = tuple(self.motion(number) for number in self.numbers)
        return replace(self.file, motions=motions, pages=self.labels)

    def with_changed_motion(self, number: int, change: Callable[[Motion], Motion]) -> Pages:
        """Return the pages with one motion changed; the same object if the change does nothing."""
        before = self.motion(number)
        after = change(before)
        if after is before or after == before:
            return self
        return self.with_page(number, after)
