"""The Typer application: verbs are loaded when called, errors become one line and an exit code."""

from __future__ import annotations

import importlib
import sys

import click
import typer
import typer.core

from posewright.cli.console import fail
from posewright.errors import PosewrightError

BAD_INPUT = 2
"""Exit code for anything a person handed in that is wrong; findings and failures exit with 1."""

VERBS = {
    "robots": "The robots Posewright knows.",
    "motion": "Look at, convert, check, plot and sample motions.",
    "chart": "Check, tabulate, minimise, draw and run state machines.",
    "run": "Run a trial: robot, arena, behaviour, contest, in simulation.",
    "replay": "Play a recorded trial again, from its recording alone.",
    "judge": "Judge a recorded trial by the contest's rules.",
    "score": "Compute a contest's points from its figures.",
}
"""Each verb is the module `posewright.cli.<verb>` with an `app`."""


class _LazyVerbs(typer.core.TyperGroup):
    """A group that imports a verb's module only when the verb is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in VERBS:
            return None
        module = importlib.import_module(f"posewright.cli.{cmd_name}")
        command = typer.main.get_command(module.app)
        command.name = cmd_name
        command.short_help = VERBS[cmd_name]
        return command


app = typer.Typer(
    cls=_LazyVerbs,
    name="posewright",
    help="A workbench for small legged robots: motions, behaviours, contests, in simulation and on the robot.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def _root(
    ctx: typer.Context,
    version: bool = typer.Option(False, "--version", help="Show the version and exit.", is_eager=True),
) -> None:
    if version:
        from posewright import __version__

        typer.echo(f"posewright {__version__}")
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


def run(arguments: list[str] | None = None) -> int:
    """Run the command line with `arguments` (default: the process's) and return its exit code."""
    command = typer.main.get_command(app)
    try:
        code = command.main(arguments, prog_name="posewright", standalone_mode=False)
    except PosewrightError as error:
        fail(str(error))
        return BAD_INPUT
    except click.ClickException as error:
        error.show(sys.stderr)
        return error.exit_code
    except (click.exceptions.Abort, KeyboardInterrupt):
        fail("stopped")
        return 130
    return code if isinstance(code, int) else 0
