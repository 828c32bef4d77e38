"""`posewright archive`: look into ODA archives of an AIBO, take them apart, put them together."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from posewright.cli.options import AsJson

if TYPE_CHECKING:
    from posewright.formats import Extraction, OdaArchive

ArchivePath = Annotated[Path, typer.Argument(metavar="ARCHIVE", help="An ODA archive, in gzip or not.")]
RobotName = Annotated[
    str | None,
    typer.Option("--robot", metavar="R", help="The robot the motions are for; another's are carried over."),
]
AcceptLoss = Annotated[
    bool, typer.Option("--accept-loss", help="Write even if the format cannot hold everything.")
]
Force = Annotated[bool, typer.Option("--force", help="Write over files that stand there.")]


def register(app: typer.Typer) -> None:
    """Add the group `archive` to the application."""
    archive = typer.Typer(
        help="Look into ODA archives of an AIBO, take them apart, put them together.",
        rich_markup_mode="rich",
        no_args_is_help=True,
    )
    archive.command("list")(list_entries)
    for verb in (extract, create, add, remove):
        archive.command(verb.__name__)(verb)
    app.add_typer(archive, name="archive")


def list_entries(file: ArchivePath, as_json: AsJson = False) -> None:
    """List what an archive holds, told by its content: the table's types can lie.

    [bold]Examples[/]

      posewright archive list MOTION7.ODA

      posewright archive list MOTION.ODA --json
    """
    from posewright.cli.archive_tables import describe_archive, list_lines

    told = describe_archive(_open(file))
    _say(told, list_lines(told), as_json=as_json)


def extract(
    file: ArchivePath,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="The folder; it is made if need be.")
    ],
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="Names or numbers of entries; default all.")
    ] = None,
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="FORMAT", help="Write motions in this format; default as they are."),
    ] = None,
    robot: Annotated[
        str | None,
        typer.Option("--robot", metavar="R", help="The robot to carry the motions over to."),
    ] = None,
    accept_loss: AcceptLoss = False,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write the entries of an archive to files; exit with 1 if some are damaged.

    Motions become .mtn, sounds .wav, out of gzip. A name that no file can have is written in codes: %2F for
    a slash. Placeholders, which hold no motion, are left out.

    [bold]Examples[/]

      posewright archive extract MOTION7.ODA -o motions

      posewright archive extract MOTION7.ODA "a_sit#stand_standard" 8 -o motions

      posewright archive extract MOTION7.ODA --to webots-motion --accept-loss -o webots
    """
    from posewright.formats import extract_archive

    archive = _open(file)
    with _flags_named(), progress(f"taking {file.name} apart") as tell:
        done = extract_archive(
            archive,
            output,
            names or (),
            format=to,
            robot=robot,
            accept_loss=accept_loss,
            overwrite=force,
            tell=tell,
        )
    _show_extraction(done, output, as_json=as_json)
    if done.failed:
        raise typer.Exit(1)


def _show_extraction(done: Extraction, output: Path, *, as_json: bool) -> None:
    from posewright.cli.archive_tables import describe_extraction, extraction_lines, grouped
    from posewright.cli.console import note, warn

    for loss in grouped(done.losses):
        warn(f"lost: {loss}")
    for remark in grouped(done.remarks):
        note(remark)
    for failure in done.failed:
        warn(f"left out: {failure}")
    told = describe_extraction(done, output)
    _say(told, extraction_lines(told), as_json=as_json)


