"""What `posewright motion info` and `check` say: as data for programs, as lines and tables for people."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from rich.table import Table
from rich.text import Text

from posewright.formats import FORMATS, ODA, OMTN, LazyMotions, MotionFile, card_of
from posewright.motions import Finding, Level, Motion, check_motion

FOR_EVER = "for ever"

DIGITS = 9
"""Decimals of a time: a nanosecond, free of 0.8160000000000001."""


def describe_file(file: MotionFile, page: str | None) -> dict[str, Any]:
    """Return what a file holds: the page asked for, or its first, and a list of all pages.

    `repeat` and `total_duration_s` are null for a motion that repeats for ever.
    """
    motion, number = file.motion(page), file.page_number(page)
    return {
        "file": str(file.path),
        "format": file.format,
        "robot": motion.robot,
        "robot_joints": len(card_of(motion).joints),
        "design": motion.extras.get("design"),
        "frame_ms": _frame_ms(file, motion),
        "page": number,
        **describe_motion(motion),
        "warnings": list(file.warnings),
        "pages": [
            {"number": label.number, **brief, "name": label.name}
            for label, brief in zip(file.pages, _briefs(file), strict=True)
        ],
    }


def describe_motion(motion: Motion) -> dict[str, Any]:
    """Return what is worth knowing of one motion."""
    easings = dict.fromkeys(frame.easing.value for frame in motion.keyframes)
    return {
        **_brief(motion),
        "total_duration_s": None if motion.repeat is None else motion.total_duration,
        "speed": motion.speed,
        "keyframe_times_s": [round(time, DIGITS) for time in motion.keyframe_times.tolist()],
        "easings": list(easings),
        "joints": list(motion.joints),
        "free_joints": sorted({joint for frame in motion.keyframes for joint in frame.pose.free}),
        "has_start_pose": motion.start is not None,
        "source": motion.source,
        "extras": dict(motion.extras),
    }


def _frame_ms(file: MotionFile, motion: Motion) -> float:
    """Return the frame of the file where it has one, else that of the robot [ms]."""
    told = float(motion.extras.get("omtn_frame_ms") or 0.0)
    step_s = FORMATS[file.format].quantum.time_s if file.format in (OMTN, ODA) else None
    return told or 1000.0 * (card_of(motion).frame_period_s if step_s is None else step_s)


def _brief(motion: Motion) -> dict[str, Any]:
    return {
        "name": motion.name,
        "keyframes": len(motion.keyframes),
        "duration_s": round(motion.duration, DIGITS),
        "repeat": motion.repeat,
        "next": _reference(motion.next),
        "exit": _reference(motion.exit),
    }


def _briefs(file: MotionFile) -> Iterator[dict[str, Any]]:
    """Yield what a list shows of each page; thousands of motions are not made for it."""
    glances = file.motions.glances if isinstance(file.motions, LazyMotions) else ()
    for glance in glances:
        yield {
            "name": glance.name,
            "keyframes": glance.keyframes,
            "duration_s": round(glance.duration_s, DIGITS),
            "repeat": 1,
            "next": None,
            "exit": None,
        }
    if not glances:
        yield from map(_brief, file.motions)


def _reference(name: str | None) -> str | int | None:
    """Return the name of another motion, as a number where it is a page's number."""
    return int(name) if name is not None and name.isascii() and name.isdigit() else name


def summary(description: dict[str, Any]) -> Iterator[str]:
    """Yield the lines that describe one motion to a person."""
    told = description
    repeat = FOR_EVER if told["repeat"] is None else f"{told['repeat']} x"
    yield f"{told['file']}: {told['format']}, {told['robot']}"
    yield f"  motion     {told['name']}" + (f" (page {told['page']})" if len(told["pages"]) > 1 else "")
    if told["design"]:
        yield f"  design     {told['design']}, frames of {told['frame_ms']:g} ms"
    yield f"  keyframes  {told['keyframes']}, easing {', '.join(told['easings'])}"
    yield f"  duration   {told['duration_s']:.3f} s, played {repeat}, speed {told['speed']:g}"
    for what in ("next", "exit"):
        if told[what] is not None:
            yield f"  {what:<9}  {told[what]}"
    yield f"  joints     {_joint_list(told)}"
    if told["free_joints"]:
        yield f"  let free   {', '.join(told['free_joints'])}"
    if told["source"]:
        yield f"  source     {told['source']}"


def _joint_list(told: dict[str, Any]) -> str:
    joints = told["joints"]
    return f"all {len(joints)}" if len(joints) == told["robot_joints"] else ", ".join(joints)


def page_table(pages: list[dict[str, Any]]) -> Table:
    """Return one row a page."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("page", "name", "steps", "duration s", "repeat", "next", "exit"):
        table.add_column(column, justify="left" if column == "name" else "right")
    for page in pages:
        repeat = FOR_EVER if page["repeat"] is None else page["repeat"]
        links = ["" if page[what] is None else page[what] for what in ("next", "exit")]
        cells = (page["number"], page["name"], page["keyframes"], f"{page['duration_s']:.3f}", repeat, *links)
        table.add_row(*(Text(str(cell)) for cell in cells))
    return table


def findings_report(
    file: MotionFile, page: str | None, *, near_pose: str | None, celebration: bool
) -> dict[str, Any]:
    """Return what the design rules find in one page of a file, or in all of them."""
    wanted = None if page is None else file.page_number(page)
    checked = [
        (label.number, motion, finding)
        for label, motion in zip(file.pages, file.motions, strict=True)
        if wanted in (None, label.number)
        for finding in check_motion(motion, card_of(motion), near_pose=near_pose, celebration=celebration)
    ]
    counts = {level: sum(finding.level is level for *_, finding in checked) for level in Level}
    return {
        "file": str(file.path),
        "format": file.format,
        "motions": len(file.motions) if wanted is None else 1,
        "errors": counts[Level.ERROR],
        "warnings": counts[Level.WARNING],
        "findings": [
            {"page": number, "motion": motion.name, **_finding(found)} for number, motion, found in checked
        ],
    }


def _finding(finding: Finding) -> dict[str, Any]:
    value = finding.value
    return {
        "level": finding.level.value,
        "rule": finding.rule,
        "message": finding.message,
        "keyframe": finding.keyframe,
        "joint": finding.joint,
        "value": value if value is not None and math.isfinite(value) else None,
        "limit": finding.limit,
        "unit": finding.unit,
    }


def finding_lines(report: dict[str, Any]) -> Iterator[str]:
    """Yield a line a finding, and one that counts them."""
    many = report["motions"] > 1
    for found in report["findings"]:
        whose = f"{found['motion']}: " if many else ""
        yield f"{found['level']:<7} {found['rule']:<8} {whose}{found['message']}"
    errors, warnings = report["errors"], report["warnings"]
    motions = f"{report['motions']} motions: " if many else ""
    yield f"{motions}{_count(errors, 'error')}, {_count(warnings, 'warning')}"


def _count(number: int, what: str) -> str:
    return f"{number or 'no'} {what}{'' if number == 1 else 's'}"
