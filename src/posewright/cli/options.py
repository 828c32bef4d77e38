"""Options that several verbs have, what they mean, and how a group of verbs is put together."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer
from typer.models import ArgumentInfo, OptionInfo

from posewright.cli import completion, console
from posewright.cli.commands import command_named
from posewright.documents import require_writable, write_atomically
from posewright.errors import InputError, LossError, OutputError, UnknownNameError, Where

if TYPE_CHECKING:
    from posewright.motions import SampleTable

Member = TypeVar("Member", bound=Enum)

FOUND = 1  # exit code where a check found an error, a robot fell, or a search found nothing
STOPPED = 130  # exit code after Ctrl-C, as shells count it


def option(
    words: str,
    about: str,
    *,
    min: float | None = None,  # noqa: A002 -- as Typer calls it
    max: float | None = None,  # noqa: A002 -- as above
    show_default: bool = True,
    callback: Callable[[str | None], str | None] | None = None,
    autocompletion: completion.Offers | None = None,
) -> OptionInfo:
    """Return an option of a verb.

    Args:
        words: its names, then what stands for its value in help: `--output -o FILE`.
        about: its sentence in help.
        min: the smallest number it takes.
        max: the greatest.
        show_default: whether help shows its default.
        callback: checks or changes what was given.
        autocompletion: what a shell may offer; default what `completion.OFFERS` has for the words.
    """
    names = [word for word in words.split() if word.startswith("-")]
    value = " ".join(word for word in words.split() if not word.startswith("-"))
    info: OptionInfo = typer.Option(
        *names,
        metavar=value or None,
        help=about,
        min=min,
        max=max,
        show_default=show_default,
        callback=callback,
        autocompletion=autocompletion or completion.offers_for(words),
    )
    return info


def argument(
    words: str,
    about: str,
    *,
    min: float | None = None,  # noqa: A002 -- as Typer calls it
    max: float | None = None,  # noqa: A002 -- as above
    show_default: bool = True,
    autocompletion: completion.Offers | None = None,
) -> ArgumentInfo:
    """Return an argument of a verb; `words` stand for it in help, empty for the parameter's own name.

    The others are as for `option`.
    """
    info: ArgumentInfo = typer.Argument(
        metavar=words or None,
        help=about,
        min=min,
        max=max,
        show_default=show_default,
        autocompletion=autocompletion or completion.offers_for(words),
    )
    return info


AsJson = Annotated[bool, option("--json", "Write JSON, and nothing else, to stdout.")]
Output = Annotated[Path | None, option("--output -o FILE", "Write here instead of to stdout.")]
Plot = Annotated[Path | None, option("--plot", "Draw a picture (png, svg or pdf).")]
Record = Annotated[
    Path | None, option("--record FILE", "Write a recording (MCAP) for replay, judge and evaluate.")
]
AcceptLoss = Annotated[bool, option("--accept-loss", "Write even if the format cannot hold everything.")]


def add_verb(app: typer.Typer, word: str, verb: Callable[..., None], *, twins: str) -> None:
    """Add a verb of a group. Its help is its docstring, where examples get a line of their own.

    Args:
        app: the group.
        word: what is typed.
        verb: the function behind it, with a parameter for each argument and option.
        twins: the names of `posewright` that do the same in Python, with blanks between; help shows them.
    """
    app.command(word, help=_help_of(verb), epilog=_epilog(twins))(verb)


def add_command(app: typer.Typer, name: str, verb: Callable[..., None], *, twins: str) -> None:
    """Add a verb that stands alone, as `add_verb` does, to the panel that `commands` tells."""
    command = command_named(name)
    app.command(
        name,
        help=_help_of(verb),
        short_help=command.about,
        rich_help_panel=command.panel,
        epilog=_epilog(twins),
    )(verb)


def add_group(app: typer.Typer, name: str) -> typer.Typer:
    """Add a group of verbs, without any yet, to the panel that `commands` tells, and return it."""
    command = command_named(name)
    group = typer.Typer(help=command.about, no_args_is_help=True, rich_markup_mode="rich")
    app.add_typer(group, name=name, rich_help_panel=command.panel)
    return group


def add_subgroup(group: typer.Typer, name: str, about: str) -> typer.Typer:
    """Add a group of verbs, without any yet, to a group, and return it."""
    subgroup = typer.Typer(help=about, no_args_is_help=True, rich_markup_mode="rich")
    group.add_typer(subgroup, name=name)
    return subgroup


def _help_of(verb: Callable[..., None]) -> str:
    """Return a docstring as help shows it: paragraphs wrap, each example has a line of its own."""
    paragraphs = inspect.cleandoc(verb.__doc__ or "").split("\n\n")
    return "\n\n".join(
        paragraph.replace("\n  posewright ", "\n\n  posewright ")
        if "\n  posewright " in paragraph
        else " ".join(paragraph.split("\n"))
        for paragraph in paragraphs
    )


def _epilog(twins: str) -> str:
    return f"In Python: {', '.join(f'posewright.{name}' for name in twins.split())}"


def member_named(kind: type[Member], name: str, option_name: str) -> Member:
    """Return the member of an enumeration whose value an option gives.

    Raises:
        UnknownNameError: there is none; those that there are stand in the message.
    """
    names = [str(member.value) for member in kind]
    if name not in names:
        raise UnknownNameError.among(f"value of {option_name}", name, names)
    return kind(name)


def refuse_overwriting(output: Path | None, *inputs: str | Path | None) -> None:
    """Refuse to write a result over the very file it is made from.

    Raises:
        OutputError: `output` is one of the `inputs`, under whatever name.
    """
    if output is None or not os.path.exists(output):  # noqa: PTH110 -- says no where Path raises: a long name
        return
    for given in inputs:
        if given is not None and os.path.exists(given) and output.samefile(given):  # noqa: PTH110 -- as above
            raise OutputError.at(output, "this is the file that is read; choose another name")


@contextmanager
def losses_listed(
    message: str | None = None, worded: Callable[[Sequence[str]], Iterable[str]] = tuple
) -> Iterator[None]:
    """Let a refusal because of losses list each, and then say one line, its own or `message`, with the flag.

    Raises:
        LossError: one is raised within.
    """
    try:
        yield
    except LossError as error:
        for loss in worded(error.losses):
            console.warn(f"would be lost: {loss}")
        raise LossError(
            message or error.message,
            where=None if message else error.where,
            hint="--accept-loss writes it all the same",
            losses=error.losses,
        ) from error


def give_samples(
    samples: SampleTable, facts: Mapping[str, object], output: Path | None, *, as_json: bool
) -> None:
    """Write a `motions.SampleTable` to a file, as JSON with these facts, or as CSV on stdout."""
    if output is not None:
        write_atomically(output, samples.csv().encode())
    if as_json:
        console.emit_json({**facts, **samples.to_dict()})
    elif output is None:
        console.emit_text(samples.csv())
    else:
        console.say(f"{len(samples.times)} rows -> {output}")


def record_paths(path: Path, names: Sequence[str]) -> list[Path]:
    """Return where each of several recordings goes: `walk.mcap` is `walk.trot.mcap` and `walk.crawl.mcap`."""
    if len(names) == 1:
        return [path]
    unique = [name if names.count(name) == 1 else f"{name}.{place}" for place, name in enumerate(names, 1)]
    return [path.with_name(f"{path.stem}.{name.replace('/', '_')}{path.suffix}") for name in unique]


def refuse_recording(path: Path | None, *inputs: str | Path | None) -> None:
    """Say before a long run, not after it, that a recording could not be written there.

    Raises:
        InputError: the file is not called .mcap.
        OutputError: it cannot, or it is one of the `inputs`.
    """
    if path is not None:
        if path.suffix.lower() != ".mcap":
            raise InputError("not a kind of recording", where=Where(path), hint="end it in .mcap")
        refuse_overwriting(path, *inputs)
        require_writable(path)
