"""OPEN-R objects of users: the classes of a Python file."""

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

RESERVED_NAMES = frozenset({COMMANDER, "OVirtualRobotComm"})
"""Objects that cannot be replaced."""

_FORM = "class MyObject(OObject): def __init__(self): super().__init__() ..."


def read_objects(path: Path | str) -> Mapping[str, type[OObject]]:
    """Execute a Python file, and return the classes of objects that it defines, by name.

    Raises:
        FormatError: the file defines no object, or one that cannot be created without arguments.
        InputError: there is no such file.
    """
    path = Path(path)
    text_before_nul, nul, _ = read_text(path).partition("\0")
    if nul:
        line = text_before_nul.count("\n") + 1
        raise FormatError(
            "the file has a zero byte", where=Where(path, line), hint="Python does not accept it"
        )
    module_name = f"posewright_own_objects:{path.absolute()}"  # unique, to tell the file's own classes
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None or spec.loader is None:
        raise FormatError("not a Python file", where=Where(path), hint="its name has to end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    spec.loader.exec_module(module)
    classes: dict[str, type[OObject]] = {}
    for name, value in vars(module).items():
        if isinstance(value, type) and issubclass(value, OObject) and value.__module__ == module_name:
            classes[name] = value
    if not classes:
        raise FormatError("the file defines no OPEN-R object", where=Where(path), hint=_FORM)
    for name, object_class in classes.items():
        if name in RESERVED_NAMES:
            line = inspect.getsourcelines(object_class)[1]
            message = f"{name} is an object of the system"
            raise FormatError(message, where=Where(path, line), hint="choose another name")
        try:
            inspect.signature(object_class).bind()
        except TypeError as error:
            message = f"{name} cannot be created without arguments: {error}"
            raise FormatError(message, where=Where(path), hint="give each argument a default") from None
    return classes
