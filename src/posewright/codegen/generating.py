"""Generation of a chart or a behaviour into a folder, builds of the folder, and explanations of its lines.

Beside the C files a folder gets `trace.json`, which links every line to its element of the document, and the
manifest `posewright.json`, with the documents, the options and the digests of the files. By the manifest a
build says which files were changed since, and a verification compares the files as they are in the folder.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from posewright.charts import read_chart, require_sound
from posewright.charts.formats.files import parse_any_chart
from posewright.codegen.behaviour.unit_spec import BehaviourUnitSpec
from posewright.codegen.c import ChartUnitSpec, Options
from posewright.codegen.c.truth_table import Style
from posewright.codegen.targets import BuildResult, target_named
from posewright.codegen.trace import LineRange, line_ranges
from posewright.codegen.unit import Executable, SourceFile, UnitSpec
from posewright.codegen.user_sources import check_user_files
from posewright.controllers.behaviours import Behaviour, behaviour_names, read_behaviour
from posewright.display import Lines
from posewright.documents import (
    Bounds,
    FieldReader,
    Node,
    create_folder,
    is_file,
    path_exists,
    read_record,
    read_text,
    write_atomically,
)
from posewright.errors import InputError, OutputError, PosewrightError, UnknownNameError, Where
from posewright.gaits import check_gait
from posewright.hazards import find_faults_of_several, require_no_faults
from posewright.version import __version__

MANIFEST = "posewright.json"
TRACE = "trace.json"
BEHAVIOUR = ".behaviour.yaml"
SKETCH = ".ino"
_SKETCH_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}")
"""Arduino sketch specification, "Sketch root folder"."""

_MAX_LISTED = 4
"""Most transitions that a hint names."""

_WITH_BANNER = (".c", ".h", ".hpp", ".ld", ".cpp", SKETCH)
"""Suffixes of files that begin with a comment about their origin."""


def _read_digests(node: Node) -> dict[str, tuple[str, ...]]:
    """Return the possible digests of each file of an interrupted generation."""
    return {name: tuple(digest.text() for digest in entry.items()) for name, entry in node.fields().items()}


@dataclass(frozen=True)
class ManifestOptions:
    """The options of a generation, as in its manifest; the names are those of the file."""

    monitors: bool = False
    queue: Annotated[int, Bounds(1)] | None = None
    style: Style = Style.AUTO


@dataclass(frozen=True)
class Manifest:
    """The manifest of a generated folder; earlier versions of it lack the fields with defaults.

    Attributes:
        target: name of the target.
        documents: digests of the documents by name.
        files: digests of the generated files by name.
        posewright: version that generated it.
        name: the name of the chart or behaviour.
        texts: the documents of a chart by name.
        options: the options of the generation.
        user_files: the user's files; None in earlier versions.
        accepted_faults: the accepted errors of `motion check` in the motions.
        begun: the possible digests of each file while files are written; None afterwards.
    """

    target: str
    documents: Mapping[str, str]
    files: Mapping[str, str]
    posewright: str = ""
    name: str = ""
    texts: Mapping[str, str] = field(default_factory=dict)
    options: ManifestOptions = field(default_factory=ManifestOptions)
    user_files: tuple[str, ...] | None = None
    accepted_faults: tuple[str, ...] = ()
    begun: Annotated[Mapping[str, tuple[str, ...]] | None, FieldReader(_read_digests)] = None

    def __post_init__(self) -> None:
        for name in (*self.files, *(self.begun or ())):
            if Path(name).name != name:
                raise InputError(f"the generated file {name!r:.80} is not in the folder")


@dataclass(frozen=True)
class Generated:
    """The result of a generation.

    Attributes:
        folder: the folder.
        target: name of the target.
        name: name of the chart or behaviour.
        written: files that were written.
        kept: the user's files, which were there already.
        places: ranges of lines with their elements of the document.
        differences: descriptions of what the C does differently from the interpreter.
        removed: files of an earlier generation that were removed.
        warnings: warnings about the user's files.
        faults: errors of `motion check` in the motions of a behaviour, after their names; they were accepted.
    """

    folder: Path
    target: str
    name: str
    written: tuple[str, ...]
    kept: tuple[str, ...]
    places: tuple[LineRange, ...]
    differences: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data, fit for JSON."""
        return {
            "folder": str(self.folder),
            "target": self.target,
            "name": self.name,
            "written": list(self.written),
            "kept": list(self.kept),
            "policies": list(self.differences),
            "removed": list(self.removed),
            "warnings": list(self.warnings),
            "faults": list(self.faults),
        }

    def lines(self) -> Lines:
        """Yield the lines of a report: files written, kept and removed, warnings, and differences."""
        yield f"{len(self.written)} files -> {self.folder}"
        if self.kept:
            yield f"left alone: {', '.join(self.kept)}"
        if self.removed:
            yield f"removed: {', '.join(self.removed)}"
        for warning in self.warnings:
            yield f"! {warning}"
        yield from self.differences


