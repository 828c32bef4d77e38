"""The report of a batch: one self-contained HTML file with pictures."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from posewright.documents import create_folder, write_atomically
from posewright.errors import MissingExtraError, OutputError, PosewrightError
from posewright.figures.saving import screen_png
from posewright.runs.batch import REPORT, RESULTS, Batch, BatchRun
from posewright.runs.replaying import draw_outcome, replay
from posewright.version import __version__

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATE = "batch_report.html"
_HIDDEN_SETTINGS = ("contest", "what", "file ")
"""Beginnings of settings that are the title, or digests of files."""

_MAX_LISTED_NAMES = 3
_N_BINS = 30
_WIDTH = 720.0
_HEIGHT = 150.0
"""Size of the distribution's picture without its labels, in its own units."""


@dataclass(frozen=True)
class PicturedRun:
    """A run with its picture in the report.

    Attributes:
        title: Best, Median or Worst.
        run: the run.
        picture: as a data URL; empty without one.
        error_message: why it could not be drawn; empty if it could, or was not recorded.
    """

    title: str
    run: BatchRun
    picture: str = ""
    error_message: str = ""


def write_report(batch: Batch) -> None:
    """Write `results.csv` and `report.html` into the batch's folder, or raise an OutputError.

    Without a folder nothing is written. If Jinja or matplotlib is not installed, there is no report, and an
    outdated one is removed.
    """
    if batch.folder is None:
        return
    create_folder(batch.folder)
    write_atomically(batch.folder / RESULTS, batch.csv().encode(errors="backslashreplace"))
    report_path = batch.folder / REPORT
    try:
        write_atomically(report_path, report_of(batch).encode(errors="backslashreplace"))
    except MissingExtraError:
        _remove_file(report_path)


def _remove_file(path: Path) -> None:
    """Remove a file if it exists, or raise an OutputError."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise OutputError.at(path, error.strerror or str(error)) from error


def report_of(batch: Batch, *, with_pictures: bool = True) -> str:
    """Return the report as HTML: settings, results, a sortable table, and pictures of the worst and best run.

    Without `with_pictures` there are no pictures of single runs.

    Raises:
        MissingExtraError: Jinja or matplotlib is not installed.
    """
    jinja = report_environment()
    jinja.filters["words"] = figure_words
    jinja.filters["number"] = figure_text
    return jinja.get_template(TEMPLATE).render(
        batch=batch,
        title=f"{batch.settings.get('contest') or batch.settings.get('what', 'Batch')}",
        visible_settings=_visible_settings(batch),
        text_columns={
            name for run in batch.completed for name, value in run.figures.items() if isinstance(value, str)
        },
        dot_plot=compute_dot_plot(batch),
        pictured_runs=list(_picture_runs(batch)) if with_pictures else [],
        version=__version__,
    )


def report_environment() -> Environment:
    """Return the environment of the templates of reports, which escapes what it fills in.

    Raises:
        MissingExtraError: Jinja is not installed.
    """
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise MissingExtraError.for_extra("a report", "report") from error
    loader = PackageLoader("posewright.runs", ".")
    return Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )


def figure_words(name: str) -> str:
    """Return a figure's name for people: `time_s` becomes `time [s]`."""
    units = {"m_s": "m/s", "rad_s": "rad/s", "s": "s", "m": "m", "cm": "cm", "deg": "deg", "w": "W"}
    for ending in sorted(units, key=len, reverse=True):
        if name.endswith(f"_{ending}") and not name.endswith(f"_per_{ending}"):
            return f"{name[: -len(ending) - 1].replace('_', ' ')} [{units[ending]}]"
    return name.replace("_", " ")


def figure_text(value: object) -> str:
    """Return a figure's value as text for people."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{round(value, 2) + 0.0:.2f}"  # adding 0 turns -0.0 into 0.0
    return str(value)


def _visible_settings(batch: Batch) -> dict[str, str]:
    """Return the names of the runs, and the settings without digests."""
    settings = {key: value for key, value in batch.settings.items() if not key.startswith(_HIDDEN_SETTINGS)}
    names = [run.name for run in batch.runs]
    is_abridged = len(names) > _MAX_LISTED_NAMES
    summary = f"{names[0]} … {names[-1]} ({len(names)})" if is_abridged else ", ".join(names)
    return {f"{batch.key}s": summary, **settings}


def _picture_runs(batch: Batch) -> Iterator[PicturedRun]:
    """Yield the worst, median and best run, each once, with one picture in memory at a time."""
    ranked = batch.ranked
    rank_of_title = {"Worst": -1, "Median": len(ranked) // 2, "Best": 0} if ranked else {}
    yielded_names: set[str] = set()
    for title, rank in rank_of_title.items():
        run = ranked[rank]
        if run.name not in yielded_names:
            yielded_names.add(run.name)
            yield _picture_run(title, run, batch.recording(run))


def _picture_run(title: str, run: BatchRun, recording_path: Path | None) -> PicturedRun:
    """Draw the recording of a run, if it has one; an error becomes part of the result.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    if recording_path is None:
        return PicturedRun(title, run)
    try:
        picture = screen_png(draw_outcome(replay(recording_path)))
    except MissingExtraError:
        raise
    except PosewrightError as error:  # concerns this recording only
        return PicturedRun(title, run, error_message=str(error))
    return PicturedRun(title, run, picture_url(picture))


def picture_url(png: bytes) -> str:
    """Return a picture as a data URL, which needs no file beside the page."""
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"


def compute_dot_plot(batch: Batch) -> Mapping[str, Any]:
    """Return the geometry of a dot plot of the measure over its values; empty if all values are equal.

    The range of values is divided into bins, in which the dots of the runs are stacked from the bottom.

    Returns:
        `radius` of a dot; `dots`, each x, y and its run; `mean` as x; `band` of one standard deviation to
        either side of the mean, as two x; `ticks`, each x and its value.
    """
    low = min(batch.values, default=0.0)
    high = max(batch.values, default=0.0)
    if low == high:
        return {}
    bins: dict[int, list[BatchRun]] = {}
    for run in batch.completed:
        value = run.figures.get(batch.measure)
        if isinstance(value, int | float):
            bins.setdefault(round((value - low) / (high - low) * _N_BINS), []).append(run)
    spacing = min(_WIDTH / _N_BINS, _HEIGHT / max(map(len, bins.values())))
    mean = batch.mean or 0.0
    deviation = batch.deviation or 0.0

    def x_of(value: float) -> float:
        """Return where a value is in the picture, cut off at its edges."""
        return round(_WIDTH * min(max((value - low) / (high - low), 0.0), 1.0), 1)

    return {
        "radius": round(0.45 * spacing, 2),  # less than half, so that dots do not touch
        "dots": [
            (round(_WIDTH * bin_index / _N_BINS, 1), round(_HEIGHT - spacing * (level + 0.5), 1), run)
            for bin_index, runs in sorted(bins.items())
            for level, run in enumerate(runs)
        ],
        "mean": x_of(mean),
        "band": (x_of(mean - deviation), x_of(mean + deviation)),
        "ticks": [(x_of(value), value) for value in (low + (high - low) * i / 5 for i in range(6))],
    }
