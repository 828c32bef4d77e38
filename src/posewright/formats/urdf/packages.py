"""Finding the files that a robot's description names: relative to it, or in a package of ROS."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from posewright.documents import is_file, open_regular_file

PACKAGE_SCHEME = "package://"

MAX_PACKAGE_LEVELS = 4
"""A package is searched in all folders above a file, and beside the nearest so many of them."""

_PACKAGE = re.compile(r"[A-Za-z0-9_][\w.-]*")
_PACKAGE_NAME = re.compile(rb"<name>\s*([\w.-]+)\s*</name>")
_MAX_MANIFEST_BYTES = 65_536


class PackageFiles:
    """The files that a robot's description may name.

    These are the files in the packages that it names, and those in the folder above its own. All others count
    as missing.

    Args:
        path: the file of the description.

    Attributes:
        replaced_packages: the packages that are not found, and whose files are those of the description's own
            package: projects rename theirs.
    """

    def __init__(self, path: Path) -> None:
        self.replaced_packages: set[str] = set()
        self._folder = path.resolve().parent
        self._allowed_folders = {self._folder.parent}
        self._package_folders: dict[str, list[Path]] = {}  # folders that may be a package, by its name

    def find(self, name: str, folder: Path | None = None) -> Path | None:
        """Return the path of a file that a description names; None if it is missing.

        Args:
            name: a path, or a URL `file://...` or `package://NAME/...`.
            folder: the folder that a relative path starts from; by default that of the description.
        """
        name = name.removeprefix("file://")
        if name.startswith(PACKAGE_SCHEME):
            path = self._find_in_package(name.removeprefix(PACKAGE_SCHEME))
        else:
            path = (folder or self._folder) / name
        if path is None or "\0" in name:
            return None
        path = path.resolve()
        is_allowed = any(path.is_relative_to(allowed) for allowed in self._allowed_folders)
        return path if is_allowed and is_file(path) else None

    def _find_in_package(self, name: str) -> Path | None:
        """Return the path of `PACKAGE/path`, in the first package folder that has it; None without a package.

        From then on, files in that folder may be named without the package, too.
        """
        package, _, path_in_package = name.partition("/")
        if package not in self._package_folders:
            self._package_folders[package] = list(_find_package_folders(self._folder, package))
        candidates = self._package_folders[package]
        for candidate in candidates:
            path = candidate / path_in_package
            if is_file(path) and path.resolve().is_relative_to(candidate.resolve()):
                self._allowed_folders.add(candidate.resolve())
                return path
        if candidates:
            return None
        for folder in (self._folder.parent, self._folder):
            path = folder / path_in_package
            if is_file(path) and path.resolve().is_relative_to(folder):
                self.replaced_packages.add(package)
                return path
        return None


def _find_package_folders(folder: Path, package: str) -> Iterator[Path]:
    """Yield the folders that may be a ROS package: above a file's folder first, then beside those.

    A package has its name, or that in its `package.xml`; a ZIP of a code host adds `-master` or a version.

    Args:
        folder: the folder of the file that names the package.
        package: the name of the package.
    """
    if not _PACKAGE.fullmatch(package):
        return
    above = [folder, *folder.parents]
    yield from (parent for parent in above if _is_package(parent, package))
    for parent in above[1:MAX_PACKAGE_LEVELS]:
        try:
            beside = sorted(entry for entry in parent.iterdir() if entry.is_dir() and entry not in above)
        except OSError:  # not readable
            continue
        yield from (entry for entry in beside if _is_package(entry, package))


def _is_package(folder: Path, package: str) -> bool:
    """Return whether a folder may be a ROS package with a name."""
    return (
        folder.name == package or folder.name.startswith(f"{package}-") or _manifest_name(folder) == package
    )


def _manifest_name(folder: Path) -> str | None:
    """Return the name of a package in its `package.xml`; None without such a file."""
    path = folder / "package.xml"
    if not is_file(path):
        return None
    try:
        with open_regular_file(path) as file:
            match = _PACKAGE_NAME.search(file.read(_MAX_MANIFEST_BYTES))
    except (OSError, ValueError):
        return None
    return match[1].decode("ascii", "replace") if match else None
