"""Commands that add, duplicate, delete and renumber the pages of a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from posewright.errors import InputError
from posewright.formats import FORMATS
from posewright.motions import Keyframe, Motion
from posewright.robots import Robot
from posewright.studio.pages import Pages

FIRST_REACH_S = 1.0
"""Duration of the first segment of a new page [s]."""


@dataclass(frozen=True)
class AddPage:
    """Add a page that begins with the last pose of another page.

    Attributes:
        after: number of the other page; the new page gets the next free number.
        name: name of the new page.
    """

    after: int
    name: str = "new"
    label = "add page"

    def apply(self, pages: Pages, robot: Robot) -> Pages:
        """Return the pages with the new one; raise InputError if the file cannot have another page."""
        motion = pages.motion(self.after)
        last_pose = motion.resolved_poses()[-1]
        frame = Keyframe(last_pose, FIRST_REACH_S, easing=motion.keyframes[-1].easing)
        new_motion = replace(
            motion,
            name=self.name,
            keyframes=(frame,),
            start=None,
            speed=1.0,
            repeat=1,
            next=None,
            exit=None,
        )
        return pages.with_page(free_number(pages, self.after), new_motion)


@dataclass(frozen=True)
class DuplicatePage:
    """Copy a page to the next free number."""

    page: int
    label = "duplicate page"

    def apply(self, pages: Pages, robot: Robot) -> Pages:
        """Return the pages with the new one; raise InputError if the file cannot have another page."""
        return pages.with_page(free_number(pages, self.page), pages.motion(self.page))


@dataclass(frozen=True)
class DeletePage:
    """Delete a page, and the references of other pages to it."""

    page: int
    label = "delete page"

    def apply(self, pages: Pages, robot: Robot) -> Pages:
        """Return the pages without it; raise InputError for the only page."""
        require_page_changes(pages)
        pages.motion(self.page)  # raises an error if there is no such page
        if len(pages.labels) == 1:
            raise InputError("this is the only page of the file", hint="add another page first")
        return with_redirected_links(pages.without(self.page), {str(self.page): None})


@dataclass(frozen=True)
class MovePage:
    """Change the number of a page, or exchange it with another page; references to them follow.

    Attributes:
        page: the present number.
        to: the new number, from 1.
    """

    page: int
    to: int
    label = "move page"

    def apply(self, pages: Pages, robot: Robot) -> Pages:
        """Return the pages with the numbers exchanged; raise InputError if there is no such number."""
        require_page_changes(pages)
        moved = pages.motion(self.page)
        if not 1 <= self.to <= pages.file.n_pages:
            raise InputError(f"there is no page {self.to}", hint=f"numbers are 1 to {pages.file.n_pages}")
        if self.to == self.page:
            return pages
        if self.to in pages.numbers:
            other_pages = pages.with_page(self.page, pages.motion(self.to))
        else:
            other_pages = pages.without(self.page)
        new_numbers = {str(self.page): str(self.to), str(self.to): str(self.page)}
        return with_redirected_links(other_pages.with_page(self.to, moved), new_numbers)


def allows_page_changes(pages: Pages) -> bool:
    """Return whether pages of the file can be added, deleted and renumbered."""
    motion_format = FORMATS.get(pages.file.format)
    return motion_format is not None and motion_format.allows_page_changes and pages.file.document is not None


def require_page_changes(pages: Pages) -> None:
    """Raise InputError if pages of the file cannot be added, deleted and renumbered."""
    if not allows_page_changes(pages):
        message = f"pages of a {pages.file.format} file cannot be added, deleted or moved here"
        raise InputError(message, hint="save the motion to its own file")


def free_number(pages: Pages, after: int) -> int:
    """Return the first free page number after a page, else the first free number.

    Raises:
        InputError: all numbers are in use, or the file's pages cannot be changed.
    """
    require_page_changes(pages)
    used_numbers = set(pages.numbers)
    free_numbers = [number for number in range(1, pages.file.n_pages + 1) if number not in used_numbers]
    if not free_numbers:
        raise InputError(f"all {pages.file.n_pages} pages are in use", hint="delete one first")
    return next((number for number in free_numbers if number > after), free_numbers[0])


def resolve_page(reference: str, pages: Pages) -> str | None:
    """Return a reference to another motion as the file stores it; None for an empty text.

    In a file with several pages this is a page number. A motion that is alone in its file refers to motions
    in other files by name.

    Raises:
        UnknownNameError, FormatError: no page has this name, or several have it.
    """
    name = reference.strip()
    if not name or not allows_page_changes(pages):
        return name or None
    file_with_edited_labels = replace(pages.file, pages=pages.labels)
    return str(file_with_edited_labels.page_number(name))


def with_redirected_links(pages: Pages, new_numbers: Mapping[str, str | None]) -> Pages:
    """Return the pages with references `next` and `exit` replaced.

    Args:
        pages: the pages.
        new_numbers: new reference by old reference; None removes it.
    """

    def redirect(reference: str | None) -> str | None:
        return None if reference is None else new_numbers.get(reference, reference)

    edited = dict(pages.edited)
    for number, motion in motions_of(pages):
        redirected = replace(motion, next=redirect(motion.next), exit=redirect(motion.exit))
        if (motion.next, motion.exit) != (redirected.next, redirected.exit):
            edited[number] = redirected
    return replace(pages, edited=edited)


def motions_of(pages: Pages) -> list[tuple[int, Motion]]:
    """Return the motion of each page with its number; all pages are read."""
    numbers_in_file = (label.number for label in pages.file.pages)
    unedited = dict(zip(numbers_in_file, pages.file.motions, strict=True))
    return [(number, pages.edited.get(number) or unedited[number]) for number in pages.numbers]
