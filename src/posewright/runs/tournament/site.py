"""`write_site`: a day's scoreboard as static pages in the day's folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

import numpy as np

from posewright.documents import create_folder, lock_folders, path_exists, write_atomically
from posewright.errors import MissingExtraError, PosewrightError, UnavailableError
from posewright.figures import film_recording
from posewright.figures.saving import screen_png
from posewright.recordings import Recording, read_mcap
from posewright.runs.batch import RESULTS, BatchRun
from posewright.runs.batch_report import figure_text, figure_words
from posewright.runs.replaying import draw_outcome, replay
from posewright.runs.tournament.day import RANKING, Day, Discipline, recording_of
from posewright.runs.tournament.day_check import check_run
from posewright.search.executors import map_in_order, open_executor
from posewright.version import __version__

INDEX = "index.html"
TEMPLATE = "site.html"
MEDIA = "media"
"""Subfolder of the day's folder for pictures and films."""

FILM_S = 6.0
"""Length of a film [s]."""

FILM_SIZE = (480, 270)
_QUIET_EVENTS = frozenset({"start", "stop", "try"})
"""Events during which there is nothing to see."""


@dataclass(frozen=True)
class _RunMedia:
    """A run with its recording, picture and film.

    Attributes:
        folder_name: name of the subfolder of the day's folder with the run.
        run: the run.
        recording: path of its recording.
        picture: path of its picture, which may not exist yet.
        film: path of its film, likewise; None if it is not to be filmed.
        error_message: why the run cannot be trusted, or picture or film not be drawn; else empty.
    """

    folder_name: str
    run: BatchRun
    recording: Path
    picture: Path
    film: Path | None
    error_message: str = ""


def highlight_s(recording: Recording) -> float:
    """Return the time with the most events around it [s]; the end if there are none."""
    times = np.array([event.time_s for event in recording.events if event.kind not in _QUIET_EVENTS])
    if not len(times):
        return recording.duration_s
    n_events_nearby = (np.abs(times[:, None] - times[None, :]) <= FILM_S / 2.0).sum(axis=1)
    return float(times[n_events_nearby.argmax()])


def write_site(
    day: Day, *, films: int = 2, workers: int = 1, on_progress: Callable[[int, int], None] | None = None
) -> Path:
    """Write the pages of a day into its folder, and return the first one.

    Existing pictures and films are not drawn again; on a machine that cannot film there are no films.

    Args:
        day: the day to show.
        films: number of films for each discipline, of the runs with the most incidents.
        workers: number of processes that draw and film.
        on_progress: called with the number of finished runs, and of all.

    Raises:
        MissingExtraError: Jinja or matplotlib is not installed.
        OutputError: something cannot be written.
    """
    try:
        import jinja2  # noqa: F401 -- reported before anything is drawn
    except ImportError as error:
        raise MissingExtraError.for_extra("the pages of a day", "report") from error
    with lock_folders(day.folder, wait=False):
        create_folder(day.folder / MEDIA)
        media = _draw_media(day, films, workers, on_progress)
        for discipline in day.disciplines:
            page = _render_page(day, discipline, {name: media[name] for name in discipline.runs})
            write_atomically(
                day.folder / f"{discipline.contest}.html", page.encode(errors="backslashreplace")
            )
        page = _render_page(day, discipline=None, media={})
        write_atomically(day.folder / INDEX, page.encode(errors="backslashreplace"))
    return day.folder / INDEX


def _draw_media(
    day: Day, n_films: int, workers: int, on_progress: Callable[[int, int], None] | None
) -> dict[str, list[_RunMedia]]:
    """Draw the pictures and films that do not exist yet, and return all media by the runs' subfolders.

    Args:
        day: the day to show.
        n_films: number of films for each discipline.
        workers: number of processes.
        on_progress: called with the number of finished runs, and of all.
    """
    planned_media = [
        media for discipline in day.disciplines for media in _plan_media(day, discipline, n_films)
    ]
    media_by_folder: dict[str, list[_RunMedia]] = {
        folder_name: [] for discipline in day.disciplines for folder_name in discipline.runs
    }
    with open_executor(workers, len(planned_media) or 1) as executor:
        for n_drawn, media in enumerate(map_in_order(_draw_run, planned_media, executor), 1):
            media_by_folder[media.folder_name].append(media)
            if on_progress is not None:
                on_progress(n_drawn, len(planned_media))
    return media_by_folder


