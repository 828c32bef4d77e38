"""Motion files: their pages, motions and origins, and motions carried over to another robot."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple, overload

from posewright.errors import FormatError, InputError, UnknownNameError, Where
from posewright.motions import (
    Motion,
    RetargetedMotion,
    card_of_motion,
    retarget_motion,
    robot_of_motion,
)
from posewright.motions.motion import MotionOrigin
from posewright.robots import Robot, is_same_card
from posewright.robots import robot as robot_named
from posewright.units import parse_whole_number

PageReference = str | int


def find_page(
    reference: PageReference, names: Mapping[int, str], *, last: int, where: Where | None = None
) -> int:
    """Return the number of a page.

    Args:
        reference: the number or the name of the page; blanks around a name do not matter. Text that is no
            page's name is read as a number.
        names: the names of the pages that are not empty, by number.
        last: the number of the last page.
        where: the file, for messages.

    Raises:
        FormatError: several pages have the name, or the page is empty.
        UnknownNameError: there is no such page.
    """
    if isinstance(reference, str):
        page_name = reference.strip()
        matches = [number for number, name in names.items() if page_name and name.strip() == page_name]
        if len(matches) > 1:
            message = f"{len(matches)} pages are called {page_name!r}"
            hint = f"give the page's number: {', '.join(map(str, matches))}"
            raise FormatError(message, where=where, hint=hint)
        if matches:
            return matches[0]
    text = str(reference).strip()
    is_number = text.isascii() and text.isdigit() and len(text) <= 9  # int() of a huge text is slow
    if not is_number:
        page_names = [name for name in names.values() if name] or [str(number) for number in names]
        raise UnknownNameError.among("page", reference, page_names, where=where)
    number = int(text)
    if number in names:
        return number
    if 1 <= number <= last:
        hint = f"pages with a motion: {_format_ranges(sorted(names))}"
        raise FormatError(f"page {number} is empty", where=where, hint=hint)
    raise UnknownNameError(f"there is no page {number}", where=where, hint=f"pages are 1 to {last}")


def _format_ranges(numbers: list[int]) -> str:
    """Return sorted numbers as ranges: `1-6, 9`."""
    ranges: list[tuple[int, int]] = []  # first and last number
    for number in numbers:
        if ranges and ranges[-1][1] == number - 1:
            first, _ = ranges.pop()
            ranges.append((first, number))
        else:
            ranges.append((number, number))
    texts = [str(first) if first == last else f"{first}-{last}" for first, last in ranges]
    return ", ".join(texts) or "none"


class MotionSummary(NamedTuple):
    """What a list shows of a motion, known without building it."""

    name: str
    keyframes: int
    duration_s: float


class LazyMotions(Sequence[Motion]):
    """A sequence of motions, each built at its first use and then cached.

    Attributes:
        summaries: a summary of each motion; empty if they are not known without building the motions.
    """

    def __init__(
        self, builders: Sequence[Callable[[], Motion]], summaries: Sequence[MotionSummary] = ()
    ) -> None:
        """Store a function for each motion that builds it, and perhaps the summaries."""
        self.summaries = tuple(summaries)
        self._builders = tuple(builders)
        self._motions: dict[int, Motion] = {}

    def __len__(self) -> int:
        return len(self._builders)

    @overload
    def __getitem__(self, index: int) -> Motion: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Motion, ...]: ...
    def __getitem__(self, index: int | slice) -> Motion | tuple[Motion, ...]:
        """Return one motion, or several as a tuple; raises what its builder raises."""
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(len(self))))
        index = range(len(self))[index]  # a negative one counts from the end; raises IndexError
        if index not in self._motions:
            self._motions[index] = self._builders[index]()
        return self._motions[index]


@dataclass(frozen=True)
class Origin(MotionOrigin):
    """The file that a motion was read from; `Motion.origin` holds it.

    Attributes:
        format: the name of the file's format.
        document: the content of the file, as its format represents it.
        page: the number of the motion's page, from 1.
        is_single_page: whether the motion is written without the pages that it does not lead to.
        remarks: remarks on reading it.
        path: the path of the file.
        robot: the robot it was read for, if the file names none.
    """

    format: str
    document: object = field(repr=False)
    page: int = 1
    is_single_page: bool = False
    remarks: tuple[str, ...] = ()
    path: Path | None = None
    robot: Robot | None = field(default=None, repr=False)


def origin_of(motion: Motion, format_name: str | None = None) -> Origin | None:
    """Return the origin of a motion that was read from a file (of a format, if one is named), else None."""
    origin = motion.origin
    if isinstance(origin, Origin) and format_name in (None, origin.format):
        return origin
    return None


def mark_single_page(motion: Motion, *, is_single_page: bool = True) -> Motion:
    """Return the motion with a mark that says what is written back: its page alone, or its whole file."""
    origin = origin_of(motion)
    if origin is None:
        return motion
    return replace(motion, origin=replace(origin, is_single_page=is_single_page))


class PageLabel(NamedTuple):
    """Number and name of a page; a page without a name has its number as its name."""

    number: int
    name: str


@dataclass(frozen=True)
class MotionFile:
    """The content of a motion file.

    Attributes:
        format: the name of its format.
        path: its path.
        motions: a motion for each page that is not empty.
        pages: number and name of each of these pages.
        n_pages: number of pages, empty ones included.
        warnings: descriptions of what is unusual about it.
        document: the file as its format represents it, for writing it back.
        assumed_robot: a description of the robot assumed for it, if the file names none; else None.
    """

    format: str
    path: Path
    motions: Sequence[Motion]
    pages: tuple[PageLabel, ...]
    n_pages: int = 1
    warnings: tuple[str, ...] = ()
    document: object = None
    assumed_robot: str | None = None

    def __repr__(self) -> str:
        return f"MotionFile({self.format!r}, {str(self.path)!r}, {len(self.motions)} motions)"

    @classmethod
    def of_single_motion(
        cls, kind: str, path: Path, motion: Motion, warnings: Iterable[str] = (), document: object = None
    ) -> MotionFile:
        """Return a file with one motion; `kind` is the name of its format."""
        return cls(kind, path, (motion,), (PageLabel(1, motion.name),), 1, tuple(warnings), document)

    def page_number(self, reference: PageReference | None = None) -> int:
        """Return the number of a page given by name or number, by default of the first page with a motion."""
        if not self.motions:
            raise FormatError("it has no motion: all its pages are empty", where=Where(self.path))
        if reference is None:
            return self.pages[0].number
        return find_page(reference, dict(self.pages), last=self.n_pages, where=Where(self.path))

    def motion(self, reference: PageReference | None = None) -> Motion:
        """Return the motion of a page, by its name or number; None for the first page with a motion."""
        return self.motions[self._index(self.page_number(reference))]

    def with_motion(self, reference: PageReference, motion: Motion) -> MotionFile:
        """Return the file with the motion of one page replaced."""
        index = self._index(self.page_number(reference))
        return replace(self, motions=(*self.motions[:index], motion, *self.motions[index + 1 :]))

    def reachable_pages(self, reference: PageReference | None = None) -> dict[str, Motion]:
        """Return a page and all pages that its `next` and `exit` lead to, by the names used in these.

        Names that are no pages of the file are skipped.
        """
        pages: dict[str, Motion] = {}
        pending: list[str | None] = [str(self.page_number(reference))]
        while pending:
            name = pending.pop()
            if name is None or name in pages:
                continue
            try:
                number = parse_whole_number(name)
                motion = self.motion(name if number is None else number)
            except InputError:
                continue
            pages[name] = motion
            pending += [motion.next, motion.exit]
        return pages

    def _index(self, number: int) -> int:
        return [label.number for label in self.pages].index(number)


MAX_CLIPS = 200
"""Most clipped angles that are listed; further ones are counted."""

CARRIED = "carried-over"
"""The format in the origin of a motion that was carried over from another robot."""


def retarget_to_robot(motion: Motion, robot: str | Robot | None) -> RetargetedMotion:
    """Return the motion carried over to a robot; unchanged if it is the motion's own robot or None."""
    card = robot_named(robot) if isinstance(robot, str) else robot
    if card is None or _is_robot_of(motion, card):
        return RetargetedMotion(motion, missing=(), unmoved=(), clips=())
    retargeted = retarget_motion(motion, card, _find_card(motion))
    origin = Origin(CARRIED, None, robot=card)  # keeps the card, which may be a user's own
    return replace(retargeted, motion=replace(retargeted.motion, origin=origin))


