"""A person's own OPEN-R objects: the classes of a Python file, and where in it something went wrong."""

from __future__ import annotations

import importlib.util
import inspect
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from posewright.documents import read_text
from posewright.errors import FormatError, PosewrightError, Where
from posewright.runtimes.openr.services import OObject

_NAME = "posewright_own_objects"
_FORM = "class MyObject(OObject): def __init__(self): super().__init__() ..."


def read_objects(path: Path | str) -> Mapping[str, type[OObject]]:
    """Return the classes of objects that a Python file defines, by their names; the file is run.

    Raises:
        FormatError: it cannot be run, or defines no object.
        InputError: there is no such file.
    """
    path = Path(path)
    read_text(path)  # that it is there, and text
    spec = importlib.util.spec_from_file_location(_NAME, path)
    if spec is None or spec.loader is None:
        raise FormatError("not a Python file", where=Where(path), hint="a file that ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[_NAME] = module
    with blamed(path):
        spec.loader.exec_module(module)
    found = {
        name: one
        for name, one in vars(module).items()
        if isinstance(one, type) and issubclass(one, OObject) and one.__module__ == _NAME
    }
    if not found:
        raise FormatError("no OPEN-R object is defined here", where=Where(path), hint=_FORM)
    for name, one in found.items():
        needed = [
            parameter.name
            for parameter in inspect.signature(one).parameters.values()
            if parameter.default is parameter.empty
            and parameter.kind not in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}
        ]
        if needed:
            what = f"{name} cannot be made without {', '.join(needed)}"
            raise FormatError(what, where=Where(path), hint="give each a default")
    return found


@contextmanager
def blamed(path: Path | None) -> Iterator[None]:
    """Say in which line of a person's own file something went wrong meanwhile.

    Raises:
        FormatError: Python could not read or run the file.
    """
    try:
        yield
    except PosewrightError:
        raise
    except Exception as error:
        line = None if path is None else _line(error, path)
        if line is None:
            raise
        what = error.msg if isinstance(error, SyntaxError) else str(error)
        raise FormatError(f"{type(error).__name__}: {what}", where=Where(path, line)) from error


def _line(error: Exception, path: Path) -> int | None:
    """Return the line of a file in which an error arose; None where that was elsewhere."""
    if isinstance(error, SyntaxError) and error.filename is not None and path.samefile(error.filename):
        return error.lineno
    stack = traceback.extract_tb(error.__traceback__)
    frames = [one.lineno for one in stack if Path(one.filename).absolute() == path.absolute()]
    return frames[-1] if frames else None
