"""`posewright aibo archive`: list, extract, create and change an AIBO's ODA archives."""

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
    AcceptFaults,
    AcceptLoss,
    AsJson,
    add_subgroup,
    add_verb,
    argument,
    option,
    print_accepted_faults,
    report_faults,
    report_losses,
)
from posewright.errors import OutputError, escape_unprintable

ArchivePath = Annotated[Path, argument("ARCHIVE", "An ODA archive, gzipped or not.")]
RobotName = Annotated[
    str | None, option("--robot R", "The robot of the archive; motions of other robots are retargeted.")
]
Force = Annotated[bool, option("--force", "Overwrite existing files.")]


def add_verbs(aibo: typer.Typer) -> None:
    """Add the group `archive` and its verbs to the group `aibo`."""
    group = add_subgroup(aibo, "archive", "One archive of motions (*.ODA): list, extract, create, change.")
    add_verb(group, "list", list_entries, python_equivalents="read_archive")
    add_verb(group, "extract", extract, python_equivalents="extract_archive")
    add_verb(group, "create", create, python_equivalents="create_archive")
    add_verb(group, "add", add, python_equivalents="add_to_archive")
    add_verb(group, "remove", remove, python_equivalents="remove_from_archive")


def list_entries(
    file: Annotated[Path, argument("ARCHIVE", "An ODA archive, a memory stick, or a folder with archives.")],
    as_json: AsJson = False,
) -> None:
    """List the entries of an archive, or the archives of a folder.

    The kind of an entry is detected from its content, not from the type that the archive states.

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
    archive = _open_archive(file)
    print_result(archive.to_dict(), archive.lines(), as_json=as_json)


def extract(
    file: ArchivePath,
    output: Annotated[Path, option("--output -o DIR", "The folder to write to; it is created if needed.")],
    names: Annotated[list[str] | None, argument("NAME", "Names or numbers of entries; default all.")] = None,
    to: Annotated[
        str | None, option("--to FORMAT", "Convert motions to this format; default unchanged.")
    ] = None,
    robot: Annotated[str | None, option("--robot R", "Retarget the motions to this robot.")] = None,
    accept_loss: AcceptLoss = False,
    accept_faults: AcceptFaults = False,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write the entries of an archive to files; exit with 1 if some are damaged.

    Motions become .mtn files and sounds .wav files, both decompressed. Characters that a file name cannot
    contain are percent-encoded: %2F is a slash. Placeholders, which contain no motion, are skipped.

    [bold]Examples[/]
      posewright aibo archive extract MOTION7.ODA -o motions
      posewright aibo archive extract MOTION7.ODA "a_sit#stand_standard" 8 -o motions
      posewright aibo archive extract MOTION7.ODA --to webots-motion --accept-loss -o webots
    """
    archive = _open_archive(file)
    with _name_options_in_errors(), progress_bar(f"extracting {file.name}") as on_progress:
        extraction = formats.extract_archive(
            archive,
            output,
            names or (),
            format=to,
            robot=robot,
            accept_loss=accept_loss,
            accept_faults=accept_faults,
            overwrite=force,
            on_progress=on_progress,
        )
    _print_losses(extraction.losses, extraction.remarks)
    print_accepted_faults(extraction.faults)
    for failure in extraction.failed:
        text = failure.replace("accept_faults=True", "--accept-faults")
        print_warning(f"not extracted: {text}")
    print_result(extraction.to_dict(output), extraction.lines(output), as_json=as_json)
    if extraction.failed:
        raise typer.Exit(EXIT_FAILURE)


