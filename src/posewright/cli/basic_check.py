"""`posewright basic check` and `format`: report problems of RoboBASIC programs, and lay programs out."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from posewright import robots
from posewright.cli import completion, console
from posewright.cli.options import (
    EXIT_FAILURE,
    AsJson,
    argument,
    option,
    require_output_file,
)
from posewright.display import Lines, build_line, format_count, style_level
from posewright.documents import read_bounded, write_atomically
from posewright.errors import FormatError, InputError, PosewrightError, Where
from posewright.runtimes import robobasic

if TYPE_CHECKING:
    from posewright.runtimes.robobasic import BasicFinding, BasicSource, Severity

POLL_S = 0.3
"""Interval at which `--watch` looks for changed files [s]."""

PROGRAM_SUFFIX = ".bas"
BYTE_ORDER_MARK = "\ufeff".encode()

ProgramFiles = Annotated[
    list[str],
    argument(
        "FILE",
        "RoboBASIC files (.bas), or names of Posewright's programs.",
        autocompletion=completion.files(
            PROGRAM_SUFFIX, names=completion.catalogue("posewright.runtimes.robobasic.load.program_names")
        ),
    ),
]
OwnFiles = Annotated[
    list[Path], argument("FILE", "RoboBASIC files (.bas).", autocompletion=completion.files(PROGRAM_SUFFIX))
]


def check(
    files: ProgramFiles,
    strict: Annotated[bool, option("--strict", "Exit with 1 for warnings, too.")] = False,
    watch: Annotated[
        bool,
        option("--watch", "Check a file again whenever it is saved, and report new findings, until Ctrl-C."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Report errors and oddities in RoboNova-1 programs, with their lines and how to fix them.

    The check covers statements, labels and blocks, variables that are never set, unreachable lines, jumps
    into a FOR, routines that never return, counts beyond a joint's limits, and moves too fast for the servos.
    The exit code is 1 if there is an error, and 2 if a file cannot be read.

    [bold]Examples[/]
      posewright basic check my_template.bas
      posewright basic check *.bas --strict --json
      posewright basic check my_template.bas --watch
    """
    if watch:
        if as_json:
            raise InputError(
                "--watch and --json exclude each other", hint="--watch never ends; JSON is written once"
            )
        sources = [robobasic.open_source(file) for file in files]  # a file that is missing at first is a typo
        watch_files(Watcher([source.path for source in sources if source.path is not None]))
        return
    sources = [robobasic.open_source(file) for file in files]
    reports = [(source, _lint(source)) for source in sources]
    data = {"files": [_report_data(source, findings) for source, findings in reports]}
    console.print_result(data, _report_lines(reports), as_json=as_json)
    severities = {finding.severity for _, findings in reports for finding in findings}
    failing_severities = {robobasic.Severity.ERROR}
    if strict:
        failing_severities.add(robobasic.Severity.WARNING)
    if severities & failing_severities:
        raise typer.Exit(EXIT_FAILURE)


