"""`posewright aibo archive`: look into ODA archives of an AIBO, take them apart, put them together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from posewright import formats
from posewright.cli.console import print_note, print_result, print_warning, progress_bar
from posewright.cli.options import (
    EXIT_FAILURE,
    AcceptLoss,
    AsJson,
    add_subgroup,
    add_verb,
    argument,
    option,
    report_losses,
)
from posewright.errors import OutputError, escape_unprintable

ArchivePath = Annotated[Path, argument("ARCHIVE", "An ODA archive, in gzip or not.")]
RobotName = Annotated[
    str | None, option("--robot R", "The robot the motions are for; another's are carried over.")
]
Force = Annotated[bool, option("--force", "Overwrite existing files.")]


def add_verbs(aibo: typer.Typer) -> None:
    """Add the group `archive` and its verbs to the group `aibo`."""
    group = add_subgroup(aibo, "archive", "One archive of motions (*.ODA): list, extract, create, change.")
    add_verb(group, "list", list_entries, python_names="read_archive")
    add_verb(group, "extract", extract, python_names="extract_archive")
    add_verb(group, "create", create, python_names="create_archive")
    add_verb(group, "add", add, python_names="add_to_archive")
    add_verb(group, "remove", remove, python_names="remove_from_archive")


def list_entries(
    file: Annotated[Path, argument("ARCHIVE", "An ODA archive; or a stick, or another folder of them.")],
    as_json: AsJson = False,
) -> None:
    """List what an archive, or each archive of a folder, holds: judged by content, not by the types stated.

    [bold]Examples[/]
      posewright aibo archive list MOTION7.ODA
      posewright aibo archive list MOTION.ODA --json
      posewright aibo archive list /media/AIBO
    """
    if file.is_dir():
        archives = formats.archives_in(file)
        data = {"folder": str(file), "archives": [archive.to_dict() for archive in archives]}
        print_result(data, map(str, archives), as_json=as_json)
        return
    archive = _open(file)
    print_result(archive.to_dict(), archive.lines(), as_json=as_json)


def extract(
    file: ArchivePath,
    output: Annotated[Path, option("--output -o DIR", "The folder to write to; it is created if needed.")],
    names: Annotated[list[str] | None, argument("NAME", "Names or numbers of entries; default all.")] = None,
    to: Annotated[
        str | None, option("--to FORMAT", "Convert motions to this format; default unchanged.")
    ] = None,
    robot: Annotated[str | None, option("--robot R", "The robot to carry the motions over to.")] = None,
    accept_loss: AcceptLoss = False,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write the entries of an archive to files; exit with 1 if some are damaged.

    Motions become .mtn, sounds .wav, out of gzip. A name that no file can have is written in codes: %2F for
    a slash. Placeholders, which hold no motion, are left out.

    [bold]Examples[/]
      posewright aibo archive extract MOTION7.ODA -o motions
      posewright aibo archive extract MOTION7.ODA "a_sit#stand_standard" 8 -o motions
      posewright aibo archive extract MOTION7.ODA --to webots-motion --accept-loss -o webots
    """
    archive = _open(file)
    with _flags_named(), progress_bar(f"taking {file.name} apart") as tell:
        done = formats.extract_archive(
            archive,
            output,
            names or (),
            format=to,
            robot=robot,
            accept_loss=accept_loss,
            overwrite=force,
            tell=tell,
        )
    _tell_losses(done.losses, done.remarks)
    for failure in done.failed:
        print_warning(f"left out: {failure}")
    print_result(done.to_dict(output), done.lines(output), as_json=as_json)
    if done.failed:
        raise typer.Exit(EXIT_FAILURE)


