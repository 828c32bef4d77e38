"""The film strip of a motion: pictures of the moments that matter, with their times, on one page."""

from __future__ import annotations

import importlib
import io
import math
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from posewright.documents import write_atomically
from posewright.errors import InputError, MissingExtraError
from posewright.experiments.motion.show import Show
from posewright.motions import Level

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PICTURES = 12
MOST_PICTURES = 60
ACROSS = 6
"""Pictures side by side at most."""

SIZE = (400, 360)
"""Of one picture, in pixels."""

WIDTH_IN, DPI = 2.0, 150
LABEL_IN, TITLE_IN, GAP_IN = 0.26, 0.38, 0.03
"""Heights of a picture's label and of the title, and the gap between two pictures [in]."""

QUIET, LOUD, SOFT = "#2b3640", "#c0392b", "#5b6770"


def draw_strip(show: Show, path: Path, *, pictures: int = PICTURES, camera: str = "side") -> None:
    """Draw pictures of a motion into one .png, the same bytes for the same motion on the same machine.

    Args:
        show: what is shown.
        path: ends in .png.
        pictures: how many.
        camera: who looks, as in `film_motion`.

    Raises:
        InputError: too few pictures or too many.
        MissingExtraError: matplotlib is not installed.
        UnavailableError: nothing can be drawn on this machine.
        OutputError: the file cannot be written.
    """
    refuse_undrawable(pictures)
    from matplotlib import rc_context

    rows = [show.row(time_s) for time_s in moments_of(show, pictures)]
    metadata: dict[str, Any] = {"Software": None}
    buffer = io.BytesIO()
    with rc_context({"font.size": 8.0}):
        _figure(show, rows, _pictures(show, rows, camera)).savefig(
            buffer, format="png", dpi=DPI, metadata=metadata
        )
    write_atomically(path, buffer.getvalue())


def refuse_undrawable(pictures: int) -> None:
    """Refuse a strip that could not be drawn.

    Raises:
        InputError: too few pictures or too many.
        MissingExtraError: matplotlib is not installed.
    """
    if not 1 <= pictures <= MOST_PICTURES:
        raise InputError(f"a strip of {pictures} pictures", hint=f"1 to {MOST_PICTURES}")
    try:
        importlib.import_module("matplotlib")
    except ImportError as error:
        raise MissingExtraError.for_extra("drawing a film strip", "plot") from error


