"""`posewright contest`: contests and whole days of them, played, ranked and shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from posewright import contests, runs
from posewright.cli import console
from posewright.cli.options import (
    EXIT_FAILURE,
    EXIT_INTERRUPTED,
    AsJson,
    add_group,
    add_verb,
    argument,
    option,
)
from posewright.display import format_count, table
from posewright.documents import is_folder, is_path, require_writable, write_atomically
from posewright.errors import MissingExtraError

if TYPE_CHECKING:
    from posewright.runs import BatchRun, Day

DayFolder = Annotated[Path, argument("DAY", "The folder in which a day was played.")]
Jury = Annotated[
    Path | None,
    option("--jury FILE", "A document with the points that people gave: exhibition: {Ours: 8.5}."),
]
Films = Annotated[int, option("--films N", "Film so many runs of each contest; 0 for none.", min=0, max=1000)]
Workers = Annotated[int, option("--workers N", "Processes that do it.", min=1)]


def register(app: typer.Typer) -> None:
    """Add the group and its verbs."""
    group = add_group(app, "contest")
    add_verb(group, "list", list_contests, python_names="contest_names")
    add_verb(group, "show", show, python_names="contest read_contestant")
    add_verb(group, "run", run, python_names="play_day write_site")
    add_verb(group, "rank", rank, python_names="read_day")
    add_verb(group, "report", report, python_names="read_day write_site")


def list_contests(as_json: AsJson = False) -> None:
    """List the contests, who plays in each, and the rules of a day that ship.

    [bold]Examples[/]
      posewright contest list
    """
    held = {name: contests.contest(name) for name in contests.contest_names()}
    told = [
        {"contest": name, "title": one.title, "rules": one.name, "roles": [*one.entries]}
        for name, one in held.items()
    ]
    if as_json:
        console.print_json({"contests": told, "days": [*runs.day_names()]})
        return
    rows = [(one["contest"], one["title"], ", ".join(one["roles"])) for one in told]
    console.print_item(table(("contest", "title", "roles"), rows))
    console.print_line(f"rules of a day: {', '.join(runs.day_names())}")


def show(
    name: Annotated[str, argument("NAME", "A contest, or the folder of an entry.")], as_json: AsJson = False
) -> None:
    """Show the rules of a contest, or who an entry is and what it takes part in.

    [bold]Examples[/]
      posewright contest show obstacle-race
      posewright contest show entries/ours
    """
    if name not in contests.contest_names() and (is_path(name) or is_folder(Path(name))):
        one = runs.read_contestant(name)
        lines = [f"{one.name}, {one.club}".rstrip(", "), f"robot: {one.robot}"]
        lines += [f"{discipline}: {behaviour}" for discipline, behaviour in one.behaviours.items()]
        console.print_result(one.to_dict(), lines, as_json=as_json)
        return
    held = contests.contest(name)
    if as_json:
        console.print_json(
            {"contest": name, "title": held.title, "rules": held.name, "text": held.rules_text}
        )
    else:
        console.print_document(held.rules_text)


def run(
    folders: Annotated[list[Path], argument("FOLDER ...", "Entries, or folders that hold entries.")],
    out: Annotated[Path, option("--out FOLDER", "Keep everything here; the same command goes on there.")],
    rules: Annotated[
        str, option("--rules", "Rules of the day: ceabot_2013, ceabot_2017, or a *.day.yaml.")
    ] = "ceabot_2013",
    seed: Annotated[int, option("--seed", "Of fields, groups and sides.", min=0)] = 1,
    jury: Jury = None,
    films: Films = 2,
    workers: Workers = 1,
    trust_python: Annotated[
        bool, option("--trust-python", "Run entries that bring Python: it can do anything on this machine.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Play every contest of a day with all entries, rank them, and write the pages.

    What is done already is not done again: after Ctrl-C, or a power failure, the same command goes on.
    Exits with 1 if a run failed. docs/how-to-contest-day.md tells more.

    [bold]Examples[/]
      posewright contest run entries --out out/day --workers 2
      posewright contest run ours theirs --out out/day --rules ceabot_2017 --seed 7
    """
    with _following(quiet=as_json) as on_run:
        day = runs.play_day(
            folders,
            out,
            rules=rules,
            seed=seed,
            jury=jury,
            workers=workers,
            on_run=on_run,
            trust_python=trust_python,
        )
        page = _site(day, films, workers)
    _give(day, as_json=as_json, page=page)
    if any(discipline.failed for discipline in day.disciplines):
        raise typer.Exit(EXIT_FAILURE)


