"""Options shared by several verbs, the checks that belong to them, and helpers that add verbs and groups."""

from __future__ import annotations

import difflib
import inspect
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup
from typer.models import ArgumentInfo, OptionInfo

from posewright.cli import completion, console
from posewright.cli.commands import find_command
from posewright.documents import require_ending, require_writable, write_atomically
from posewright.errors import (
    LossError,
    OutputError,
    UnknownNameError,
    UnsafeMotionError,
    Where,
)

if TYPE_CHECKING:
    from posewright.motions import SampleTable

Member = TypeVar("Member", bound=Enum)

EXIT_FAILURE = 1
"""Exit code if a check found an error, a robot fell, or a search had no result."""

TABLE = "a table"
TABLE_ENDINGS = (".csv",)
"""What a table is written to."""

YAML_ENDINGS = (".yaml", ".yml")

EXIT_INTERRUPTED = 130
"""Exit code after Ctrl-C, by the convention of shells."""


def option(
    declaration: str,
    help_text: str,
    *,
    min: float | None = None,  # noqa: A002 -- Typer's name
    max: float | None = None,  # noqa: A002 -- Typer's name
    show_default: bool = True,
    callback: Callable[[str | None], str | None] | None = None,
    autocompletion: completion.Completer | None = None,
) -> OptionInfo:
    """Return an option of a verb.

    Args:
        declaration: its names, then the placeholder of its value in help: `--output -o FILE`.
        help_text: its sentence in help.
        min: the smallest number allowed.
        max: the largest number allowed.
        show_default: whether help shows its default.
        callback: validates or converts the value.
        autocompletion: suggests values to a shell; default the completer of this declaration.
    """
    names = [token for token in declaration.split() if token.startswith("-")]
    placeholder = " ".join(token for token in declaration.split() if not token.startswith("-"))
    info: OptionInfo = typer.Option(
        *names,
        metavar=placeholder,  # empty for a flag, where None would show "<bool>"
        help=help_text,
        min=min,
        max=max,
        show_default=show_default,
        callback=callback,
        autocompletion=autocompletion or completion.find_completer(declaration),
    )
    return info


def argument(
    placeholder: str,
    help_text: str,
    *,
    min: float | None = None,  # noqa: A002 -- Typer's name
    max: float | None = None,  # noqa: A002 -- Typer's name
    show_default: bool = True,
    autocompletion: completion.Completer | None = None,
) -> ArgumentInfo:
    """Return an argument of a verb; help shows `placeholder`, or the parameter's own name if it is empty.

    The other arguments are those of `option`.
    """
    info: ArgumentInfo = typer.Argument(
        metavar=placeholder or None,
        help=help_text,
        min=min,
        max=max,
        show_default=show_default,
        autocompletion=autocompletion or completion.find_completer(placeholder),
    )
    return info


AsJson = Annotated[bool, option("--json", "Write JSON, and nothing else, to stdout.")]
Output = Annotated[Path | None, option("--output -o FILE", "Write to this file instead of stdout.")]
Plot = Annotated[Path | None, option("--plot FILE", "Draw a picture to this file (png, svg or pdf).")]
Record = Annotated[
    Path | None, option("--record FILE", "Write a recording (.mcap) for replay, judge and evaluate.")
]
AcceptLoss = Annotated[bool, option("--accept-loss", "Write even if the format cannot store everything.")]
AcceptFaults = Annotated[
    bool, option("--accept-faults", "Go on even if motion check reports errors, which could harm the robot.")
]


def _show_flags_without_placeholder(parameters: list[Any]) -> list[Any]:  # Any: classes that Typer vendors
    """Return parameters of which Typer's own flags, such as `--help`, have no placeholder `<bool>`."""
    for parameter in parameters:
        if parameter.param_type_name == "option" and parameter.is_flag:
            parameter.metavar = parameter.metavar or ""
    return parameters


class Verb(TyperCommand):
    """A command whose help shows flags without a placeholder."""

    def get_params(self, ctx: Any) -> list[Any]:  # Any: classes of Click that Typer vendors
        """Return the arguments and options, `--help` included."""
        return _show_flags_without_placeholder(super().get_params(ctx))


