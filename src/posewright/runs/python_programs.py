"""Programs in Python: a controller class in a file or an installed module."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from posewright.arrays import Floats
from posewright.control import Controller, ControllerFactory, Program, Seed, require_known_options
from posewright.controllers.behaviours import read_behaviour
from posewright.documents import read_text
from posewright.documents.user_code import add_package_code, execute_python_file, user_code
from posewright.errors import FormatError, InputError, PosewrightError, Where
from posewright.robots import Robot, SensorSpec
from posewright.runs.user_controller import UserController, source_documents

_REFERENCE = re.compile(r"(?P<module>.+\.py|[A-Za-z_][\w.]*):(?P<name>[A-Za-z_]\w*)")

STANDING = ("walk_ready", "stand")
"""Start poses of a custom program: the first of these that the robot's card has."""


class PythonKind:
    """Python programs: `mine.py:Mine` or `package.module:Mine`.

    The object is a `Program`, or something from which `controller_factory` makes a controller. The file is
    executed, with all rights of the user.
    """

    name = "python"
    option_names = ("like", "robot")
    """`like`: a behaviour whose sensors and start pose are used; `robot`: used if nothing else names one."""

    def names(self, robot: Robot | None) -> tuple[str, ...]:  # noqa: ARG002 -- a class has no shipped name
        """Return no names: classes are named by their module."""
        return ()

    def recognises(self, name: str) -> bool:
        """Tell whether the name is `file.py:Name` or `package.module:Name`, with or without `python:`."""
        match = _REFERENCE.fullmatch(name.removeprefix(f"{self.name}:"))
        return match is not None and ("." in match["module"] or name.startswith(f"{self.name}:"))

    def read(self, name: str, robot: Robot | None, options: Mapping[str, str]) -> Program:
        """Load the object and return its program.

        Raises:
            FormatError: there is no such file, module or name, or Python cannot execute it.
            InputError: no robot is named, or the object does not make a controller.
        """
        require_known_options(options, self.option_names, self.name)
        source = load_object(name)
        if isinstance(source, Program) and not isinstance(source, type):
            return source
        factory = controller_factory(source, name)
        template = read_behaviour(options["like"], robot=robot) if "like" in options else None
        card = _choose_robot(
            robot,
            template_robot=template.robot if template is not None else None,
            option=options.get("robot"),
            program=name,
        )
        class_name = name.rpartition(":")[2]
        return PythonProgram(
            class_name,
            card,
            factory,
            sensors=card.sensors if template is None else template.sensors,
            start_pose=standing_pose(card) if template is None else template.start_pose,
            documents=source_documents(source),
        )


@dataclass(frozen=True)
class PythonProgram:
    """A program that consists of a custom controller.

    Attributes:
        name: the name for people and recordings.
        robot: the robot that it drives.
        factory: creates the controller.
        sensors: the sensors of the body, all of them.
        start_pose: joint angles at the start, `(n_joints,)` [rad].
        documents: the texts it was read from, by file name.
        kind: precedes the name in recordings.
        warnings: the warnings about the program.
        extras: additional plain data in a recording.
    """

    name: str
    robot: Robot
    factory: ControllerFactory
    sensors: tuple[SensorSpec, ...]
    start_pose: Floats
    documents: Mapping[str, str] = field(default_factory=dict)
    kind: str = "python"
    warnings: tuple[str, ...] = ()
    extras: Mapping[str, Any] = field(default_factory=dict)

    def controller(self, seed: Seed) -> Controller:
        """Return a new controller."""
        return self.factory(self, seed)


def controller_factory(source: object, name: str = "") -> ControllerFactory:
    """Return a function that takes a program and a seed, and returns the controller of a source.

    Args:
        source: a class or function that takes a program and a seed, or nothing; or a controller.
        name: the name of the source, for messages.

    Raises:
        InputError: it is none of these.
    """
    source_name = name or controller_name(source)
    if is_controller_object(source):
        controller = _require_controller(source, source_name)
        return lambda _program, _seed: controller
    if not callable(source):
        raise InputError(f"{source_name} is not a controller", hint=_HINT)
    parameters = _positional_parameters(source)
    n_required = sum(parameter.default is inspect.Parameter.empty for parameter in parameters)
    if len(parameters) >= 2 >= n_required:  # it accepts exactly two arguments: a program and a seed
        return lambda program, seed: _create_controller(lambda: source(program, seed), source_name)
    if n_required == 0:
        return lambda _program, _seed: _create_controller(source, source_name)
    raise InputError(
        f"{source_name} can be called neither with a program and a seed nor without arguments", hint=_HINT
    )


_HINT = "write a class with next(state, n) that inherits posewright.Controller"