def moments_of(show: Show, n: int) -> list[float]:
    """Return the times to be shown [s], rising: its ends, its keyframes, and the middles of the longest gaps.

    Of keyframes that are too many for `n` pictures, evenly spread ones are shown. The moment in which the
    base leans most, and those at which something is found, take the place of the nearest. What comes
    after the motion's end is shown once.
    """
    last, ends = float(show.times[-1]), show.ends_s
    if n == 1:
        return [last]
    held = [last] if last > ends + show.robot.frame_period_s else []
    room = n - len(held)
    keyframes = {0.0, ends, *(time for time in show.motion.keyframe_times.tolist() if time < ends)}
    times = _thinned(sorted(keyframes), room) if len(keyframes) > room else _filled(keyframes, room, show)
    return [*_with_highlights(times, _highlights(show)[: room // 3]), *held]


def _thinned(keyframes: list[float], room: int) -> list[float]:
    """Return as many keyframes as there is room for, as evenly spread as they are."""
    spread = np.linspace(0.0, keyframes[-1], max(1, room))
    return sorted({min(keyframes, key=lambda mark: abs(mark - time)) for time in spread.tolist()})


def _filled(keyframes: set[float], room: int, show: Show) -> list[float]:
    """Return the keyframes, and the middles of the longest gaps as long as there is room."""
    times = set(keyframes)
    while len(times) < room:
        begin, end = max(pairwise(sorted(times)), key=lambda gap: gap[1] - gap[0])
        if end - begin < 2.0 * show.robot.frame_period_s:
            break
        times.add(0.5 * (begin + end))
    return sorted(times)


def _highlights(show: Show) -> list[float]:
    """Return when something is found, errors first, and when the base leans most [s]."""
    if show.trial is None or show.base is None:
        return []
    found = [f for f in show.trial.findings if f.level is not Level.NOTE and f.times_s]
    found.sort(key=lambda finding: finding.level is not Level.ERROR)
    x, y = show.base[:, 4], show.base[:, 5]
    upright = 1.0 - 2.0 * (x * x + y * y)  # how much of the base's own z points up
    begun = np.searchsorted(show.times, 0.0)
    most = begun + int(np.abs(upright[begun:] - upright[begun]).argmax())
    times = [*(finding.times_s[0] for finding in found), float(show.times[most])]
    return [time for time in dict.fromkeys(times) if 0.0 < time < show.ends_s]


def _with_highlights(times: list[float], highlights: list[float]) -> list[float]:
    """Return the times with each highlight in place of the nearest; the first and the last stay."""
    shown = list(times)
    for highlight in highlights:
        inner = [time for time in shown[1:-1] if time not in highlights]
        if inner and highlight not in shown:
            shown.remove(min(inner, key=lambda time: abs(time - highlight)))
            shown = sorted([*shown, highlight])
    return shown


def _pictures(show: Show, rows: list[int], camera: str) -> list[Any]:
    from posewright.simulation import Film, World
    from posewright.simulation.cameras import framed

    world = World(show.robot)
    moments = show.moments(world, rows)
    width, height = SIZE
    near = framed(world, moments, camera, width / height, steady=False)
    with Film(world, width, height, camera, quick=True, close_up=near) as film:
        return [film.frame(*moment) for moment in moments]


def _figure(show: Show, rows: list[int], pictures: list[Any]) -> Figure:
    from matplotlib.figure import Figure

    across = min(len(rows), ACROSS)
    each_in = WIDTH_IN * SIZE[1] / SIZE[0] + LABEL_IN
    wide_in, high_in = across * WIDTH_IN, TITLE_IN + math.ceil(len(rows) / across) * each_in
    figure = Figure(figsize=(wide_in, high_in), facecolor="white")
    found = _found(show, rows)
    for place, (row, picture) in enumerate(zip(rows, pictures, strict=True)):
        line, column = divmod(place, across)
        left, bottom = column * WIDTH_IN + 0.5 * GAP_IN, high_in - TITLE_IN - (line + 1) * each_in + LABEL_IN
        box = (left, bottom, WIDTH_IN - GAP_IN, each_in - LABEL_IN)
        axes = figure.add_axes((box[0] / wide_in, box[1] / high_in, box[2] / wide_in, box[3] / high_in))
        axes.imshow(picture, aspect="auto", interpolation="antialiased")
        axes.set_axis_off()
        _label(axes, show, row, found.get(row, ""))
    title = f"{show.motion.name}, {show.robot.name}, {show.ends_s:.2f} s, {_how(show)}"
    figure.text(0.08 / wide_in, 1.0 - 0.19 / high_in, title, va="center", color=QUIET, size=10.0)
    return figure


def _how(show: Show) -> str:
    if show.trial is None:
        return "without gravity"
    return "under gravity" if show.trial.is_whole else "under gravity, cut short"


def _found(show: Show, rows: list[int]) -> dict[int, str]:
    """Return the rules that are broken around each picture, by its row."""
    found: dict[int, list[str]] = {}
    for finding in () if show.trial is None else show.trial.findings:
        if finding.level is not Level.NOTE:
            row = show.row(finding.times_s[0]) if finding.times_s else rows[0]
            nearest = min(rows, key=lambda other: abs(other - row))
            found.setdefault(nearest, []).append(finding.rule)
    return {row: ", ".join(dict.fromkeys(rules)) for row, rules in found.items()}


def _label(axes: Axes, show: Show, row: int, found: str) -> None:
    """Say when a picture is, at which keyframe, and in red what was found there."""
    where: dict[str, Any] = {"transform": axes.transAxes}
    axes.text(0.02, -0.03, f"{show.times[row]:.2f} s", color=QUIET, weight="bold", va="top", **where)
    axes.text(0.98, -0.03, _where(show, row), color=SOFT, va="top", ha="right", **where)
    axes.text(0.03, 0.965, found, color=LOUD, weight="bold", va="top", **where)


def _where(show: Show, row: int) -> str:
    """Return at which keyframe a picture is; a keyframe that is stayed in is the same."""
    time_s, half = float(show.times[row]), 0.51 * show.robot.frame_period_s
    if time_s > show.ends_s + half:
        return "holds"
    number = int(show.keyframes[row])
    arrival = float(show.motion.keyframe_times[number - 1])
    if time_s < half < arrival:
        return "begins"
    lap_s = time_s - show.motion.duration * math.floor((time_s - half) / max(show.motion.duration, half))
    return f"keyframe {number}" if lap_s > arrival - half else f"to keyframe {number}"
