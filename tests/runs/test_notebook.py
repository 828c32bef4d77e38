"""In a notebook robots, motions, gaits, outcomes and recordings are pictures with a table below."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import posewright as pw
from posewright.recordings import Recording
from posewright.runs.notebook import DRAWING_FUNCTIONS

DOG = pw.robot("sony_ers7")


class Shell:
    """As much of IPython as is asked for something: formatters by module and name of a type."""

    def __init__(self) -> None:
        self.functions: dict[tuple[str, str], Callable[[Any], str]] = {}
        self.display_formatter = self
        self.formatters = {"text/html": self, "image/png": self}

    def for_type_by_name(self, module: str, name: str, to_html: Callable[[Any], str]) -> None:
        self.functions[module, name] = to_html

    def lookup_by_type(self, name: str) -> Callable[[Any], str]:
        raise KeyError(name)

    def show(self, value: Any) -> str:
        return self.functions[type(value).__module__, type(value).__name__](value)


@pytest.fixture
def shell() -> Shell:
    shell = Shell()
    pw.load_ipython_extension(shell)
    return shell


@pytest.fixture(scope="module")
def played() -> Recording:
    motion = pw.read_motion(DOG.folder / "motions/nod.motion.yaml") if DOG.folder else None
    assert motion is not None
    return pw.try_motion(motion).recording


def test_a_robot_a_motion_and_a_gait_are_pictures_with_words(shell: Shell) -> None:
    motion = pw.read_motion(f"{DOG.folder}/motions/nod.motion.yaml")
    for value, text in ((DOG, "left_front_knee"), (motion, "keyframe"), (pw.read_gait("trot"), "gait trot")):
        html = shell.show(value)
        assert html.startswith("<img ")
        assert "data:image/png;base64," in html
        assert text in html


def test_what_was_recorded_and_what_came_of_it_are_pictures(shell: Shell, played: Recording) -> None:
    walk = pw.walk_gait(pw.read_gait("trot"), command=pw.VelocityCommand(0.1), seconds=0.3)
    for value in (played, pw.replay(played), walk, pw.replay(walk.recording)):
        assert shell.show(value).startswith("<img ")


def test_what_cannot_be_drawn_says_why_above_its_table(shell: Shell) -> None:
    html = shell.show(pw.robot("sony_ers110"))
    assert html.startswith("<p>sony_ers110 has no model")
    assert "<table" in html
    motion = pw.read_motion(f"{DOG.folder}/motions/nod.motion.yaml")
    still = replace(motion, keyframes=(replace(motion.keyframes[0], reach_s=0.0, pause_s=0.0),), repeat=1)
    assert "has no duration" in shell.show(still)


def test_the_types_and_what_draws_them_are_where_they_are_looked_for() -> None:
    for place, drawing in DRAWING_FUNCTIONS.items():
        for module, name in (place, drawing):
            displayed = getattr(__import__(module, fromlist=[name]), name)
            assert module in {displayed.__module__, "posewright.figures", "posewright.charts"}


@pytest.mark.parametrize("running", [True, False])
def test_importing_posewright_inside_ipython_turns_it_on(running: bool) -> None:
    program = (
        "import sys, types\n"
        "calls = []\n"
        "how = {'for_type_by_name': lambda *one: calls.append(one), 'lookup_by_type': {}.__getitem__}\n"
        "formatter = types.SimpleNamespace(**how)\n"
        "display = types.SimpleNamespace(formatters={'text/html': formatter, 'image/png': formatter})\n"
        "shell = types.SimpleNamespace(display_formatter=display)\n"
        "ipython = types.ModuleType('IPython')\n"
        f"ipython.get_ipython = lambda: shell if {running} else None\n"
        "sys.modules['IPython'] = ipython\n"
        "import posewright\n"
        "heavy = {'matplotlib', 'mujoco', 'scipy', 'posewright.motions.motion'} & set(sys.modules)\n"
        "print(len(calls), sorted(heavy))\n"
    )
    command = [sys.executable, "-c", program]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603 -- our own
    assert output.split() == [str(len(DRAWING_FUNCTIONS) + 1 if running else 0), "[]"]