def read_unit_spec(
    name: str | Path,
    *,
    monitors: bool = False,
    max_queued_events: int | None = None,
    style: Style = Style.AUTO,
) -> UnitSpec:
    """Read a chart from its file, or a behaviour by its name or file.

    Args:
        name: the name or path.
        monitors: check the promises at run time.
        max_queued_events: greatest number of waiting events; None for as many as a sound chart
            can raise, or as the target has room for.
        style: whether the tick of a chart with one state at a time becomes a switch or a table.

    Raises:
        InputError: there is no such chart or behaviour, or it is not valid.
    """
    options = Options(monitors=monitors, max_queued_events=max_queued_events, style=style)
    is_shipped_behaviour = str(name) in behaviour_names()
    if Path(name).is_dir() and not is_shipped_behaviour:
        raise InputError("this is a folder", where=Where(Path(name)), hint="give the chart's file")
    if is_shipped_behaviour or str(name).endswith(BEHAVIOUR):
        return BehaviourUnitSpec(read_behaviour(name), options)
    return ChartUnitSpec(read_chart(Path(name)), options)


def generate(
    document: UnitSpec | str | Path,
    folder: Path | str,
    target: str = "host",
    *,
    monitors: bool = False,
    max_queued_events: int | None = None,
    style: Style = Style.AUTO,
    force: bool = False,
    unchecked: bool = False,
    accept_faults: bool = False,
) -> Generated:
    """Write the C of a chart or behaviour for a target into a folder, byte for byte the same every time.

    Args:
        document: a chart's file, a behaviour's name or file, or a UnitSpec.
        folder: the folder, which is created. The user's files in it are written only where they are missing.
        target: one of `target_names()`.
        monitors: as for `read_unit_spec`.
        max_queued_events: as for `read_unit_spec`.
        style: as for `read_unit_spec`.
        force: overwrite files that were changed since they were generated, or were never generated.
        unchecked: write a chart without the check that it is sound.
        accept_faults: whether a behaviour is written in whose motions `motion check` reports errors, or whose
            gaits exceed the robot's limits.

    Raises:
        InputError: the document is not valid or not sound, or C or the target cannot do what it requires.
        UnsafeMotionError: `motion check` reports errors in a motion, or a gait exceeds the robot's limits,
            and `accept_faults` is false.
        OutputError: a changed file would be overwritten, or a file cannot be written; then none is changed.
    """
    board = target_named(target)
    if isinstance(document, str | Path):
        document = read_unit_spec(
            document, monitors=monitors, max_queued_events=max_queued_events, style=style
        )
    if isinstance(document, ChartUnitSpec) and not unchecked:
        require_sound(document.chart)
    faults: tuple[str, ...] = ()
    if isinstance(document, BehaviourUnitSpec):
        behaviour = document.behaviour
        motion_faults = find_faults_of_several(behaviour.motions.values(), behaviour.robot)
        faults = (*motion_faults, *_find_gait_faults(behaviour))
        require_no_faults(faults, behaviour.name, accept_faults=accept_faults, path=behaviour.path)
    unit_spec = board.adapt(document)
    folder = Path(folder)
    options = {"monitors": monitors, "queue": max_queued_events, "style": style.value}
    banner = _banner(unit_spec, target, options)
    sources = {file.name: file for file in (*unit_spec.sources(), *board.sources(unit_spec))}
    files = [_with_banner(_rename_sketch(file, folder), banner) for file in sources.values()]
    texts = {file.name: file.text for file in files if not file.keep}
    traced_ranges = line_ranges(file for file in files if not file.keep)
    texts[TRACE] = _json({"places": [line_range.to_dict() for line_range in traced_ranges]})
    manifest: dict[str, Any] = {
        "posewright": __version__,
        "target": target,
        "name": unit_spec.name,
        "documents": {name: _sha256(text) for name, text in unit_spec.documents.items()},
        "texts": dict(document.documents) if isinstance(document, ChartUnitSpec) else {},
        "options": options,
        "files": {name: _sha256(text) for name, text in texts.items()},
        "user_files": [file.name for file in files if file.keep],
    }
    if faults:
        manifest["accepted_faults"] = list(faults)
    previous_digests = _previous_digests(folder)
    obsolete = [name for name in previous_digests if name not in texts]
    removed = tuple(name for name in obsolete if path_exists(folder / name))
    if not force:
        _require_unchanged(folder, {**texts, **dict.fromkeys(obsolete, "")}, previous_digests)
    user_texts = {file.name: file.text for file in files if file.keep}
    kept_names = tuple(name for name in user_texts if (folder / name).exists())
    proposed = {file.name: file for file in files if file.name in kept_names}
    warnings = tuple(check_user_files(folder, proposed, header=texts["unit.h"], chart_name=unit_spec.name))
    texts |= {name: text for name, text in user_texts.items() if name not in kept_names}
    digests = {name: [*previous_digests.get(name, ()), _sha256(text)] for name, text in texts.items()}
    unfinished_manifest = {**manifest, "files": {}, "begun": {**previous_digests, **digests}}
    all_texts = {**texts, MANIFEST: _json(manifest)}
    _write_files(folder, all_texts, obsolete, unfinished_manifest=_json(unfinished_manifest))
    return Generated(
        folder,
        target,
        unit_spec.name,
        written=tuple(texts),
        kept=kept_names,
        places=traced_ranges,
        differences=_describe_differences(unit_spec),
        removed=removed,
        warnings=warnings,
        faults=faults,
    )


