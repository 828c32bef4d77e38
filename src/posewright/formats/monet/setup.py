"""The MONET files of a robot that belong together: commands, ways between postures, archives."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from posewright.formats.monet.archive import MonetArchive
from posewright.formats.monet.designdb import DesignDb
from posewright.formats.monet.finding import MonetFinding
from posewright.formats.monet.text import MonetCommands, MonetTransitions


@dataclass(frozen=True)
class MonetSetup:
    """The files of one robot model, or of several that share them.

    Attributes:
        models: as DESIGNDB.CFG calls them; empty where nothing says whose the files are.
        commands: MONETCMD.CFG.
        transitions: MONET.CFG.
        motions: the archive that names of motions are looked up in.
        sounds: the archive that names of sounds are looked up in.
        older: whether a POSTURE.CFG lies beside them, which an older MoNet read its postures from.
    """

    models: tuple[str, ...] = ()
    commands: MonetCommands | None = None
    transitions: MonetTransitions | None = None
    motions: MonetArchive | None = None
    sounds: MonetArchive | None = None
    older: bool = False


@dataclass(frozen=True)
class MemoryStick:
    """What was found on a memory stick, in a folder, or among files.

    Attributes:
        setups: the files that belong together.
        designdbs: every DESIGNDB.CFG.
        findings: what was wrong with finding and reading them.
        root: the folder that the robot calls `/MS`; None where no file lies in an `OPEN-R` folder.
    """

    setups: tuple[MonetSetup, ...]
    designdbs: tuple[DesignDb, ...] = ()
    findings: tuple[MonetFinding, ...] = ()
    root: Path | None = None

    def setup(self, model: str) -> MonetSetup | None:
        """Return the files of a model."""
        return next((setup for setup in self.setups if model in setup.models), None)
