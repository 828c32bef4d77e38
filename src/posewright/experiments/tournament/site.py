"""The scoreboard of a day: pages that need nothing but what lies in the day's folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from posewright.documents import is_there, locked, write_atomically
from posewright.errors import MissingExtraError, PosewrightError, UnavailableError
from posewright.experiments.batch import RESULTS, Run, make_folder
from posewright.experiments.batch_report import figure_text, figure_words
from posewright.experiments.replaying import draw_outcome, replay
from posewright.experiments.tournament.day import RANKING, Day, Discipline, recording_of
from posewright.figures import film_recording
from posewright.figures.saving import screen_png
from posewright.recordings import Recording, read_mcap
from posewright.search.executors import executor_for, in_order
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
class _Wanted:
    """What is to be made of a recording: a picture there, and a film there if one is wanted."""

    recording: Path
    picture: Path
    film: Path | None


@dataclass(frozen=True)
class _Shown:
    """A run as a page shows it: addresses relative to the page, empty where there is no such file."""

    run: Run
    recording: str
    picture: str
    film: str
    trouble: str


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
    with locked(day.folder, waits=False):
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
    filmed = {
        (name, run.name) for discipline in day.disciplines for name, run in _most_eventful(discipline, films)
    }
    wanted: dict[tuple[str, str], _Wanted] = {}
    for discipline in day.disciplines:
        for kept_in, runs in discipline.runs.items():
            for run in runs:
                recording = recording_of(day, kept_in, run)
                if run.error is None and is_there(recording):
                    stem = day.folder / MEDIA / f"{kept_in}-{run.digest[:16]}"
                    film = stem.with_suffix(".webm") if (kept_in, run.name) in filmed else None
                    wanted[kept_in, run.name] = _Wanted(recording, stem.with_suffix(".png"), film)
    troubles: dict[tuple[str, str], str] = {}
    with executor_for(workers, len(wanted) or 1) as executor:
        for number, (key, trouble) in enumerate(
            zip(wanted, in_order(_made, [*wanted.values()], executor), strict=True), 1
        ):
            troubles[key] = trouble
            if on_made is not None:
                on_made(number, len(wanted))

    def one(kept_in: str, run: Run) -> _Shown:
        made = wanted.get((kept_in, run.name))
        if made is None:
            return _Shown(run, "", "", "", "")
        paths = (made.recording, made.picture, made.film)
        recording, picture, film = (_address(day, path) for path in paths)
        return _Shown(run, recording, picture, film, troubles[kept_in, run.name])

    return {
        name: [one(name, run) for run in runs]
        for discipline in day.disciplines
        for name, runs in discipline.runs.items()
    }


def _most_eventful(discipline: Discipline, films: int) -> list[tuple[str, Run]]:
    """Return the runs where most went wrong, then those that stood first; finals come first."""
    told = [
        (name, run)
        for name, runs in reversed([*discipline.runs.items()])
        for run in runs
        if run.error is None
    ]
    return sorted(told, key=lambda one: -len(one[1].incidents))[:films]


def _address(day: Day, path: Path | None) -> str:
    return quote(path.relative_to(day.folder).as_posix()) if path is not None and is_there(path) else ""


def _made(wanted: _Wanted) -> str:
    """Draw, and film where asked, what is not there yet; return what could not be done, in words."""
    if is_there(wanted.picture) and (wanted.film is None or is_there(wanted.film)):
        return ""
    try:
        recording = read_mcap(wanted.recording)
        if not is_there(wanted.picture):
            write_atomically(wanted.picture, screen_png(draw_outcome(replay(recording))))
        if wanted.film is not None:
            begin_s = min(highlight_s(recording) - FILM_S / 2.0, recording.duration_s - FILM_S)
            how: dict[str, Any] = {
                "begin_s": begin_s,
                "end_s": begin_s + FILM_S,
                "size": FILM_SIZE,
                "fps": 12.5,
            }
            film_recording(recording, wanted.film, **how)
    except UnavailableError:  # nothing can be filmed here: the pages go without
        return ""
    except PosewrightError as error:  # of this recording alone
        return str(error)
    return ""


def _counted(incidents: Sequence[str]) -> str:
    return ", ".join(f"{n} x {kind}" if n > 1 else kind for kind, n in Counter(incidents).items())


def _page(day: Day, *, discipline: Discipline | None, shown: Mapping[str, list[_Shown]]) -> str:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("posewright.experiments.tournament", ".")
    jinja = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    jinja.filters["words"] = figure_words
    jinja.filters["number"] = figure_text
    jinja.filters["counted"] = _counted
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
