"""Code of users and of installed packages: Python files are executed, and errors in them name the line.

Such code may raise anything anywhere below a call of ours. `user_errors` tells it from a bug of Posewright:
an exception with a line of an executed file or of a package with entry points in its traceback becomes a
`UserCodeError`.
"""

from __future__ import annotations

import importlib.util
import linecache
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from posewright.documents.reading import read_text
from posewright.errors import FormatError, PosewrightError, UserCodeError, Where

_SIGTERM_EXIT = 128 + signal.SIGTERM
"""The exit code with which a run ends at SIGTERM: no error of the code that runs at that moment."""

_POSEWRIGHT = Path(__file__).resolve().parents[1]

_MODULE_PREFIX = "posewright_user:"
"""Precedes the path of an executed file in the name of its module."""

_executed_texts: dict[str, str] = {}
"""Texts of the executed files, by the name of their module."""

_user_paths: set[Path] = set()
"""Executed files, and folders of the packages whose entry points were loaded."""


def execute_python_file(path: Path) -> ModuleType:
    """Return the module of a Python file, which is executed once, and again after it was edited.

    While it is executed, it can import modules beside it.

    Raises:
        InputError: there is no such file, or it is not text.
        FormatError: it is not a Python file, or raised an exception.
    """
    text = read_text(path)
    text_before_nul, nul, _ = text.partition("\0")
    if nul:
        nul_line = text_before_nul.count("\n") + 1
        raise FormatError(
            "the file has a zero byte", where=Where(path, nul_line), hint="Python does not accept it"
        )
    name = f"{_MODULE_PREFIX}{path.absolute()}"  # unique, so that a class can be traced to its file
    if name in sys.modules and _executed_texts.get(name) == text:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise FormatError("not a Python file", where=Where(path), hint="its name has to end in .py")
    linecache.checkcache(str(path))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    _user_paths.add(path.resolve())
    try:
        with _folder_importable(path.absolute().parent):
            exec(compile(text, str(path), "exec"), vars(module))  # noqa: S102 -- the user asked for it
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, PosewrightError) or not isinstance(error, Exception | SystemExit):
            raise
        message = str(error)
        where = find_user_line(error)
        if isinstance(error, SyntaxError) and error.filename == str(path):
            message = error.msg
            where = Where(path, error.lineno)
        message = f"{type(error).__name__}: {message}".rstrip(": ")
        raise FormatError(message, where=where or Where(path), hint="Python cannot execute it") from error
    _executed_texts[name] = text
    return module


@contextmanager
def _folder_importable(folder: Path) -> Iterator[None]:
    """Let modules in a folder be imported in this context, and forget them afterwards.

    They are forgotten because another user's file may have a module of the same name beside it.
    """
    if str(folder) in sys.path:
        yield
        return
    earlier_modules = set(sys.modules)
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name in set(sys.modules) - earlier_modules:
            file = getattr(sys.modules[name], "__file__", None)
            if file is not None and _is_beside(Path(file), folder):
                del sys.modules[name]


def _is_beside(file: Path, folder: Path) -> bool:
    """Return whether a module's file is a module in a folder, or belongs to a package in it."""
    return file.parent == folder or (file.is_relative_to(folder) and "site-packages" not in file.parts)


def add_package_code(module_name: str) -> None:
    """Count an imported module's whole package as user code, unless it is Posewright itself."""
    top_module = sys.modules.get(module_name.partition(".")[0])
    file = getattr(top_module, "__file__", None)
    if file is None:
        return
    path = Path(file).resolve()
    if not path.is_relative_to(_POSEWRIGHT):
        _user_paths.add(path.parent if path.name == "__init__.py" else path)


def find_user_line(error: BaseException) -> Where | None:
    """Return the innermost line of user code in the traceback of an exception; None if there is none."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        resolved_path = path.resolve()
        if any(resolved_path.is_relative_to(user_path) for user_path in _user_paths):
            return Where(path, frame.lineno)
    return None


def user_error(error: BaseException) -> UserCodeError | None:
    """Return the error to report for an exception that user code took part in; None for any other."""
    if isinstance(error, PosewrightError) or not isinstance(error, Exception | SystemExit):
        return None
    if isinstance(error, SystemExit) and error.code == _SIGTERM_EXIT:
        return None
    where = find_user_line(error)
    if where is None:
        return None
    return UserCodeError(f"{type(error).__name__}: {error}".rstrip(": "), where=where)


@contextmanager
def user_errors() -> Iterator[None]:
    """Turn exceptions of user code in this context into UserCodeErrors, which name the file and the line.

    Our own errors get that line, too, unless they name a place already.

    Raises:
        UserCodeError: user code raised an exception that is not ours, or called `sys.exit`.
    """
    try:
        yield
    except PosewrightError as error:
        error.where = error.where or find_user_line(error)
        raise
    except (Exception, SystemExit) as error:  # foreign code can raise anything
        reported_error = user_error(error)
        if reported_error is None:
            raise
        raise reported_error from error


@contextmanager
def user_code(source: str) -> Iterator[None]:
    """Turn whatever is raised in this context, which runs user code only, into a UserCodeError.

    Args:
        source: name of the code, such as `Mine.next`, for the message.

    Raises:
        UserCodeError: the code raised an exception that is not ours, or called `sys.exit`.
    """
    try:
        yield
    except PosewrightError:
        raise
    except (Exception, SystemExit) as error:  # foreign code can raise anything
        if isinstance(error, SystemExit) and error.code == _SIGTERM_EXIT:
            raise
        message = f"{source} raised {type(error).__name__}: {error}".rstrip(": ")
        raise UserCodeError(message, where=_find_line_outside_posewright(error)) from error


def _find_line_outside_posewright(error: BaseException) -> Where | None:
    """Return the innermost line outside this package in the traceback of an exception."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        if path.is_file() and not path.resolve().is_relative_to(_POSEWRIGHT):
            return Where(path, frame.lineno)
    return None
