"""`posewright contest`: list contests; run, rank and report a whole contest day."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from posewright import contests, runs
from posewright.cli import console
from posewright.cli.batch import DIGEST_DIGITS
from posewright.cli.judge import Repeat, TrustPython
from posewright.cli.options import (
    EXIT_FAILURE,
    EXIT_INTERRUPTED,
    TABLE,
    TABLE_ENDINGS,
    AsJson,
    add_group,
    add_verb,
    argument,
    option,
    require_output_file,
)
from posewright.display import DisplayItem, format_count, table
from posewright.documents import is_folder, is_path, write_atomically
from posewright.errors import MissingExtraError

if TYPE_CHECKING:
    from posewright.runs import BatchRun, Day

DayFolder = Annotated[Path, argument("DAY", "The folder of a contest day (--out of `contest run`).")]
Jury = Annotated[
    Path | None,
    option("--jury FILE", "A document with the points of a jury: exhibition: {Ours: 8.5}."),
]
Films = Annotated[int, option("--films N", "The number of films of each contest.", min=0, max=1000)]
Workers = Annotated[int, option("--workers N", "The number of processes.", min=1)]


def register(app: typer.Typer) -> None:
    """Add the command `contest` and its verbs."""
    group = add_group(app, "contest")
    add_verb(group, "list", list_contests, python_equivalents="contest_names")
    add_verb(group, "show", show, python_equivalents="contest read_contestant check_contestant")
    add_verb(group, "run", run, python_equivalents="play_day write_site check_day")
    add_verb(group, "rank", rank, python_equivalents="read_day check_day")
    add_verb(group, "report", report, python_equivalents="read_day write_site check_day rerun_day")


def list_contests(as_json: AsJson = False) -> None:
    """List the contests with their roles, and the rules of contest days.

    [bold]Examples[/]
      posewright contest list
    """
    contests_by_name = {name: contests.contest(name) for name in contests.contest_names()}
    data = {
        "contests": [
            {"contest": name, "title": contest.title, "rules": contest.name, "roles": list(contest.entries)}
            for name, contest in contests_by_name.items()
        ],
        "days": list(runs.day_names()),
    }
    rows = [(name, contest.title, ", ".join(contest.entries)) for name, contest in contests_by_name.items()]
    lines: list[DisplayItem] = [
        table(("contest", "title", "roles"), rows),
        f"rules of a day: {', '.join(runs.day_names())}",
    ]
    console.print_result(data, lines, as_json=as_json)


def show(
    name: Annotated[str, argument("NAME", "A contest, or the folder of an entry.")], as_json: AsJson = False
) -> None:
    """Show the rules of a contest, or the club, robot and contests of an entry.

    Everything of an entry is read, except Python; exits with 1 if it would forfeit a contest.

    [bold]Examples[/]
      posewright contest show obstacle-race
      posewright contest show entries/ours
    """
    if name not in contests.contest_names() and (is_path(name) or is_folder(Path(name))):
        entry = runs.check_contestant(runs.read_contestant(name))
        lines = [f"{entry.name}, {entry.club}".rstrip(", "), f"robot: {entry.robot}"]
        lines += [f"{discipline}: {behaviour}" for discipline, behaviour in entry.behaviours.items()]
        console.print_result(entry.to_dict(), lines, as_json=as_json)
        for forfeit in entry.forfeits:
            console.print_warning(forfeit)
        if entry.forfeits:
            raise typer.Exit(EXIT_FAILURE)
        return
    contest = contests.contest(name)
    if as_json:
        console.print_json(
            {"contest": name, "title": contest.title, "rules": contest.name, "text": contest.rules_text}
        )
    else:
        console.print_document(contest.rules_text)


def run(
    folders: Annotated[list[Path], argument("FOLDER ...", "Entries, or folders with entries.")],
    out: Annotated[
        Path, option("--out FOLDER", "The folder for all results; the same command continues a stopped day.")
    ],
    rules: Annotated[
        str, option("--rules NAME", "Rules of the day: ceabot_2013, ceabot_2017, or a *.day.yaml.")
    ] = "ceabot_2013",
    seed: Annotated[int, option("--seed N", "Seed of fields, groups and sides.", min=0)] = 1,
    jury: Jury = None,
    films: Films = 2,
    workers: Workers = 1,
    trust_python: Annotated[
        bool, option("--trust-python", "Run the Python code of entries; it can do anything on this computer.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run all contests of a day with all entries, rank the entries, and write web pages.

    Finished runs are stored: after Ctrl-C or a power failure, the same command continues. An entry that
    cannot be read forfeits. The exit code is 1 if a run failed or an entry forfeits. See
    docs/how-to-contest-day.md.

    [bold]Examples[/]
      posewright contest run entries --out out/day --workers 2
      posewright contest run ours theirs --out out/day --rules ceabot_2017 --seed 7
    """
    with _follow_runs(quiet=as_json) as on_run:
        day = runs.play_day(
            folders,
            out,
            rules=rules,
            seed=seed,
            jury=jury,
            workers=workers,
            on_run=on_run,
            on_forfeit=console.print_warning,
            trust_python=trust_python,
        )
        page = _write_site(day, films, workers)
    _print_day(day, as_json=as_json, page=page)
    is_trusted = _check_day(day, workers=workers)
    has_forfeits = any(contestant.forfeits for contestant in day.contestants)
    if not is_trusted or has_forfeits or any(discipline.failed for discipline in day.disciplines):
        raise typer.Exit(EXIT_FAILURE)


