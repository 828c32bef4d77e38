"""The parts of a page besides its steps, and the pages that its `next` and `exit` lead to."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from posewright.errors import FormatError, InputError
from posewright.formats.roboplus.document import (
    MAX_NAME_BYTES,
    MAX_STEPS,
    STANDARD_INERTIAL_FORCE,
    Page,
    PlayParam,
    RoboplusDocument,
    page_number,
)
from posewright.formats.roboplus.to_motion import MAX_RATE, Columns, compliance_of
from posewright.motions import Easing, Motion, robotis_accel_share

MAX_REPEATS = 255


@dataclass(frozen=True)
class PageLinks:
    """Repeat, next and exit of a motion that becomes a page.

    Attributes:
        document: the document of the page.
        number: the number of the page.
        motion: the motion.
        old_motion: the old page as a motion, None for a new page; values that are the same in both are kept.
        losses: the list to which descriptions of losses are added.
    """

    document: RoboplusDocument
    number: int
    motion: Motion
    old_motion: Motion | None
    losses: list[str]

    def apply_to(self, play: PlayParam) -> PlayParam:
        """Return `play` with repeat, next and exit of the motion; add losses to `losses`.

        A page that plays for ever is its own next page.
        """
        motion = self.motion
        old = self.old_motion
        if old is None or motion.exit != old.exit:
            play = replace(play, exit=self._find_page("exit", motion.exit))
        if old is not None and (motion.repeat, motion.next) == (old.repeat, old.next):
            return play
        if motion.repeat is None:
            if motion.next is not None:
                loss = f"next motion {motion.next!r}: never reached, since the page plays for ever"
                self.losses.append(loss)
            return replace(play, next=self.number, repeat=1)
        if motion.repeat > MAX_REPEATS:
            self.losses.append(f"repeat {motion.repeat} becomes {MAX_REPEATS}, the maximum of a page")
        next_page = self._find_page("next", motion.next)
        return replace(play, next=next_page, repeat=min(motion.repeat, MAX_REPEATS))

    def _find_page(self, kind: str, reference: str | None) -> int:
        """Return the number of the page of a motion's next or exit motion; 0 if it has none.

        Args:
            kind: `next` or `exit`, for messages.
            reference: name or page number of that motion; None if there is none. An unknown one gives 0, and
                is added to `losses`.
        """
        if reference is None:
            return 0
        if reference in (self.motion.name, str(self.number)):
            return self.number
        try:
            return page_number(self.document, reference)
        except InputError as error:
            self.losses.append(f"{kind} motion {reference!r}: {error.message}")
            return 0


def free_pages(document: RoboplusDocument, number: int, count: int) -> list[int]:
    """Return the numbers of unused pages, those after page `number` first.

    Raises:
        FormatError: fewer than `count` pages are free.
    """
    used_numbers = {number}
    for page in document.filled_pages.values():
        used_numbers |= {page.play.next, page.play.exit}
    free_numbers = [
        free_number
        for free_number, page in enumerate(document.pages, 1)
        if page.is_unused and free_number not in used_numbers
    ]
    free_numbers.sort(key=lambda free_number: (free_number < number, free_number))
    if len(free_numbers) < count:
        hint = f"a page holds {MAX_STEPS} steps; shorten the motion or write it to a new file"
        message = f"the motion needs {count} more pages and {len(free_numbers)} are free"
        raise FormatError(message, hint=hint)
    return free_numbers[:count]


def extract_page(document: RoboplusDocument, number: int) -> RoboplusDocument:
    """Return a document of one page and those it leads to through next and exit, renumbered.

    The page itself becomes page 1, the others follow in their old order; all other pages are empty. Byte
    order mark and checksum are repaired, so that RoboPlus opens the new document.
    """
    old_numbers = [number, *sorted(reachable_pages(document, number) - {number})]
    new_number_of = {old_number: new_number for new_number, old_number in enumerate(old_numbers, 1)}
    pages: list[Page] = []
    for page in map(document.page, old_numbers):
        next_page = new_number_of.get(page.play.next, 0)
        exit_page = new_number_of.get(page.play.exit, 0)
        play = replace(page.play, next=next_page, exit=exit_page)
        pages.append(page.changed_to(replace(page, play=play)))
    extracted_document = document.with_pages(tuple(pages))
    return document if extracted_document is document else extracted_document.repaired()


def reachable_pages(document: RoboplusDocument, number: int) -> set[int]:
    """Return the numbers of a page and of all pages with steps that it leads to."""
    reached: set[int] = set()
    pending = [number]
    while pending:
        page_number = pending.pop()
        page = document.page(page_number)
        if page_number not in reached and not page.is_empty:
            reached.add(page_number)
            pending += [page.play.next, page.play.exit]
    return reached


_RAMP_SHARE_TOLERANCE = 0.02
_MAX_RAMP_SHARE = 0.5  # two ramps take the whole movement
_MAX_INERTIAL_FORCE = 255
_FRAMES_PER_SECOND = 128


def page_of(
    motion: Motion, columns: Columns, old_page: Page, old_motion: Motion | None, losses: list[str]
) -> Page:
    """Return the old page with the name, compliance, rate and inertial force of a motion.

    Args:
        motion: the motion.
        columns: the joints of the page.
        old_page: the old page, an empty one for a new page.
        old_motion: the old page as a motion, None if it is empty; values that are the same in both are kept.
        losses: the list to which descriptions of losses are added.
    """
    has_same_name = old_motion is not None and motion.name == old_motion.name
    has_same_speed = old_motion is not None and motion.speed == old_motion.speed
    rate = old_page.play.rate if has_same_speed else _round_rate(motion.speed, losses)
    play = replace(
        old_page.play,
        rate=rate,
        inertial_force=_choose_inertial_force(motion, rate, old_page, old_motion, losses),
    )
    return replace(
        old_page,
        name=old_page.name if has_same_name else name_bytes(motion.name, losses),
        compliance=_choose_compliance(motion, columns, old_page, old_motion, losses),
        play=play,
    )


def name_bytes(name: str, losses: list[str]) -> bytes:
    """Return a name as a page holds it: at most 13 bytes of UTF-8 without control characters.

    A name that has to be changed is added to `losses`.
    """
    printable = "".join(character if character.isprintable() else " " for character in name)
    short_name = printable.encode("utf-8", "replace")[:MAX_NAME_BYTES].decode("utf-8", "ignore")
    if short_name != name:
        loss = f"the name {name!r} becomes {short_name!r}: a page's name has {MAX_NAME_BYTES} bytes"
        losses.append(loss)
    return short_name.encode()


def _round_rate(speed: float, losses: list[str]) -> float:
    rate = min(max(round(speed, 1), 0.1), MAX_RATE)
    if abs(rate - speed) > 1e-9:
        losses.append(f"speed {speed:g} becomes rate {rate:g}: a page's rate has one decimal")
    return rate


def _choose_compliance(
    motion: Motion, columns: Columns, old_page: Page, old_motion: Motion | None, losses: list[str]
) -> tuple[int, ...]:
    """Return the compliance of each ID, which is the same for all steps of a page.

    It is that of the old page, except for joints whose stiffness in the first keyframe has changed.

    Args:
        motion: the motion that is written.
        columns: the joints of the page.
        old_page: the old page; an empty one for a new page.
        old_motion: the old page as a motion, None if it is empty.
        losses: gets what is rounded, and that the stiffness changes after the first keyframe.
    """
    new_stiffness = dict(motion.keyframes[0].stiffness or {})
    if any(dict(frame.stiffness or {}) != new_stiffness for frame in motion.keyframes):
        losses.append("stiffness that changes from keyframe to keyframe: a page has that of the first")
    old_stiffness = dict(old_motion.keyframes[0].stiffness or {}) if old_motion else None
    values = list(old_page.compliance)
    for servo_id, servo in zip(columns.ids, columns.servos, strict=True):
        stiffness = new_stiffness.get(servo.joint)
        is_unchanged = old_stiffness is not None and stiffness == old_stiffness.get(servo.joint)
        if is_unchanged:
            continue
        compliance, is_exact = compliance_of(servo, stiffness)
        values[servo_id] = compliance
        if not is_exact:
            losses.append(f"the stiffness of {servo.joint} is rounded to compliance {compliance}")
    return tuple(values)


def _choose_inertial_force(
    motion: Motion, rate: float, old_page: Page, old_motion: Motion | None, losses: list[str]
) -> int:
    """Return the inertial force of a page, which sets how long its movements accelerate; 0 for linear ones.

    Args:
        motion: the motion that is written.
        rate: the page's speed multiplier.
        old_page: the old page, whose inertial force is kept unless it is 0; an empty one for a new page.
        old_motion: the old page as a motion, None if it is empty.
        losses: gets the easings that a page does not have, and the ramps that differ.
    """
    easings = {frame.easing for frame in motion.keyframes}
    if easings == {Easing.LINEAR}:
        return 0
    old_inertial_force = old_page.play.inertial_force
    inertial_force = old_inertial_force if old_motion is not None and old_inertial_force else None
    if easings != {Easing.TRAPEZOID}:
        names = ", ".join(sorted(easing.value for easing in easings))
        losses.append(f"easing {names}: a page only has ROBOTIS' trapezoid, one for all its steps")
        return STANDARD_INERTIAL_FORCE if inertial_force is None else inertial_force
    if inertial_force is None:
        inertial_force = _inertial_force_of(motion, rate)
    _describe_changed_ramps(motion, rate, inertial_force, losses)
    return inertial_force


def _inertial_force_of(motion: Motion, rate: float) -> int:
    """Return the inertial force, the length of all ramps of a page [1/128 s], for the ramps of a motion.

    It is that of the longest ramp. A ramp of half the movement gives a lower bound only, because longer ramps
    are cut off there. `rate` is the speed multiplier of the page.
    """
    exact_ramps: list[float] = []
    lower_bounds: list[float] = []
    for keyframe in motion.keyframes:
        ramp_frames = keyframe.accel_share * keyframe.reach_s / rate * _FRAMES_PER_SECOND
        lower_bounds.append(ramp_frames)
        if keyframe.accel_share < _MAX_RAMP_SHARE and ramp_frames > 0.0:
            exact_ramps.append(ramp_frames)
    n_frames = round(max(exact_ramps)) if exact_ramps else math.ceil(max(lower_bounds))
    return min(max(n_frames, 1), _MAX_INERTIAL_FORCE)


def _describe_changed_ramps(motion: Motion, rate: float, inertial_force: int, losses: list[str]) -> None:
    """Add a loss if keyframes have other acceleration ramps in a page of this inertial force and `rate`."""
    n_changed = 0
    for keyframe in motion.keyframes:
        written_share = robotis_accel_share(inertial_force, keyframe.reach_s / rate)
        if abs(keyframe.accel_share - written_share) > _RAMP_SHARE_TOLERANCE:
            n_changed += 1
    if n_changed:
        losses.append(f"ramps of {n_changed} keyframes: a page has one inertial force, {inertial_force}")