def _find_gait_faults(behaviour: Behaviour) -> Iterator[str]:
    """Yield what the gaits of a behaviour demand beyond the robot's reach, joint limits and joint speeds."""
    for name, gait in behaviour.gaits.items():
        for finding in check_gait(gait, behaviour.robot).findings:
            excess = f"{finding.value - finding.concern.allowed:.3g} {finding.concern.unit or 'of it'}"
            yield f"{name}: exceeds the {finding.concern.value} of {finding.part} by {excess}"


def _describe_differences(unit_spec: UnitSpec) -> tuple[str, ...]:
    """Return what the C of a unit's chart does differently from the interpreter, as text."""
    chart = unit_spec.chart if isinstance(unit_spec, BehaviourUnitSpec) else unit_spec
    return tuple(map(str, chart.differences)) if isinstance(chart, ChartUnitSpec) else ()


def build(folder: Path | str, target: str | None = None) -> BuildResult:
    """Compile the files generated in a folder.

    Args:
        folder: the folder.
        target: name of the target; None for the one it was generated for.

    Raises:
        InputError: nothing was generated there, or it does not fit the target.
        OutputError: the folder cannot be written to.
        UnavailableError: a compiler is missing; the hint names the package.
        CompileError: the compiler reports errors.
    """
    folder = Path(folder)
    if folder.is_dir() and not os.access(folder, os.W_OK):
        raise OutputError("cannot write here", where=Where(folder), hint="build in a folder of your own")
    return target_named(target or _read_manifest(folder).target).build(folder)


def accepted_faults(folder: Path | str) -> tuple[str, ...]:
    """Return the errors of `motion check` that were accepted when a folder was generated.

    Raises:
        InputError: nothing was generated there.
    """
    return _read_manifest(Path(folder)).accepted_faults


def find_changed_files(folder: Path | str) -> tuple[str, ...]:
    """Return sentences about the files of a folder that are not as they were generated.

    Files that belong to the user, such as the one that assigns the pins, are not among them.

    Raises:
        InputError: nothing was generated there.
    """
    folder = Path(folder)
    manifest = _read_manifest(folder)
    sentences: list[str] = []
    for name, digest in manifest.files.items():
        path = folder / name
        if not is_file(path):
            sentences.append(f"{name} is missing")
        elif hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            sentences.append(f"{name} was changed since it was generated")
    if manifest.user_files is not None:
        known_names = {*manifest.files, *manifest.user_files}
        added_names = [path.name for path in sorted(folder.glob("*.[ch]")) if path.name not in known_names]
        sentences += [f"{name} was not generated" for name in added_names]
    return tuple(sentences)