def create(
    target: Annotated[Path, typer.Argument(metavar="ARCHIVE", help="The archive to be made.")],
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE", help="Motions of any format, sounds, in the order they are to have."),
    ],
    gzip: Annotated[
        str,
        typer.Option(
            "--gzip", metavar="none|file|entries", help="Around nothing, the whole archive, or each entry."
        ),
    ] = "none",
    robot: RobotName = None,
    accept_loss: AcceptLoss = False,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Make an archive of files. Entries are called as the files, without folder and ending.

    An AIBO motion (.mtn) goes in byte for byte; a motion of another format is turned into one.

    [bold]Examples[/]

      posewright archive create MOTION7.ODA motions/*.mtn

      posewright archive create MOTION7.ODA "a_stand#stand_bow.motion.yaml" bark.wav --gzip entries
    """
    from posewright.cli.archive_tables import describe_assembled
    from posewright.formats import create_archive

    with _flags_named():
        done = create_archive(
            target, files, compression=gzip, robot=robot, accept_loss=accept_loss, overwrite=force
        )
    _assembled(describe_assembled(done, target), as_json=as_json)


def add(
    file: ArchivePath,
    source: Annotated[Path, typer.Argument(metavar="FILE", help="A motion of any format, or a sound.")],
    name: Annotated[
        str | None,
        typer.Option("--name", metavar="N", help="What the entry is called; default as the file."),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option("--type", metavar="T", help="OMTN, WAVE, MIDI, LED, ...: put in any file as it is."),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Put it in place of the entry called so.")
    ] = False,
    robot: RobotName = None,
    accept_loss: AcceptLoss = False,
    as_json: AsJson = False,
) -> None:
    """Put a file into an archive, at its end, in gzip as the others are; their bytes do not change.

    [bold]Examples[/]

      posewright archive add MOTION7.ODA kick.motion.yaml --name "a_stand#stand_kick"

      posewright archive add MOTION7.ODA "a_stand#stand_kick.mtn" --replace
    """
    from posewright.cli.archive_tables import describe_assembled
    from posewright.formats import add_to_archive

    _open(file)  # says what is odd about it
    with _flags_named():
        done = add_to_archive(
            file, source, name=name, type_name=kind, overwrite=replace, robot=robot, accept_loss=accept_loss
        )
    _assembled(describe_assembled(done, file), as_json=as_json)


def remove(
    file: ArchivePath,
    names: Annotated[list[str], typer.Argument(metavar="NAME", help="Names or numbers of entries.")],
    keep_places: Annotated[
        bool,
        typer.Option("--keep-places", help="Leave a placeholder, so that those behind keep their numbers."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Take entries out of an archive; the bytes of the others do not change.

    [bold]Examples[/]

      posewright archive remove MOTION7.ODA "a_stand#stand_kick"

      posewright archive remove MOTION7.ODA 3 4 --keep-places
    """
    from posewright.cli.archive_tables import entries_counted
    from posewright.cli.console import warn
    from posewright.formats import remove_from_archive

    before = _open(file)
    after = remove_from_archive(file, names, keep_places=keep_places)
    gone = len(before.entries) - len(after.entries)
    if gone and [entry.name for entry in after.entries] != [e.name for e in before.entries[:-gone]]:
        warn("those behind have moved up; a MONETCMD.CFG that calls motions by number means others now")
    told = {"file": str(file), "n_entries": len(after.entries), "removed": gone or len(names)}
    _say(told, iter([f"{file}: {entries_counted(len(after.entries))}"]), as_json=as_json)


def _open(path: Path) -> OdaArchive:
    """Read an archive, and say on stderr what is odd about it."""
    from posewright.cli.console import warn
    from posewright.formats import read_archive_file

    archive = read_archive_file(path)
    for remark in archive.remarks:
        warn(f"{path}: {remark}")
    return archive


def _say(told: dict[str, Any], lines: Iterator[str], *, as_json: bool) -> None:
    """Write what was found out; at once, as an archive may have thousands of entries."""
    from posewright.cli.console import emit_json

    if as_json:
        emit_json(told)
    else:
        typer.echo("\n".join(lines))


def _assembled(told: dict[str, Any], *, as_json: bool) -> None:
    from posewright.cli.archive_tables import entries_counted, grouped, shown
    from posewright.cli.console import note, warn

    for loss in grouped(told["losses"]):
        warn(f"lost: {loss}")
    for remark in grouped(told["remarks"]):
        note(remark)
    added = ", ".join(map(shown, told["added"]))
    line = (
        f"{added} -> {told['file']}"
        if len(told["added"]) == 1
        else f"{len(told['added'])} files -> {told['file']}"
    )
    _say(told, iter([f"{line}: {entries_counted(told['n_entries'])}"]), as_json=as_json)


@contextmanager
def _flags_named() -> Iterator[None]:
    """Let a refusal list on stderr what would be lost, and name the flag that allows what was asked for."""
    from posewright.cli.archive_tables import grouped
    from posewright.cli.losses import losses_listed
    from posewright.errors import OutputError

    try:
        with losses_listed(worded=grouped):
            yield
    except OutputError as error:
        hint = (error.hint or "").replace("overwrite=True", "--force")
        raise OutputError(error.message, where=error.where, hint=hint) from error


PATIENCE_S = 1.0


@contextmanager
def progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """Give a function that is told how much of how much is done.

    Its bar appears after a second, so that short work shows none.
    """
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from posewright.cli.console import err

    columns = TextColumn("{task.description}", markup=False), BarColumn(), TimeRemainingColumn()
    bar = Progress(*columns, console=err, transient=True, disable=not err.is_terminal)
    task = bar.add_task(what)
    began = time.monotonic()

    def tell(done: int, total: int) -> None:
        if not bar.live.is_started and time.monotonic() - began > PATIENCE_S:
            bar.start()
        bar.update(task, completed=done, total=total)

    try:
        yield tell
    finally:
        bar.stop()
