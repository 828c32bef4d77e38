"""Loads programs by name or from a file of any kind: RM4 text, a listing, or a motion to be converted."""

from __future__ import annotations

import re
from pathlib import Path

from posewright.documents import is_path, read_bounded, read_text
from posewright.errors import InputError, UnknownNameError
from posewright.formats import raise_if_other_kind, read_motion
from posewright.runtimes.robi.catalogue import link, load_program
from posewright.runtimes.robi.motion_writer import motion_to_program
from posewright.runtimes.robi.program import Rm4Program
from posewright.runtimes.robi.rm4 import MAX_BYTES, read_program

RM4 = ".rm4"
LISTING = ".lst"
MOTION = ".motion.yaml"
_ADDRESS = re.compile(r"0[xX][0-9a-fA-F]{1,9}|[0-9a-fA-F]{8}")


def open_program(name_or_path: str | Path, rule: str = "consistent") -> Rm4Program:
    """Return a program that ships with the package, by its name, or one from a file.

    Args:
        name_or_path: a name; or an RM4 file, a listing (`*.lst`), which may call subroutines of the package,
            or a motion (`*.motion.yaml`).
        rule: the rule by which programs of the package judge the posture.

    Raises:
        UnknownNameError: there is no such program, rule, or label.
        FormatError: the file cannot be read, or has an unknown format, such as that of STARTUP.BIN.
        InputError: the motion is for another robot.
    """
    name = str(name_or_path)
    path = Path(name_or_path)
    if not (is_path(name_or_path) or path.suffix):
        return load_program(name, rule)
    if name.lower().endswith(MOTION):
        return motion_to_program(read_motion(path)).program
    if path.suffix.lower() == LISTING:
        return link(read_text(path), rule, path)
    data = read_bounded(path, MAX_BYTES)
    if path.suffix.lower() != RM4:
        raise_if_other_kind(data, path, {"robi-rm4", "xml"}, "a Robi program")
    return read_program(data, path)


def find_breakpoint(program: Rm4Program, location: str) -> int:
    """Return the byte of a program's file for a breakpoint.

    Args:
        program: the program.
        location: a label, or the address of a tag in the file.

    Raises:
        InputError: there is no such label, or no tag begins at the address.
    """
    addresses = {label: program.positions[key] for key, label in program.labels.items()}
    if location in addresses:
        return addresses[location]
    if _ADDRESS.fullmatch(location) is None:
        error = UnknownNameError.among("label", location, addresses)
        hint = error.hint or "`posewright robi list` shows them"
        raise InputError(error.message, hint=f"{hint}; or an address of the file, as in 0x00000028")
    address = int(location, 16)
    program.tag_at(address)  # raises if there is none
    return address
