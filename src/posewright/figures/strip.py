"""Film strips: pictures at the keyframes and at findings, on one page."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np

from posewright.arrays import Flags
from posewright.errors import InputError
from posewright.evaluation.motion.played_motion import EXTRAS as MOTION_EXTRAS
from posewright.evaluation.motion.played_motion import PlayedMotion
from posewright.evaluation.motion.report import evaluate_motion
from posewright.evaluation.walking.walk import EXTRAS as WALK_EXTRAS
from posewright.figures.film import open_renderer
from posewright.figures.gait.content import SHORT_FOOT_NAMES
from posewright.figures.playback import Attitude, Playback, playback_of_motion, playback_of_recording
from posewright.figures.style import GREY, INK, WRONG, styled
from posewright.formats.native import read as read_motion
from posewright.motions import Finding, Level, Motion
from posewright.recordings import Recording, RobotRecord
from posewright.recordings.falls import tilt
from posewright.robots import Robot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from posewright.simulation.film import Picture

N_PICTURES = 12
MAX_PICTURES = 60
MAX_COLUMNS = 6
"""Greatest number of pictures side by side."""

SUFFIX = ".motion.yaml"
"""Suffix of the motion's document in a recording."""

PICTURE_SIZE_PX = (400, 360)
"""Size of a picture [px]."""

PICTURE_WIDTH_IN = 2.0
"""Width of a picture [in]."""

DPI = 150
LABEL_IN = 0.27
TITLE_IN = 0.40
GAP_IN = 0.03
"""Heights of a picture's label and of the title, and the gap between two pictures [in]."""

LABEL_PT = 9.5
LABEL_LENGTH = 18
"""Font size of labels, and number of characters that fit beside the time."""


@dataclass(frozen=True, eq=False)
class StripContents:
    """Content of a strip besides the pictures; times count from its beginning.

    Attributes:
        title: the title of the page.
        last_s: the last time that can be shown [s].
        motion_end_s: end of the motion, after which its last pose is held; else `last_s` [s].
        frame_s: frame period of the robot [s].
        begin_s: its beginning in the playback [s].
        motion: the motion with the keyframes; None if it is not a motion.
        findings: the findings with their times.
        greatest_lean_s: time of the greatest lean of the base; None if unknown [s].
        timed_states: the states of the controller, each after the time it begins [s].
    """

    title: str
    last_s: float
    motion_end_s: float
    frame_s: float
    begin_s: float = 0.0
    motion: Motion | None = None
    findings: tuple[Finding, ...] = ()
    greatest_lean_s: float | None = None
    timed_states: tuple[tuple[float, str], ...] = ()


@styled("drawing a film strip")
def draw_strip(
    source: Recording | Motion,
    robot: Robot | str | None = None,
    *,
    pictures: int = N_PICTURES,
    camera: str = "side",
    begin_s: float = 0.0,
    end_s: float = math.inf,
    findings: Sequence[Finding] | None = None,
    pose: str | None = None,
    attitude: Attitude | None = None,
) -> Figure:
    """Draw pictures of a recording, or of a motion without physics, side by side.

    Args:
        source: a recording, or a motion.
        robot: for a motion, the robot or its name; for a recording, a robot that is not shipped.
        pictures: number of pictures.
        camera: as in `film_recording`.
        begin_s: first time of a recording; recordings of a motion are shown from its beginning [s].
        end_s: last time of a recording [s].
        findings: for the recording of a motion, the findings written in red; default those of
            `evaluate_motion`.
        pose: for a motion, the name of the pose of the joints that it does not move; default `stand`.
        attitude: for a motion, roll and pitch of the base [rad].

    Raises:
        InputError: too few or too many pictures; or this and other errors as `film_recording` and
            `film_motion`.
    """
    require_picture_count(pictures)
    if isinstance(source, Motion):
        playback = playback_of_motion(source, robot, pose=pose, attitude=attitude)
        end_s = playback.end_s
        title = f"{source.name}, {playback.world.robot.name}, {end_s:.2f} s, without gravity"
        contents = StripContents(
            title, last_s=end_s, motion_end_s=end_s, frame_s=playback.world.frame_period_s, motion=source
        )
    else:
        recorded_robot = robot if isinstance(robot, Robot) else None
        playback = playback_of_recording(source, recorded_robot)
        if MOTION_EXTRAS in source.header.extras:
            contents = _motion_contents(source, playback, recorded_robot, findings)
        else:
            contents = _recording_contents(source, playback, begin_s, end_s)
    times = picture_times(contents, pictures)
    poses = playback.poses_at(contents.begin_s + np.array(times))
    with open_renderer(playback, poses, camera, PICTURE_SIZE_PX) as render_row:
        rendered = [render_row(row) for row in range(len(times))]
    return _draw_page(contents, times, rendered)