def _positional_parameters(function: Callable[..., object]) -> list[inspect.Parameter]:
    """Return the positional parameters of a class or function; none if Python has no signature for it."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:
        return []
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [parameter for parameter in parameters if parameter.kind in kinds]


def controller_name(source: object) -> str:
    """Return the name of a class, a function or a controller: `Mine`."""
    if isinstance(source, type) or inspect.isroutine(source):
        return source.__name__
    return type(source).__name__


def is_controller_object(source: object) -> bool:
    """Return whether something is a controller itself, not a class or a function that creates one."""
    return not isinstance(source, type) and isinstance(source, Controller)


def _create_controller(create: Callable[[], object], name: str) -> Controller:
    """Return the controller that a user's class or function creates; its errors name the source."""
    with user_code(name):
        candidate = create()
    return _require_controller(candidate, name)


def _require_controller(candidate: object, name: str) -> Controller:
    """Return a controller, or raise an InputError that lists the methods that it lacks."""
    if isinstance(candidate, type):
        raise InputError(f"{name} returned the class {candidate.__name__}, not a controller", hint=_HINT)
    if isinstance(candidate, Controller):
        return UserController(candidate, name)
    missing = [method for method in ("next", "restart", "close") if method not in dir(candidate)]
    raise InputError(f"{name} is not a controller: it lacks {', '.join(missing)}", hint=_HINT)


def controller_classes(path: Path) -> tuple[str, ...]:
    """Return the names of the classes with a method `next` in a Python file, without executing it."""
    try:
        tree = ast.parse(read_text(path))
    except (PosewrightError, SyntaxError, ValueError):  # not readable, or not Python
        return ()
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    return tuple(
        node.name
        for node in classes
        if any(isinstance(part, ast.FunctionDef) and part.name == "next" for part in node.body)
    )


def standing_pose(robot: Robot) -> Floats:
    """Return the angles of a robot's standing pose, `(n_joints,)` [rad]; zeros if its card has none."""
    pose_name = next((pose for pose in STANDING if pose in robot.poses), None)
    return np.zeros(len(robot.joints)) if pose_name is None else robot.pose(pose_name)


def _choose_robot(
    requested: Robot | None, template_robot: Robot | None, option: str | None, program: str
) -> Robot:
    """Return the robot of a program: the requested one, else the template's, else that of the option.

    Args:
        requested: the robot of the caller; None for any.
        template_robot: the robot of the behaviour that the program is like; None without one.
        option: value of the program's option `robot`, a name or path; None without one.
        program: name of the program, for messages.

    Raises:
        InputError: there is none of these, or the option names another robot than the chosen one.
    """
    from posewright.robots import robot as read_robot

    option_robot = None if option is None else read_robot(option)
    chosen = requested or template_robot or option_robot
    if chosen is None:
        raise InputError(f"{program} names no robot", hint="--robot, or --set like=BEHAVIOUR")
    if option_robot is not None and option_robot.name != chosen.name:
        raise InputError(
            f"{program} is to drive {option_robot.name}, but the robot is {chosen.name}",
            hint="leave out the option robot, or choose another trial or robot",
        )
    return chosen


def load_object(reference: str) -> object:
    """Execute the module of `file.py:Name` or `package.module:Name`, and return the object of that name.

    Raises:
        FormatError: there is no such file, module or name, or Python cannot execute it.
    """
    match = _REFERENCE.fullmatch(reference)
    if match is None:
        raise FormatError(
            f"{reference!r} is not the name of a Python object", hint="mine.py:Mine, or package.module:Mine"
        )
    module_name = match["module"]
    path = Path(module_name) if module_name.endswith(".py") else None
    module = _import_module(module_name) if path is None else execute_python_file(path)
    contents = vars(module)
    if match["name"] not in contents:
        names = [
            name
            for name, value in contents.items()
            if isinstance(value, type) and value.__module__ == module.__name__
        ]
        hint = f"it has {', '.join(names)}" if names else "it has no class"
        raise FormatError(
            f"there is no {match['name']} in it", where=Where(path or Path(module_name)), hint=hint
        )
    loaded: object = contents[match["name"]]
    return loaded


def _import_module(name: str) -> ModuleType:
    """Import an installed module of a user.

    Raises:
        FormatError: there is no such module, or it raised an exception.
    """
    try:
        module = importlib.import_module(name)
    except PosewrightError:
        raise
    except (Exception, SystemExit) as error:  # foreign code can raise anything
        message = f"Python cannot import it: {type(error).__name__}: {error}".rstrip(": ")
        raise FormatError(message, where=Where(Path(name))) from error
    add_package_code(name)
    return module
