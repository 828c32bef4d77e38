"""What `posewright motion info` and `check` say: as data for programs, as lines and tables for people."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from posewright import evaluation, formats, motions, recordings, runs
from posewright.cli.console import STYLES, counted, line_of, rated, styled, table
from posewright.cli.motion_options import radians
from posewright.cli.options import record_paths, refuse_recording

FEW = 12
"""So many findings are told one by one, unless all are asked for."""

FOR_EVER = "for ever"

WORST = 3  # so many joints are named of those that lag or give all their torque
DIGITS = 9  # decimals of a time: a nanosecond, free of 0.8160000000000001


def describe_file(file: formats.MotionFile, page: str | None) -> dict[str, Any]:
    """Return what a file holds: the page asked for, or its first, and a list of all pages.

    `repeat` and `total_duration_s` are null for a motion that repeats for ever.
    """
    motion, number = file.motion(page), file.page_number(page)
    return {
        "file": str(file.path),
        "format": file.format,
        "robot": motion.robot,
        "assumed": file.assumed,
        "robot_joints": len(formats.card_of(motion).joints),
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


def describe_motion(motion: motions.Motion) -> dict[str, Any]:
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
        "lights": list(motion.lights),
        "has_start_pose": motion.start is not None,
        "source": motion.source,
        "extras": dict(motion.extras),
    }


def _frame_ms(file: formats.MotionFile, motion: motions.Motion) -> float:
    """Return the frame of the file where it has one, else that of the robot [ms]."""
    told = float(motion.extras.get("omtn_frame_ms") or 0.0)
    has_frames = file.format in (formats.OMTN, formats.ODA)
    step_s = formats.FORMATS[file.format].quantum.time_s if has_frames else None
    return told or 1000.0 * (formats.card_of(motion).frame_period_s if step_s is None else step_s)


def _brief(motion: motions.Motion) -> dict[str, Any]:
    return {
        "name": motion.name,
        "keyframes": len(motion.keyframes),
        "duration_s": round(motion.duration, DIGITS),
        "repeat": motion.repeat,
        "next": _reference(motion.next),
        "exit": _reference(motion.exit),
    }


def _briefs(file: formats.MotionFile) -> Iterator[dict[str, Any]]:
    """Yield what a list shows of each page; thousands of motions are not made for it."""
    glances = file.motions.glances if isinstance(file.motions, formats.LazyMotions) else ()
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
    joints = told["joints"]
    are_all = len(joints) == told["robot_joints"]
    yield f"  joints     {f'all {len(joints)}' if are_all else ', '.join(joints)}"
    if told["free_joints"]:
        yield f"  let free   {', '.join(told['free_joints'])}"
    if told["lights"]:
        yield f"  lights     {', '.join(told['lights'])}"
    if told["source"]:
        yield f"  source     {told['source']}"


def page_table(pages: list[dict[str, Any]]) -> Table:
    """Return one row a page."""
    rows = [
        (
            page["number"],
            page["name"],
            page["keyframes"],
            f"{page['duration_s']:.3f}",
            FOR_EVER if page["repeat"] is None else page["repeat"],
            *("" if page[what] is None else page[what] for what in ("next", "exit")),
        )
        for page in pages
    ]
    return table(("page", "name", "steps", "duration s", "repeat", "next", "exit"), rows, words=("name",))


def findings_report(
    file: formats.MotionFile,
    page: str | None,
    *,
    near_pose: str | None,
    celebration: bool,
    rules: str = motions.HARDWARE,
) -> dict[str, Any]:
    """Return what design rules find in one page of a file, or in all of them."""
    pages = _pages(file, page)
    checked = [
        (number, motion, finding)
        for number, motion in pages
        for finding in motions.check_motion(motion, near_pose=near_pose, celebration=celebration, rules=rules)
    ]
    counts = {level: sum(finding.level is level for *_, finding in checked) for level in motions.Level}
    return {
        "file": str(file.path),
        "format": file.format,
        "assumed": file.assumed,
        "rules": rules,
        "motions": len(pages),
        "checked": [{"page": number, "motion": motion.name} for number, motion in pages],
        "errors": counts[motions.Level.ERROR],
        "warnings": counts[motions.Level.WARNING],
        "findings": [
            {"page": number, "motion": motion.name, **_finding(found)} for number, motion, found in checked
        ],
    }


def _pages(file: formats.MotionFile, page: str | None) -> list[tuple[int, motions.Motion]]:
    wanted = None if page is None else file.page_number(page)
    numbered = zip((label.number for label in file.pages), file.motions, strict=True)
    return [one for one in numbered if wanted in (None, one[0])]


def _finding(finding: motions.Finding) -> dict[str, Any]:
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


def finding_lines(report: dict[str, Any], *, verbose: bool = False) -> Iterator[str | Text]:
    """Yield the findings where they are few or all are asked for, a line a motion, and one that counts."""
    found, many = report["findings"], report["motions"] > 1
    shown = found if verbose or len(found) <= FEW else [] if many else _worst(found)
    for finding in shown:
        whose = f"{finding['motion']}: " if many else ""
        yield line_of(rated(finding["level"], 7), f" {finding['rule']:<8} {whose}{finding['message']}")
    if many:
        yield from _motion_lines(report)
    motions = f"{report['motions']} motions: " if many else ""
    more = f" (-v shows all {len(found)})" if len(shown) < len(found) else ""
    yield f"{motions}{counted(report['errors'], 'error')}, {counted(report['warnings'], 'warning')}{more}"


def _worst(found: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the first finding of each level and rule, which is the worst."""
    return list({(one["level"], one["rule"]): one for one in reversed(found)}.values())[::-1]


