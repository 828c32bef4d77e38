"""A motion file as a whole: its pages, the motions in them, their origins, and motions on another robot."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple, overload

from posewright.errors import FormatError, InputError, UnknownNameError, Where
from posewright.motions import Motion, RetargetedMotion, retarget_motion, robot_of_motion
from posewright.motions.motion import MotionOrigin
from posewright.robots import Robot
from posewright.robots import robot as robot_named

Reference = str | int


def find_page(
    reference: Reference, names: Mapping[int, str], *, last: int, where: Where | None = None
) -> int:
    """Return the number of the page that `reference` names.

    A whole number is the page of that number. Text is a page's name, blanks around it not counting; if no
    page is called so, digits are a number.

    Raises:
        FormatError: several pages are called so, or the page is empty.
        UnknownNameError: there is no such page.
    """
    if isinstance(reference, str):
        wanted = reference.strip()
        called = [number for number, name in names.items() if name.strip() == wanted != ""]
        if len(called) > 1:
            numbers = ", ".join(map(str, called))
            what = f"{len(called)} pages are called {wanted!r}"
            raise FormatError(what, where=where, hint=f"say which by number: {numbers}")
        if called:
            return called[0]
    return _by_number(reference, names, last, where)


def _by_number(reference: Reference, names: Mapping[int, str], last: int, where: Where | None) -> int:
    text = str(reference).strip()
    if not (text.isascii() and text.isdigit() and len(text) <= 9):
        known = [name for name in names.values() if name] or [str(number) for number in names]
        raise UnknownNameError.among("page", reference, known, where=where)
    number = int(text)
    if number in names:
        return number
    if 1 <= number <= last:
        raise FormatError(f"page {number} is empty", where=where, hint=f"played are {_span(sorted(names))}")
    raise UnknownNameError(f"there is no page {number}", where=where, hint=f"pages are 1 to {last}")


def _span(numbers: list[int]) -> str:
    """Return numbers as people list them: 1-6, 9."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and spans[-1][-1] == number - 1:
            spans[-1][-1:] = [spans[-1][0], number] if len(spans[-1]) == 1 else [number]
        else:
            spans.append([number])
    return ", ".join("-".join(map(str, span)) for span in spans) or "none"


class Glance(NamedTuple):
    """What a list of motions shows of one, known without making it."""

    name: str
    keyframes: int
    duration_s: float


class LazyMotions(Sequence[Motion]):
    """A sequence of motions, each made the first time it is asked for, and then kept.

    `glances` are what a list shows of each motion; empty where nobody knows before it is made.
    """

    def __init__(self, makers: Sequence[Callable[[], Motion]], glances: Sequence[Glance] = ()) -> None:
        self.glances = tuple(glances)
        self._makers = tuple(makers)
        self._made: dict[int, Motion] = {}

    def __len__(self) -> int:
        return len(self._makers)

    @overload
    def __getitem__(self, place: int) -> Motion: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Motion, ...]: ...
    def __getitem__(self, place: int | slice) -> Motion | tuple[Motion, ...]:
        """Return one motion, or several as a tuple; raises what the making of one raises."""
        if isinstance(place, slice):
            return tuple(self[i] for i in range(*place.indices(len(self))))
        place = range(len(self))[place]
        if place not in self._made:
            self._made[place] = self._makers[place]()
        return self._made[place]


@dataclass(frozen=True)
class Origin(MotionOrigin):
    """The foreign document a motion came from; `Motion.origin` holds it.

    Attributes:
        page: the page's number in it, from 1.
        alone: whether the page was asked for by name, and is to be written without the pages it does not
            lead to.
        robot: the robot it was read for, where the file itself does not say.
    """

    format: str
    document: object = field(repr=False)
    page: int = 1
    alone: bool = False
    remarks: tuple[str, ...] = ()
    path: Path | None = None
    robot: Robot | None = field(default=None, repr=False)


def origin_of(motion: Motion, format_name: str | None = None) -> Origin | None:
    """Return where the motion came from, if it came from a file (of that format)."""
    origin = motion.origin
    if isinstance(origin, Origin) and format_name in (None, origin.format):
        return origin
    return None


