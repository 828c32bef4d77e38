"""Where a motion is to be added: a memory stick, or an archive and a list of commands without one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from posewright.errors import FormatError, UnknownNameError, Where
from posewright.formats.monet.archive import read_monet_archive
from posewright.formats.monet.memory_stick import read_stick
from posewright.formats.monet.reading import read_commands_file
from posewright.formats.monet.search import OPEN_R, child, plain_absolute, stick_in
from posewright.formats.monet.setup import MonetSetup
from posewright.motions import Level

Place: TypeAlias = "Path | str | tuple[Path | str, Path | str]"
"""The folder that holds `OPEN-R`; or an ODA archive and a MONETCMD.CFG."""


@dataclass(frozen=True)
class Home:
    """The files of one robot, and the folder below which they keep their places.

    Attributes:
        setup: the files.
        root: of a stick, the folder that holds `OPEN-R`; None where the files lie anywhere.
    """

    setup: MonetSetup
    root: Path | None = None

    def below(self, output: Path, path: Path) -> Path:
        """Return where a file goes in a folder that is to be like this."""
        if self.root is None:
            return output / path.name
        return output / plain_absolute(path).relative_to(plain_absolute(self.root))


def home_at(place: Place, model: str) -> Home:
    """Read the files of a model.

    Raises:
        FormatError: there is no such stick, or they cannot be read.
        UnknownNameError: the stick has no files for that model.
    """
    if isinstance(place, tuple):
        archive, commands = map(Path, place)
        return Home(MonetSetup((model,), read_commands_file(commands), None, read_monet_archive(archive)))
    root = stick_in(Path(place))
    return Home(_setup_on(root, model), root)


def folders_of(place: Place) -> tuple[Path, ...]:
    """Return the folders to lock while the files of a place are changed."""
    if isinstance(place, tuple):
        return tuple(Path(file).parent for file in place)
    return (Path(place),)


def _setup_on(root: Path, model: str) -> MonetSetup:
    stick = read_stick(child(root, OPEN_R) or root)
    setup = stick.setup(model)
    if setup is not None:
        return setup
    for finding in stick.findings:
        if finding.level is Level.ERROR:
            where = Where(path=finding.path, line=finding.line)
            raise FormatError(finding.message, where=where, hint=finding.hint or None)
    known = [name for one in stick.setups for name in one.models]
    raise UnknownNameError.among("robot with MONET files on this stick", model, known, where=Where(path=root))
