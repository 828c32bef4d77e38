"""Generates a chart or a behaviour into a folder, builds what is there, and says what its lines are for.

Beside the C files a folder gets `trace.json`, which links every line to its element of the document, and
`posewright.json`, which says what made the files and what they were like when they were made.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from posewright.charts import read_chart, require_sound
from posewright.codegen.behaviour.subject import BehaviourSubject
from posewright.codegen.c import ChartSubject, Options
from posewright.codegen.c.truth_table import Style
from posewright.codegen.targets import Built, target_named
from posewright.codegen.trace import Place, places_in
from posewright.codegen.unit import SourceFile, Subject
from posewright.codegen.user_sources import warnings_about
from posewright.controllers.behaviours import behaviour_names, read_behaviour
from posewright.display import Lines
from posewright.documents import read_text, write_atomically
from posewright.errors import InputError, OutputError, UnknownNameError, Where
from posewright.version import __version__

MANIFEST, TRACE = "posewright.json", "trace.json"
"""What made the files of a folder; what their lines are for."""

BEHAVIOUR = ".behaviour.yaml"
SKETCH = ".ino"
_SKETCH_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}")
"""Arduino sketch specification, "Sketch root folder"."""

BEGUN = "begun"
"""In a folder's manifest while its files are written: what each may be like, as lists of digests."""

_COMMENTED = (".c", ".h", ".hpp", ".ld", ".cpp", SKETCH)


@dataclass(frozen=True)
class Generated:
    """What was generated.

    Attributes:
        written: files that were written.
        kept: files that are the user's, and were there.
        places: what the lines are for.
        policies: what the C does otherwise than the interpreter, in words.
        removed: files that were generated before, and are no more.
        warnings: what of the user's files does not fit.
    """

    folder: Path
    target: str
    name: str
    written: tuple[str, ...]
    kept: tuple[str, ...]
    places: tuple[Place, ...]
    policies: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data, fit for JSON."""
        told = {"folder": str(self.folder), "target": self.target, "name": self.name}
        lists = {"written": self.written, "kept": self.kept, "policies": self.policies}
        lists |= {"removed": self.removed, "warnings": self.warnings}
        return told | {name: list(texts) for name, texts in lists.items()}

    def lines(self) -> Lines:
        """Yield what was written, what of the folder is the user's, and what the C does otherwise."""
        yield f"{len(self.written)} files -> {self.folder}"
        if self.kept:
            yield f"left alone: {', '.join(self.kept)}"
        if self.removed:
            yield f"removed: {', '.join(self.removed)}"
        for warning in self.warnings:
            yield f"! {warning}"
        yield from self.policies


def subject_named(
    text: str | Path, *, monitors: bool = False, queue: int | None = None, style: Style = Style.AUTO
) -> Subject:
    """Return what a person names: a chart's file, or a behaviour by its name or file.

    Args:
        text: what is named.
        monitors: let the promises be watched at run time.
        queue: events that may wait at once; None for as many as surely can, or as the target has room for.
        style: whether the tick of a chart of one state at a time is a switch or a table.

    Raises:
        InputError: there is no such chart or behaviour, or it is not what it should be.
    """
    options = Options(monitors=monitors, queue=queue, style=style)
    if Path(text).is_dir() and str(text) not in behaviour_names():
        raise InputError("this is a folder", where=Where(Path(text)), hint="give the chart's file")
    if str(text) in behaviour_names() or str(text).endswith(BEHAVIOUR):
        return BehaviourSubject(read_behaviour(text), options)
    return ChartSubject(read_chart(Path(text)), options)


def _made(
    document: Subject, target: str, told: Mapping[str, object], texts: Mapping[str, str]
) -> dict[str, object]:
    """Return what the manifest says: what made the files, of what, and what they were like."""
    return {
        "posewright": __version__,
        "target": target,
        "name": document.name,
        "documents": {name: _sha256(text) for name, text in document.documents.items()},
        "options": told,
        "files": {name: _sha256(text) for name, text in texts.items()},
    }