def _motion_lines(report: Mapping[str, Any]) -> Iterator[Text]:
    """Yield a line a motion: what was found in it, and by which rules."""
    width = max(len(one["motion"]) for one in report["checked"])
    for page in report["checked"]:
        found = [one for one in report["findings"] if one["page"] == page["page"]]
        levels = Counter(one["level"] for one in found)
        rules = ", ".join(dict.fromkeys(one["rule"] for one in found))
        told = ", ".join(counted(number, level) for level, number in levels.items())
        worst = next((level for level in STYLES if levels[level]), "ok")
        shown = styled(f"{told}: {rules}" if found else "ok", STYLES[worst])
        yield line_of(f"{page['motion']:<{width}}  ", shown)


def with_physics(
    report: Mapping[str, Any],
    file: formats.MotionFile,
    page: str | None,
    *,
    attitude_deg: tuple[float, float] | None = None,
    friction: float | None = None,
    record: Path | None = None,
    on_progress: Callable[[str], None] | None = None,
) -> dict[str, Any]:
    """Return a report of the design rules with what physics finds in the same pages.

    `physics` holds the numbers, one entry a page; the findings join the others and are counted with them. The
    robot is put down with a roll and pitch [deg]; of several pages each recording gets a name of its own.
    """
    pages = _pages(file, page)
    paths = [] if record is None else record_paths(record, [str(number) for number, _ in pages])
    for path in paths:
        refuse_recording(path, file.path)
    played = []
    found = []
    for place, (number, motion) in enumerate(pages):
        if on_progress is not None:
            on_progress(motion.name)
        result = runs.try_motion(motion, attitude=radians(attitude_deg), friction=friction)
        if paths:
            recordings.write_mcap(result.recording, paths[place])
        figures = dict(result.figures())
        del figures["findings"]
        played.append({"page": number, **figures})
        for finding in result.findings:
            found.append({"page": number, "motion": figures["motion"], **evaluation.finding_data(finding)})
    levels = [finding["level"] for finding in found]
    return {
        **report,
        "errors": report["errors"] + levels.count("error"),
        "warnings": report["warnings"] + levels.count("warning"),
        "findings": [*report["findings"], *found],
        "physics": played,
    }


def findings_lines(result: evaluation.MotionResult) -> Iterator[Text]:
    """Yield what was found, a line each."""
    for finding in result.findings:
        yield line_of(rated(finding.level.value, 7), f" {finding.rule:<8} {finding.message}")


def physics_lines(told: Mapping[str, Any]) -> Iterator[str]:
    """Yield the numbers of one motion, an entry of `physics`, a line each."""
    yield f"{told['motion']} under gravity, {told['played_s']:.2f} s:"
    falls = ", ".join(f"{fall['side']} at {fall['time_s']:.2f} s" for fall in told["falls"])
    yield f"  falls         {falls or 'none'}"
    way = told["travel"]
    yield (
        f"  distance      {way['distance_m']:.3f} m at {way['speed_m_s']:.3f} m/s: {way['forward_m']:+.3f} m "
        f"forward, {way['left_m']:+.3f} m left, turned {way['turn_deg']:+.0f} deg"
    )
    tilt = told["max_tilt"]
    yield (
        f"  tilt          {told['first_tilt_deg']:.0f} deg at the start, at most {told['max_tilt_deg']:.0f} "
        f"{tilt['side']} at {tilt['time_s']:.2f} s, {told['last_tilt_deg']:.0f} at the end"
    )
    yield f"  self-contact  {_contacts(told['self_contacts'])}"
    slips = [f"{foot} {way['longest']:.0f} mm" for foot, way in told["slip_mm"].items()]
    yield f"  slip          {', '.join(slips)}"
    late = sorted(told["lag_deg"].items(), key=lambda lag: -lag[1]["max"])
    lags = [f"{joint} {lag['max']:.0f} deg (rms {lag['rms']:.0f})" for joint, lag in late[:WORST]]
    yield f"  lag           {', '.join(lags)}"
    weak = sorted(told["saturated"], key=lambda stretch: -stretch["longest_s"])
    most = [f"{one['joint']} {one['longest_s']:.2f} s ({one['share']:.0%})" for one in weak[:WORST]]
    yield f"  full torque   {', '.join(most) or 'never'}"


def _contacts(contacts: Sequence[Mapping[str, Any]]) -> str:
    told = [
        f"{' and '.join(one['parts'])} at {one['time_s']:.2f} s ({one['force_n']:.0f} N)" for one in contacts
    ]
    return ", ".join(told) or "none"


def physics_table(played: Sequence[Mapping[str, Any]]) -> Table:
    """Return one row a motion: what is worth comparing."""
    columns = ("page", "name", "played s", "way m", "falls", "tilt deg", "touches", "slip mm", "lag deg")
    rows = [
        (
            told["page"],
            told["motion"],
            f"{told['played_s']:.2f}",
            f"{told['travel']['distance_m']:.2f}",
            len(told["falls"]) or "",
            f"{told['max_tilt_deg']:.0f}",
            len(told["self_contacts"]) or "",
            f"{max((way['longest'] for way in told['slip_mm'].values()), default=0.0):.0f}",
            f"{max((lag['max'] for lag in told['lag_deg'].values()), default=0.0):.0f}",
        )
        for told in played
    ]
    return table(columns, rows, words=("name",))