def require_picture_count(pictures: int) -> None:
    """Raise InputError unless a strip can have this number of pictures."""
    if not 1 <= pictures <= MAX_PICTURES:
        raise InputError(f"a strip cannot have {pictures} pictures", hint=f"1 to {MAX_PICTURES}")


def _motion_contents(
    recording: Recording, playback: Playback, recorded_robot: Robot | None, findings: Sequence[Finding] | None
) -> StripContents:
    """Return what a strip shows of a motion that was played under gravity.

    The strip begins with the row before the motion, in which the robot still stands in the first pose.

    Args:
        recording: the recording of the motion.
        playback: the playback of the recording.
        recorded_robot: the robot if it is not shipped; else None.
        findings: the findings about the motion; None to evaluate it.
    """
    played = PlayedMotion.of(recording, robot=recorded_robot)
    documents = recording.header.documents
    motion_text = next(text for name, text in documents.items() if name.endswith(SUFFIX))
    if findings is None:
        findings = evaluate_motion(recording, robot=recorded_robot).findings
    frame_before_motion = played.first_frame - 1
    begin_s = float(recording.times[0]) + frame_before_motion * played.frame_s
    strip_rows = slice(max(frame_before_motion, 0), None)
    uprightness = np.cos(tilt(played.record.base[strip_rows]))
    # a motion may begin with the robot lying, so a lean is measured from there
    row_of_greatest_lean = int(np.abs(uprightness - uprightness[0]).argmax())
    greatest_lean_s = float(played.times[strip_rows][row_of_greatest_lean])
    physics = "under gravity" if played.is_complete else "under gravity, cut short"
    return StripContents(
        title=f"{played.name}, {played.robot.name}, {played.duration_s:.2f} s, {physics}",
        last_s=playback.end_s - begin_s,
        motion_end_s=played.duration_s,
        frame_s=played.frame_s,
        begin_s=begin_s,
        motion=read_motion(motion_text.encode(), card=played.robot),
        findings=tuple(findings),
        greatest_lean_s=greatest_lean_s,
    )


def _recording_contents(
    recording: Recording, playback: Playback, begin_s: float, end_s: float
) -> StripContents:
    """Return what a strip shows of a part of a recording.

    The labels of the pictures are the feet on the ground for a walk, else the states of the controller.

    Args:
        recording: the recording.
        playback: its playback.
        begin_s: begin of the part, in the recording's time; at least that of the playback [s].
        end_s: end of the part; at most that of the playback [s].

    Raises:
        InputError: the recording has nothing of the part.
    """
    header = recording.header
    record = recording.robot()
    begin_s = max(begin_s, playback.begin_s)
    end_s = min(end_s, playback.end_s)
    if end_s <= begin_s:
        raise InputError(f"the recording has nothing between {begin_s:g} and {end_s:g} s")
    if WALK_EXTRAS in header.extras:
        timed_states = zip(
            recording.times, (_feet_label(down, record) for down in record.foot_contacts), strict=True
        )
    else:
        timed_states = zip(record.decisions.times, record.decisions.states, strict=True)
    robots = ", ".join(header.robots) if len(header.robots) > 1 else record.header.robot
    return StripContents(
        title=f"{record.header.controller or 'recording'}, {robots}, {end_s - begin_s:.2f} s",
        last_s=end_s - begin_s,
        motion_end_s=end_s - begin_s,
        frame_s=playback.world.frame_period_s,
        begin_s=begin_s,
        timed_states=tuple((float(time_s) - begin_s, state) for time_s, state in timed_states),
    )


def _feet_label(down: Flags, record: RobotRecord) -> str:
    """Return the feet that are down, `(n_feet,)`, as text: left_front_paw as LF."""
    names = []
    for foot, is_down in zip(record.header.feet, down.tolist(), strict=True):
        if is_down:
            leg, _, _ = foot.rpartition("_")
            names.append(SHORT_FOOT_NAMES.get(leg, leg.replace("_", " ") or foot))
    return f"on {' '.join(names)}" if names else "in the air"


