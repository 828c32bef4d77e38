"""Commands on the pages of a file: add, duplicate, delete, and give another number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from posewright.errors import InputError
from posewright.formats import FORMATS
from posewright.motions import Keyframe, Motion
from posewright.robots import Robot
from posewright.studio.pages import Pages

FIRST_REACH_S = 1.0
"""A new page has so much time for its first way [s]."""


@dataclass(frozen=True)
class AddPage:
    """Add a page, which begins where another one ends.

    Attributes:
        after: the number of that other one; the new page has the next number that is free.
    """

    after: int
    name: str = "new"
    label = "add page"

    def apply(self, pages: Pages, robot: Robot) -> Pages:
        """Return the pages with one more; an `InputError` where the file can have none."""
        motion = pages.motion(self.after)
        frame = Keyframe(motion.resolved_poses()[-1], FIRST_REACH_S, easing=motion.keyframes[-1].easing)
        first = replace(motion, name=self.name, keyframes=(frame,), start=None, speed=1.0)
        alone = replace(first, repeat=1, next=None, exit=None)
        return pages.with_page(free_number(pages, self.after), alone)


@dataclass(frozen=True)
class DuplicatePage:
    """Copy a page to the next number that is free."""

    page: int
    label = "duplicate page"

    def apply(self, pages: Pages, robot: Robot) -> Pages:
        """Return the pages with one more; an `InputError` where the file can have none."""
        return pages.with_page(free_number(pages, self.page), pages.motion(self.page))


@dataclass(frozen=True)
class DeletePage:
    """Delete a page; pages that led to it lead nowhere."""

    page: int
    label = "delete page"

    def apply(self, pages: Pages, robot: Robot) -> Pages:
        """Return the pages without it; an `InputError` for the last one."""
        require_free_pages(pages)
        pages.motion(self.page)
        if len(pages.labels) == 1:
            raise InputError("a file needs a page", hint="close it instead")
        return with_redirected_links(pages.without(self.page), {str(self.page): None})


@dataclass(frozen=True)
class MovePage:
    """Give a page another number; the page that has it gets this one's. Those that lead to them follow.

    Attributes:
        to: the number, from 1.
    """

    page: int
    to: int
    label = "move page"

    def apply(self, pages: Pages, robot: Robot) -> Pages:
        """Return the pages with the numbers exchanged; an `InputError` where there is no such number."""
        require_free_pages(pages)
        moved = pages.motion(self.page)
        if not 1 <= self.to <= pages.file.n_pages:
            raise InputError(f"there is no page {self.to}", hint=f"numbers are 1 to {pages.file.n_pages}")
        if self.to == self.page:
            return pages
        other = pages.motion(self.to) if self.to in pages.numbers else None
        remaining = pages.without(self.page) if other is None else pages.with_page(self.page, other)
        ends = {str(self.page): str(self.to), str(self.to): str(self.page)}
        return with_redirected_links(remaining.with_page(self.to, moved), ends)


def can_change(pages: Pages) -> bool:
    """Tell whether pages of the file may be added, deleted and numbered anew."""
    motion_format = FORMATS.get(pages.file.format)
    return motion_format is not None and motion_format.allows_page_changes and pages.file.document is not None


def require_free_pages(pages: Pages) -> None:
    """Raise InputError where pages cannot be added, deleted or numbered anew."""
    if not can_change(pages):
        message = f"no page of a {pages.file.format} file can be added, deleted or moved here"
        raise InputError(message, hint="save the motion to a file of its own")


def free_number(pages: Pages, after: int) -> int:
    """Return the first number behind a page that no page has, else the first of all; or raise InputError."""
    require_free_pages(pages)
    used = set(pages.numbers)
    free = [number for number in range(1, pages.file.n_pages + 1) if number not in used]
    if not free:
        raise InputError(f"all {pages.file.n_pages} pages are in use", hint="delete one first")
    return next((number for number in free if number > after), free[0])


def page_called(reference: str, pages: Pages) -> str | None:
    """Return how a motion of the file names another; None for no text.

    In a file of many pages that is a number. A motion alone in its file names others whose files are
    elsewhere.

    Raises:
        UnknownNameError, FormatError: no page, or several, are called so.
    """
    name = reference.strip()
    if not name or not can_change(pages):
        return name or None
    renumbered = replace(pages.file, pages=pages.labels)
    return str(renumbered.page_number(name))


def with_redirected_links(pages: Pages, ends: Mapping[str, str | None]) -> Pages:
    """Return the pages with every next and exit that is a key of `ends` replaced by its value."""

    def redirected(end: str | None) -> str | None:
        return ends.get(end, end) if end is not None else None

    edited = dict(pages.edited)
    for number, motion in motions_of(pages):
        if (motion.next, motion.exit) != (redirected(motion.next), redirected(motion.exit)):
            edited[number] = replace(motion, next=redirected(motion.next), exit=redirected(motion.exit))
    return replace(pages, edited=edited)


def motions_of(pages: Pages) -> list[tuple[int, Motion]]:
    """Return the motion of each page with its number; all pages are read."""
    as_read = dict(zip((label.number for label in pages.file.pages), pages.file.motions, strict=True))
    return [(number, pages.edited.get(number) or as_read[number]) for number in pages.numbers]