class Group(TyperGroup):
    """A group of commands whose help shows flags without a placeholder."""

    def get_params(self, ctx: Any) -> list[Any]:  # Any: classes of Click that Typer vendors
        """Return the options, `--help` included."""
        return _show_flags_without_placeholder(super().get_params(ctx))


_TYPO_RATIO = 0.65
"""From this ratio of `difflib` on, a word is a verb with a typing error; `trot` and `report` have 0.6."""


class GroupWithOptionalShow(Group):
    """A group whose verb `show` may be left out: `robots sony_ers7` is `robots show sony_ers7`."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # Any: classes of Click that Typer vendors
        """Return the verb that is called; a word that resembles none is the name of what is to be shown."""
        if "show" in self.commands and args and not args[0].startswith("-"):
            similar_verbs = difflib.get_close_matches(args[0], self.commands, n=1, cutoff=_TYPO_RATIO)
            if not similar_verbs:
                args = ["show", *args]
        return super().resolve_command(ctx, args)


def add_verb(app: typer.Typer, name: str, function: Callable[..., None], *, python_equivalents: str) -> None:
    """Add a verb to a group.

    Args:
        app: the group.
        name: the verb as it is typed.
        function: runs the verb. It has a parameter for each argument and option; its docstring is the help.
        python_equivalents: the names of `posewright` that do the same in Python, separated by spaces; help
            lists them.
    """
    epilog = _build_epilog(python_equivalents)
    app.command(name, cls=Verb, help=_build_help(function), epilog=epilog)(function)


def add_command(
    app: typer.Typer, name: str, function: Callable[..., None], *, python_equivalents: str
) -> None:
    """Add a command without verbs to its panel of the help; the arguments are those of `add_verb`."""
    command = find_command(name)
    app.command(
        name,
        cls=Verb,
        help=_build_help(function),
        short_help=command.summary,
        rich_help_panel=command.panel,
        epilog=_build_epilog(python_equivalents),
    )(function)


def add_group(app: typer.Typer, name: str) -> typer.Typer:
    """Add a command whose verbs are subcommands to its panel of the help.

    Returns:
        The group of verbs, which is empty; the caller adds the verbs.
    """
    command = find_command(name)
    group = typer.Typer(
        help=command.summary, no_args_is_help=True, rich_markup_mode="rich", cls=GroupWithOptionalShow
    )
    app.add_typer(group, name=name, rich_help_panel=command.panel)
    return group


def add_subgroup(group: typer.Typer, name: str, help_text: str) -> typer.Typer:
    """Add a group of verbs to a group, and return the empty subgroup."""
    subgroup = typer.Typer(help=help_text, no_args_is_help=True, rich_markup_mode="rich", cls=Group)
    group.add_typer(subgroup, name=name)
    return subgroup


def _build_help(function: Callable[..., None]) -> str:
    """Return a docstring as help shows it: paragraphs are wrapped, each example is on its own line."""
    paragraphs: list[str] = []
    for paragraph in inspect.cleandoc(function.__doc__ or "").split("\n\n"):
        if "\n  posewright " in paragraph:
            paragraphs.append(paragraph.replace("\n  posewright ", "\n\n  posewright "))
        else:
            paragraphs.append(" ".join(paragraph.split("\n")))
    return "\n\n".join(paragraphs)


def _build_epilog(python_equivalents: str) -> str:
    """Return the last line of a verb's help: what does the same in Python."""
    return f"In Python: {', '.join(f'posewright.{name}' for name in python_equivalents.split())}"


def parse_choice(kind: type[Member], name: str, option_name: str) -> Member:
    """Return the member of an enumeration whose value was passed to an option.

    Raises:
        UnknownNameError: no member has that value; the hint lists the values.
    """
    names = [str(member.value) for member in kind]
    if name not in names:
        raise UnknownNameError.among("value", name, names, owner=f"of {option_name}")
    return kind(name)


