"""The report of a batch: one HTML file that needs nothing else, with pictures, to be read and printed."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from posewright.documents import write_atomically
from posewright.errors import MissingExtraError, OutputError, PosewrightError
from posewright.figures.saving import screen_png
from posewright.runs.batch import REPORT, RESULTS, Batch, BatchRun, make_folder
from posewright.runs.replaying import draw_outcome, replay
from posewright.version import __version__

TEMPLATE = "batch_report.html"
_UNSHOWN = ("contest", "what", "file ")
"""Settings that are the title, or digests of files."""

_BINS = 30
_WIDE, _HIGH = 720.0, 150.0
"""Of the picture of the distribution, without its words, in its own units."""


@dataclass(frozen=True)
class Shown:
    """A run that is shown large: which it is, and its picture, or why there is none; both may be empty."""

    title: str
    run: BatchRun
    picture: str
    trouble: str


def keep_report(batch: Batch) -> None:
    """Write `results.csv` and `report.html` into the batch's folder, or raise an OutputError.

    Without a folder nothing is written; where what makes the report is not installed, there is none, and one
    of before, which knows less, is removed.
    """
    if batch.folder is not None:
        make_folder(batch.folder)
        write_atomically(batch.folder / RESULTS, batch.csv().encode(errors="backslashreplace"))
        path = batch.folder / REPORT
        try:
            write_atomically(path, report_of(batch).encode(errors="backslashreplace"))
        except MissingExtraError:
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise OutputError.at(path, error.strerror or str(error)) from error


def report_of(batch: Batch, *, look_closer: bool = True) -> str:
    """Return the report as HTML: what was run, what came of it, a table to sort, the worst and the best.

    Without `look_closer` the worst and the best are left out, and nothing is drawn.

    Raises:
        MissingExtraError: Jinja is not installed, or matplotlib is not.
    """
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise MissingExtraError.for_extra("the report of a batch", "report") from error
    loader = PackageLoader("posewright.runs", ".")
    jinja = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    jinja.filters["words"] = figure_words
    jinja.filters["number"] = figure_text
    return jinja.get_template(TEMPLATE).render(
        batch=batch,
        title=f"{batch.settings.get('contest') or batch.settings.get('what', 'Batch')}",
        about=_about(batch),
        texts={name for run in batch.done for name, one in run.figures.items() if isinstance(one, str)},
        spread=spread_of(batch),
        shown=list(_shown(batch)) if look_closer else [],
        version=__version__,
    )


def figure_words(name: str) -> str:
    """Return what people call a figure: `time_s` is `time [s]`."""
    known = {"m_s": "m/s", "rad_s": "rad/s", "s": "s", "m": "m", "cm": "cm", "deg": "deg", "w": "W"}
    for ending in sorted(known, key=len, reverse=True):
        if name.endswith(f"_{ending}") and not name.endswith(f"_per_{ending}"):
            return f"{name[: -len(ending) - 1].replace('_', ' ')} [{known[ending]}]"
    return name.replace("_", " ")


def figure_text(value: object) -> str:
    """Return a figure as people read it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = f"{round(value, 2) + 0.0:.2f}" if isinstance(value, float) else str(value)
    return "-" if value is None else text


def _about(batch: Batch) -> dict[str, str]:
    """Return the settings worth reading, and which runs there are."""
    told = {key: value for key, value in batch.settings.items() if not key.startswith(_UNSHOWN)}
    names = [run.name for run in batch.runs]
    which = f"{names[0]} … {names[-1]} ({len(names)})" if len(names) > 3 else ", ".join(names)
    return {f"{batch.key}s": which, **told}


def _shown(batch: Batch) -> Iterator[Shown]:
    """Yield the worst, the middle and the best run, each once, one picture in memory at a time."""
    ranked = batch.ranked
    ends = {"Worst": -1, "Median": len(ranked) // 2, "Best": 0} if ranked else {}
    seen: set[str] = set()
    for title, place in ends.items():
        run = ranked[place]
        if run.name not in seen:
            seen.add(run.name)
            yield Shown(title, run, *_picture(batch.recording(run)))


def _picture(recording: Path | None) -> tuple[str, str]:
    """Return the picture of a recording as the address of an image that holds it, and why there is none."""
    if recording is None:
        return "", ""
    try:
        picture = screen_png(draw_outcome(replay(recording)))
    except MissingExtraError:
        raise
    except PosewrightError as error:  # of this recording alone
        return "", str(error)
    return f"data:image/png;base64,{base64.b64encode(picture).decode()}", ""


def spread_of(batch: Batch) -> Mapping[str, Any]:
    """Return where the dots of a picture lie, a run each, by the measure; empty where all are equal."""
    low, high = min(batch.values, default=0.0), max(batch.values, default=0.0)
    if low == high:
        return {}
    bins: dict[int, list[BatchRun]] = {}
    for run in batch.done:
        value = run.figures.get(batch.measure)
        if isinstance(value, int | float):
            bins.setdefault(round((value - low) / (high - low) * _BINS), []).append(run)
    step = min(_WIDE / _BINS, _HIGH / max(map(len, bins.values())))
    mean, deviation = batch.mean or 0.0, batch.deviation or 0.0

    def across(value: float) -> float:
        return round(_WIDE * min(max((value - low) / (high - low), 0.0), 1.0), 1)

    return {
        "radius": round(0.45 * step, 2),
        "dots": [
            (round(_WIDE * place / _BINS, 1), round(_HIGH - step * (n + 0.5), 1), run)
            for place, runs in sorted(bins.items())
            for n, run in enumerate(runs)
        ],
        "mean": across(mean),
        "band": (across(mean - deviation), across(mean + deviation)),
        "ticks": [(across(one), one) for one in (low + (high - low) * k / 5 for k in range(6))],
    }
