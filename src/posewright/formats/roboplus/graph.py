"""The graph of RoboPlus pages: what plays next, what plays on a stop, what one page needs of the others."""

from __future__ import annotations

from dataclasses import dataclass, replace

from posewright.errors import FormatError, InputError
from posewright.formats.roboplus.page import MAX_STEPS, PlayParam
from posewright.formats.roboplus.text import RoboplusDocument, page_number
from posewright.motions import Motion

MAX_PASSES = 255
"""How often a page can be repeated."""


@dataclass(frozen=True)
class Links:
    """Repeat, next and exit of a motion that becomes a page.

    Attributes:
        document: where the pages are looked up.
        number: the page the motion becomes.
        motion: the motion.
        as_read: what the page was before, as a motion; what is the same in both is kept as it stands.
        losses: what is lost is added here, in words.
    """

    document: RoboplusDocument
    number: int
    motion: Motion
    as_read: Motion | None
    losses: list[str]

    def drawn_into(self, play: PlayParam) -> PlayParam:
        """Return `play` with them; playing for ever is to be one's own next page."""
        motion, before = self.motion, self.as_read
        exit_page = play.exit if before and motion.exit == before.exit else self._target("exit", motion.exit)
        play = replace(play, exit=exit_page)
        if before and (motion.repeat, motion.next) == (before.repeat, before.next):
            return play
        if motion.repeat is None:
            if motion.next is not None:
                self.losses.append(
                    f"next motion {motion.next!r}: never reached, since the page plays for ever"
                )
            return replace(play, next=self.number, repeat=1)
        return replace(play, next=self._target("next", motion.next), repeat=self._passes(motion.repeat))

    def _passes(self, repeat: int) -> int:
        if repeat > MAX_PASSES:
            self.losses.append(f"repeat {repeat} becomes {MAX_PASSES}, the most a page can be repeated")
        return min(repeat, MAX_PASSES)

    def _target(self, what: str, reference: str | None) -> int:
        if reference is None:
            return 0
        if reference in (self.motion.name, str(self.number)):
            return self.number
        try:
            return page_number(self.document, reference)
        except InputError as error:
            self.losses.append(f"{what} motion {reference!r}: {error.message}")
            return 0


def free_pages(document: RoboplusDocument, number: int, count: int) -> list[int]:
    """Return numbers of pages that hold nothing and that nothing leads to, those behind `number` first.

    Raises:
        FormatError: there are fewer than `count`.
    """
    led_to = {to for page in document.played.values() for to in (page.play.next, page.play.exit)}
    free = [at for at, page in enumerate(document.pages, 1) if page.is_spare and at not in {number} | led_to]
    free.sort(key=lambda at: (at < number, at))
    if len(free) < count:
        raise FormatError(
            f"the motion needs {count} more pages and {len(free)} are free",
            hint=f"a page holds {MAX_STEPS} steps; shorten the motion or write it to a file of its own",
        )
    return free[:count]


def extracted(document: RoboplusDocument, number: int) -> RoboplusDocument:
    """Return a document of one page and those it leads to through next and exit, numbered anew.

    The page itself becomes page 1, the others follow in their old order; the rest is empty. What was
    stripped from the file is put back, so that RoboPlus opens the new one.
    """
    numbers = [number, *sorted(reachable(document, number) - {number})]
    renumbered = {old: new for new, old in enumerate(numbers, 1)}
    pages = []
    for page in map(document.page, numbers):
        onward, way_out = (renumbered.get(to, 0) for to in (page.play.next, page.play.exit))
        pages.append(page.changed_to(replace(page, play=replace(page.play, next=onward, exit=way_out))))
    shortened = document.with_pages(tuple(pages))
    return document if shortened is document else shortened.repaired()


def reachable(document: RoboplusDocument, number: int) -> set[int]:
    """Return the numbers of the page and of all it leads to that hold something."""
    found: set[int] = set()
    open_ends = [number]
    while open_ends:
        at = open_ends.pop()
        page = document.page(at)
        if at not in found and not page.is_empty:
            found.add(at)
            open_ends += [page.play.next, page.play.exit]
    return found