def require_distinct_output(output: Path | None, *inputs: str | Path | None) -> None:
    """Raise unless the output is a different file from every input.

    Raises:
        OutputError: `output` is one of the `inputs`, by whatever path.
    """
    if output is None or not os.path.exists(output):  # noqa: PTH110 -- False for a long name, where Path raises
        return
    for path in inputs:
        if path is not None and os.path.exists(path) and output.samefile(path):  # noqa: PTH110 -- as above
            raise OutputError(
                "this file is an input of the command",
                where=Where(output),
                hint="choose another name for the output",
            )


@contextmanager
def report_losses(
    message: str | None = None, format_losses: Callable[[Sequence[str]], Iterable[str]] = tuple
) -> Iterator[None]:
    """Print a warning for each loss of a LossError, and raise it again with a hint about `--accept-loss`.

    Args:
        message: replaces the message of the error.
        format_losses: turns the losses into the texts of the warnings.

    Raises:
        LossError: one was raised within.
    """
    try:
        yield
    except LossError as error:
        for loss in format_losses(error.losses):
            console.print_warning(f"would be lost: {loss}")
        raise LossError(
            message or error.message,
            where=None if message else error.where,
            hint="--accept-loss writes it anyway",
            losses=error.losses,
        ) from error


@contextmanager
def report_faults(consequence: str = "nothing was written") -> Iterator[None]:
    """Print the error of a motion that could harm its robot, with the option that accepts it.

    Args:
        consequence: what was not done, for the message.

    Raises:
        typer.Exit: there was such an error, with exit code 1, as for errors of `motion check`.
    """
    try:
        yield
    except UnsafeMotionError as error:
        advice = f"{consequence}; --accept-faults goes on all the same"
        where = "" if error.where is None else f"{error.where}: "
        console.print_error(f"{where}{error.message} ({advice})")
        raise typer.Exit(EXIT_FAILURE) from error


def print_accepted_faults(faults: Iterable[str]) -> None:
    """Print a warning for each error of `motion check` that was accepted."""
    for fault in faults:
        console.print_warning(f"could harm the robot: {fault}")


def write_samples(
    samples: SampleTable, metadata: Mapping[str, object], output: Path | None, *, as_json: bool
) -> None:
    """Write sampled joint angles: CSV to a file or to stdout, or JSON with the metadata to stdout."""
    if output is not None:
        write_atomically(output, samples.csv().encode())
    if as_json:
        console.print_json({**metadata, **samples.to_dict()})
    elif output is None:
        console.print_document(samples.csv())
    else:
        console.print_line(f"{len(samples.times)} rows -> {output}")


def recording_paths(path: Path, names: Sequence[str]) -> list[Path]:
    """Return the path of each recording: `walk.mcap` alone, else `walk.trot.mcap`, `walk.crawl.mcap`.

    A name that occurs several times gets its position, counted from 1.
    """
    if len(names) == 1:
        return [path]
    paths: list[Path] = []
    for position, name in enumerate(names, 1):
        unique_name = name if names.count(name) == 1 else f"{name}.{position}"
        paths.append(path.with_name(f"{path.stem}.{unique_name.replace('/', '_')}{path.suffix}"))
    return paths


def require_recording_path(path: Path | None, *inputs: str | Path | None) -> None:
    """Raise unless a recording can be written at the path, so that a long run does not fail at its end.

    Args:
        path: the file of the recording; nothing is required of None.
        inputs: files that the command reads, which the recording must not replace.

    Raises:
        InputError: the name does not end in .mcap.
        OutputError: the file cannot be written, or is one of the `inputs`.
    """
    require_output_file(path, "a recording", (".mcap",), *inputs)


def require_output_file(
    path: Path | None, content: str, endings: Iterable[str], *inputs: str | Path | None
) -> None:
    """Raise unless a result can be written at the path, so that a long run does not fail at its end.

    Args:
        path: the file; nothing is required of None.
        content: what it will contain, with its article, for the message: `a picture`.
        endings: the endings that its name may have.
        inputs: files that the verb reads, which it must not replace.

    Raises:
        InputError: the name has another ending.
        OutputError: the file cannot be written, or is one of the `inputs`.
    """
    if path is None:
        return
    require_ending(path, endings, content)
    require_distinct_output(path, *inputs)
    require_writable(path)