def create(
    target: Annotated[Path, argument("ARCHIVE", "The archive to create.")],
    files: Annotated[
        list[Path], argument("FILE", "Motions of any format and sounds, in the order of the archive.")
    ],
    gzip: Annotated[
        str, option("--gzip none|file|entries", "Compress nothing, the whole archive, or each entry.")
    ] = "none",
    robot: RobotName = None,
    accept_loss: AcceptLoss = False,
    accept_faults: AcceptFaults = False,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Create an archive from files. Entries are named after the files, without folder and suffix.

    An AIBO motion (.mtn) is copied byte for byte; a motion of another format is converted. Motions in which
    `motion check` reports errors are not added.

    [bold]Examples[/]
      posewright aibo archive create MOTION7.ODA motions/*.mtn
      posewright aibo archive create MOTION7.ODA "a_stand#stand_bow.motion.yaml" bark.wav --gzip entries
    """
    with _name_options_in_errors():
        written = formats.create_archive(
            target,
            files,
            compression=gzip,
            robot=robot,
            accept_loss=accept_loss,
            accept_faults=accept_faults,
            overwrite=force,
        )
    _print_written(written, target, as_json=as_json)


def add(
    file: ArchivePath,
    source: Annotated[Path, argument("FILE", "A motion of any format, or a sound.")],
    name: Annotated[
        str | None, option("--name N", "Name of the entry; default the name of the file.")
    ] = None,
    kind: Annotated[
        str | None,
        option("--type T", "Add any file unchanged, as an entry of this type: OMTN, WAVE, MIDI, LED, ..."),
    ] = None,
    replace: Annotated[bool, option("--replace", "Replace an existing entry of that name.")] = False,
    robot: RobotName = None,
    accept_loss: AcceptLoss = False,
    accept_faults: AcceptFaults = False,
    as_json: AsJson = False,
) -> None:
    """Append a file to an archive, compressed like the other entries, which do not change.

    A motion in which `motion check` reports errors is not added. The archive as it was before its first
    change is kept as ARCHIVE.bak.

    [bold]Examples[/]
      posewright aibo archive add MOTION7.ODA kick.motion.yaml --name "a_stand#stand_kick"
      posewright aibo archive add MOTION7.ODA "a_stand#stand_kick.mtn" --replace
    """
    _open_archive(file)  # prints the warnings about the archive
    with _name_options_in_errors():
        written = formats.add_to_archive(
            file,
            source,
            name=name,
            type_name=kind,
            overwrite=replace,
            robot=robot,
            accept_loss=accept_loss,
            accept_faults=accept_faults,
        )
    _print_written(written, file, as_json=as_json)


def remove(
    file: ArchivePath,
    names: Annotated[list[str], argument("NAME", "Names or numbers of entries.")],
    keep_places: Annotated[
        bool, option("--keep-places", "Leave placeholders, so that later entries keep their numbers.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Remove entries from an archive; the others do not change.

    [bold]Examples[/]
      posewright aibo archive remove MOTION7.ODA "a_stand#stand_kick"
      posewright aibo archive remove MOTION7.ODA 3 4 --keep-places
    """
    before = _open_archive(file)
    after = formats.remove_from_archive(file, names, keep_places=keep_places)
    n_after = len(after.entries)
    n_removed = len(before.entries) - n_after  # 0 if placeholders were left
    names_before = [entry.name for entry in before.entries]
    names_after = [entry.name for entry in after.entries]
    if n_removed and names_after != names_before[:n_after]:
        print_warning(
            "entries after the removed ones have new numbers; a MONETCMD.CFG that calls motions by number is"
            " now wrong"
        )
    data = {"file": str(file), "n_entries": n_after, "removed": n_removed or len(names)}
    print_result(data, [f"{file}: {n_after} {'entry' if n_after == 1 else 'entries'}"], as_json=as_json)


def _open_archive(path: Path) -> formats.OdaArchive:
    """Read an archive and print its oddities as warnings."""
    archive = formats.read_archive_file(path)
    for remark in archive.remarks:
        print_warning(f"{path}: {remark}")
    return archive


@contextmanager
def _name_options_in_errors() -> Iterator[None]:
    """Print the losses of a LossError, and let hints name options of the command line."""
    try:
        with report_losses(format_losses=group_messages), report_faults():
            yield
    except OutputError as error:
        hint = (error.hint or "").replace("overwrite=True", "--force")
        raise OutputError(error.message, where=error.where, hint=hint) from error


def _print_written(written: formats.WrittenArchive, path: Path, *, as_json: bool) -> None:
    _print_losses(written.losses, written.remarks)
    print_accepted_faults(written.faults)
    print_result(written.to_dict(path), written.lines(path), as_json=as_json)


def _print_losses(losses: Sequence[str], remarks: Sequence[str]) -> None:
    for loss in group_messages(losses):
        print_warning(f"lost: {loss}")
    for remark in group_messages(remarks):
        print_note(remark)


def group_messages(messages: Sequence[str]) -> Iterator[str]:
    """Yield messages of the form `MOTION: TEXT`; if several have the same text, yield `TEXT (3 motions)`."""
    motions_by_text: dict[str, list[str]] = {}
    for message in messages:
        motion, _colon, text = message.partition(": ")
        motions_by_text.setdefault(text, []).append(motion)
    for text, motions in motions_by_text.items():
        if len(motions) > 1:
            yield f"{text} ({len(motions)} motions)"
        else:
            (motion,) = motions
            yield f"{escape_unprintable(motion)}: {text}"