@dataclass(frozen=True, eq=False)
class GeneratedUnit:
    """The unit in a folder: its C as it is there, with any changes by hand.

    Attributes:
        unit_spec: the chart or behaviour that it was generated from, with the options of its target.
        target: name of the target.
        texts: the C files of the unit in the folder, by name.
        documents: the texts of the documents that the manifest contains, by name.
    """

    unit_spec: UnitSpec
    target: str
    texts: Mapping[str, str]
    documents: Mapping[str, str]

    @property
    def name(self) -> str:
        """Name of the chart or behaviour as an identifier of C."""
        return self.unit_spec.name

    @property
    def input_dtype(self) -> np.dtype[np.void]:
        """The dtype of a record of inputs."""
        return self.unit_spec.input_dtype

    @property
    def state_dtype(self) -> np.dtype[np.void]:
        """The dtype of a record of states."""
        return self.unit_spec.state_dtype

    def sources(self) -> tuple[SourceFile, ...]:
        """Return the C sources as they are in the folder."""
        return tuple(SourceFile(name, tuple(text.splitlines())) for name, text in self.texts.items())

    def reference(self) -> Executable:
        """Return the interpreter."""
        return self.unit_spec.reference()


def read_generated_unit(folder: Path | str) -> GeneratedUnit:
    """Return the unit that was generated into a folder, with its C as it is there now.

    The chart is in the manifest. The documents of a behaviour are looked for among those that ship, in the
    folder, beside it and in the current folder; they must be the same as when the code was generated.

    Raises:
        InputError: nothing was generated there, a C file is missing, or the documents are not found.
    """
    folder = Path(folder)
    manifest = _read_manifest(folder)
    document = _read_document_of(folder, manifest)
    unit_spec = target_named(manifest.target).adapt(document)
    texts: dict[str, str] = {}
    for file in unit_spec.sources():
        path = folder / file.name
        if not path.is_file():
            raise InputError("this generated file is missing", where=Where(path), hint="generate again")
        texts[file.name] = read_text(path)
    return GeneratedUnit(document, manifest.target, texts, documents=manifest.texts)


def _read_document_of(folder: Path, manifest: Manifest) -> UnitSpec:
    """Return the chart or behaviour from which the code in a folder was generated; raises InputError."""
    digests = manifest.documents
    options = manifest.options
    arguments = Options(monitors=options.monitors, max_queued_events=options.queue, style=options.style)
    for name, text in manifest.texts.items():
        if _sha256(text) == digests.get(name):
            return ChartUnitSpec(parse_any_chart(text, folder / name), arguments)
    candidates: list[str | Path] = [*behaviour_names()]
    candidates += [place / name for place in (folder, folder.parent, Path()) for name in digests]
    for candidate in candidates:
        if isinstance(candidate, Path) and not is_file(candidate):
            continue
        with suppress(PosewrightError, UnicodeDecodeError):
            unit_spec = read_unit_spec(
                candidate,
                monitors=arguments.monitors,
                max_queued_events=arguments.max_queued_events,
                style=arguments.style,
            )
            if {name: _sha256(text) for name, text in unit_spec.documents.items()} == digests:
                return unit_spec
    names = ", ".join(digests) or "the document"
    message = f"{names} as it was when the code was generated is not found"
    raise InputError(message, where=Where(folder), hint="put it beside the folder, or generate again")


def flash_command(folder: Path | str, port: str | None = None) -> tuple[str, ...]:
    """Build the files generated in a folder, and return the command that flashes a real board.

    Raises:
        InputError: nothing was generated there, or the target cannot be flashed.
    """
    folder = Path(folder)
    board = target_named(_read_manifest(folder).target)
    return tuple(board.flash_command(build(folder).image, port))


def explain(query: str, folder: Path | str | None = None) -> tuple[LineRange, ...]:
    """Return the element of a generated line, or the lines of an element of the document.

    Args:
        query: `FILE:LINE`; `LINE` of the main C file; `DOCUMENT:LINE` of the chart; or an element's name: a
            state, or a transition written `walking -> turning`.
        folder: the folder of the files; None for that of FILE, else the current one.

    Raises:
        UnknownNameError: there is no such file or element.
        InputError: nothing was generated there, or the line has no element.
    """
    file_part, _, line_part = query.rpartition(":")
    names_line = line_part.isdecimal()
    if folder is None:
        folder = Path(file_part).parent if names_line else Path()
    folder = Path(folder)
    manifest = _read_manifest(folder)
    traced_ranges = _read_trace(folder)
    if names_line:
        file_name = Path(file_part).name or f"{manifest.name}.c"
        return _explain_line(file_name, int(line_part), folder, manifest, traced_ranges)
    matches = tuple(line_range for line_range in traced_ranges if line_range.element.name == query)
    if not matches:
        raise _unknown_element_error(query, traced_ranges)
    return matches


