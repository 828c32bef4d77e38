"""Programs by name or path: behaviours, robots' old programs, gaits, motions, Python, those of packages."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from posewright.control import Program, ProgramKind
from posewright.controllers.behaviours import BehaviourKind
from posewright.documents import plugins
from posewright.errors import InputError, UnknownNameError
from posewright.robots import Robot
from posewright.runs.gait_programs import GaitKind
from posewright.runs.motion_programs import MotionKind
from posewright.runs.python_programs import PythonKind

PROGRAMS = "posewright.programs"
"""The group of entry points in which a package names its `ProgramKind`."""


def program_kinds() -> Mapping[str, ProgramKind]:
    """Return the kinds of programs there are, by name; those that ship first.

    Raises:
        InputError: a package offers something else.
    """
    from posewright.runtimes.openr.setup import OpenRKind
    from posewright.runtimes.robi.setup import RobiKind
    from posewright.runtimes.robobasic.setup import RoboBasicKind

    shipped = (PythonKind(), GaitKind(), MotionKind(), RoboBasicKind(), RobiKind(), OpenRKind())
    kinds: dict[str, ProgramKind] = {kind.name: kind for kind in shipped}
    for name, offered in plugins(PROGRAMS).items():
        kind = offered() if isinstance(offered, type) else offered
        if not isinstance(kind, ProgramKind):
            raise InputError(
                f"{name!r} in {PROGRAMS} is not a kind of programs", hint="see posewright.control.ProgramKind"
            )
        kinds[name] = kind
    behaviours = BehaviourKind()  # last: any other YAML is taken for one
    return {**kinds, behaviours.name: behaviours}


def read_program(
    name: str | Path, robot: Robot | None = None, *, options: Mapping[str, str] | None = None
) -> Program:
    """Read a program.

    Args:
        name: of one that ships; a path (`race.bas`, `CONNECT.CFG`, `my.behaviour.yaml`); a class of one's own
            (`mine.py:Mine`, `package.module:Mine`); or any of these after its kind: `robi:startup`.
        robot: who runs it; the program's own robot by default.
        options: what is said to the program besides, by names that its kind has: `{"motions": "walk.mtn"}`.

    Raises:
        UnknownNameError: there is no such program, or it has no such option.
        PosewrightError: it cannot be read, or is another robot's.
    """
    text = str(name)
    kinds = program_kinds()
    said_kind, _, rest = text.partition(":")
    if said_kind in kinds and rest:
        return kinds[said_kind].read(rest, robot, options or {})
    shipped = [kind for kind in kinds.values() if text in kind.names(robot)]
    if len(shipped) > 1:
        places = " or ".join(f"{kind.name}:{text}" for kind in shipped)
        raise InputError(f"several programs are called {text}", hint=places)
    recognised = shipped or [kind for kind in kinds.values() if kind.recognises(text)]
    if not recognised:
        known = [known for kind in kinds.values() for known in kind.names(robot)]
        raise UnknownNameError.among("behaviour", text, known)
    return recognised[0].read(text, robot, options or {})


def names_behaviour(name: str) -> bool:
    """Tell whether a name or path is of a behaviour, and of no other kind of programs."""
    kinds = program_kinds()
    kind_name, colon, _ = name.partition(":")
    if colon and kind_name in kinds:
        return kind_name == BehaviourKind.name
    others = [kind for kind in kinds.values() if kind.name != BehaviourKind.name]
    is_other = any(name in kind.names(None) or kind.recognises(name) for kind in others)
    behaviours = kinds[BehaviourKind.name]
    return not is_other and (name in behaviours.names(None) or behaviours.recognises(name))