def rank(
    day: DayFolder,
    jury: Jury = None,
    csv: Annotated[Path | None, option("--csv FILE", "Write the ranking to this file, too.")] = None,
    accept: Annotated[
        bool, option("--accept", "Also rank a day with recordings that contradict themselves or its results.")
    ] = False,
    workers: Workers = 1,
    as_json: AsJson = False,
) -> None:
    """Rank the entries of a contest day, optionally with the points of a jury.

    A day whose recordings contradict themselves or its results is not ranked: exit code 1.

    [bold]Examples[/]
      posewright contest rank out/day
      posewright contest rank out/day --jury jury.yaml --csv ranking.csv
    """
    require_output_file(csv, TABLE, TABLE_ENDINGS, jury)
    stored_day = runs.read_day(day, jury)
    if not accept and not _check_day(stored_day, workers=workers):
        console.print_note("the day is not ranked; --accept ranks it anyway")
        raise typer.Exit(EXIT_FAILURE)
    if csv is not None:
        write_atomically(csv, stored_day.csv().encode(errors="backslashreplace"))
    _print_day(stored_day, as_json=as_json)


def report(
    day: DayFolder,
    jury: Jury = None,
    films: Films = 2,
    workers: Workers = 1,
    repeat: Repeat = False,
    trust_python: TrustPython = False,
) -> None:
    """Write the web pages of a contest day: ranking, contests, pictures, films, recordings.

    The exit code is 1 if a recording contradicts itself or the results; with --rerun also unless the
    simulation gives every recording again.

    [bold]Examples[/]
      posewright contest report out/day --films 5
      posewright contest report out/day --films 0 --rerun --workers 2
    """
    stored_day = runs.read_day(day, jury)
    if jury is not None:
        runs.save_day(stored_day)  # with the jury's points, which `read_day` has added
    with console.progress_bar("drawing") as on_progress:
        first_page = runs.write_site(stored_day, films=films, workers=workers, on_progress=on_progress)
    console.print_line(f"pages: {first_page}")
    are_recordings_consistent = _check_day(stored_day, workers=workers)
    if repeat:  # simulate all runs again; exits where a recording differs
        _rerun_day(stored_day, workers=workers, trust_python=trust_python)
    if not are_recordings_consistent:
        raise typer.Exit(EXIT_FAILURE)


