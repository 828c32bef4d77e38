"""Code of users: their controllers, with errors that name the class, the method, the file and the line."""

from __future__ import annotations

import inspect
import signal
import traceback
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path

from posewright.bodies import BodyState, JointCommands
from posewright.control import Controller
from posewright.errors import ControllerError, PosewrightError, Where

_SIGTERM_EXIT = 128 + signal.SIGTERM
"""The exit code with which the loop leaves at SIGTERM: no error of the code that runs at that moment."""

_PACKAGE = Path(__file__).resolve().parents[1]


@contextmanager
def user_code(source: str) -> Iterator[None]:
    """Turn whatever a user's code raises in this context into a ControllerError.

    Args:
        source: name of the code, such as `Mine.next`, for the message.

    Raises:
        ControllerError: the code raised an exception that is not ours, or called `sys.exit`.
    """
    try:
        yield
    except PosewrightError:
        raise
    except (Exception, SystemExit) as error:  # foreign code can raise anything
        if isinstance(error, SystemExit) and error.code == _SIGTERM_EXIT:
            raise
        raise ControllerError(
            f"{source} raised {type(error).__name__}: {error}".rstrip(": "), where=_find_place(error)
        ) from error


def _find_place(error: BaseException) -> Where | None:
    """Return the innermost line outside this package where an exception arose."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        if path.is_file() and not path.resolve().is_relative_to(_PACKAGE):
            return Where(path, frame.lineno)
    return None


class UserController(Controller):
    """A user's controller, whose errors name it, and whose commands are checked.

    Args:
        controller: the user's.
        name: for messages.
    """

    def __init__(self, controller: Controller, name: str) -> None:
        self._controller = controller
        self._name = name

    def next(self, state: BodyState, n: int) -> JointCommands:
        """Return the controller's commands.

        Raises:
            ControllerError: it raised an exception, or returned something else than commands of numbers.
        """
        with user_code(f"{self._name}.next"):
            commands: object = self._controller.next(state, n)
        if isinstance(commands, Coroutine):
            commands.close()
            raise ControllerError(f"{self._name}.next is a coroutine", hint="write `def`, not `async def`")
        if not isinstance(commands, JointCommands):
            raise ControllerError(
                f"{self._name}.next returned {_describe_type(commands)}",
                hint="return JointCommands(angles), with angles of the shape (rows, joints)",
            )
        if commands.angles.dtype.kind not in "fiu":
            raise ControllerError(
                f"{self._name}.next returned angles of the type {commands.angles.dtype}",
                hint="real numbers in radians",
            )
        return commands

    def restart(self) -> None:
        """Restart the controller; raises a ControllerError as `next` does."""
        with user_code(f"{self._name}.restart"):
            self._controller.restart()

    def close(self) -> None:
        """Close the controller; raises a ControllerError as `next` does."""
        with user_code(f"{self._name}.close"):
            self._controller.close()


def _describe_type(value: object) -> str:
    return "None" if value is None else f"an object of the type {type(value).__name__}"


def source_documents(source: object) -> dict[str, str]:
    """Return the text of the Python file that defines something, by the file's name; empty without a file.

    Args:
        source: a class, a function, or an object of a class.
    """
    definition = source if isinstance(source, type) or inspect.isroutine(source) else type(source)
    try:
        file = inspect.getsourcefile(definition)
    except (TypeError, OSError):  # it was typed, or is built in
        return {}
    path = None if file is None else Path(file)
    if path is None or not path.is_file():
        return {}
    return {path.name: path.read_text(encoding="utf-8", errors="replace")}