def generate(
    document: Subject | str | Path,
    folder: Path | str,
    target: str = "host",
    *,
    monitors: bool = False,
    queue: int | None = None,
    style: Style = Style.AUTO,
    force: bool = False,
    unchecked: bool = False,
) -> Generated:
    """Write the C of a chart or behaviour for a target into a folder, byte for byte the same every time.

    Args:
        document: a chart's file, a behaviour's name or file, or a Subject.
        folder: where to; it is made. Files in it that are the user's are written only where they are missing.
        target: one of `target_names()`.
        monitors: as `subject_named`.
        queue: as `subject_named`.
        style: as `subject_named`.
        force: write over files that were changed since they were generated, or were never generated.
        unchecked: write a chart even though it may be unsound.

    Raises:
        InputError: the document is wrong or unsound, or C or the target cannot keep what it promises.
        OutputError: a file was changed and would be lost, or cannot be written; then none is changed.
    """
    board = target_named(target)
    if isinstance(document, str | Path):
        document = subject_named(document, monitors=monitors, queue=queue, style=style)
    if isinstance(document, ChartSubject) and not unchecked:
        require_sound(document.chart)
    document, folder = board.fitted(document), Path(folder)
    told = {"monitors": monitors, "queue": queue, "style": style.value}
    sources = {file.name: file for file in (*document.sources(), *board.sources(document))}
    files = [
        _with_banner(_as_folder(file, folder), _banner(document, target, told)) for file in sources.values()
    ]
    texts = {file.name: file.text for file in files if not file.keep}
    places = places_in(file for file in files if not file.keep)
    texts[TRACE] = _json({"places": [place.to_dict() for place in places]})
    made = _made(document, target, told, texts)
    before = _written(folder)
    gone = [name for name in before if name not in texts]
    removed = tuple(name for name in gone if (folder / name).exists())
    if not force:
        _refuse_losing(folder, {**texts, **dict.fromkeys(gone, "")}, before)
    own = {file.name: file.text for file in files if file.keep}
    kept = tuple(name for name in own if (folder / name).exists())
    mine = {file.name: file for file in files if file.name in kept}
    warnings = tuple(warnings_about(folder, mine, texts["unit.h"], document.name))
    texts |= {name: text for name, text in own.items() if name not in kept}
    begun = {name: [*before.get(name, ()), _sha256(text)] for name, text in texts.items()}
    unfinished = {**made, "files": {}, BEGUN: {**before, **begun}}
    _write(folder, {**texts, MANIFEST: _json(made)}, gone, _json(unfinished))
    said = (_policies(document), removed, warnings)
    return Generated(folder, target, document.name, tuple(texts), kept, places, *said)


def _policies(subject: Subject) -> tuple[str, ...]:
    chart = subject.chart if isinstance(subject, BehaviourSubject) else subject
    return tuple(map(str, chart.policies)) if isinstance(chart, ChartSubject) else ()


def build(folder: Path | str, target: str | None = None) -> Built:
    """Compile what was generated into a folder.

    Args:
        folder: where it is.
        target: for which; None for the one it was generated for.

    Raises:
        InputError: nothing was generated there, or it does not fit the target.
        OutputError: the folder cannot be written to.
        UnavailableError: a compiler is missing; the hint names the package that brings it.
        CompileError: the compiler refuses it.
    """
    folder = Path(folder)
    if folder.is_dir() and not os.access(folder, os.W_OK):
        raise OutputError("cannot write here", where=Where(folder), hint="build in a folder of your own")
    return target_named(target or str(_manifest(folder)["target"])).build(folder)


def flash_command(folder: Path | str, port: str | None = None) -> tuple[str, ...]:
    """Build what was generated into a folder, and return the command that puts it onto a real board.

    Raises:
        InputError: nothing was generated there, or for a target that cannot be flashed.
    """
    folder = Path(folder)
    board = target_named(str(_manifest(folder)["target"]))
    return tuple(board.flash_command(build(folder).image, port))


def explain(asked: str, folder: Path | str | None = None) -> tuple[Place, ...]:
    """Return what a generated line is for, or which lines are for an element of the document.

    Args:
        asked: `FILE:LINE`; `LINE` of the main C file; `DOCUMENT:LINE` of the chart; or an element's name: a
            state, or a transition written `walking -> turning`.
        folder: where the files are; None for where FILE is, else the current one.

    Raises:
        UnknownNameError: there is no such file or element.
        InputError: nothing was generated there, or the line is for nothing in particular.
    """
    name, _, number = asked.rpartition(":")
    if not number.isdecimal():
        name, number = asked, ""
    folder = Path(folder) if folder is not None else Path(name).parent if number else Path()
    made = _manifest(folder)
    data = json.loads(read_text(folder / TRACE))
    places = tuple(map(Place.of, data["places"]))
    if not number:
        found = tuple(place for place in places if place.element.name == name)
        if not found:
            raise _no_element(name, places)
        return found
    name, line = Path(name).name or f"{made['name']}.c", int(number)
    if name in made["documents"]:
        found = tuple(place for place in places if place.element.line == line)
    elif name in made["files"]:
        found = tuple(place for place in places if place.file == name and place.first <= line <= place.last)
    elif (folder / name).is_file():
        raise InputError(f"{name} is yours: its lines are not generated", where=Where(folder / name))
    else:
        raise UnknownNameError.among("file", name, (*made["files"], *made["documents"]))
    if not found and name in made["files"]:
        count = len(read_text(folder / name).splitlines())
        if not 1 <= line <= count:
            raise InputError(f"there is no line {line}: the file has {count}", where=Where(folder / name))
    if not found:
        raise InputError(f"line {line} of {name} is for no element of the document in particular")
    return found


