"""What a page says besides its steps, and the pages it leads to, on its own and when it is stopped."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from posewright.errors import FormatError, InputError
from posewright.formats.roboplus.document import (
    MAX_NAME_BYTES,
    MAX_STEPS,
    STANDARD_ACCEL,
    Page,
    PlayParam,
    RoboplusDocument,
    page_number,
)
from posewright.formats.roboplus.to_motion import MAX_RATE, Columns, compliance_of
from posewright.motions import Easing, Motion, robotis_accel_share

MAX_PASSES = 255  # how often a page can be repeated


@dataclass(frozen=True)
class Links:
    """Repeat, next and exit of a motion that becomes a page.

    Attributes:
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
                what = f"next motion {motion.next!r}: never reached, since the page plays for ever"
                self.losses.append(what)
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
    """Return numbers of pages that hold nothing and that nothing leads to, those behind `number` first."""
    led_to = {to for page in document.played.values() for to in (page.play.next, page.play.exit)}
    free = [at for at, page in enumerate(document.pages, 1) if page.is_spare and at not in {number} | led_to]
    free.sort(key=lambda at: (at < number, at))
    if len(free) < count:
        hint = f"a page holds {MAX_STEPS} steps; shorten the motion or write it to a file of its own"
        raise FormatError(f"the motion needs {count} more pages and {len(free)} are free", hint=hint)
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


_SHARE_TOLERANCE = 0.02
_FRAMES_A_SECOND = 128


def page_of(motion: Motion, columns: Columns, base: Page, as_read: Motion | None, losses: list[str]) -> Page:
    """Return `base` with the name, compliance, rate and inertial force of a motion.

    What is the same in `as_read`, which is `base` as a motion, keeps its value.
    """
    same_name = as_read is not None and motion.name == as_read.name
    same_speed = as_read is not None and motion.speed == as_read.speed
    rate = base.play.rate if same_speed else _rate(motion.speed, losses)
    play = replace(base.play, rate=rate, accel=_accel(motion, rate, base, as_read, losses))
    return replace(
        base,
        name=base.name if same_name else name_bytes(motion.name, losses),
        compliance=_compliance(motion, columns, base, as_read, losses),
        play=play,
    )


def name_bytes(name: str, losses: list[str]) -> bytes:
    """Return a name that fits a page: 13 bytes of UTF-8, none of them a control character."""
    clean = "".join(sign if sign.isprintable() else " " for sign in name)
    cut = clean.encode("utf-8", "replace")[:MAX_NAME_BYTES].decode("utf-8", "ignore")
    if cut != name:
        losses.append(f"the name {name!r} becomes {cut!r}: a page's has {MAX_NAME_BYTES} bytes")
    return cut.encode()


def _rate(speed: float, losses: list[str]) -> float:
    rate = min(max(round(speed, 1), 0.1), MAX_RATE)
    if abs(rate - speed) > 1e-9:
        losses.append(f"speed {speed:g} becomes rate {rate:g}: a page's has one decimal")
    return rate


def _compliance(
    motion: Motion, columns: Columns, base: Page, as_read: Motion | None, losses: list[str]
) -> tuple[int, ...]:
    """Return the compliances of a page, which has one for all its steps."""
    wanted = dict(motion.keyframes[0].stiffness or {})
    if any(dict(frame.stiffness or {}) != wanted for frame in motion.keyframes):
        losses.append("stiffness that changes from keyframe to keyframe: a page has that of the first")
    before = dict(as_read.keyframes[0].stiffness or {}) if as_read else None
    values = list(base.compliance)
    for number, servo in zip(columns.ids, columns.servos, strict=True):
        stiffness = wanted.get(servo.joint)
        if before is None or stiffness != before.get(servo.joint):
            values[number], exact = compliance_of(servo, stiffness)
            if not exact:
                losses.append(f"the stiffness of {servo.joint} is rounded to compliance {values[number]}")
    return tuple(values)


def _accel(motion: Motion, rate: float, base: Page, as_read: Motion | None, losses: list[str]) -> int:
    easings = {frame.easing for frame in motion.keyframes}
    if easings == {Easing.LINEAR}:
        return 0
    accel = base.play.accel if as_read is not None and base.play.accel else None
    if easings != {Easing.TRAPEZOID}:
        named = ", ".join(sorted(easing.value for easing in easings))
        losses.append(f"easing {named}: a page only has ROBOTIS' trapezoid, one for all its steps")
        return STANDARD_ACCEL if accel is None else accel
    if accel is None:
        accel = _ramp_frames(motion, rate)
    _note_ramps(motion, rate, accel, losses)
    return accel


def _ramp_frames(motion: Motion, rate: float) -> int:
    """Return the inertial force that ramps ask for; one that fills half the way is only a minimum."""
    frames = [(k.accel_share, k.accel_share * k.reach_s / rate * _FRAMES_A_SECOND) for k in motion.keyframes]
    exact = [ramp for share, ramp in frames if share < 0.5 and ramp > 0.0]
    wanted = round(max(exact)) if exact else math.ceil(max(ramp for _, ramp in frames))
    return min(max(wanted, 1), 255)


def _note_ramps(motion: Motion, rate: float, accel: int, losses: list[str]) -> None:
    off = [
        abs(frame.accel_share - robotis_accel_share(accel, frame.reach_s / rate)) > _SHARE_TOLERANCE
        for frame in motion.keyframes
    ]
    if any(off):
        losses.append(f"ramps of {sum(off)} keyframes: a page has one inertial force, {accel}")
