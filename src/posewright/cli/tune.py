"""`posewright tune`: gaits by search; a group whose verb `run` need not be said."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

from posewright.cli.options import AsJson
from posewright.cli.tune_report import report
from posewright.cli.tune_run import run


class _RunByDefault(TyperGroup):
    """A group that takes what is no verb of its own for the tuning that is to be run."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the verb in where it was left out: `tune fast` is `tune run fast`."""
        asks_for_help = args[:1] in ([], ["--help"])
        if not asks_for_help and args[0] not in self.commands:
            args = [run.__name__, *args]
        return super().parse_args(ctx, args)


def register(app: typer.Typer) -> None:
    """Add the group `tune` to the application."""
    group = typer.Typer(
        cls=_RunByDefault,
        help="Let the computer look for a gait's numbers: a search in simulation, with a journal that "
        "outlives whatever stops it. [bold]posewright tune fast[/] is short for "
        "[bold]posewright tune run fast[/]; [bold]posewright tune run --help[/] has the options.",
        no_args_is_help=True,
        rich_markup_mode="rich",
    )
    group.command("run")(run)
    group.command("list")(list_tunings)
    group.command("report")(report)
    app.add_typer(group, name="tune")


def list_tunings(as_json: AsJson = False) -> None:
    """List the tunings that come with Posewright: the searches that its gaits were found with.

    [bold]Examples[/]

      posewright tune list

      posewright tune list --json
    """
    from posewright.cli.console import emit_json, out
    from posewright.cli.tune_tables import describe, list_table
    from posewright.trials.gait_tuning_reading import read_tune, tune_names

    told = [describe(read_tune(name)) for name in tune_names()]
    if as_json:
        emit_json(told)
    else:
        out.print(list_table(told))
