"""Catalogues: shipped documents found by name, and entry points of installed packages."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from posewright.documents.files import path_exists
from posewright.documents.user_code import add_package_code
from posewright.errors import InputError, UnknownNameError, Where


def is_path(name: str | Path) -> bool:
    """Return whether `name` is the path of a file, and not the name of a shipped document."""
    text = str(name)
    return isinstance(name, Path) or "/" in text or "\\" in text or text.endswith((".yaml", ".yml"))


@dataclass(frozen=True)
class Catalogue:
    """Documents of one kind; the name of each is its file's path in the folder, without the suffix.

    Attributes:
        kind: what a document of the catalogue is, for messages: `layout`.
        suffix: the suffix of the files, `.layout.yaml`; or `/robot.yaml` if each document is a folder.
        folders: returns the folders of the catalogue.
        owner: what the documents belong to, for messages: `of sony_ers7`.
    """

    kind: str
    suffix: str
    folders: Callable[[], Iterable[Path]]
    owner: str = ""

    def names(self) -> tuple[str, ...]:
        """Return the names of all documents, in alphabetical order."""
        return tuple(sorted({name for name, _ in self._files()}))

    def shipped_path(self, name: str) -> Path:
        """Return the path of a shipped document. A `name` that is itself a path is never followed.

        Raises:
            UnknownNameError: no document has that name.
            InputError: several documents have it.
        """
        matches = [path for document_name, path in self._files() if document_name == name]
        if len(matches) > 1:
            paths = " or ".join(str(path) for path in matches)
            raise InputError(f"several {self.kind}s are called {name}", hint=f"name a file: {paths}")
        if not matches:
            raise UnknownNameError.among(self.kind, name, self.names(), owner=self.owner)
        return matches[0]

    def find(
        self, name: str | Path, *, base_folder: Path | None = None, extra_names: Collection[str] = ()
    ) -> Path:
        """Return the path of a shipped document, or of the file at a path.

        Args:
            name: the name of a shipped document, or a path.
            base_folder: what a relative path is relative to; the working folder by default.
            extra_names: further names that the caller accepts, suggested in the message.

        Raises:
            UnknownNameError: no shipped document has that name, and no file is at that path.
            InputError: several documents have the name, or no file is at the path.
        """
        if isinstance(name, str) and name in self.names():
            return self.shipped_path(name)
        path = (base_folder or Path()) / name
        if _exists(path, or_folder=is_path(name)):
            return path
        if is_path(name):
            if path_exists(path):
                raise InputError(
                    "it is neither a file nor a folder",
                    where=Where(path=path),
                    hint=f"the file of a {self.kind}",
                )
            raise InputError(f"there is no such {self.kind}", where=Where(path=path))
        raise UnknownNameError.among(self.kind, name, {*self.names(), *extra_names}, owner=self.owner)

    def _files(self) -> Iterator[tuple[str, Path]]:
        for folder in self.folders():
            for path in sorted(folder.rglob(f"*{self.suffix}")):
                yield path.relative_to(folder).as_posix().removesuffix(self.suffix), path


def _exists(path: Path, *, or_folder: bool) -> bool:
    try:
        return path.is_file() or (or_folder and path.is_dir())
    except (OSError, ValueError):  # the name is too long, or has a NUL in it
        return False


class Plugins(Mapping[str, Any]):
    """The entry points of installed packages in one group, each loaded when it is first looked up.

    Attributes:
        group: the name of the group, such as `posewright.contests`.
    """

    def __init__(self, group: str, entries: Iterable[importlib.metadata.EntryPoint]) -> None:
        self.group = group
        self._entries: dict[str, list[importlib.metadata.EntryPoint]] = {}
        for entry in entries:
            self._entries.setdefault(entry.name, []).append(entry)

    def __getitem__(self, name: str) -> Any:
        """Load the object that an entry point names.

        Raises:
            KeyError: no package has an entry point of that name.
            InputError: it cannot be loaded, or several packages have one.
        """
        entries = self._entries[name]
        if len(entries) > 1:
            packages = " and ".join(map(_package_label, entries))
            raise InputError(
                f"{name!r} in {self.group} is offered by {packages}", hint="uninstall one of them"
            )
        try:
            loaded = entries[0].load()
        except (Exception, SystemExit) as error:  # importing a foreign module may raise anything
            raise self.build_error(name, f"cannot be loaded: {error}") from error
        add_package_code(entries[0].module)
        return loaded

    def build_error(self, name: str, problem: str) -> InputError:
        """Build the error for an unusable entry point; it names the package.

        Args:
            name: the name of the entry point.
            problem: the predicate of the message: `cannot be loaded`.
        """
        entry = self._entries[name][0]
        message = f"{name!r} in {self.group}, from {_package_label(entry)}, {problem}"
        return InputError(message, hint=f"its entry point is {entry.value}; fix or uninstall the package")

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._entries))

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return f"Plugins({self.group!r}: {', '.join(self) or 'none'})"


def _package_label(entry: importlib.metadata.EntryPoint) -> str:
    return f"the package {entry.dist.name} {entry.dist.version}" if entry.dist else "an unknown package"


@cache
def plugins(group: str) -> Plugins:
    """Return the entry points of installed packages in a group, such as `posewright.contests`."""
    return Plugins(group, importlib.metadata.entry_points(group=group))
