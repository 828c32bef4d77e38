"""`posewright basic check` and `format`: what is wrong with programs, also while somebody writes them."""

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
from posewright.cli.options import EXIT_FAILURE, AsJson, argument, option, require_distinct_output
from posewright.display import Lines, build_line, format_count, style_level
from posewright.documents import read_bounded, write_atomically
from posewright.errors import FormatError, InputError, PosewrightError, Where
from posewright.runtimes import robobasic

if TYPE_CHECKING:
    from posewright.runtimes.robobasic import BasicFinding, BasicSource, Severity

POLL_S = 0.3
"""So often files are looked at while somebody writes them [s]; what changes in between is looked at later."""

ENDING = ".bas"
BOM = "\ufeff".encode()

ProgramFiles = Annotated[
    list[str],
    argument(
        "FILE",
        "RoboBASIC programs (.bas), or the name of one that comes with Posewright.",
        autocompletion=completion.files(
            ENDING, names=completion.catalogue("posewright.runtimes.robobasic.load.program_names")
        ),
    ),
]
OwnFiles = Annotated[
    list[Path], argument("FILE", "RoboBASIC programs (.bas).", autocompletion=completion.files(ENDING))
]


def check(
    files: ProgramFiles,
    strict: Annotated[bool, option("--strict", "Exit with 1 for warnings too.")] = False,
    watch: Annotated[
        bool, option("--watch", "Check again whenever a file is saved, until Ctrl-C; tell what is new.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Tell what is wrong with programs of a RoboNova-1, or odd: line, what, and what would be right.

    Statements, labels and blocks, variables that nothing sets, lines that are never reached, jumps into a
    FOR, routines that never come back, counts beyond a joint's limits, moves too fast for the servos. Exits
    with 1 where there is an error, with 2 where a file cannot be read.

    [bold]Examples[/]
      posewright basic check my_template.bas
      posewright basic check *.bas --strict --json
      posewright basic check my_template.bas --watch
    """
    if watch:
        if as_json:
            raise InputError("--watch and --json", hint="JSON is written once; --watch has no end")
        sources = [
            robobasic.open_source(file) for file in files
        ]  # one that is not there at first was mistyped
        keep_watching(Watcher([source.path for source in sources if source.path is not None]))
        return
    sources = [robobasic.open_source(file) for file in files]
    checked = [(source, _lint(source)) for source in sources]
    severities = {finding.severity for _, findings in checked for finding in findings}
    data = {"files": [_data(source, findings) for source, findings in checked]}
    console.print_result(data, _lines(checked), as_json=as_json)
    severity = robobasic.Severity
    if severity.ERROR in severities or (strict and severity.WARNING in severities):
        raise typer.Exit(EXIT_FAILURE)


def format_programs(
    files: OwnFiles,
    output: Annotated[
        Path | None, option("--output -o FILE", "Write here instead of over the file; for one file.")
    ] = None,
    check_only: Annotated[
        bool, option("--check", "Change nothing; exit with 1 if a file would change.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Lay programs out anew: capitals, blanks, indentation, counts of MOVE below one another.

    Comments stay, and so does what every line means; a line that cannot be read stays as it is, and is told.
    So do the file's encoding (Korean CP949 too) and its line ends.

    [bold]Examples[/]
      posewright basic format my_template.bas
      posewright basic format my_template.bas -o neat.bas
      posewright basic format *.bas --check
    """
    if output is not None and (len(files) > 1 or check_only):
        both = "-o and --check" if check_only else f"-o and {len(files)} files"
        raise InputError(both, hint="-o is for one file that is written")
    if output is not None and str(output) == "-":
        raise InputError("-o -", hint="-o is for a file")
    for path in files:
        require_distinct_output(output, path)
    laid_out = [LaidOut.of(path) for path in files]
    for one in laid_out:
        for line in one.source.lines:
            if line.problem:
                console.print_warning(
                    f"{one.path}:{line.number}:{line.column}: stays as it is: {line.problem}"
                )
        if not check_only and (one.changes or output is not None):
            write_atomically(output or one.path, one.data)
    told = [{"file": str(one.path), "changed": bool(one.changes), "lines": one.changes} for one in laid_out]
    done = "would change" if check_only else "changed"
    target = "" if output is None else f" -> {output}"
    lines = (f"{one.path}{target}: {_amount(one.changes, done)}" for one in laid_out)
    console.print_result({"files": told}, lines, as_json=as_json)
    if check_only and any(one.changes for one in laid_out):
        raise typer.Exit(EXIT_FAILURE)


@dataclass(frozen=True)
class LaidOut:
    """A file, and what it becomes: its bytes, and how many lines are otherwise."""

    path: Path
    source: BasicSource
    data: bytes
    changes: int

    @classmethod
    def of(cls, path: Path) -> LaidOut:
        """Read a file and lay it out.

        Raises:
            FormatError: it cannot be read, is no text, or is too large once laid out.
        """
        before = read_bounded(path, robobasic.MAX_BYTES)
        source = robobasic.read_source(before, path.name, path)
        text = robobasic.format_source(source)
        data = text.replace("\n", source.newline).encode(source.encoding)
        data = BOM + data if before.startswith(BOM) else data
        if len(data) > robobasic.MAX_BYTES:
            told = f"laid out it has {len(data):,} bytes, and could not be read again"
            raise FormatError(told, where=Where(path), hint=f"at most {robobasic.MAX_BYTES:,}")
        return cls(path, source, data, _changed(source, text, same=data == before))


def _changed(source: BasicSource, text: str, *, same: bool) -> int:
    """Return how many lines are otherwise; 1 where only the ends of lines are."""
    old, new = [line.text for line in source.lines], text.split("\n")[:-1]
    kept = [
        line.text for line in source.lines if line.label or line.statement or line.comment or line.problem
    ]
    changed = sum(a != b for a, b in zip(kept, filter(None, new), strict=True))
    return 0 if same else max(1, changed + len(old) - len(new))


def _amount(number: int, done: str) -> str:
    return f"{format_count(number, 'line')} {done}" if number else "is laid out well already"


def _lint(source: BasicSource) -> tuple[BasicFinding, ...]:
    return robobasic.lint(source, robots.robot(robobasic.ROBOT))


def _data(source: BasicSource, findings: Sequence[BasicFinding]) -> dict[str, object]:
    counts = {f"{severity.value}s": count for severity, count in _counts(findings).items()}
    return {"file": _name(source), **counts, "findings": [finding.to_dict() for finding in findings]}


def _counts(findings: Sequence[BasicFinding]) -> dict[Severity, int]:
    counts = Counter(finding.severity for finding in findings)
    return {severity: counts[severity] for severity in robobasic.Severity}


def _name(source: BasicSource) -> str:
    return str(source.path or source.name)


def _lines(checked: Sequence[tuple[BasicSource, Sequence[BasicFinding]]]) -> Lines:
    for source, findings in checked:
        yield from (finding.display_line(_name(source)) for finding in findings)
        yield build_line(f"{_name(source)}: {_summary(findings)}")


def _summary(findings: Sequence[BasicFinding]) -> str:
    """Return how many of each there are: `1 error, 2 hints`."""
    counts = [format_count(count, severity.value) for severity, count in _counts(findings).items() if count]
    return ", ".join(counts) or "nothing is wrong"


# ---- while they are written

Stamp = tuple[int, int, int]


class Watcher:
    """Looks at files again and again, and says what is new about them.

    A file is checked once it has been the same for two looks: an editor may be writing it, or putting another
    in its place.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = list(dict.fromkeys(paths))
        self._seen: dict[Path, Stamp | None] = {path: _stamp(path) for path in self._paths}
        self._checked: dict[Path, Stamp | str | None] = dict.fromkeys(self._paths, "")
        self._findings: dict[Path, tuple[BasicFinding, ...]] = {}

    def look(self) -> Lines:
        """Yield what is new since the last look."""
        for path in self._paths:
            stamp, before = _stamp(path), self._seen[path]
            self._seen[path] = stamp
            if stamp == before != self._checked[path]:
                self._checked[path] = stamp
                yield from self._gone(path) if stamp is None else self._anew(path)

    def _gone(self, path: Path) -> Lines:
        self._findings.pop(path, None)
        yield build_line(f"{path}: ", style_level("warning"), ": is not there; waiting for it")

    def _anew(self, path: Path) -> Lines:
        try:
            source = robobasic.open_source(path)
        except PosewrightError as error:
            self._findings.pop(path, None)
            yield build_line(style_level("error"), f": {error}")
            return
        before, now = self._findings.get(path), _lint(source)
        self._findings[path] = now
        known = Counter(map(_without_place, before or ()))
        fresh = []
        for one in now:
            same = _without_place(one)
            if known[same]:
                known[same] -= 1
            else:
                fresh.append(one)
        yield from (finding.display_line(str(path)) for finding in fresh)
        gone = known.total()
        if before is None or fresh or gone:
            more = f" ({len(fresh)} new, {gone} gone)" if before else ""
            yield build_line(f"{path}: {_summary(now)}{more}")


def _without_place(one: BasicFinding) -> tuple[str, str]:
    """Return what a finding says, wherever it is: a line put in above it makes it no new one."""
    return one.rule, one.message


def _stamp(path: Path) -> Stamp | None:
    """Return what is otherwise once a file has been saved, by writing over it or by putting another there."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def keep_watching(watcher: Watcher, sleep: Callable[[float], None] = time.sleep) -> None:
    """Say what is new, again and again, until Ctrl-C."""
    try:
        console.print_note("watching; Ctrl-C ends")
        while True:
            for line in watcher.look():
                console.print_item(line)
            sys.stdout.flush()
            sleep(POLL_S)
    except KeyboardInterrupt:
        return
