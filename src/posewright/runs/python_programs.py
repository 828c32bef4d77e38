"""Programs in Python: a class of one's own in a file or an installed module."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from posewright.arrays import Floats
from posewright.control import Controller, ControllerFactory, Program, Seed, require_known_options
from posewright.controllers.behaviours import read_behaviour
from posewright.documents import read_text
from posewright.errors import FormatError, InputError, PosewrightError, Where
from posewright.robots import Robot, SensorSpec

_REFERENCE = re.compile(r"(?P<module>.+\.py|[A-Za-z_][\w.]*):(?P<name>[A-Za-z_]\w*)")

STANDING = ("walk_ready", "stand")
"""The first of these poses that a robot's card has is where a program of one's own begins."""


class PythonKind:
    """Python: `mine.py:Mine`, or `package.module:Mine`, where `Mine` makes a `Controller`, or is a `Program`.

    The file is run, so a program of a stranger is run like any other code of his.
    """

    name = "python"
    option_names = ("like", "robot")
    """`like`: a behaviour whose sensors and start pose the robot has; `robot`: where nothing else says it."""

    def names(self, robot: Robot | None) -> tuple[str, ...]:  # noqa: ARG002 -- a class has no shipped name
        """Return nothing: classes are named by their module."""
        return ()

    def recognises(self, name: str) -> bool:
        """Tell whether it reads `something.py:Name` or `package.module:Name`, perhaps after `python:`."""
        match = _REFERENCE.fullmatch(name.removeprefix(f"{self.name}:"))
        return match is not None and ("." in match["module"] or name.startswith(f"{self.name}:"))

    def read(self, name: str, robot: Robot | None, options: Mapping[str, str]) -> Program:
        """Return the program that a class makes.

        Raises:
            FormatError: it cannot be read: no such file, module or name, or Python fails to run it.
            InputError: no robot is named, or the class makes no controller.
        """
        require_known_options(options, self.option_names, self.name)
        offered = load_object(name)
        if isinstance(offered, Program) and not isinstance(offered, type):
            return offered
        make = controller_maker(offered, name)
        template = read_behaviour(options["like"], robot=robot) if "like" in options else None
        card = _robot(robot, template.robot if template is not None else None, options.get("robot"), name)
        file, _, class_name = name.rpartition(":")
        texts = {Path(file).name: read_text(Path(file))} if file.endswith(".py") else {}
        return PythonProgram(
            class_name,
            card,
            make,
            sensors=card.sensors if template is None else template.sensors,
            start_pose=standing_pose(card) if template is None else template.start_pose,
            documents=texts,
        )


@dataclass(frozen=True)
class PythonProgram:
    """A controller of one's own as a program.

    Attributes:
        name: for people and recordings.
        robot: that it drives.
        make: makes the controller.
        sensors: all the body must have.
        start_pose: in which the robot begins, `(n_joints,)` [rad].
        documents: the texts it was read from.
        kind: what recordings say before the name.
        extras: what a recording says of it besides.
    """

    name: str
    robot: Robot
    make: ControllerFactory
    sensors: tuple[SensorSpec, ...]
    start_pose: Floats
    documents: Mapping[str, str] = field(default_factory=dict)
    kind: str = "python"
    warnings: tuple[str, ...] = ()
    extras: Mapping[str, Any] = field(default_factory=dict)

    def controller(self, seed: Seed) -> Controller:
        """Return a controller of one's own."""
        return self.make(self, seed)


def controller_maker(offered: object, name: str = "") -> ControllerFactory:
    """Return what makes a controller of what a person hands in.

    Args:
        offered: a class or function that takes a program and a seed, or nothing; or a controller.
        name: of it, for messages.

    Raises:
        InputError: it is none of them.
    """
    called = name or repr(offered)
    if not isinstance(offered, type) and isinstance(offered, Controller):
        return lambda _program, _seed: offered
    if not callable(offered):
        raise InputError(f"{called} makes no controller", hint=_HINT)
    parameters = _positional_parameters(offered)
    n_required = sum(parameter.default is inspect.Parameter.empty for parameter in parameters)
    if len(parameters) >= 2 >= n_required:
        return lambda program, seed: _checked(offered(program, seed), called)
    if n_required == 0:
        return lambda _program, _seed: _checked(offered(), called)
    raise InputError(f"{called} cannot be made of a program and a seed, nor of nothing", hint=_HINT)


_HINT = "a class with next(state, n), restart() and close(); posewright.Controller has the last two already"


def _positional_parameters(maker: Callable[..., object]) -> list[inspect.Parameter]:
    """Return the positional parameters of a class or function; none where Python knows no signature."""
    try:
        parameters = inspect.signature(maker).parameters.values()
    except ValueError:
        return []
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [parameter for parameter in parameters if parameter.kind in kinds]


def _checked(made: object, name: str) -> Controller:
    if isinstance(made, Controller):
        return made
    missing = [member for member in ("next", "restart", "close") if member not in dir(made)]
    raise InputError(f"{name} makes no controller: it has no {', '.join(missing)}", hint=_HINT)


def controller_classes(path: Path) -> tuple[str, ...]:
    """Return the names of the classes in a Python file that look like controllers; the file is not run."""
    try:
        tree = ast.parse(read_text(path))
    except (PosewrightError, SyntaxError, ValueError):  # not readable, or no Python
        return ()
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    return tuple(
        node.name
        for node in classes
        if any(isinstance(part, ast.FunctionDef) and part.name == "next" for part in node.body)
    )


def standing_pose(robot: Robot) -> Floats:
    """Return the pose in which a robot stands, `(n_joints,)` [rad]; all zero where its card has none."""
    named = next((pose for pose in STANDING if pose in robot.poses), None)
    return np.zeros(len(robot.joints)) if named is None else robot.pose(named)


def _robot(given: Robot | None, template: Robot | None, name: str | None, program: str) -> Robot:
    from posewright.robots import robot as robot_named

    card = given or template
    if card is not None:
        return card
    if name is None:
        raise InputError(f"{program} says no robot", hint="--robot, or --set like=BEHAVIOUR")
    return robot_named(name)


def load_object(reference: str) -> object:
    """Return what `file.py:Name` or `package.module:Name` names; the file or module is run.

    Raises:
        FormatError: there is no such file, module or name, or Python fails to run it.
    """
    match = _REFERENCE.fullmatch(reference)
    if match is None:
        raise FormatError(
            f"{reference!r} names nothing in Python", hint="mine.py:Mine, or package.module:Mine"
        )
    module_name = match["module"]
    path = Path(module_name) if module_name.endswith(".py") else None
    try:
        module = importlib.import_module(module_name) if path is None else _run(path)
    except (ImportError, SyntaxError, NameError, TypeError, ValueError, AttributeError, LookupError) as error:
        raise FormatError(
            f"Python cannot run it: {type(error).__name__}: {error}", where=Where(path or Path(module_name))
        ) from error
    contents = vars(module)
    if match["name"] not in contents:
        names = [name for name, value in contents.items() if isinstance(value, type)]
        hint = f"it has {', '.join(names)}" if names else "it has no class"
        raise FormatError(f"there is no {match['name']} in {module_name}", hint=hint)
    loaded: object = contents[match["name"]]
    return loaded


def _run(path: Path) -> Any:
    read_text(path)  # says what is wrong with a file that is not there, or is no text
    name = f"posewright_program:{path.absolute()}"  # one for each file: a class says which it is of
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise FormatError("not a Python file", where=Where(path), hint="a file that ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