def format_programs(
    files: OwnFiles,
    output: Annotated[
        Path | None,
        option(
            "--output -o FILE", "Write to this file instead of changing the program; for a single program."
        ),
    ] = None,
    check_only: Annotated[
        bool, option("--check", "Write nothing; exit with 1 if a file would change.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Lay programs out uniformly: capitals, spaces, indentation, counts of MOVE in columns.

    Comments and the meaning of every line do not change, nor do the file's encoding (Korean CP949 included)
    and line ends. A line that cannot be parsed is left unchanged and reported.

    [bold]Examples[/]
      posewright basic format my_template.bas
      posewright basic format my_template.bas -o neat.bas
      posewright basic format *.bas --check
    """
    if output is not None and (len(files) > 1 or check_only):
        conflict = "--check" if check_only else f"{len(files)} files"
        raise InputError(f"-o cannot be used with {conflict}", hint="-o writes one formatted file")
    if output is not None and str(output) == "-":
        raise InputError("-o - is not supported", hint="-o needs the name of a file")
    require_output_file(output, "a RoboBASIC program", (PROGRAM_SUFFIX,), *files)
    formatted_files = [FormattedFile.read(path) for path in files]
    for file in formatted_files:
        for line in file.source.lines:
            if line.problem and line.statement is None:
                console.print_warning(
                    f"{file.path}:{line.number}:{line.column}: left unchanged: {line.problem}"
                )
        if not check_only and (file.n_changes or output is not None):
            write_atomically(output or file.path, file.data)
    data = [
        {"file": str(file.path), "changed": bool(file.n_changes), "lines": file.n_changes}
        for file in formatted_files
    ]
    verb = "would change" if check_only else "changed"
    target = "" if output is None else f" -> {output}"
    lines = (f"{file.path}{target}: {_format_changes(file.n_changes, verb)}" for file in formatted_files)
    console.print_result({"files": data}, lines, as_json=as_json)
    if check_only and any(file.n_changes for file in formatted_files):
        raise typer.Exit(EXIT_FAILURE)


@dataclass(frozen=True)
class FormattedFile:
    """A program file and its formatted content.

    Attributes:
        path: the file.
        source: its content before.
        data: the bytes of the formatted program.
        n_changes: how many lines differ from the file.
    """

    path: Path
    source: BasicSource
    data: bytes
    n_changes: int

    @classmethod
    def read(cls, path: Path) -> FormattedFile:
        """Read a file and format it.

        Raises:
            FormatError: the file cannot be read, is not a text, or is too large after formatting.
        """
        source = robobasic.read_program_file(path)
        original_data = read_bounded(path, robobasic.MAX_BYTES)
        text = robobasic.format_source(source)
        data = text.replace("\n", source.newline).encode(source.encoding)
        if original_data.startswith(BYTE_ORDER_MARK):
            data = BYTE_ORDER_MARK + data
        if len(data) > robobasic.MAX_BYTES:
            raise FormatError(
                f"the formatted program has {len(data):,} bytes, too many to be read again",
                where=Where(path),
                hint=f"at most {robobasic.MAX_BYTES:,}",
            )
        n_changes = 0 if data == original_data else _count_changed_lines(source, text)
        return cls(path, source, data, n_changes)


def _count_changed_lines(source: BasicSource, formatted_text: str) -> int:
    """Return how many lines formatting changed or removed; 1 if it changed only line ends.

    Formatting removes surplus empty lines and keeps all others in order.
    """
    formatted_lines = formatted_text.split("\n")[:-1]
    lines_with_content = [
        line.text for line in source.lines if line.label or line.statement or line.comment or line.problem
    ]
    formatted_lines_with_content = [line for line in formatted_lines if line]
    n_changed = sum(
        line != formatted_line
        for line, formatted_line in zip(lines_with_content, formatted_lines_with_content, strict=True)
    )
    n_removed = len(source.lines) - len(formatted_lines)
    return max(1, n_changed + n_removed)


def _format_changes(n_lines: int, verb: str) -> str:
    return f"{format_count(n_lines, 'line')} {verb}" if n_lines else "already formatted"


def _lint(source: BasicSource) -> tuple[BasicFinding, ...]:
    return robobasic.lint(source, robots.robot(robobasic.ROBOT))


def _report_data(source: BasicSource, findings: Sequence[BasicFinding]) -> dict[str, object]:
    counts = {f"{severity.value}s": count for severity, count in _count_by_severity(findings).items()}
    return {"file": _source_name(source), **counts, "findings": [finding.to_dict() for finding in findings]}


def _count_by_severity(findings: Sequence[BasicFinding]) -> dict[Severity, int]:
    counts = Counter(finding.severity for finding in findings)
    return {severity: counts[severity] for severity in robobasic.Severity}


def _source_name(source: BasicSource) -> str:
    return str(source.path or source.name)


def _report_lines(reports: Sequence[tuple[BasicSource, Sequence[BasicFinding]]]) -> Lines:
    for source, findings in reports:
        yield from (finding.display_line(_source_name(source)) for finding in findings)
        yield build_line(f"{_source_name(source)}: {_summarize(findings)}")


def _summarize(findings: Sequence[BasicFinding]) -> str:
    """Return the number of findings by severity: `1 error, 2 hints`."""
    counts = [
        format_count(count, severity.value)
        for severity, count in _count_by_severity(findings).items()
        if count
    ]
    return ", ".join(counts) or "no problems"


# ---- basic check --watch

FileStamp = tuple[int, int, int]
"""Time of the last change [ns], size [bytes] and inode; saving a file changes at least one of them."""


class Watcher:
    """Checks files whenever they change, and reports what is new.

    A file is checked when it is the same in two polls in a row, because an editor may still be writing or
    replacing it.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = list(dict.fromkeys(paths))
        self._last_stamps: dict[Path, FileStamp | None] = {path: _read_stamp(path) for path in self._paths}
        self._checked_stamps: dict[Path, FileStamp | None] = {}  # None of a file that was missing
        self._findings: dict[Path, tuple[BasicFinding, ...]] = {}  # of the last check

    def poll(self) -> Lines:
        """Look at each file, and yield lines about those that have changed."""
        for path in self._paths:
            stamp = _read_stamp(path)
            is_stable = stamp == self._last_stamps[path]
            self._last_stamps[path] = stamp
            is_checked = path in self._checked_stamps and self._checked_stamps[path] == stamp
            if not is_stable or is_checked:
                continue
            self._checked_stamps[path] = stamp
            if stamp is None:
                self._findings.pop(path, None)
                yield build_line(f"{path}: ", style_level("warning"), ": the file is missing; waiting for it")
            else:
                yield from self._check(path)

    def _check(self, path: Path) -> Lines:
        """Check a file; yield the new findings, and a summary if anything changed."""
        try:
            source = robobasic.open_source(path)
        except PosewrightError as error:
            self._findings.pop(path, None)
            yield build_line(style_level("error"), f": {error}")
            return
        previous_findings = self._findings.get(path)
        findings = _lint(source)
        self._findings[path] = findings
        # how many findings of each rule and message there were before, less those that are still there
        gone = Counter(_finding_identity(finding) for finding in previous_findings or ())
        new_findings: list[BasicFinding] = []
        for finding in findings:
            identity = _finding_identity(finding)
            if gone[identity]:
                gone[identity] -= 1
            else:
                new_findings.append(finding)
        yield from (finding.display_line(str(path)) for finding in new_findings)
        n_gone = gone.total()
        if previous_findings is None or new_findings or n_gone:
            changes = f" ({len(new_findings)} new, {n_gone} gone)" if previous_findings else ""
            yield build_line(f"{path}: {_summarize(findings)}{changes}")


def _finding_identity(finding: BasicFinding) -> tuple[str, str]:
    """Return rule and message of a finding, without its line, which changes when lines are inserted above."""
    return finding.rule, finding.message


def _read_stamp(path: Path) -> FileStamp | None:
    """Return the stamp of a file; None if it is missing."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def watch_files(watcher: Watcher, sleep: Callable[[float], None] = time.sleep) -> None:
    """Poll the files and print what is new, until Ctrl-C."""
    try:
        console.print_note("watching; press Ctrl-C to stop")
        while True:
            for line in watcher.poll():
                console.print_item(line)
            sys.stdout.flush()
            sleep(POLL_S)
    except KeyboardInterrupt:
        return