def _is_robot_of(motion: Motion, card: Robot) -> bool:
    """Return whether a card is that of a motion's robot, by its name and, if it is known, its folder."""
    own_card = card_of_motion(motion)
    return card.name == motion.robot and (own_card is None or is_same_card(card, own_card))


def _find_card(motion: Motion) -> Robot | None:
    """Return the card of the motion's robot, None if there is none."""
    try:
        return robot_of_motion(motion)
    except UnknownNameError:
        return None


def retarget_file_to_robot(file: MotionFile, robot: str | Robot | None) -> MotionFile:
    """Return the file with its motions carried over to a robot; unchanged if they are that robot's.

    Losses and remarks of the first page are added to the warnings; the other pages have the same joints.
    """
    first_page = retarget_to_robot(file.motion(), robot)
    if first_page.motion is file.motion():
        return file
    builders = [partial(_carry_page, file, index, robot) for index in range(len(file.motions))]
    warnings = (*file.warnings, *describe_retargeting_losses(first_page), *first_page.remarks)
    return replace(file, motions=LazyMotions(builders), warnings=warnings, document=None)


def _carry_page(file: MotionFile, index: int, robot: str | Robot | None) -> Motion:
    return retarget_to_robot(file.motions[index], robot).motion


def describe_retargeting_losses(retargeted: RetargetedMotion, *, clip: bool = False) -> Iterator[str]:
    """Yield a description of everything the other robot cannot do.

    Args:
        retargeted: the motion for the other robot.
        clip: whether angles beyond the robot's limits are clipped and so are no losses.
    """
    name = retargeted.motion.robot
    if retargeted.missing:
        yield f"{', '.join(retargeted.missing)}: {name} has no such joints"
    if retargeted.unmatched:
        yield f"{', '.join(retargeted.unmatched)}: {name} has its zero elsewhere"
    if retargeted.unlit:
        yield f"{', '.join(retargeted.unlit)}: {name} has no such lights"
    if clip:
        return
    yield from map(str, retargeted.clips[:MAX_CLIPS])
    if len(retargeted.clips) > MAX_CLIPS:
        yield f"{len(retargeted.clips) - MAX_CLIPS} more angles beyond the limits of {name}"


def describe_unmoved_joints(retargeted: RetargetedMotion) -> Iterator[str]:
    """Yield remarks on joints of the other robot that the motion does not move, and on doubtful ones."""
    if retargeted.unmoved:
        yield f"the motion does not move {', '.join(retargeted.unmoved)}"
    yield from retargeted.remarks