def _plan_media(day: Day, discipline: Discipline, n_films: int) -> Iterator[_RunMedia]:
    """Yield the media of all runs of a discipline, with films of the most eventful ones."""
    filmed_runs = _most_eventful_runs(discipline, n_films)
    for folder_name, run in discipline.all_runs:
        stem = day.folder / MEDIA / f"{folder_name}-{run.digest[:16]}"
        yield _RunMedia(
            folder_name,
            run,
            recording=recording_of(day, folder_name, run),
            picture=stem.with_suffix(".png"),
            film=stem.with_suffix(".webm") if (folder_name, run.name) in filmed_runs else None,
        )


def _most_eventful_runs(discipline: Discipline, n_runs: int) -> list[tuple[str, str]]:
    """Return the runs with the most incidents, later rounds first, as pairs of subfolder and name.

    Of runs with the same digest there is only one, since the same behaviour on the same field runs the same.
    """
    round_of_folder = {folder_name: index for index, folder_name in enumerate(discipline.runs)}
    completed_runs = [(folder_name, run) for folder_name, run in discipline.all_runs if run.error is None]

    def n_incidents_and_round(folder_and_run: tuple[str, BatchRun]) -> tuple[int, int]:
        folder_name, run = folder_and_run
        return len(run.incidents), round_of_folder[folder_name]

    run_of_digest: dict[str, tuple[str, str]] = {}
    for folder_name, run in sorted(completed_runs, key=n_incidents_and_round, reverse=True):
        run_of_digest.setdefault(run.digest, (folder_name, run.name))
    return list(run_of_digest.values())[:n_runs]


def _draw_run(media: _RunMedia) -> _RunMedia:
    """Check a run, and draw its picture and film if they do not exist; return it with the first problem."""
    if media.run.error is not None or not path_exists(media.recording):
        return media
    media = replace(media, error_message=check_run((media.recording, media.run)))
    if path_exists(media.picture) and (media.film is None or path_exists(media.film)):
        return media
    try:
        recording = read_mcap(media.recording)
        if not path_exists(media.picture):
            write_atomically(media.picture, screen_png(draw_outcome(replay(recording))))
        if media.film is not None:
            begin_s = min(highlight_s(recording) - FILM_S / 2.0, recording.duration_s - FILM_S)
            end_s = begin_s + FILM_S
            film_recording(recording, media.film, begin_s=begin_s, end_s=end_s, size=FILM_SIZE, fps=12.5)
    except UnavailableError:  # this machine cannot film
        return media
    except PosewrightError as error:  # concerns this recording only
        return replace(media, error_message=media.error_message or str(error))
    return media


def _count_incidents(incidents: Sequence[str]) -> str:
    """Return the kinds of incidents, with their numbers where there are several: `2 x fall, stop`."""
    return ", ".join(f"{n} x {kind}" if n > 1 else kind for kind, n in Counter(incidents).items())


def _render_page(day: Day, discipline: Discipline | None, media: Mapping[str, list[_RunMedia]]) -> str:
    """Return the page of a discipline as HTML, or, for None, the first page of the day."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("posewright.runs.tournament", ".")
    jinja = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    jinja.filters |= {"words": figure_words, "number": figure_text, "incident_counts": _count_incidents}
    jinja.filters["address"] = lambda path: (
        quote(path.relative_to(day.folder).as_posix()) if path is not None and path_exists(path) else ""
    )
    columns = {
        folder_name: list(dict.fromkeys(figure for item in runs for figure in item.run.figures))
        for folder_name, runs in media.items()
    }
    return jinja.get_template(TEMPLATE).render(
        day=day,
        discipline=discipline,
        media=media,
        columns=columns,
        scored_disciplines=[discipline for discipline in day.disciplines if discipline.share],
        files={"ranking": RANKING, "results": RESULTS},
        version=__version__,
    )
