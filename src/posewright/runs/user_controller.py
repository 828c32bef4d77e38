"""Code of users: their controllers, with errors that name the class, the method, the file and the line."""

from __future__ import annotations

import inspect
from collections.abc import Coroutine
from pathlib import Path

from posewright.bodies import BodyState, JointCommands
from posewright.control import Controller
from posewright.documents.user_code import user_code
from posewright.errors import UserCodeError


class UserController(Controller):
    """A user's controller, whose errors name it, and whose commands are checked.

    Args:
        controller: the user's.
        name: the name of the controller in messages.
    """

    def __init__(self, controller: Controller, name: str) -> None:
        self._controller = controller
        self._name = name

    def next(self, state: BodyState, n: int) -> JointCommands:
        """Return the controller's commands.

        Raises:
            UserCodeError: it raised an exception, or returned something else than commands of numbers.
        """
        with user_code(f"{self._name}.next"):
            commands: object = self._controller.next(state, n)
        if isinstance(commands, Coroutine):
            commands.close()
            raise UserCodeError(f"{self._name}.next is a coroutine", hint="write `def`, not `async def`")
        if not isinstance(commands, JointCommands):
            raise UserCodeError(
                f"{self._name}.next returned {_describe_type(commands)}",
                hint="return JointCommands(angles), with angles of the shape (rows, joints)",
            )
        if commands.angles.dtype.kind not in "fiu":
            raise UserCodeError(
                f"{self._name}.next returned angles of the type {commands.angles.dtype}",
                hint="real numbers in radians",
            )
        return commands

    def restart(self) -> None:
        """Restart the controller; raises a UserCodeError as `next` does."""
        with user_code(f"{self._name}.restart"):
            self._controller.restart()

    def close(self) -> None:
        """Close the controller; raises a UserCodeError as `next` does."""
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
