"""Catalogues: what ships, and what installed packages add, found by name."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from posewright.errors import InputError, UnknownNameError, Where


def is_path(name: str | Path) -> bool:
    """Tell whether somebody names a file by its path, rather than a thing that ships by its name."""
    text = str(name)
    return isinstance(name, Path) or "/" in text or "\\" in text or text.endswith((".yaml", ".yml"))


@dataclass(frozen=True)
class Catalogue:
    """Documents of one kind, each called as its file is, from the folder on and without the suffix.

    Attributes:
        kind: what one of them is, for messages: `layout`.
        suffix: of their files, `.layout.yaml`; or `/robot.yaml`, where each is a folder.
        folders: returns the folders they lie in.
    """

    kind: str
    suffix: str
    folders: Callable[[], Iterable[Path]]

    def names(self) -> tuple[str, ...]:
        """Return the names of all, in alphabetical order."""
        return tuple(sorted({name for name, _ in self._files()}))

    def shipped(self, name: str) -> Path:
        """Return the file of a name; no path leads anywhere here, wherever the name comes from.

        Raises:
            UnknownNameError: none is called so.
            InputError: several are.
        """
        named = [path for known, path in self._files() if known == name]
        if len(named) > 1:
            places = " or ".join(str(path) for path in named)
            raise InputError(f"several {self.kind}s are called {name}", hint=f"name a file: {places}")
        if not named:
            raise UnknownNameError.among(self.kind, name, self.names())
        return named[0]

    def find(self, name: str | Path, *, beside: Path | None = None, also: Collection[str] = ()) -> Path:
        """Return the file of a name, or the one that a path leads to.

        Args:
            name: of what ships, or a path.
            beside: the folder that a path starts from; the working folder where none is given.
            also: names that the caller knows besides, for the message.

        Raises:
            UnknownNameError: none is called so, and there is no such file.
            InputError: several are called so, or the path leads to no file.
        """
        if isinstance(name, str) and name in self.names():
            return self.shipped(name)
        path = (beside or Path()) / name
        if _is_there(path, folder=is_path(name)):
            return path
        if is_path(name):
            raise InputError(f"there is no such {self.kind}", where=Where(path=path))
        raise UnknownNameError.among(self.kind, name, {*self.names(), *also})

    def _files(self) -> Iterator[tuple[str, Path]]:
        for folder in self.folders():
            for path in sorted(folder.rglob(f"*{self.suffix}")):
                yield path.relative_to(folder).as_posix().removesuffix(self.suffix), path


def _is_there(path: Path, *, folder: bool) -> bool:
    try:
        return path.is_file() or (folder and path.is_dir())
    except (OSError, ValueError):  # too long for any disk, or with a NUL in it
        return False


class Plugins(Mapping[str, Any]):
    """What installed packages offer in one group of entry points, each loaded when it is asked for."""

    def __init__(self, group: str, entries: Iterable[importlib.metadata.EntryPoint]) -> None:
        self.group = group
        self._entries: dict[str, list[importlib.metadata.EntryPoint]] = {}
        for entry in entries:
            self._entries.setdefault(entry.name, []).append(entry)

    def __getitem__(self, name: str) -> Any:
        """Load what is called so.

        Raises:
            KeyError: no package offers it.
            InputError: it cannot be loaded, or several packages offer it.
        """
        entry, *others = self._entries[name]
        if others:
            makers = " and ".join(map(_maker, (entry, *others)))
            raise InputError(f"{name!r} in {self.group} is offered by {makers}", hint="uninstall one of them")
        try:
            return entry.load()
        except (Exception, SystemExit) as error:  # importing somebody's module may do anything
            raise self.fault(name, f"cannot be loaded: {error}") from error

    def fault(self, name: str, what: str) -> InputError:
        """Build the error for something that cannot be used; it names the package that offers it."""
        entry = self._entries[name][0]
        message = f"{name!r} in {self.group}, of {_maker(entry)}, {what}"
        return InputError(message, hint=f"it says {entry.value}; mend that package or uninstall it")

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._entries))

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return f"Plugins({self.group!r}: {', '.join(self) or 'none'})"


def _maker(entry: importlib.metadata.EntryPoint) -> str:
    return f"the package {entry.dist.name} {entry.dist.version}" if entry.dist else "an unknown package"


@cache
def plugins(group: str) -> Plugins:
    """Return what installed packages offer in a group of entry points, such as `posewright.contests`."""
    return Plugins(group, importlib.metadata.entry_points(group=group))
