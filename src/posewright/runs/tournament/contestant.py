"""Who takes part in a day: a folder with an `entry.yaml`, and whatever its behaviours need beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from posewright.contests import contest_names
from posewright.documents import Node, is_file, is_folder, is_path, read_document
from posewright.errors import InputError, UnknownNameError, Where
from posewright.robots import robot
from posewright.runs.batch import digest_of
from posewright.runs.programs import program_kinds, read_program

ENTRY = "entry.yaml"
LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class Contestant:
    """One entry of a day.

    Attributes:
        name: what it is called in all tables.
        club: where it is from; may be empty.
        robot: name, or path of its card.
        behaviours: name or path of what it does, as `read_program` takes it, by contest.
        options: what is said to these behaviours besides, by contest and then by name.
    """

    name: str
    robot: str
    behaviours: Mapping[str, str] = field(default_factory=dict)
    club: str = ""
    options: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain data."""
        return asdict(self)

    def digest(self) -> str:
        """Return a digest of the texts it hangs on, and of its robot's model.

        Raises:
            PosewrightError: the robot or one of the behaviours cannot be read.
        """
        card = robot(self.robot)
        texts = {"card": card.text}
        if card.model_path is not None:
            texts["model"] = card.model_path.read_bytes().hex()
        for discipline, behaviour in self.behaviours.items():
            program = read_program(behaviour, card, options=self.options.get(discipline, {}))
            texts |= {f"{discipline}/{name}": text for name, text in program.documents.items()}
        return digest_of(texts)


def read_contestant(folder: str | Path) -> Contestant:
    """Read an entry from its folder.

    Raises:
        InputError: there is no `entry.yaml`, or a path in it leads out of the folder.
        DocumentError: it is not as it should be.
        UnknownNameError: it names a contest that is not there.
    """
    path = Path(folder) / ENTRY
    if not is_file(path):
        why = f"no entry: it has no {ENTRY}" if is_folder(path.parent) else "there is no such folder"
        raise InputError(why, where=Where(path.parent), hint="docs/how-to-contest-day.md")
    parts = read_document(path).fields(
        required=("entry", "robot", "behaviours"), optional=("club", "options")
    )
    behaviours = parts["behaviours"].fields()
    known = contest_names()
    for discipline, node in behaviours.items():
        if discipline not in known:
            raise UnknownNameError.among("contest", discipline, known, where=node.where)
    programs = {discipline: _resolved(node, path.parent) for discipline, node in behaviours.items()}
    kinds = program_kinds().values()
    for discipline, name in programs.items():
        shipped = [known_name for kind in kinds for known_name in kind.names(None)]
        is_known = name in shipped or any(kind.recognises(name) for kind in kinds)
        if not is_path(name) and not is_known and name.partition(":")[0] not in program_kinds():
            raise UnknownNameError.among("behaviour", name, shipped, where=behaviours[discipline].where)
    options: dict[str, dict[str, str]] = {}
    for discipline, node in parts["options"].fields().items() if "options" in parts else ():
        if discipline not in programs:
            raise UnknownNameError.among("contest of this entry", discipline, programs, where=node.where)
        options[discipline] = {name: value.text() for name, value in node.fields().items()}
    return Contestant(
        name=_name(parts["entry"]),
        robot=_resolved(parts["robot"], path.parent),
        behaviours=programs,
        options=options,
        club=_name(parts["club"]) if "club" in parts else "",
    )


def read_contestants(folders: Iterable[str | Path]) -> tuple[Contestant, ...]:
    """Read entries from their folders, or all in a folder that is none itself, in the order of names.

    Raises:
        InputError: two are called alike, or a folder holds none; else what `read_contestant` raises.
    """
    found: dict[str, Path] = {}
    read: list[Contestant] = []
    for folder in _entries_in(map(Path, folders)):
        one = read_contestant(folder)
        if one.name.casefold() in found:
            what = f"an entry called {one.name!r} is in {found[one.name.casefold()]} already"
            raise InputError(what, where=Where(folder / ENTRY), hint="two entries need two names")
        found[one.name.casefold()] = folder
        read.append(one)
    return tuple(sorted(read, key=lambda one: one.name))


def _entries_in(folders: Iterable[Path]) -> Iterable[Path]:
    for folder in folders:
        inside = sorted(path.parent for path in folder.glob(f"*/{ENTRY}")) if is_folder(folder) else []
        if is_file(folder / ENTRY) or not inside:
            yield folder
        else:
            yield from inside


def _name(node: Node) -> str:
    text = node.text()
    if not text.strip() or not text.isprintable() or len(text) > LONGEST_NAME:
        node.fail(f"no name: {text!r:.80}", hint=f"1 to {LONGEST_NAME} characters that can be seen")
    return text.strip()


def _resolved(node: Node, folder: Path) -> str:
    """Return a path relative to the folder as one relative to here; a name of what ships stays as it is."""
    name = node.text()
    file, _, class_name = name.rpartition(":")
    is_python = file.endswith(".py")
    if not (is_python or is_path(name) or is_file(folder / name)):
        return name
    path = folder / (file if is_python else name)
    try:
        inside = path.resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError, RuntimeError):  # too long, a NUL in it, a circle of links
        inside = False
    if not inside:
        node.fail(
            f"{name!r:.80} leads out of the entry's folder", hint="an entry has all it needs in its folder"
        )
    if is_python:
        return f"{path}:{class_name}"
    return f"{folder}/{name}"  # never without a slash, which tells it from a name