def alone(motion: Motion, *, is_alone: bool = True) -> Motion:
    """Return the motion marked as asked for by itself, or as part of its file."""
    origin = origin_of(motion)
    return motion if origin is None else replace(motion, origin=replace(origin, alone=is_alone))


class PageLabel(NamedTuple):
    """Number and name of a page; a nameless one is called after its number."""

    number: int
    name: str


@dataclass(frozen=True)
class MotionFile:
    """What a motion file holds.

    Attributes:
        motions: a motion for each page that holds something.
        n_pages: pages the file has, empty ones too.
        warnings: what is odd about it but did not keep it from being read, in words.
        document: the file as its format keeps it, for writing it back.
        assumed: whose motions they were taken for, in words, as the file does not say; None where it does.
    """

    format: str
    path: Path
    motions: Sequence[Motion]
    pages: tuple[PageLabel, ...]
    n_pages: int = 1
    warnings: tuple[str, ...] = ()
    document: object = None
    assumed: str | None = None

    def __repr__(self) -> str:
        return f"MotionFile({self.format!r}, {str(self.path)!r}, {len(self.motions)} motions)"

    @classmethod
    def of_one(
        cls, kind: str, path: Path, motion: Motion, warnings: Iterable[str] = (), document: object = None
    ) -> MotionFile:
        """Return a file of a format that holds one motion."""
        return cls(kind, path, (motion,), (PageLabel(1, motion.name),), 1, tuple(warnings), document)

    def page_number(self, reference: Reference | None = None) -> int:
        """Return the number of the page named by name or number; of the first one without a name."""
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


MOST_CLIPS = 200  # more clipped values than this are counted, not listed
CARRIED = "carried-over"  # stands for the format of a motion that came from a file of another robot


def carried_to(motion: Motion, robot: str | Robot | None) -> RetargetedMotion:
    """Return the motion carried over to the robot that is asked for; the same motion if it is its own."""
    card = robot_named(robot) if isinstance(robot, str) else robot
    if card is None or card.name == motion.robot:
        return RetargetedMotion(motion, (), (), ())
    carried = retarget_motion(motion, card, _own_card(motion))
    origin = Origin(CARRIED, None, robot=card)  # the card may be somebody's own
    return replace(carried, motion=replace(carried.motion, origin=origin))


def _own_card(motion: Motion) -> Robot | None:
    """Return the card of the motion's robot; None for one that nobody has a card of."""
    try:
        return robot_of_motion(motion)
    except UnknownNameError:
        return None


def file_for_robot(file: MotionFile, robot: str | Robot | None) -> MotionFile:
    """Return the file with its motions carried over to a robot, should they be another's.

    What is lost and what is doubtful by that stands among the warnings, of the first page only: of the others
    when they are asked for it is the same joints.
    """
    first = carried_to(file.motion(), robot)
    if first.motion is file.motion():
        return file
    makers = [partial(_carried, file, place, robot) for place in range(len(file.motions))]
    warnings = (*file.warnings, *lost_between_robots(first), *first.remarks)
    return replace(file, motions=LazyMotions(makers), warnings=warnings, document=None)


def _carried(file: MotionFile, place: int, robot: str | Robot | None) -> Motion:
    return carried_to(file.motions[place], robot).motion


def lost_between_robots(carried: RetargetedMotion, *, clip: bool = False) -> Iterator[str]:
    """Yield what the other robot cannot do, in words; `clip`: but for angles, which may be clipped."""
    name = carried.motion.robot
    if carried.missing:
        yield f"{', '.join(carried.missing)}: {name} has no such joints"
    if carried.unmatched:
        yield f"{', '.join(carried.unmatched)}: 0 is not at the same place on {name}"
    if carried.unlit:
        yield f"{', '.join(carried.unlit)}: {name} has no such lights"
    if clip:
        return
    yield from map(str, carried.clips[:MOST_CLIPS])
    if len(carried.clips) > MOST_CLIPS:
        yield f"{len(carried.clips) - MOST_CLIPS} more angles beyond the limits of {name}"


def unmoved(carried: RetargetedMotion) -> Iterator[str]:
    """Yield what the motion does not say to the other robot, and what of it is doubtful, in words."""
    if carried.unmoved:
        yield f"the motion says nothing of {', '.join(carried.unmoved)}"
    yield from carried.remarks