def _explain_line(
    file_name: str, line: int, folder: Path, manifest: Manifest, traced_ranges: Sequence[LineRange]
) -> tuple[LineRange, ...]:
    """Return the ranges of generated lines that contain a line of a file, or come from a line of a document.

    Args:
        file_name: name of the file or document.
        line: the line, from 1.
        folder: the folder of the generated files.
        manifest: the folder's manifest.
        traced_ranges: all ranges of generated lines, each with the element that it was generated from.

    Raises:
        UnknownNameError: there is no such file.
        InputError: the line has no element, or the file is the user's.
    """
    path = folder / file_name
    if file_name in manifest.documents:
        matches = tuple(line_range for line_range in traced_ranges if line_range.element.line == line)
    elif file_name in manifest.files:
        matches = tuple(
            line_range
            for line_range in traced_ranges
            if line_range.file == file_name and line_range.first <= line <= line_range.last
        )
        n_lines = 0 if matches else len(read_text(path).splitlines())
        if not matches and not 1 <= line <= n_lines:
            raise InputError(f"there is no line {line}: the file has {n_lines}", where=Where(path))
    elif path.is_file():
        raise InputError(f"{file_name} is yours: its lines are not generated", where=Where(path))
    else:
        raise UnknownNameError.among("file", file_name, (*manifest.files, *manifest.documents))
    if not matches:
        raise InputError(f"line {line} of {file_name} belongs to no element of the document")
    return matches


def _unknown_element_error(name: str, traced_ranges: Sequence[LineRange]) -> UnknownNameError:
    """Return the error for an element without lines.

    Where the chart's tick is generated as a table of transitions, a state has no lines of its own; then the
    hint names its transitions.
    """
    element_names = {line_range.element.name for line_range in traced_ranges}
    transitions = sorted(element for element in element_names if name in element.split(" -> "))
    if transitions:
        hint = f"its transitions have lines: {', '.join(map(repr, transitions[:_MAX_LISTED]))}"
        return UnknownNameError(f"no line is for the state {name} alone", hint=hint)
    return UnknownNameError.among("element", name, element_names)


def _banner(unit_spec: UnitSpec, target: str, options: Mapping[str, object]) -> tuple[str, ...]:
    """Return the lines of the comment at the top of each file: version, target, options and documents."""
    non_defaults = ", ".join(
        f"{name} {value}" for name, value in options.items() if value not in (None, False, "auto")
    )
    lines = [f"Made by Posewright {__version__} for {target}; options: {non_defaults or 'none'}."]
    lines += [f"{name}: SHA-256 {_sha256(text)}" for name, text in unit_spec.documents.items()]
    lines += ["Do not edit this file: change the chart, and generate again."]
    # a document's name must not end the comment
    safe_lines = [line.replace("*/", "* /").replace("/*", "/ *") for line in lines]
    return ("/*", *(f" * {line}" for line in safe_lines), " */")


def _rename_sketch(file: SourceFile, folder: Path) -> SourceFile:
    """Return a sketch with the name of its folder, as the Arduino IDE requires; other files as they are."""
    if not file.name.endswith(SKETCH):
        return file
    name = folder.resolve().name
    if not _SKETCH_NAME.fullmatch(name):
        raise InputError(
            f"no sketch can be called {name!r}; the Arduino IDE requires the name of the folder",
            hint="letters, digits, _, . and -, 63 at most; neither . nor - first",
        )
    return replace(file, name=name + SKETCH)


def _with_banner(file: SourceFile, banner: Sequence[str]) -> SourceFile:
    """Return a file with the banner above it; the user's files, and files without comments, as they are."""
    if file.keep or not file.name.endswith(_WITH_BANNER):
        return file
    elements = (*(None for _ in banner), *file.elements) if file.elements else ()
    return replace(file, lines=(*banner, *file.lines), elements=elements)


