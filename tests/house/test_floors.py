"""The floors: a room imports rooms on lower floors only (docs/architecture.md)."""

from __future__ import annotations

import ast
import importlib.util
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import posewright
from posewright import version

PACKAGE = Path(posewright.__file__).parent

FLOORS: tuple[frozenset[str], ...] = (
    frozenset({"arrays", "errors", "lazy", "rotation", "units", "version"}),
    frozenset({"documents"}),
    frozenset({"robots"}),
    frozenset({"motions", "charts", "kinematics"}),
    frozenset({"arenas", "bodies", "gaits"}),
    frozenset({"formats", "traces", "codegen"}),
    frozenset({"playing", "simulation", "links", "onboard", "contests"}),
    frozenset({"trials"}),
    frozenset({"cli", "studio"}),
)
FLOOR_OF = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
DOOR = (
    "the door"  # posewright/__init__.py and __main__.py, which may look into every room; no room may look in
)
ONLY_IN = {"mujoco": "simulation"}
BANNED_NAMES = {"utils", "common", "helpers", "manager"}


def room_of(module: str) -> str:
    """Return the room a dotted module name of the package lies in."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[1] != "__main__" else DOOR


def imports_of(source: str, module: str, *, is_package: bool) -> Iterator[str]:
    """Yield every module that `source` imports, anywhere in it, as an absolute dotted name."""
    package = module.split(".") if is_package else module.split(".")[:-1]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
            # `import posewright.robots` binds `posewright`, and with it everything else
            yield from (
                "posewright"
                for alias in node.names
                if alias.name.startswith("posewright.") and not alias.asname
            )
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*start, *([node.module] if node.module else [])])
            names = [f"{base}.{alias.name}" for alias in node.names]
            yield from names if base == "posewright" else [base]
        elif isinstance(node, ast.Call) and node.args:
            called = ast.unparse(node.func).rsplit(".", maxsplit=1)[-1]
            if called in ("import_module", "__import__"):
                yield from _named(node, module, ".".join(package))


def _named(call: ast.Call, module: str, package: str) -> Iterator[str]:
    """Yield the module that a call imports, as far as its text says; of an f-string, its constant start."""
    text = ""
    for part in call.args[0].values if isinstance(call.args[0], ast.JoinedStr) else call.args[:1]:
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            text += part.value
        elif isinstance(part, ast.FormattedValue) and ast.unparse(part.value) == "__name__":
            text += module
        else:
            text = text.rpartition(".")[0]  # what follows the last dot is not known
            break
    if text:
        yield importlib.util.resolve_name(text, package)


def faults(module: str, source: str, *, is_package: bool = False) -> list[str]:
    """Return what is wrong with the imports of one module, in words."""
    room = room_of(module)
    wrong = []
    for name in imports_of(source, module, is_package=is_package):
        top = name.split(".")[0]
        if top in ONLY_IN and room != ONLY_IN[top]:
            wrong.append(f"{module} imports {name}, which only {ONLY_IN[top]}/ may")
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


def modules() -> list[tuple[str, Path]]:
    """Return every module of the package with its file."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = ["posewright", *path.relative_to(PACKAGE).with_suffix("").parts]
        found.append((".".join(parts[:-1] if parts[-1] == "__init__" else parts), path))
    return found


@pytest.mark.parametrize(("module", "path"), modules(), ids=str)
def test_a_room_imports_lower_floors_only(module: str, path: Path) -> None:
    assert faults(module, path.read_text(encoding="utf-8"), is_package=path.name == "__init__.py") == []


def test_every_room_stands_on_a_floor() -> None:
    rooms = {room_of(module) for module, _ in modules()}
    assert rooms - set(FLOOR_OF) == {DOOR}


def test_no_room_has_a_name_that_says_nothing() -> None:
    assert [path for path in PACKAGE.rglob("*") if path.stem in BANNED_NAMES] == []


@pytest.mark.parametrize(
    "source",
    [
        "from posewright.trials import run_trial",
        "import posewright.cli.app",
        "from posewright import trials",
        "def late():\n    from posewright.playing import player",
        "from ...trials import run",
        "import mujoco",
        "from posewright import run_trial",
        "from posewright import *",
        "from ... import run_trial",
        "import posewright as pw\npw.run_trial()",
        "import posewright.robots\nposewright.run_trial()",
        "import importlib\nimportlib.import_module('posewright.trials')",
        "from importlib import import_module\nimport_module('posewright.trials.run')",
        "import_module('...trials', __package__)",
        "import_module(f'posewright.trials.{name}')",
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


def test_only_the_command_line_catches_whatever_comes() -> None:
    """Elsewhere a handler says what it expects, or hands on what it caught."""
    broad = [
        module
        for module, path in modules()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or ast.unparse(node.type) in ("Exception", "BaseException"))
        and not any(isinstance(inner, ast.Raise) for inner in ast.walk(node))
    ]
    assert broad == ["posewright.cli.app"]


def test_importing_every_module_does_nothing_and_loads_nothing_heavy() -> None:
    """All but the inside of simulation/, which is where MuJoCo is."""
    heavy = "mujoco", "matplotlib", "sympy", "scipy", "imageio_ffmpeg"
    light = [name for name, _ in modules() if "__main__" not in name and ".simulation." not in name]
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
