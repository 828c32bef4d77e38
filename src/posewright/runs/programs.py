"""`read_program`: programs of all kinds by name or path."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from posewright.codegen.hil.boards import BoardProgram
from posewright.control import Program, ProgramKind
from posewright.controllers import MotionProgram
from posewright.controllers.behaviours import Behaviour, BehaviourKind
from posewright.documents import plugins
from posewright.errors import InputError, UnknownNameError, UserCodeError
from posewright.hazards import find_faults, find_faults_of_several
from posewright.robots import Robot
from posewright.runs.gait_programs import GaitKind
from posewright.runs.motion_programs import MotionKind
from posewright.runs.python_programs import PythonKind

PROGRAMS = "posewright.programs"
"""Group of the entry points of packages that provide a `ProgramKind`."""


def program_kinds() -> Mapping[str, ProgramKind]:
    """Return all kinds of programs by name, built-in ones first.

    Raises:
        InputError: a package provides something else.
    """
    from posewright.runtimes.openr.setup import OpenRKind
    from posewright.runtimes.robi.setup import RobiKind
    from posewright.runtimes.robobasic.setup import RoboBasicKind

    built_in = (PythonKind(), GaitKind(), MotionKind(), RoboBasicKind(), RobiKind(), OpenRKind())
    kinds: dict[str, ProgramKind] = {kind.name: kind for kind in built_in}
    for name, offered in plugins(PROGRAMS).items():
        kind = offered() if isinstance(offered, type) else offered
        if not isinstance(kind, ProgramKind):
            raise InputError(
                f"the entry point {name!r} in {PROGRAMS} is not a ProgramKind",
                hint="see posewright.control.ProgramKind",
            )
        kinds[name] = kind
    behaviours = BehaviourKind()  # last, since it accepts any YAML file
    return {**kinds, behaviours.name: behaviours}


def read_program(
    name: str | Path, robot: Robot | None = None, *, options: Mapping[str, str] | None = None
) -> Program:
    """Read a program.

    Args:
        name: a name of the catalogue; a path (`race.bas`, `CONNECT.CFG`, `my.behaviour.yaml`); a Python class
            (`mine.py:Mine`, `package.module:Mine`); or any of these with its kind: `robi:startup`.
        robot: the robot that runs it; by default the program's own.
        options: options that the program's kind defines: `{"motions": "walk.mtn"}`.

    Raises:
        UnknownNameError: no program or option has this name.
        PosewrightError: it cannot be read, or is for another robot.
    """
    text = str(name)
    kinds = program_kinds()
    kind_name, _, name_in_kind = text.partition(":")
    if kind_name in kinds and name_in_kind:
        return _read_with_kind(kinds[kind_name], name_in_kind, robot, options or {})
    named = [kind for kind in kinds.values() if text in kind.names(robot)]
    if len(named) > 1:
        full_names = " or ".join(f"{kind.name}:{text}" for kind in named)
        raise InputError(f"several programs are called {text}", hint=full_names)
    candidates = named or [kind for kind in kinds.values() if kind.recognises(text)]
    if not candidates:
        names = [program_name for kind in kinds.values() for program_name in kind.names(robot)]
        raise UnknownNameError.among("behaviour", text, names)
    return _read_with_kind(candidates[0], text, robot, options or {})


def _read_with_kind(kind: ProgramKind, name: str, robot: Robot | None, options: Mapping[str, str]) -> Program:
    """Return the program that a kind reads; raise a UserCodeError if it returns something else."""
    program: object = kind.read(name, robot, options)
    if not isinstance(program, Program):
        members = sorted(member for member in dir(Program) if not member.startswith("_"))
        missing = [member for member in members if member not in dir(program)]
        raise UserCodeError(
            f"{kind.name}.read({name!r}) returned an object of the type {type(program).__name__}, "
            f"which is not a Program: it lacks {', '.join(missing)}",
            hint="see posewright.control.Program",
        )
    return program


def find_faults_of_program(program: Program) -> tuple[str, ...]:
    """Return the errors of `motion check` in the motions that a program plays.

    Those are the motions of a behaviour, on a board or not, or the motion itself; other programs have none.
    """
    if isinstance(program, BoardProgram):
        program = program.behaviour
    if isinstance(program, Behaviour):
        return find_faults_of_several(program.motions.values(), program.robot)
    return find_faults(program.motion, program.robot) if isinstance(program, MotionProgram) else ()


def names_behaviour(name: str) -> bool:
    """Tell whether a name or path refers to a behaviour, and to no other kind of program."""
    kinds = program_kinds()
    kind_name, colon, _ = name.partition(":")
    if colon and kind_name in kinds:
        return kind_name == BehaviourKind.name
    matching_kinds = [kind for kind in kinds.values() if name in kind.names(None) or kind.recognises(name)]
    return [kind.name for kind in matching_kinds] == [BehaviourKind.name]
