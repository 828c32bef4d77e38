"""`posewright tune`: gaits by search, with a journal that outlives whatever stops it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from posewright.cli.options import AsJson
from posewright.cli.tune_run import JOURNAL_SUFFIX, Files, Wishes, search

TuningName = Annotated[
    str | None,
    typer.Argument(
        metavar="TUNING", help="A tuning of --list, or the path of one's own *.tune.yaml.", show_default=False
    ),
]
Generations = Annotated[
    int | None,
    typer.Option(
        "--generations", metavar="N", help="How many after the start; default the document's.", min=1
    ),
]
Population = Annotated[
    int | None,
    typer.Option(
        "--population", metavar="N", help="Candidates in each; default the document's, or the journal's."
    ),
]
Seed = Annotated[
    int | None,
    typer.Option("--seed", metavar="N", help="Of what is drawn by chance; default 0, or the journal's."),
]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        metavar="N",
        help="Processes that walk; default one a processor. The result is the same with any number.",
        min=1,
    ),
]
JournalFile = Annotated[
    Path | None,
    typer.Option("--journal", metavar="FILE", help=f"Of the search; default TUNING{JOURNAL_SUFFIX} here."),
]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with the journal that is there.")]
GaitFile = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write the best gait here, a *.gait.yaml."),
]
PlotFile = Annotated[
    Path | None, typer.Option("--plot", metavar="PICTURE", help="Draw the search (png, svg or pdf).")
]
List = Annotated[bool, typer.Option("--list", help="List the tunings that come with Posewright, no more.")]
Report = Annotated[
    Path | None,
    typer.Option("--report", metavar="JOURNAL", help="Show what a journal holds, no more; also --plot."),
]


def register(app: typer.Typer) -> None:
    """Add the verb `tune` to the application."""
    app.command("tune")(tune)


def tune(
    tuning: TuningName = None,
    generations: Generations = None,
    population: Population = None,
    seed: Seed = None,
    workers: Workers = None,
    journal: JournalFile = None,
    resume: Resume = False,
    output: GaitFile = None,
    plot: PlotFile = None,
    is_list: List = False,
    report: Report = None,
    as_json: AsJson = False,
) -> None:
    """Search the numbers of a gait for the walk with the least score; exit with 1 where there is none.

    Every candidate is written into the journal when it has walked. Stop the search whenever you like, with
    Ctrl-C or the plug, and go on with --resume: the result is that of a search that nothing stopped.
    docs/how-to-tune.md explains the document and the score.

    [bold]Examples[/]

      posewright tune --list

      posewright tune fast

      posewright tune fast --seed 3 --generations 200 --journal fast_3.jsonl -o my_fast.gait.yaml

      posewright tune fast --resume --generations 300 --plot fast.png

      posewright tune my_trot.tune.yaml --workers 4 --json

      posewright tune --report fast.tune.jsonl --plot fast.png
    """
    wishes = Wishes(generations, population, seed, workers)
    _refuse_unclear(
        tuning, report, is_list=is_list, is_search=wishes != Wishes() or resume or bool(journal or output)
    )
    if is_list:
        _list_tunings(as_json=as_json)
    elif report is not None:
        from posewright.cli.tune_report import show_journal

        show_journal(report, plot, as_json=as_json)
    elif tuning is not None:
        search(tuning, wishes, Files(journal, output, plot), resume=resume, as_json=as_json)


def _refuse_unclear(tuning: str | None, report: Path | None, *, is_list: bool, is_search: bool) -> None:
    """Refuse to do two things, or none."""
    from posewright.errors import InputError

    if (tuning is not None) + (report is not None) + is_list != 1:
        raise InputError(
            "it is not clear what to do",
            hint="name a tuning, or say --list, or --report JOURNAL: one of them",
        )
    if is_search and tuning is None:
        raise InputError(
            "--list and --report search nothing", hint="name a tuning, or leave the options of a search out"
        )


def _list_tunings(*, as_json: bool) -> None:
    from posewright.cli.console import emit_json, out
    from posewright.cli.tune_tables import describe, list_table
    from posewright.experiments.tuning.reading import read_tune, tune_names

    told = [describe(read_tune(name)) for name in tune_names()]
    if as_json:
        emit_json(told)
    else:
        out.print(list_table(told))
