"""One loop, one recording, one way to save a figure, in every room of the house."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .imports import PACKAGE, source_of, tree_of

MODULES = sorted(PACKAGE.rglob("*.py"))

ADVANCES = {
    "control/loop.py": "the loop",
    "network/plant_server.py": "hands a request of a loop elsewhere on to the plant that it serves",
    "buses/dynamixel/fake/physics.py": "is what the servos of a fake bus move: time passes as its bytes do",
}
"""The modules that may advance a plant, each with the reason."""

PHYSICS_STEPS = {"mj_step", "mj_step1", "mj_step2"}
FIGURE_WRITERS = {
    *("savefig", "print_png", "print_svg", "print_pdf", "print_figure"),
    "get_registered_canvas_class",  # what has the functions that print
}


def calls_of(source: str, names: set[str]) -> Iterator[ast.Call]:
    """Yield the calls of functions and methods with these names."""
    if not any(name in source for name in names):  # quicker than to parse what has none
        return
    for node in ast.walk(tree_of(source)):
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in names:
            yield node


def modules_that_call(names: set[str]) -> set[str]:
    """Return the modules that call functions or methods with these names."""
    return {path.relative_to(PACKAGE).as_posix() for path in MODULES if any(calls_of(source_of(path), names))}


def test_exactly_one_loop_advances_a_plant() -> None:
    modules = {
        path.relative_to(PACKAGE).as_posix()
        for path in MODULES
        for call in calls_of(source_of(path), {"advance"})
        if ast.unparse(call.func).endswith(("plant.advance", "world.advance"))
    }
    assert modules == set(ADVANCES)


def test_only_the_world_steps_the_physics() -> None:
    modules = {
        path.relative_to(PACKAGE).as_posix()
        for path in MODULES
        if "mj_step" in source_of(path)
        for node in ast.walk(tree_of(source_of(path)))
        if isinstance(node, ast.Attribute) and node.attr in PHYSICS_STEPS
    }
    assert modules == {"simulation/world.py"}


def test_one_class_is_the_recording_of_a_run() -> None:
    modules = [
        path.relative_to(PACKAGE).as_posix()
        for path in MODULES
        if "class Recording" in source_of(path)
        for node in ast.walk(tree_of(source_of(path)))
        if isinstance(node, ast.ClassDef) and node.name == "Recording"
    ]
    assert modules == ["recordings/recording.py"]


def test_one_function_saves_figures() -> None:
    assert modules_that_call(FIGURE_WRITERS) == {"figures/saving.py"}
