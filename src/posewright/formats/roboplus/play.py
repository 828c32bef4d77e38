"""What a page says besides its steps, for a motion: name, compliance, rate and inertial force."""

from __future__ import annotations

import math
from dataclasses import replace

from posewright.formats.roboplus.columns import Columns, compliance_of
from posewright.formats.roboplus.page import MAX_NAME_BYTES, STANDARD_ACCEL, Page
from posewright.formats.roboplus.values import MAX_RATE
from posewright.motions import Easing, Motion, robotis_accel_share

_SHARE_TOLERANCE = 0.02
_FRAMES_A_SECOND = 128


def page_of(motion: Motion, columns: Columns, base: Page, as_read: Motion | None, losses: list[str]) -> Page:
    """Return `base` with the name, compliance, rate and inertial force of a motion.

    Args:
        motion: what to write.
        columns: where its joints stand.
        base: the page it was read from, or an empty one.
        as_read: what `base` is as a motion: what is the same in both keeps its value in `base`.
        losses: what is lost is added here, in words.
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
    """Return the inertial force, of which a page has one."""
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