# ---- times of the pictures


def picture_times(contents: StripContents, n_pictures: int) -> list[float]:
    """Return the times of `n_pictures` pictures, rising [s].

    Of a motion they are its ends, its keyframes, and the middles of the longest gaps; of too many keyframes,
    evenly spread ones. Findings and the greatest lean of the base replace the nearest times. One picture is
    after the motion's end, if there is such a time. Without a motion the times are evenly spread.
    """
    last_s = contents.last_s
    end_s = contents.motion_end_s
    if n_pictures == 1:
        return [last_s]
    times_after_end = [last_s] if last_s > end_s + contents.frame_s else []
    n_times = n_pictures - len(times_after_end)
    if contents.motion is None:
        times = np.linspace(0.0, end_s, n_times).tolist()
    else:
        keyframe_times = [time_s for time_s in contents.motion.keyframe_times.tolist() if time_s < end_s]
        key_times = sorted({0.0, end_s, *keyframe_times})
        if len(key_times) > n_times:
            times = _thin_times(key_times, n_times)
        else:
            times = _fill_gaps(key_times, n_times, min_gap_s=2.0 * contents.frame_s)
    max_highlights = n_times // 3
    highlights = _highlight_times(contents)[:max_highlights]
    return [*_insert_highlights(times, highlights), *times_after_end]


def _thin_times(key_times: Sequence[float], n_times: int) -> list[float]:
    """Return at most `n_times` of rising times: those nearest to evenly spaced ones."""
    even_times = np.linspace(0.0, key_times[-1], max(1, n_times)).tolist()
    return sorted({_nearest(key_times, even_time) for even_time in even_times})


def _nearest(times: Iterable[float], target: float) -> float:
    """Return the time that is nearest to a target; of two equally near ones the first."""
    return min(times, key=lambda time_s: abs(time_s - target))


def _fill_gaps(key_times: Iterable[float], n_times: int, min_gap_s: float) -> list[float]:
    """Return the key times, and times between them until there are `n_times`, in order [s].

    In each turn the middle of the longest gap is added. Gaps shorter than `min_gap_s` are not divided.
    """

    def length(gap: tuple[float, float]) -> float:
        begin_s, end_s = gap
        return end_s - begin_s

    times = set(key_times)
    while 1 < len(times) < n_times:
        longest_gap = max(pairwise(sorted(times)), key=length)
        if length(longest_gap) < min_gap_s:
            break
        begin_s, end_s = longest_gap
        times.add(0.5 * (begin_s + end_s))
    return sorted(times)


def _highlight_times(contents: StripContents) -> list[float]:
    """Return the times of findings, errors first, and of the greatest lean of the base [s]."""
    timed_findings = [
        finding for finding in contents.findings if finding.level is not Level.NOTE and finding.times_s
    ]
    timed_findings.sort(key=lambda finding: finding.level is not Level.ERROR)  # errors before warnings
    times = [finding.times_s[0] for finding in timed_findings]
    if contents.motion is not None and contents.greatest_lean_s is not None:
        times.append(contents.greatest_lean_s)
    return [time_s for time_s in dict.fromkeys(times) if 0.0 < time_s < contents.motion_end_s]


def _insert_highlights(times: list[float], highlights: list[float]) -> list[float]:
    """Return the times, rising, in which each highlight has replaced the time nearest to it.

    The first and the last time stay. A highlight is dropped if no other time is left to be replaced.
    """
    new_times = list(times)
    for highlight in highlights:
        replaceable = [time_s for time_s in new_times[1:-1] if time_s not in highlights]
        if replaceable and highlight not in new_times:
            new_times.remove(_nearest(replaceable, highlight))
            new_times = sorted([*new_times, highlight])
    return new_times


# ---- the page