def rank(
    day: DayFolder,
    jury: Jury = None,
    csv: Annotated[Path | None, option("--csv FILE", "Write the ranking here too.")] = None,
    as_json: AsJson = False,
) -> None:
    """Rank the entries of a day that was played, with points of a jury where they are given.

    [bold]Examples[/]
      posewright contest rank out/day
      posewright contest rank out/day --jury jury.yaml --csv ranking.csv
    """
    if csv is not None:
        require_writable(csv)
    found = runs.read_day(day, jury)
    if csv is not None:
        write_atomically(csv, found.csv().encode(errors="backslashreplace"))
    _give(found, as_json=as_json)


def report(day: DayFolder, jury: Jury = None, films: Films = 2, workers: Workers = 1) -> None:
    """Write the pages of a day that was played: ranking, contests, pictures, films, recordings.

    [bold]Examples[/]
      posewright contest report out/day --films 5
    """
    found = runs.read_day(day, jury)
    if jury is not None:
        runs.save_day(found)
    with console.progress_bar("drawing") as on_made:
        page = runs.write_site(found, films=films, workers=workers, on_made=on_made)
    console.print_line(f"pages: {page}")


def _site(day: Day, films: int, workers: int) -> Path | None:
    try:
        with console.progress_bar("drawing") as on_made:
            return runs.write_site(day, films=films, workers=workers, on_made=on_made)
    except MissingExtraError as error:
        console.print_note(str(error))
        return None


@contextmanager
def _following(*, quiet: bool) -> Iterator[Callable[[str, BatchRun, bool], None]]:
    """Give a function that says a line of each run; after Ctrl-C it is said how to go on."""
    done = 0

    def told(contest: str, run: BatchRun, is_old: bool) -> None:
        nonlocal done
        done += 1
        if not quiet:
            winner = run.figures.get("winner")
            came = f"{winner} has won" if winner else runs.figure_text(run.figures.get("points"))
            came = f"error: {run.error}" if run.error else came
            console.print_line(f"{contest}  {run.name}  {came}{'  (done before)' if is_old else ''}")

    try:
        yield told
    except (KeyboardInterrupt, SystemExit) as stop:
        console.print_note(f"stopped after {format_count(done, 'run')}; the same command goes on")
        raise typer.Exit(int(stop.code or 0) if isinstance(stop, SystemExit) else EXIT_INTERRUPTED) from None


def _give(day: Day, *, as_json: bool, page: Path | None = None) -> None:
    if as_json:
        console.print_json(day.to_dict())
        return
    counted = [discipline.contest for discipline in day.disciplines if discipline.share]
    rows = [
        (row.place, row.name, row.club, *(f"{row.parts[one]:.2f}" for one in counted), f"{row.points:.2f}")
        for row in day.ranking
    ]
    console.print_item(table(("place", "entry", "club", *counted, "points"), rows, title=day.title))
    for name, why in day.inspections.items():
        if why:
            console.print_warning(f"{name} may not enter: {why}")
    for discipline in day.disciplines:
        for line in discipline.remarks:
            console.print_note(f"{discipline.contest}: {line}")
        if discipline.jury and any(discipline.earned.values()):
            told = sorted(discipline.earned.items(), key=lambda one: -one[1])
            points = ", ".join(f"{name} {runs.figure_text(earned)}" for name, earned in told)
            console.print_line(f"{discipline.contest}, by the jury: {points}")
    console.print_line(f"digest {day.digest[:16]}")
    if page is not None:
        console.print_line(f"pages: {page}")