def _read_manifest(folder: Path, *, accept_unfinished: bool = False) -> Manifest:
    """Read the manifest of a folder.

    Args:
        folder: the folder.
        accept_unfinished: whether to return also the manifest of a generation that was interrupted.

    Raises:
        InputError: there is none, it is damaged, or the generation was interrupted.
    """
    path = folder / MANIFEST
    if not path.exists():
        raise InputError(
            "no generated code here", where=Where(folder), hint="run posewright board generate CHART -o DIR"
        )
    try:
        manifest = read_record(Node(json.loads(read_text(path))), Manifest)
    except (ValueError, RecursionError, InputError) as error:
        reason = error.message if isinstance(error, InputError) else "it is not JSON"
        message = f"the manifest is damaged: {reason}"
        raise InputError(message, where=Where(path), hint="remove it and generate again") from error
    is_unfinished = manifest.begun is not None
    if is_unfinished and not accept_unfinished:
        raise InputError("the generation was interrupted here", where=Where(folder), hint="generate again")
    return manifest


def _read_trace(folder: Path) -> tuple[LineRange, ...]:
    """Return the ranges of lines with their elements of the document; raise an InputError if damaged."""
    path = folder / TRACE
    try:
        trace = Node(json.loads(read_text(path))).fields(required=("places",))
        return tuple(map(LineRange.read, trace["places"].items()))
    except (ValueError, RecursionError, InputError) as error:
        message = "the list of lines and elements is damaged"
        raise InputError(message, where=Where(path), hint="generate again") from error


def _previous_digests(folder: Path) -> Mapping[str, Sequence[str]]:
    """Return the possible digests of the generated files of a folder, two where writing was interrupted."""
    if not (folder / MANIFEST).exists():
        return {}
    manifest = _read_manifest(folder, accept_unfinished=True)
    return manifest.begun or {name: (digest,) for name, digest in manifest.files.items()}


def _require_unchanged(
    folder: Path, texts: Mapping[str, str], previous_digests: Mapping[str, Sequence[str]]
) -> None:
    """Raise an OutputError where a file to be overwritten was not generated, or was changed since.

    Args:
        folder: the folder.
        texts: the new text of each file; empty for one to be removed.
        previous_digests: the possible digests of each file that was generated before.
    """
    for name, text in texts.items():
        path = folder / name
        if not path_exists(path):
            continue
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        if digest not in (*previous_digests.get(name, ()), _sha256(text)):
            is_generated = name in previous_digests
            reason = "was changed since it was generated" if is_generated else "was not generated"
            raise OutputError(
                f"it {reason}, and would be lost",
                where=Where(path),
                hint="move it, or overwrite it with --force",
            )


def _write_files(
    folder: Path, texts: Mapping[str, str], obsolete: Sequence[str], unfinished_manifest: str
) -> None:
    """Write all files or none, and remove obsolete ones.

    Args:
        folder: the folder, which is created.
        texts: the files, with the manifest last.
        obsolete: names of files to remove.
        unfinished_manifest: the manifest until all files are written.

    Raises:
        OutputError: a file cannot be written; the folder is as before.
    """
    create_folder(folder)
    paths = [folder / name for name in (*texts, *obsolete)]
    previous_contents = {path: path.read_bytes() if is_file(path) else None for path in paths}
    try:
        write_atomically(folder / MANIFEST, unfinished_manifest.encode(), durable=False)
        for name, text in texts.items():
            if name == MANIFEST:
                _remove_files(folder, obsolete)
            write_atomically(folder / name, text.encode(), durable=False)
    except OutputError:
        for path, content in previous_contents.items():
            with suppress(OSError, OutputError):  # a file that cannot be written now was not changed before
                if content is None:
                    path.unlink(missing_ok=True)
                elif path.read_bytes() != content:
                    write_atomically(path, content, durable=False)
        raise


def _remove_files(folder: Path, names: Sequence[str]) -> None:
    """Remove files of a folder; those that are missing do not matter. Raises OutputError."""
    for name in names:
        try:
            (folder / name).unlink(missing_ok=True)
        except OSError as error:
            raise OutputError(f"cannot remove it: {error.strerror}", where=Where(folder / name)) from error


def _sha256(text: str) -> str:
    """Return the SHA-256 digest of a text, in hexadecimal digits."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()  # a manifest may hold any text


def _json(data: object) -> str:
    """Return plain data as the text of a JSON file."""
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"
