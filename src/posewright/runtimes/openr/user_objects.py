"""OPEN-R objects of users: the classes of a Python file."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path

from posewright.documents.user_code import execute_python_file
from posewright.errors import FormatError, Where
from posewright.runtimes.openr.commander import COMMANDER
from posewright.runtimes.openr.services import OObject

RESERVED_NAMES = frozenset({COMMANDER, "OVirtualRobotComm"})
"""Objects that cannot be replaced."""

_FORM = "class MyObject(OObject): def __init__(self): super().__init__() ..."


def read_objects(path: Path | str) -> Mapping[str, type[OObject]]:
    """Execute a Python file, and return the classes of objects that it defines, by name.

    Raises:
        FormatError: the file raised an exception, defines no object, or one that cannot be created without
            arguments.
        InputError: there is no such file.
    """
    path = Path(path)
    module = execute_python_file(path)
    classes: dict[str, type[OObject]] = {}
    for name, value in vars(module).items():
        if isinstance(value, type) and issubclass(value, OObject) and value.__module__ == module.__name__:
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