def _check_day(day: Day, *, workers: int) -> bool:
    """Print a warning for each run of a day that cannot be trusted; return whether there is none."""
    is_trusted = True
    for name, problem in runs.check_day(day, workers=workers):
        is_trusted = False
        console.print_warning(f"{name}: {problem}")
    return is_trusted


def _rerun_day(day: Day, *, workers: int, trust_python: bool) -> None:
    """Simulate all runs of a day again, and print those that give another recording.

    Raises:
        typer.Exit: a run gave another recording, or cannot be repeated.
    """
    n_same = 0
    n_runs = 0
    for name, repeated in runs.rerun_day(day, workers=workers, trust_python=trust_python):
        n_runs += 1
        n_same += repeated.is_same
        if not repeated.is_same:
            console.print_warning(f"{name}: {repeated}")
    console.print_line(f"rerun: {n_same} of {format_count(n_runs, 'run')} gave the same recording")
    if n_same < n_runs:
        raise typer.Exit(EXIT_FAILURE)


def _write_site(day: Day, films: int, workers: int) -> Path | None:
    """Write the pages and return the first one; None, with a note, if a library is not installed."""
    try:
        with console.progress_bar("drawing") as on_progress:
            return runs.write_site(day, films=films, workers=workers, on_progress=on_progress)
    except MissingExtraError as error:
        console.print_note(str(error))
        return None


@contextmanager
def _follow_runs(*, quiet: bool) -> Iterator[Callable[[str, BatchRun, bool], None]]:
    """Yield a function that prints a line for each finished run.

    The function takes the contest, the run, and whether an earlier command had stored it.

    Raises:
        typer.Exit: Ctrl-C or a signal stopped the runs; a note has been printed.
    """
    n_finished = 0

    def on_run(contest: str, run: BatchRun, was_stored: bool) -> None:
        """Print the result of a finished run as a line."""
        nonlocal n_finished
        n_finished += 1
        if quiet:
            return
        if run.error:
            result = f"error: {run.error}"
        elif run.figures.get("winner"):
            result = f"{run.figures['winner']} has won"
        else:
            result = runs.figure_text(run.figures.get("points"))
        suffix = "  (done before)" if was_stored else ""
        console.print_line(f"{contest}  {run.name}  {result}{suffix}")

    try:
        yield on_run
    except (KeyboardInterrupt, SystemExit) as stop:
        console.print_note(f"stopped after {format_count(n_finished, 'run')}; the same command continues")
        exit_code = int(stop.code or 0) if isinstance(stop, SystemExit) else EXIT_INTERRUPTED
        raise typer.Exit(exit_code) from None


def _print_day(day: Day, *, as_json: bool, page: Path | None = None) -> None:
    """Print the ranking of a day, and what is to be known about its entries and contests."""
    if as_json:
        console.print_json(day.to_dict())
        return
    ranked_contests = [discipline.contest for discipline in day.disciplines if discipline.share]
    rows = []
    for row in day.ranking:
        parts = [f"{row.parts[contest]:.2f}" for contest in ranked_contests]
        rows.append((row.place, row.name, row.club, *parts, f"{row.points:.2f}"))
    console.print_item(table(("place", "entry", "club", *ranked_contests, "points"), rows, title=day.title))
    for name, reason in day.inspections.items():
        if reason:
            console.print_warning(f"{name} may not enter: {reason}")
    for discipline in day.disciplines:
        for remark in discipline.remarks:
            console.print_note(f"{discipline.contest}: {remark}")
        if discipline.jury and any(discipline.earned.values()):
            earned = discipline.earned
            best_first = sorted(earned, key=earned.__getitem__, reverse=True)
            summary = ", ".join(f"{name} {runs.figure_text(earned[name])}" for name in best_first)
            console.print_line(f"{discipline.contest}, by the jury: {summary}")
    console.print_line(f"digest {day.digest[:DIGEST_DIGITS]}")
    if page is not None:
        console.print_line(f"pages: {page}")
