"""A person's own OPEN-R objects: the classes of a Python file."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Mapping
from pathlib import Path

from posewright.documents import read_text
from posewright.errors import FormatError, Where
from posewright.runtimes.openr.commander import COMMANDER
from posewright.runtimes.openr.services import OObject

TAKEN = frozenset({COMMANDER, "OVirtualRobotComm"})
"""Objects that are always ours."""

_FORM = "class MyObject(OObject): def __init__(self): super().__init__() ..."


def read_objects(path: Path | str) -> Mapping[str, type[OObject]]:
    """Return the classes of objects that a Python file defines, by their names; the file is run.

    Raises:
        FormatError: it defines no object, or one that cannot be made without arguments.
        InputError: there is no such file.
    """
    path = Path(path)
    before, nul, _ = read_text(path).partition("\0")
    if nul:
        line = before.count("\n") + 1
        raise FormatError("a zero byte", where=Where(path, line), hint="Python reads none")
    name = f"posewright_own_objects:{path.absolute()}"  # a name per file: a class says which it is of
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise FormatError("not a Python file", where=Where(path), hint="a file that ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    found = {
        called: one
        for called, one in vars(module).items()
        if isinstance(one, type) and issubclass(one, OObject) and one.__module__ == name
    }
    if not found:
        raise FormatError("no OPEN-R object is defined here", where=Where(path), hint=_FORM)
    for called, one in found.items():
        if called in TAKEN:
            line = inspect.getsourcelines(one)[1]
            raise FormatError(f"{called} is the system's own", where=Where(path, line), hint="another name")
        try:
            inspect.signature(one).bind()
        except TypeError as error:
            what = f"{called} cannot be made without arguments: {error}"
            raise FormatError(what, where=Where(path), hint="give each a default") from None
    return found
