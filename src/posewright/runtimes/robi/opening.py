"""Programs by name or from a file of any kind: RM4 text, a listing, or a motion that becomes one."""

from __future__ import annotations

import re
from pathlib import Path

from posewright.documents import is_path, read_bounded, read_text
from posewright.errors import InputError, UnknownNameError
from posewright.formats import read_motion
from posewright.runtimes.robi.motions import motion_program
from posewright.runtimes.robi.program import Program
from posewright.runtimes.robi.programs import linked, program
from posewright.runtimes.robi.rm4 import MOST_BYTES, read_program

LISTING = ".lst"
MOTION = ".motion.yaml"
_ADDRESS = re.compile(r"0[xX][0-9a-fA-F]{1,9}|[0-9a-fA-F]{8}")


def open_program(called: str | Path, rule: str = "consistent") -> Program:
    """Return a program that ships, by its name, or one of your own, by its file.

    Args:
        called: a name; or an RM4 file, a listing (`*.lst`), which may call what ships, or a motion
            (`*.motion.yaml`).
        rule: by which programs that ship judge the posture.

    Raises:
        UnknownNameError: there is no such program, rule, or label.
        FormatError: the file cannot be read, or is of a kind that nobody here knows, as STARTUP.BIN is.
        InputError: the motion is another robot's.
    """
    name, path = str(called), Path(called)
    if not (is_path(called) or path.suffix):
        return program(name, rule)
    if name.lower().endswith(MOTION):
        return motion_program(read_motion(path)).program
    if path.suffix.lower() == LISTING:
        return linked(read_text(path), rule, path)
    return read_program(read_bounded(path, MOST_BYTES), path)


def breakpoint_in(program: Program, text: str) -> int:
    """Return the byte of a program's file at which a breakpoint stands: an address, or a label.

    Raises:
        UnknownNameError: there is no such label.
        InputError: no tag begins at that address.
    """
    labels = {label: program.positions[key] for key, label in program.labels.items()}
    if text in labels:
        return labels[text]
    if _ADDRESS.fullmatch(text) is None:
        error = UnknownNameError.among("label", text, labels)
        hint = error.hint or "`posewright robi list` shows them"
        raise InputError(error.message, hint=f"{hint}; or an address of the file, as in 0x00000028")
    address = int(text, 16)
    program.node_at(address)
    return address
