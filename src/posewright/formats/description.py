"""Descriptions of motion files, as data and as lines of text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from posewright.display import Lines, Table, table
from posewright.formats.motion_file import LazyMotions, MotionFile, PageReference
from posewright.formats.oda.archive import ODA
from posewright.formats.omtn.document import OMTN
from posewright.formats.registry import FORMATS
from posewright.motions import Motion, robot_of_motion

DIGITS = 9
"""Decimals of times: nanoseconds, without rounding errors such as 0.8160000000000001."""

FOR_EVER = "for ever"


def describe_motion_file(file: MotionFile, page: PageReference | None = None) -> dict[str, object]:
    """Return a description of a page, by default the first, and a list of all pages.

    `repeat` and `total_duration_s` are None for a motion that repeats for ever. `assumed` describes the robot
    assumed for the file if it names none.
    """
    motion = file.motion(page)
    return {
        "file": str(file.path),
        "format": file.format,
        "robot": motion.robot,
        "assumed": file.assumed_robot,
        "robot_joints": len(robot_of_motion(motion).joints),
        "design": motion.extras.get("design"),
        "frame_ms": _frame_ms(file, motion),
        "page": file.page_number(page),
        **describe_motion(motion),
        "warnings": list(file.warnings),
        "pages": [
            {"number": label.number, **entry.to_dict(), "name": label.name}
            for label, entry in zip(file.pages, _page_entries(file), strict=True)
        ],
    }


def describe_motion(motion: Motion) -> dict[str, object]:
    """Return a description of one motion."""
    easings = dict.fromkeys(frame.easing.value for frame in motion.keyframes)
    return {
        **_PageEntry.of(motion).to_dict(),
        "total_duration_s": None if motion.repeat is None else motion.total_duration,
        "speed": motion.speed,
        "keyframe_times_s": [round(time, DIGITS) for time in motion.keyframe_times.tolist()],
        "easings": list(easings),
        "joints": list(motion.joints),
        "free_joints": sorted({joint for frame in motion.keyframes for joint in frame.pose.free}),
        "lights": list(motion.lights),
        "sound": None
        if motion.sound is None
        else {"file": motion.sound.file, "start_s": motion.sound.start_s},
        "has_start_pose": motion.start is not None,
        "source": motion.source,
        "extras": dict(motion.extras),
    }


def _frame_ms(file: MotionFile, motion: Motion) -> float:
    """Return the frame period of a motion [ms].

    It is that in the header of the file; without one, the usual one of the format; and the robot's for a
    format without frames.
    """
    header_ms = float(motion.extras.get("omtn_frame_ms") or 0.0)
    if header_ms:
        return header_ms
    format_period_s = FORMATS[file.format].quantum.time_s if file.format in (OMTN, ODA) else None
    period_s = robot_of_motion(motion).frame_period_s if format_period_s is None else format_period_s
    return 1000.0 * period_s


@dataclass(frozen=True)
class _PageEntry:
    """The entry of a page in a list; `repeat` is None for a motion that repeats for ever."""

    name: str
    keyframes: int
    duration_s: float
    repeat: int | None = 1
    next: str | None = None
    exit: str | None = None

    @classmethod
    def of(cls, motion: Motion) -> _PageEntry:
        """Return the entry of a motion."""
        return cls(
            name=motion.name,
            keyframes=len(motion.keyframes),
            duration_s=motion.duration,
            repeat=motion.repeat,
            next=motion.next,
            exit=motion.exit,
        )

    def to_dict(self) -> dict[str, object]:
        """Return the entry as plain data."""
        return {
            "name": self.name,
            "keyframes": self.keyframes,
            "duration_s": round(self.duration_s, DIGITS),
            "repeat": self.repeat,
            "next": _reference(self.next),
            "exit": _reference(self.exit),
        }


def _page_entries(file: MotionFile) -> Iterator[_PageEntry]:
    """Yield the entry of each page, from summaries if there are any, since building motions is slow."""
    summaries = file.motions.summaries if isinstance(file.motions, LazyMotions) else ()
    for summary in summaries:
        yield _PageEntry(summary.name, summary.keyframes, summary.duration_s)
    if not summaries:
        yield from map(_PageEntry.of, file.motions)


def _reference(name: str | None) -> str | int | None:
    """Return the name of another motion, as an integer if it is a page's number; None for None."""
    if name is not None and name.isascii() and name.isdigit():
        return int(name)
    return name


def motion_file_lines(file: MotionFile, page: PageReference | None = None) -> Lines:
    """Yield a description of a page; without a `page`, of the first page, and a table of all pages."""
    motion = file.motion(page)
    card = robot_of_motion(motion)
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
    has_all_joints = len(motion.joints) == len(card.joints)
    joints = f"all {len(motion.joints)}" if has_all_joints else ", ".join(motion.joints)
    yield f"  joints     {joints}"
    free = sorted({joint for frame in motion.keyframes for joint in frame.pose.free})
    if free:
        yield f"  torque off {', '.join(free)}"
    if motion.lights:
        yield f"  lights     {', '.join(motion.lights)}"
    if motion.sound is not None:
        yield f"  sound      {motion.sound.file}, from {motion.sound.start_s:g} s"
    if motion.source:
        yield f"  source     {motion.source}"
    if page is None and len(file.pages) > 1:
        yield ""
        yield _page_table(file)


def _page_table(file: MotionFile) -> Table:
    """Return a table with a row for each page."""
    rows = [
        (
            label.number,
            label.name,
            entry.keyframes,
            f"{round(entry.duration_s, DIGITS):.3f}",
            FOR_EVER if entry.repeat is None else entry.repeat,
            "" if entry.next is None else _reference(entry.next),
            "" if entry.exit is None else _reference(entry.exit),
        )
        for label, entry in zip(file.pages, _page_entries(file), strict=True)
    ]
    columns = ("page", "name", "steps", "duration s", "repeat", "next", "exit")
    return table(columns, rows, text_columns=("name",))