def _draw_page(contents: StripContents, times: list[float], pictures: list[Picture]) -> Figure:
    """Return a figure with the pictures in a grid, each with its time and label."""
    from matplotlib.figure import Figure

    columns = min(len(times), MAX_COLUMNS)
    rows = math.ceil(len(times) / columns)
    cell_in = PICTURE_WIDTH_IN * PICTURE_SIZE_PX[1] / PICTURE_SIZE_PX[0] + LABEL_IN
    figure = Figure(
        figsize=(columns * PICTURE_WIDTH_IN, TITLE_IN + rows * cell_in), dpi=DPI, facecolor="white"
    )
    width_in, height_in = figure.get_size_inches().tolist()
    side_margin = 0.5 * GAP_IN / width_in
    figure.subplots_adjust(
        left=side_margin,
        bottom=LABEL_IN / height_in,
        right=1.0 - side_margin,
        top=1.0 - TITLE_IN / height_in,
    )
    gaps = {"wspace": GAP_IN / PICTURE_WIDTH_IN, "hspace": LABEL_IN / (cell_in - LABEL_IN)}
    axes = figure.subplots(rows, columns, squeeze=False, gridspec_kw=gaps)
    rules_by_time = _broken_rules_by_time(contents, times)
    for panel in axes.flat:
        panel.set_axis_off()
    for panel, time_s, picture in zip(axes.flat, times, pictures, strict=False):
        panel.imshow(picture, aspect="auto", interpolation="antialiased")
        _write_labels(panel, contents, time_s, broken_rules=rules_by_time.get(time_s, ""))
    figure.text(
        0.08 / width_in,
        1.0 - 0.19 / height_in,
        contents.title,
        va="center",
        color=INK,
        size=11.5,
        parse_math=False,
    )
    figure.set_label(contents.title)
    return figure


def _broken_rules_by_time(contents: StripContents, times: list[float]) -> Mapping[float, str]:
    """Return the names of broken rules by picture time, joined by commas.

    Each finding that is not a note belongs to the picture nearest to it; one without a time to the first.
    """
    rules_by_time: dict[float, list[str]] = {}
    for finding in contents.findings:
        if finding.level is not Level.NOTE:
            finding_time_s = finding.times_s[0] if finding.times_s else times[0]
            rules_by_time.setdefault(_nearest(times, finding_time_s), []).append(finding.rule)
    return {time_s: ", ".join(dict.fromkeys(rules)) for time_s, rules in rules_by_time.items()}


def _write_labels(axes: Axes, contents: StripContents, time_s: float, broken_rules: str) -> None:
    """Write a picture's time and keyframe or state below it, and in its corner the broken rules in red."""
    description = _keyframe_label(contents, time_s)
    if len(description) > LABEL_LENGTH:
        description = f"{description[: LABEL_LENGTH - 1]}…"

    def write(
        x: float,
        y: float,
        text: str,
        *,
        color: str,
        weight: str = "bold",
        ha: Literal["left", "right"] = "left",
    ) -> None:
        """Write a text at a position given as shares of the picture's width and height."""
        axes.text(
            x,
            y,
            text,
            color=color,
            weight=weight,
            ha=ha,
            va="top",
            size=LABEL_PT,
            transform=axes.transAxes,
            parse_math=False,
        )

    write(0.02, -0.03, f"{time_s:.2f} s", color=INK)
    write(0.98, -0.03, description, color=GREY, weight="normal", ha="right")
    write(0.03, 0.965, broken_rules, color=WRONG)


def _keyframe_label(contents: StripContents, time_s: float) -> str:
    """Return the keyframe that the motion has reached or approaches at a time, as text.

    Before the first keyframe it is "begins", after the end "holds". Without a motion it is the state of the
    controller, "" if it has none yet. Times are compared with a tolerance of half a frame, as a picture may
    be between two frames.
    """
    motion = contents.motion
    tolerance_s = 0.51 * contents.frame_s
    if motion is None:
        past_states = [state for begin_s, state in contents.timed_states if begin_s <= time_s + tolerance_s]
        return past_states[-1] if past_states else ""
    if time_s > contents.motion_end_s + tolerance_s:
        return "holds"
    sample = motion.sample_at(np.array([max(time_s - tolerance_s, 0.0)]))
    keyframe_index = int(sample.keyframes[0])
    reached_at_s = float(motion.keyframe_times[keyframe_index])
    is_at_begin = time_s < tolerance_s < reached_at_s
    if is_at_begin:
        return "begins"
    # a motion that repeats has its keyframe times in each pass
    n_finished_passes = math.floor((time_s - tolerance_s) / max(motion.duration, tolerance_s))
    time_in_pass_s = time_s - motion.duration * n_finished_passes
    keyframe_number = keyframe_index + 1
    is_reached = time_in_pass_s > reached_at_s - tolerance_s
    return f"keyframe {keyframe_number}" if is_reached else f"to keyframe {keyframe_number}"
