"""`posewright motion check` for several files and folders."""

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
    """Check all motion files among paths and folders, and print the results.

    Args:
        paths: motion files and folders.
        check: checks one file.
        folder: where the report is written; None for no report.
        strict: whether warnings count as errors.
        as_json: whether the results are printed as JSON.

    Returns:
        Whether a file has an error.

    Raises:
        InputError: a folder has no motion file.
        typer.Exit: a file cannot be read; the other files are checked first.
    """
    files = _find_motion_files(paths)

    def check_one(named_file: tuple[str, Path], _: Path | None) -> runs.BatchRun:
        """Check a file, and return its figures, broken rules and findings as a run of the batch."""
        name, file = named_file
        result = check(file)
        errors = result.count(motions.Level.ERROR)
        warnings = result.count(motions.Level.WARNING)
        figures = {
            "motions": len(result.pages),
            "errors": errors,
            "warnings": warnings,
            "sound": not errors,
        }
        broken_rules = tuple(
            finding.rule for _, finding in result.findings if finding.level is motions.Level.ERROR
        )
        story = tuple(map(str, result.finding_lines()))
        fewest_first = (-errors, -warnings)  # a batch ranks the greatest first
        return runs.BatchRun(name, figures, ranking=fewest_first, incidents=broken_rules, story=story)

    with follow_runs(len(files), "file", quiet=as_json) as on_run:
        batch = runs.run_batch(
            check_one,
            {name: (name, file) for name, file in files.items()},
            key="file",
            measure="errors",
            settings={"what": "Motion files checked"},
            on_run=on_run,
        )
    if folder is not None:
        batch = replace(batch, folder=folder)
        runs.write_report(batch)
    print_batch(batch, as_json=as_json)
    if strict and any(run.figures["warnings"] for run in batch.completed):
        return True
    return any(run.figures["errors"] for run in batch.completed)


def _find_motion_files(paths: Sequence[Path]) -> dict[str, Path]:
    """Return the files among the paths, and the motion files in folders among them, by name."""
    files = []
    for path in paths:
        for file in runs.files_in([path]).values():
            is_named = file == path  # rather than found in a folder
            if is_named or (file.is_file() and _is_motion(file)):
                files.append(file)
    if not files:
        raise InputError(
            "there is no motion file here", where=Where(paths[0]), hint="name a file, or another folder"
        )
    return runs.files_in(files)


def _is_motion(file: Path) -> bool:
    try:
        return formats.detect_kind(formats.read_file_bytes(file), file).is_motion
    except FormatError:
        return False
