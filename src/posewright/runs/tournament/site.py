"""The scoreboard of a day: pages that need nothing but what lies in the day's folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

import numpy as np

from posewright.documents import lock_folders, path_exists, write_atomically
from posewright.errors import MissingExtraError, PosewrightError, UnavailableError
from posewright.figures import film_recording
from posewright.figures.saving import screen_png
from posewright.recordings import Recording, read_mcap
from posewright.runs.batch import RESULTS, BatchRun, make_folder
from posewright.runs.batch_report import figure_text, figure_words
from posewright.runs.replaying import draw_outcome, replay
from posewright.runs.tournament.day import RANKING, Day, Discipline, recording_of
from posewright.search.executors import map_in_order, open_executor
from posewright.version import __version__

INDEX = "index.html"
TEMPLATE = "site.html"
MEDIA = "media"
"""The folder of pictures and films, in the day's folder."""

FILM_S = 6.0
"""So long is a film [s]."""

FILM_SIZE = (480, 270)
_DULL = frozenset({"start", "stop", "try"})
"""Events that begin and end something, where nothing is to be seen."""


@dataclass(frozen=True)
class _Shown:
    """A run as a page shows it: its files, where they are or are to be, and what could not be drawn."""

    run: BatchRun
    recording: Path
    picture: Path
    film: Path | None
    trouble: str = ""


def highlight_s(recording: Recording) -> float:
    """Return around when most happened, by the events [s]; the end where nothing did."""
    times = np.array([event.time_s for event in recording.events if event.kind not in _DULL])
    if not len(times):
        return recording.duration_s
    around = (np.abs(times[:, None] - times[None, :]) <= FILM_S / 2.0).sum(axis=1)
    return float(times[around.argmax()])


def write_site(
    day: Day, *, films: int = 2, workers: int = 1, on_made: Callable[[int, int], None] | None = None
) -> Path:
    """Write the pages of a day into its folder, and return the first one.

    Pictures and films that are there already are not made again; where nothing can be filmed, there are none.

    Args:
        day: what is shown.
        films: of so many runs a discipline; those where most went wrong.
        workers: processes that draw and film.
        on_made: is told how many of how many runs are drawn.

    Raises:
        MissingExtraError: Jinja is not installed, or matplotlib is not.
        OutputError: something cannot be written.
    """
    try:
        import jinja2  # noqa: F401 -- told before anything is drawn
    except ImportError as error:
        raise MissingExtraError.for_extra("the pages of a day", "report") from error
    with lock_folders(day.folder, wait=False):
        make_folder(day.folder / MEDIA)
        shown = _shown(day, films, workers, on_made)
        for discipline in day.disciplines:
            page = _page(day, discipline=discipline, shown={name: shown[name] for name in discipline.runs})
            write_atomically(
                day.folder / f"{discipline.contest}.html", page.encode(errors="backslashreplace")
            )
        page = _page(day, discipline=None, shown={})
        write_atomically(day.folder / INDEX, page.encode(errors="backslashreplace"))
    return day.folder / INDEX


def _shown(
    day: Day, films: int, workers: int, on_made: Callable[[int, int], None] | None
) -> dict[str, list[_Shown]]:
    """Draw and film what is not there yet; return the runs by the folder they are kept in."""
    filmed = {one for discipline in day.disciplines for one in _most_eventful(discipline, films)}
    wanted = []
    for kept_in, run in (found for discipline in day.disciplines for found in discipline.all_runs):
        stem = day.folder / MEDIA / f"{kept_in}-{run.digest[:16]}"
        film = stem.with_suffix(".webm") if (kept_in, run.name) in filmed else None
        wanted.append((kept_in, _Shown(run, recording_of(day, kept_in, run), stem.with_suffix(".png"), film)))
    shown: dict[str, list[_Shown]] = {name: [] for one in day.disciplines for name in one.runs}
    with open_executor(workers, len(wanted) or 1) as executor:
        made = map_in_order(_made, [one for _, one in wanted], executor)
        for number, ((kept_in, _), one) in enumerate(zip(wanted, made, strict=True), 1):
            shown[kept_in].append(one)
            if on_made is not None:
                on_made(number, len(wanted))
    return shown


def _most_eventful(discipline: Discipline, films: int) -> list[tuple[str, str]]:
    """Return the runs where most went wrong, then those that stood first; finals come first.

    They are told by the folder they are kept in, and their names.
    """
    folders = [*discipline.runs]
    told = [
        (len(run.incidents), folders.index(name), name, run)
        for name, run in discipline.all_runs
        if run.error is None
    ]
    told.sort(key=lambda one: one[:2], reverse=True)
    different: dict[str, tuple[str, str]] = {}  # who runs the same behaviour on the same field runs the same
    for _, _, name, run in told:
        different.setdefault(run.digest, (name, run.name))
    return [*different.values()][:films]


def _made(wanted: _Shown) -> _Shown:
    """Draw, and film where asked, what is not there yet; return it with what could not be done, in words."""
    whole = path_exists(wanted.picture) and (wanted.film is None or path_exists(wanted.film))
    if whole or wanted.run.error is not None or not path_exists(wanted.recording):
        return wanted
    try:
        recording = read_mcap(wanted.recording)
        if not path_exists(wanted.picture):
            write_atomically(wanted.picture, screen_png(draw_outcome(replay(recording))))
        if wanted.film is not None:
            begin_s = min(highlight_s(recording) - FILM_S / 2.0, recording.duration_s - FILM_S)
            end_s = begin_s + FILM_S
            film_recording(recording, wanted.film, begin_s=begin_s, end_s=end_s, size=FILM_SIZE, fps=12.5)
    except UnavailableError:  # nothing can be filmed here: the pages go without
        return wanted
    except PosewrightError as error:  # of this recording alone
        return replace(wanted, trouble=str(error))
    return wanted


def _counted(incidents: Sequence[str]) -> str:
    return ", ".join(f"{n} x {kind}" if n > 1 else kind for kind, n in Counter(incidents).items())


def _page(day: Day, *, discipline: Discipline | None, shown: Mapping[str, list[_Shown]]) -> str:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("posewright.runs.tournament", ".")
    jinja = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    jinja.filters |= {"words": figure_words, "number": figure_text, "counted": _counted}
    jinja.filters["address"] = lambda path: (
        quote(path.relative_to(day.folder).as_posix()) if path is not None and path_exists(path) else ""
    )
    columns = {
        name: list(dict.fromkeys(figure for one in runs for figure in one.run.figures))
        for name, runs in shown.items()
    }
    return jinja.get_template(TEMPLATE).render(
        day=day,
        discipline=discipline,
        shown=shown,
        columns=columns,
        counted=[one for one in day.disciplines if one.share],
        files={"ranking": RANKING, "results": RESULTS},
        version=__version__,
    )
