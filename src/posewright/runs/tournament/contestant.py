"""Contestants of a day: folders with an `entry.yaml` and the files of their behaviours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from posewright.contests import contest_names
from posewright.documents import Node, is_file, is_folder, is_path, read_document
from posewright.errors import InputError, PosewrightError, UnknownNameError, Where
from posewright.robots import robot
from posewright.runs.batch import digest_of
from posewright.runs.programs import program_kinds, read_program
from posewright.runs.python_programs import PythonKind

ENTRY = "entry.yaml"
MAX_NAME_LENGTH = 60


@dataclass(frozen=True, slots=True)
class Contestant:
    """One entry of a day.

    Attributes:
        name: the name as shown in all tables.
        robot: name, or path of its card.
        behaviours: name or path of a program for each contest, as `read_program` takes it.
        club: where it is from; may be empty.
        options: options of these programs, by contest and name.
        error: why it forfeits every contest: its `entry.yaml` or its robot cannot be read; else empty.
        program_errors: why it forfeits single contests: their programs cannot be read; by contest.
    """

    name: str
    robot: str
    behaviours: Mapping[str, str] = field(default_factory=dict)
    club: str = ""
    options: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    error: str = ""
    program_errors: Mapping[str, str] = field(default_factory=dict)

    @property
    def forfeits(self) -> tuple[str, ...]:
        """What it forfeits and why, a line each; empty if everything of it can be read."""
        if self.error:
            return (f"{self.name} forfeits all contests: {self.error}",)
        return tuple(
            f"{self.name} forfeits {contest}: {error}" for contest, error in self.program_errors.items()
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return asdict(self)

    def digest(self) -> str:
        """Return a digest of its errors, of all documents that it depends on, and of its robot's model.

        Raises:
            PosewrightError: the robot or one of the behaviours without an error cannot be read.
        """
        if self.error:
            return digest_of({"error": self.error})
        card = robot(self.robot)
        texts = {"card": card.text}
        if card.model_path is not None:
            texts["model"] = card.model_path.read_bytes().hex()
        for discipline, behaviour in self.behaviours.items():
            if discipline in self.program_errors:
                texts[f"{discipline} error"] = self.program_errors[discipline]
                continue
            program = read_program(behaviour, card, options=self.options.get(discipline, {}))
            texts |= {f"{discipline}/{name}": text for name, text in program.documents.items()}
        return digest_of(texts)

    def python_programs(self) -> dict[str, str]:
        """Return the programs that execute Python code when they are read, by contest."""
        names: dict[str, str] = {}
        for discipline, behaviour in self.behaviours.items():
            python_options = [value for value in self.options.get(discipline, {}).values() if ".py" in value]
            if PythonKind().recognises(behaviour):
                names[discipline] = behaviour
            elif python_options:
                names[discipline] = ", ".join(python_options)
        return names


def check_contestant(contestant: Contestant, *, trust_python: bool = False) -> Contestant:
    """Return an entry with the errors of its robot and of its programs, of which it forfeits the contests.

    Args:
        contestant: the entry.
        trust_python: whether to execute Python programs, which can do anything; otherwise they are not read.
    """
    if contestant.error:
        return contestant
    try:
        card = robot(contestant.robot)
    except PosewrightError as error:
        return replace(contestant, error=str(error))
    untrusted = {} if trust_python else contestant.python_programs()
    errors: dict[str, str] = {}
    for discipline, behaviour in contestant.behaviours.items():
        if discipline in untrusted:
            continue
        try:
            read_program(behaviour, card, options=contestant.options.get(discipline, {}))
        except PosewrightError as error:
            errors[discipline] = str(error)
    return replace(contestant, program_errors=errors)


def read_contestant(folder: str | Path) -> Contestant:
    """Read an entry from its folder.

    Raises:
        InputError: there is no `entry.yaml`, or a path in it leads out of the folder.
        DocumentError: the document is invalid.
        UnknownNameError: it names an unknown contest.
    """
    path = Path(folder) / ENTRY
    if not is_file(path):
        message = f"the folder has no {ENTRY}" if is_folder(path.parent) else "there is no such folder"
        raise InputError(message, where=Where(path.parent), hint="see docs/how-to-contest-day.md")
    parts = read_document(path).fields(
        required=("entry", "robot", "behaviours"), optional=("club", "options")
    )
    behaviours = parts["behaviours"].fields()
    contests = contest_names()
    for discipline, node in behaviours.items():
        if discipline not in contests:
            raise UnknownNameError.among("contest", discipline, contests, where=node.where)
    programs = {discipline: _resolve_path(node, path.parent) for discipline, node in behaviours.items()}
    kinds = program_kinds()
    catalogue_names = [catalogue_name for kind in kinds.values() for catalogue_name in kind.names(None)]
    for discipline, name in programs.items():
        is_recognised = name in catalogue_names or any(kind.recognises(name) for kind in kinds.values())
        has_kind = name.partition(":")[0] in kinds
        if not is_path(name) and not is_recognised and not has_kind:
            raise UnknownNameError.among(
                "behaviour", name, catalogue_names, where=behaviours[discipline].where
            )
    options: dict[str, dict[str, str]] = {}
    option_nodes = parts["options"].fields() if "options" in parts else {}
    for discipline, node in option_nodes.items():
        if discipline not in programs:
            raise UnknownNameError.among(
                "contest", discipline, programs, owner="of this entry", where=node.where
            )
        options[discipline] = {
            name: _resolve_option(value, path.parent) for name, value in node.fields().items()
        }
    return Contestant(
        name=_read_name(parts["entry"]),
        robot=_resolve_path(parts["robot"], path.parent),
        behaviours=programs,
        options=options,
        club=_read_name(parts["club"]) if "club" in parts else "",
    )


def read_contestants(folders: Iterable[str | Path]) -> tuple[Contestant, ...]:
    """Read entries, sorted by name, from their folders or from folders that contain some.

    An entry whose `entry.yaml` is invalid has the name of its folder, and the error.

    Raises:
        InputError: two entries have the same name, or a folder has no entry.
    """
    folder_of_name: dict[str, Path] = {}
    contestants: list[Contestant] = []
    for folder in _find_entry_folders(map(Path, folders)):
        try:
            contestant = read_contestant(folder)
        except PosewrightError as error:
            if not is_file(folder / ENTRY):
                raise
            contestant = Contestant(folder.resolve().name, robot="", error=str(error))
        key = contestant.name.casefold()
        if key in folder_of_name:
            message = f"the name {contestant.name!r} is already used by {folder_of_name[key]}"
            raise InputError(message, where=Where(folder / ENTRY), hint="two entries need two names")
        folder_of_name[key] = folder
        contestants.append(contestant)
    return tuple(sorted(contestants, key=lambda contestant: contestant.name))


def _find_entry_folders(folders: Iterable[Path]) -> Iterable[Path]:
    """Yield the folders of entries: each folder itself, or else those in it."""
    for folder in folders:
        subfolders = sorted(path.parent for path in folder.glob(f"*/{ENTRY}")) if is_folder(folder) else []
        if is_file(folder / ENTRY) or not subfolders:
            yield folder
        else:
            yield from subfolders


def _read_name(node: Node) -> str:
    """Return the name of an entry or a club."""
    text = node.text()
    if not text.strip() or not text.isprintable() or len(text) > MAX_NAME_LENGTH:
        node.fail(f"not a name: {text!r:.80}", hint=f"1 to {MAX_NAME_LENGTH} printable characters")
    return text.strip()


def _resolve_option(node: Node, folder: Path) -> str:
    """Return an option that names a file or folder of the entry relative to the working directory.

    Any other value stays as it is.
    """
    value = node.text()
    names_program = value.rpartition(":")[0].endswith(".py")
    if names_program or is_file(folder / value):
        return _resolve_path(node, folder)
    if value and is_folder(folder / value):
        return _require_inside(node, folder / value, folder)
    return value


def _resolve_path(node: Node, folder: Path) -> str:
    """Return a path in the entry's folder relative to the working directory; a name stays as it is."""
    name = node.text()
    file, _, class_name = name.rpartition(":")
    is_python = file.endswith(".py")
    if not (is_python or is_path(name) or is_file(folder / name)):
        return name
    path = folder / (file if is_python else name)
    path_text = _require_inside(node, path, folder)
    return f"{path_text}:{class_name}" if is_python else path_text


def _require_inside(node: Node, path: Path, folder: Path) -> str:
    """Return a path with a slash, which distinguishes it from a name, or raise if it is outside a folder."""
    try:
        is_inside = path.resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError, RuntimeError):  # too long, a NUL character, or a loop of links
        is_inside = False
    if not is_inside:
        node.fail(f"{node.text()!r:.80} is outside the entry's folder", hint="a file in the entry's folder")
    return f"{folder}/{path.relative_to(folder)}"
