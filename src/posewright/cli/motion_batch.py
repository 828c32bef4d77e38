"""`posewright motion check` over many files and folders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from posewright import formats, motions, runs
from posewright.cli.batch import follow_runs, print_batch
from posewright.errors import FormatError, InputError, Where


def check_many(
    paths: Sequence[Path],
    check: Callable[[Path], runs.MotionCheck],
    folder: Path | None,
    *,
    strict: bool,
    as_json: bool,
) -> bool:
    """Check every motion file of these paths and folders; return whether something is wrong with one.

    Raises:
        InputError: a folder holds no motion file.
        typer.Exit: one cannot be read; it is told with the others.
    """
    files = _motion_files(paths)

    def checked(named: tuple[str, Path], _: Path | None) -> runs.BatchRun:
        name, file = named
        result = check(file)
        errors = result.count(motions.Level.ERROR)
        warnings = result.count(motions.Level.WARNING)
        figures = {
            "motions": len(result.pages),
            "errors": errors,
            "warnings": warnings,
            "sound": not errors,
        }
        rules = tuple(finding.rule for _, finding in result.findings if finding.level is motions.Level.ERROR)
        story = tuple(map(str, result.finding_lines()))
        return runs.BatchRun(name, figures, (-errors, -warnings), incidents=rules, story=story)

    with follow_runs(len(files), "file", quiet=as_json) as on_run:
        batch = runs.run_batch(
            checked,
            {named[0]: named for named in files.items()},
            key="file",
            measure="errors",
            settings={"what": "Motion files checked"},
            on_run=on_run,
        )
    if folder is not None:
        batch = replace(batch, folder=folder)
        runs.write_report(batch)
    print_batch(batch, as_json=as_json)
    return any(run.figures["errors"] or (strict and run.figures["warnings"]) for run in batch.done)


def _motion_files(paths: Sequence[Path]) -> dict[str, Path]:
    """Return each path, and the files of a folder that are of a known kind of motion file."""
    kept = [
        file
        for path in paths
        for file in runs.files_in([path]).values()
        if file == path or (file.is_file() and _is_motion(file))
    ]
    if not kept:
        raise InputError(
            "no motion file is here", where=Where(paths[0]), hint="name a file, or another folder"
        )
    return runs.files_in(kept)


def _is_motion(file: Path) -> bool:
    try:
        return formats.detect_kind(formats.read_file_bytes(file), file).is_motion
    except FormatError:
        return False
