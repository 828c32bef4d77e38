"""The texts a trace is to carry: each as it was read, each under a name of its own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


class CarriedTexts:
    """Texts of documents by name: a path below a folder, or, from elsewhere, a name without its path.

    Two files of one name in two places get as many folders before their names as it takes to tell them
    apart. Nothing above is told: where a person keeps files is nobody's business.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self._paths: dict[str, Path] = {}
        self._texts: dict[str, str] = {}

    @property
    def texts(self) -> Mapping[str, str]:
        """All texts by name."""
        return self._texts

    def name_of(self, path: Path) -> str:
        """Return the name of a file, the same each time, and no other file's."""
        path = path.resolve()
        name = next(name for name in self._names(path) if self._paths.get(name, path) == path)
        self._paths[name] = path
        return name

    def _names(self, path: Path) -> list[str]:
        """Return what a file may be called: its ordinary name, then with more and more folders before it."""
        below = path.is_relative_to(self._folder)
        depth = len(path.relative_to(self._folder).parts) if below else 1
        return ["/".join(path.parts[start:]) for start in range(len(path.parts) - depth, -1, -1)]

    def keep(self, name: str, text: str) -> None:
        """Keep a text under a name."""
        self._texts[name] = text
