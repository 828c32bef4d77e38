"""What a motion file holds, for programs and for people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from posewright.display import Lines, Table, table
from posewright.formats.motion_file import LazyMotions, MotionFile, Reference
from posewright.formats.oda.archive import ODA
from posewright.formats.omtn.document import OMTN
from posewright.formats.registry import FORMATS
from posewright.motions import Motion, robot_of_motion

DIGITS = 9  # decimals of a time: a nanosecond, free of 0.8160000000000001
FOR_EVER = "for ever"


def describe_motion_file(file: MotionFile, page: Reference | None = None) -> dict[str, object]:
    """Return what a file holds: the page asked for, or its first, and a list of all pages.

    `repeat` and `total_duration_s` are null for a motion that repeats for ever.
    """
    motion = file.motion(page)
    return {
        "file": str(file.path),
        "format": file.format,
        "robot": motion.robot,
        "assumed": file.assumed,
        "robot_joints": len(robot_of_motion(motion).joints),
        "design": motion.extras.get("design"),
        "frame_ms": _frame_ms(file, motion),
        "page": file.page_number(page),
        **describe_motion(motion),
        "warnings": list(file.warnings),
        "pages": [
            {"number": label.number, **brief.to_dict(), "name": label.name}
            for label, brief in zip(file.pages, _briefs(file), strict=True)
        ],
    }


def describe_motion(motion: Motion) -> dict[str, object]:
    """Return what is worth knowing of one motion."""
    easings = dict.fromkeys(frame.easing.value for frame in motion.keyframes)
    return {
        **_Brief.of(motion).to_dict(),
        "total_duration_s": None if motion.repeat is None else motion.total_duration,
        "speed": motion.speed,
        "keyframe_times_s": [round(time, DIGITS) for time in motion.keyframe_times.tolist()],
        "easings": list(easings),
        "joints": list(motion.joints),
        "free_joints": sorted({joint for frame in motion.keyframes for joint in frame.pose.free}),
        "lights": list(motion.lights),
        "has_start_pose": motion.start is not None,
        "source": motion.source,
        "extras": dict(motion.extras),
    }


def _frame_ms(file: MotionFile, motion: Motion) -> float:
    """Return the frame of the file where it has one, else that of the robot [ms]."""
    frame_ms = float(motion.extras.get("omtn_frame_ms") or 0.0)
    has_frames = file.format in (OMTN, ODA)
    step_s = FORMATS[file.format].quantum.time_s if has_frames else None
    return frame_ms or 1000.0 * (robot_of_motion(motion).frame_period_s if step_s is None else step_s)


@dataclass(frozen=True)
class _Brief:
    """What a list shows of a motion; `repeat` is None where it repeats for ever."""

    name: str
    keyframes: int
    duration_s: float
    repeat: int | None = 1
    next: str | None = None
    exit: str | None = None

    @classmethod
    def of(cls, motion: Motion) -> _Brief:
        return cls(
            motion.name,
            len(motion.keyframes),
            motion.duration,
            motion.repeat,
            motion.next,
            motion.exit,
        )

    def to_dict(self) -> dict[str, object]:
        return {
            "name": self.name,
            "keyframes": self.keyframes,
            "duration_s": round(self.duration_s, DIGITS),
            "repeat": self.repeat,
            "next": _reference(self.next),
            "exit": _reference(self.exit),
        }


def _briefs(file: MotionFile) -> Iterator[_Brief]:
    """Yield what a list shows of each page; thousands of motions are not made for it."""
    glances = file.motions.glances if isinstance(file.motions, LazyMotions) else ()
    for glance in glances:
        yield _Brief(glance.name, glance.keyframes, glance.duration_s)
    if not glances:
        yield from map(_Brief.of, file.motions)


def _reference(name: str | None) -> str | int | None:
    """Return the name of another motion, as a number where it is a page's number."""
    return int(name) if name is not None and name.isascii() and name.isdigit() else name


def motion_file_lines(file: MotionFile, page: Reference | None = None) -> Lines:
    """Yield what is worth knowing of a motion; where none is named, a table of all of the file, too."""
    motion = file.motion(page)
    repeat = FOR_EVER if motion.repeat is None else f"{motion.repeat} x"
    yield f"{file.path}: {file.format}, {motion.robot}"
    number = f" (page {file.page_number(page)})" if len(file.pages) > 1 else ""
    yield f"  motion     {motion.name}{number}"
    if motion.extras.get("design"):
        yield f"  design     {motion.extras['design']}, frames of {_frame_ms(file, motion):g} ms"
    easings = dict.fromkeys(frame.easing.value for frame in motion.keyframes)
    yield f"  keyframes  {len(motion.keyframes)}, easing {', '.join(easings)}"
    duration_s = round(motion.duration, DIGITS)
    yield f"  duration   {duration_s:.3f} s, played {repeat}, speed {motion.speed:g}"
    if motion.next is not None:
        yield f"  next       {_reference(motion.next)}"
    if motion.exit is not None:
        yield f"  exit       {_reference(motion.exit)}"
    has_all = len(motion.joints) == len(robot_of_motion(motion).joints)
    yield f"  joints     {f'all {len(motion.joints)}' if has_all else ', '.join(motion.joints)}"
    free = sorted({joint for frame in motion.keyframes for joint in frame.pose.free})
    if free:
        yield f"  let free   {', '.join(free)}"
    if motion.lights:
        yield f"  lights     {', '.join(motion.lights)}"
    if motion.source:
        yield f"  source     {motion.source}"
    if page is None and len(file.pages) > 1:
        yield ""
        yield _page_table(file)


def _page_table(file: MotionFile) -> Table:
    """Return one row a page."""
    rows = [
        (
            label.number,
            label.name,
            brief.keyframes,
            f"{round(brief.duration_s, DIGITS):.3f}",
            FOR_EVER if brief.repeat is None else brief.repeat,
            "" if brief.next is None else _reference(brief.next),
            "" if brief.exit is None else _reference(brief.exit),
        )
        for label, brief in zip(file.pages, _briefs(file), strict=True)
    ]
    columns = ("page", "name", "steps", "duration s", "repeat", "next", "exit")
    return table(columns, rows, text_columns=("name",))
