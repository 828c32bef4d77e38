"""The floors: a room imports rooms on lower floors only (docs/architecture.md)."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import posewright
from posewright import version

from .imports import PACKAGE, UNKNOWN, imports_of, modules, source_of, tree_of

FLOORS: tuple[frozenset[str], ...] = (
    frozenset({"arrays", "display", "errors", "lazy", "rotation", "units", "version"}),
    frozenset({"documents"}),
    frozenset({"search", "robots", "charts", "arenas"}),
    frozenset({"motions", "kinematics"}),
    frozenset({"bodies", "gaits", "hazards"}),
    frozenset({"formats", "recordings", "control"}),
    frozenset({"controllers", "simulation", "buses", "network", "contests"}),
    frozenset({"codegen", "runtimes", "evaluation"}),
    frozenset({"figures"}),
    frozenset({"runs"}),
    frozenset({"studio"}),
    frozenset({"cli"}),
)
FLOOR_OF = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
DOOR = (
    "the door"  # posewright/__init__.py and __main__.py, which may look into every room; no room may look in
)
ONLY_IN = {"mujoco": ("simulation", "hazards")}
"""The rooms that may import a library. `hazards` asks MuJoCo only which collision shapes overlap: formats and
boards, on floors below `simulation`, must know it before they write a motion for a robot."""
BANNED_NAMES = {"utils", "common", "helpers", "manager"}


def room_of(module: str) -> str:
    """Return the room a dotted module name of the package lies in."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[1] != "__main__" else DOOR


def faults(module: str, source: str, *, is_package: bool = False) -> list[str]:
    """Return what is wrong with the imports of one module, in words."""
    room = room_of(module)
    wrong = []
    for base, inner in imports_of(source, module, is_package=is_package):
        name = f"{base}.{inner}" if base == "posewright" and inner not in ("", UNKNOWN) else base
        top = name.split(".")[0]
        if top in ONLY_IN and room not in ONLY_IN[top]:
            wrong.append(f"{module} imports {name}, which only {' and '.join(ONLY_IN[top])} may")
        if top != "posewright" or room == DOOR:
            continue
        other = room_of(name)
        if other == room:
            continue
        if room not in FLOOR_OF:
            wrong.append(f"{module} lies in no room of the plan")
        elif other not in FLOOR_OF:
            wrong.append(f"{module} imports {name}, which is no room: a room does not look in at the door")
        elif FLOOR_OF[other] >= FLOOR_OF[room]:
            wrong.append(f"{module} imports {name}, which lies no lower")
    return wrong


@pytest.mark.parametrize(("module", "path"), modules(), ids=str)
def test_a_room_imports_lower_floors_only(module: str, path: Path) -> None:
    assert faults(module, source_of(path), is_package=path.name == "__init__.py") == []


def test_every_room_stands_on_a_floor() -> None:
    rooms = {room_of(module) for module, _ in modules()}
    assert rooms - set(FLOOR_OF) == {DOOR}


def test_no_room_has_a_name_that_says_nothing() -> None:
    assert [path for path in PACKAGE.rglob("*") if path.stem in BANNED_NAMES] == []


@pytest.mark.parametrize(
    "source",
    [
        "from posewright.runs import run_trial",
        "import posewright.cli.app",
        "from posewright import runs",
        "def late():\n    from posewright.controllers.behaviours import player",
        "from ...trials import run",
        "import mujoco",
        "from posewright import run_trial",
        "from posewright import *",
        "from ... import run_trial",
        "import posewright as pw\npw.run_trial()",
        "import posewright.robots\nposewright.run_trial()",
        "import importlib\nimportlib.import_module('posewright.runs')",
        "from importlib import import_module\nimport_module('posewright.runs.run')",
        "import_module('...trials', __package__)",
        "import_module(f'posewright.runs.{name}')",
        "import_module(f'posewright.{name}')",
        "import_module('mujoco.viewer')",
        "__import__('posewright.cli')",
    ],
)
def test_an_import_turned_upside_down_is_seen(source: str) -> None:
    assert faults("posewright.motions.deep.pose", source) != []


@pytest.mark.parametrize(
    "source",
    [
        "from posewright import robots",
        "from posewright.robots import Robot",
        "import posewright.robots as robots",
        "from ... import errors",
        "from .. import motion",
        "import importlib\nimportlib.import_module(f'{__name__}.{name}')",
        "importlib.import_module(f'posewright.motions.{name}')",
        "importlib.import_module(name)",
        "importlib.import_module('json')",
    ],
)
def test_an_import_the_right_way_up_is_let_be(source: str) -> None:
    assert faults("posewright.motions.deep.pose", source) == []


def test_only_the_command_line_and_the_studio_catch_whatever_comes() -> None:
    """Each in one place; elsewhere a handler says what it expects, or hands on what it caught."""
    broad = [
        module
        for module, path in modules()
        for node in ast.walk(tree_of(source_of(path)))
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or ast.unparse(node.type) in ("Exception", "BaseException"))
        and not any(isinstance(inner, ast.Raise) for inner in ast.walk(node))
    ]
    assert broad == ["posewright.cli.app", "posewright.studio.session"]


def test_importing_every_module_does_nothing_and_loads_nothing_heavy() -> None:
    """All but the inside of simulation/ and self-collisions, which is where MuJoCo is."""
    heavy = "mujoco", "matplotlib", "sympy", "scipy", "imageio_ffmpeg"
    unloaded = ("__main__", ".simulation.", ".hazards.self_collision")
    light = [name for name, _ in modules() if not any(part in name for part in unloaded)]
    code = (
        "import sys, importlib, threading\n"
        f"for name in {light!r}:\n"
        "    importlib.import_module(name)\n"
        "assert threading.active_count() == 1\n"
        f"print([name for name in {heavy!r} if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)  # noqa: S603 -- our own interpreter and code
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_the_project_and_the_package_say_the_same_version() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["version"] == version.__version__ == posewright.__version__


def test_the_door_is_light() -> None:
    heavy = {"numpy", "mujoco", "ruamel", "yaml", "rich"}
    code = f"import posewright, sys; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603 -- our own interpreter and code
    assert done.stdout.strip() == "[]"