def _no_element(name: str, places: Sequence[Place]) -> UnknownNameError:
    """Return the error for what no line is for: in a table there is none for a state alone."""
    names = {place.element.name for place in places}
    ways = sorted(one for one in names if name in one.split(" -> "))
    if ways:
        hint = f"its transitions have lines: {', '.join(map(repr, ways[:4]))}"
        return UnknownNameError(f"no line is for the state {name} alone", hint=hint)
    return UnknownNameError.among("element", name, names)


def _banner(subject: Subject, target: str, options: Mapping[str, Any]) -> tuple[str, ...]:
    chosen = ", ".join(
        f"{name} {value}" for name, value in options.items() if value not in (None, False, "auto")
    )
    lines = [f"Made by Posewright {__version__} for {target}; options: {chosen or 'none'}."]
    lines += [f"{name}: SHA-256 {_sha256(text)}" for name, text in subject.documents.items()]
    lines += ["Do not edit this file: change the chart, and generate again."]
    safe = [line.replace("*/", "* /").replace("/*", "/ *") for line in lines]
    return ("/*", *(f" * {line}" for line in safe), " */")


def _as_folder(file: SourceFile, folder: Path) -> SourceFile:
    """Return a sketch called like its folder, for else the Arduino IDE does not open it."""
    if not file.name.endswith(SKETCH):
        return file
    name = folder.resolve().name
    if not _SKETCH_NAME.fullmatch(name):
        what = f"no sketch can be called {name!r}, as the Arduino IDE calls it like its folder"
        raise InputError(what, hint="letters, digits, _, . and -, 63 at most; neither . nor - first")
    return replace(file, name=name + SKETCH)


def _with_banner(file: SourceFile, banner: Sequence[str]) -> SourceFile:
    if file.keep or not file.name.endswith(_COMMENTED):
        return file
    elements = (*(None for _ in banner), *file.elements) if file.elements else ()
    return replace(file, lines=(*banner, *file.lines), elements=elements)


def _manifest(folder: Path, *, unfinished: bool = False) -> dict[str, Any]:
    """Return what made the files of a folder."""
    path = folder / MANIFEST
    if not path.exists():
        raise InputError(
            "nothing was generated here", where=Where(folder), hint="posewright board generate CHART -o DIR"
        )
    try:
        data = json.loads(read_text(path))
        if all(isinstance(data[name], dict) for name in ("files", "documents")) and data["target"]:
            if BEGUN in data and not unfinished:
                raise InputError("generating was cut off here", where=Where(folder), hint="generate anew")
            return dict(data)
    except (ValueError, KeyError, TypeError):
        pass
    raise InputError("this is damaged", where=Where(path), hint="remove it and generate anew")


def _written(folder: Path) -> dict[str, list[str]]:
    """Return what each generated file of a folder may be like: digests, two where writing was cut off."""
    if not (folder / MANIFEST).exists():
        return {}
    made = _manifest(folder, unfinished=True)
    return made.get(BEGUN) or {name: [digest] for name, digest in made["files"].items()}


def _refuse_losing(folder: Path, texts: Mapping[str, str], before: Mapping[str, Sequence[str]]) -> None:
    """Refuse to write over files that were not generated, or were changed since."""
    for name, text in texts.items():
        path = folder / name
        if not path.exists():
            continue
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        if digest not in (*before.get(name, ()), _sha256(text)):
            why = "was changed since it was generated" if name in before else "was not generated"
            raise OutputError(
                f"it {why}, and would be lost",
                where=Where(path),
                hint="move it, or write over it with --force",
            )


def _write(folder: Path, texts: Mapping[str, str], gone: Sequence[str], unfinished: str) -> None:
    """Write all files or none, and remove those that are gone; `unfinished` is the manifest meanwhile."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"no folder can be made there: {error.strerror}", where=Where(folder)) from error
    paths = [folder / name for name in (*texts, *gone)]
    old = {path: path.read_bytes() if path.is_file() else None for path in paths}
    try:
        write_atomically(folder / MANIFEST, unfinished.encode(), durable=False)
        for name, text in texts.items():
            if name == MANIFEST:
                _remove(folder, gone)
            write_atomically(folder / name, text.encode(), durable=False)
    except OutputError:
        for path, content in old.items():
            with suppress(OSError, OutputError):  # what cannot be written now was not written before
                if content is None:
                    path.unlink(missing_ok=True)
                elif path.read_bytes() != content:
                    write_atomically(path, content, durable=False)
        raise


def _remove(folder: Path, names: Sequence[str]) -> None:
    for name in names:
        try:
            (folder / name).unlink(missing_ok=True)
        except OSError as error:
            raise OutputError(
                f"it cannot be removed: {error.strerror}", where=Where(folder / name)
            ) from error


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _json(data: Any) -> str:
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"