def create(
    target: Annotated[Path, argument("ARCHIVE", "The archive to be made.")],
    files: Annotated[list[Path], argument("FILE", "Motions of any format and sounds, in the order wanted.")],
    gzip: Annotated[
        str, option("--gzip none|file|entries", "Around nothing, the whole archive, or each entry.")
    ] = "none",
    robot: RobotName = None,
    accept_loss: AcceptLoss = False,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Create an archive from files. Entries are named after the files, without folder and ending.

    An AIBO motion (.mtn) goes in byte for byte; a motion of another format is turned into one.

    [bold]Examples[/]
      posewright aibo archive create MOTION7.ODA motions/*.mtn
      posewright aibo archive create MOTION7.ODA "a_stand#stand_bow.motion.yaml" bark.wav --gzip entries
    """
    with _flags_named():
        done = formats.create_archive(
            target, files, compression=gzip, robot=robot, accept_loss=accept_loss, overwrite=force
        )
    _give_assembled(done, target, as_json=as_json)


def add(
    file: ArchivePath,
    source: Annotated[Path, argument("FILE", "A motion of any format, or a sound.")],
    name: Annotated[str | None, option("--name N", "Name of the entry; default the file's.")] = None,
    kind: Annotated[
        str | None, option("--type T", "OMTN, WAVE, MIDI, LED, ...: put in any file as it is.")
    ] = None,
    replace: Annotated[bool, option("--replace", "Replace the entry of that name.")] = False,
    robot: RobotName = None,
    accept_loss: AcceptLoss = False,
    as_json: AsJson = False,
) -> None:
    """Append a file to an archive, compressed like the other entries; their bytes do not change.

    [bold]Examples[/]
      posewright aibo archive add MOTION7.ODA kick.motion.yaml --name "a_stand#stand_kick"
      posewright aibo archive add MOTION7.ODA "a_stand#stand_kick.mtn" --replace
    """
    _open(file)  # says what is odd about it
    with _flags_named():
        done = formats.add_to_archive(
            file, source, name=name, type_name=kind, overwrite=replace, robot=robot, accept_loss=accept_loss
        )
    _give_assembled(done, file, as_json=as_json)


def remove(
    file: ArchivePath,
    names: Annotated[list[str], argument("NAME", "Names or numbers of entries.")],
    keep_places: Annotated[
        bool, option("--keep-places", "Leave a placeholder, so that the entries after it keep their numbers.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Remove entries from an archive; the bytes of the others do not change.

    [bold]Examples[/]
      posewright aibo archive remove MOTION7.ODA "a_stand#stand_kick"
      posewright aibo archive remove MOTION7.ODA 3 4 --keep-places
    """
    before = _open(file)
    after = formats.remove_from_archive(file, names, keep_places=keep_places)
    gone = len(before.entries) - len(after.entries)
    if gone and [entry.name for entry in after.entries] != [e.name for e in before.entries[:-gone]]:
        print_warning(
            "those behind have moved up; a MONETCMD.CFG that calls motions by number means others now"
        )
    data = {"file": str(file), "n_entries": len(after.entries), "removed": gone or len(names)}
    left = len(after.entries)
    print_result(data, [f"{file}: {left} {'entry' if left == 1 else 'entries'}"], as_json=as_json)


def _open(path: Path) -> formats.OdaArchive:
    """Read an archive, and say on stderr what is odd about it."""
    archive = formats.read_archive_file(path)
    for remark in archive.remarks:
        print_warning(f"{path}: {remark}")
    return archive


@contextmanager
def _flags_named() -> Iterator[None]:
    """Let a refusal list on stderr what would be lost, and name the flag that allows what was asked for."""
    try:
        with report_losses(format_losses=grouped):
            yield
    except OutputError as error:
        hint = (error.hint or "").replace("overwrite=True", "--force")
        raise OutputError(error.message, where=error.where, hint=hint) from error


def _give_assembled(done: formats.WrittenArchive, path: Path, *, as_json: bool) -> None:
    _tell_losses(done.losses, done.remarks)
    print_result(done.to_dict(path), done.lines(path), as_json=as_json)


def _tell_losses(losses: Sequence[str], remarks: Sequence[str]) -> None:
    for loss in grouped(losses):
        print_warning(f"lost: {loss}")
    for remark in grouped(remarks):
        print_note(remark)


def grouped(sentences: Sequence[str]) -> Iterator[str]:
    """Yield sentences that begin with the name of an entry, those that say the same of several as one."""
    names: dict[str, list[str]] = {}
    for sentence in sentences:
        name, _, message = sentence.partition(": ")
        names.setdefault(message, []).append(name)
    for message, motions in names.items():
        yield (
            f"{escape_unprintable(motions[0])}: {message}"
            if len(motions) == 1
            else f"{message} ({len(motions)} motions)"
        )
