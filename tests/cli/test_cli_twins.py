"""Every verb of the command line has its twin in the door, `import posewright as pw`."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import posewright as pw
from posewright.cli.app import build_parser, run
from posewright.cli.commands import COMMANDS, RENAMED

BIOLOID = pw.robot("robotis_bioloid")
HEAVY = (
    *("numpy", "mujoco", "scipy", "matplotlib", "mcap", "yaml", "lark", "ruamel.yaml"),
    *("posewright.robots.card", "posewright.formats.registry", "posewright.charts.model.chart"),
    *("posewright.runs.run", "posewright.simulation.world"),
)
SHIPPED = Path(BIOLOID.folder or "")


def verbs(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Yield the words of everything that can be run, and its command."""
    subcommands = getattr(command, "commands", {})
    if not subcommands:
        yield " ".join(path), command
    for name, subcommand in subcommands.items():
        yield from verbs(subcommand, (*path, name))


ROOT_COMMAND = build_parser()
VERBS = dict(verbs(ROOT_COMMAND))


@pytest.mark.parametrize("command", VERBS)
def test_the_help_of_a_verb_names_the_functions_that_do_the_same_in_python(command: str) -> None:
    python_names = re.findall(r"posewright\.(\w+)", VERBS[command].epilog)
    assert python_names
    for name in python_names:
        assert name in pw.__all__
        assert callable(getattr(pw, name))


@pytest.mark.parametrize("command", VERBS)
def test_help_has_one_style_of_placeholders(command: str) -> None:
    verb = VERBS[command]
    for parameter in verb.get_params(verb.make_context(command, [], resilient_parsing=True)):
        if parameter.param_type_name == "option":
            if parameter.is_flag:
                assert parameter.metavar == "", parameter.name  # None would show <bool>
            else:
                assert parameter.metavar, parameter.name  # None would show <str>


@pytest.mark.parametrize(
    ("short", "full"),
    [
        ("robots sony_ers7", "robots show sony_ers7"),
        ("contest sumo", "contest show sumo"),
        ("gait trot", "gait show trot"),
        ("arena stairs", "arena show stairs"),
        ("tune list", "tune --list"),
    ],
)
def test_what_is_named_after_its_group_is_shown(
    short: str, full: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(full.split()) == 0
    expected = capsys.readouterr().out
    assert run(short.split()) == 0
    assert capsys.readouterr().out == expected


def test_a_mistyped_verb_is_no_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["robots", "lst"]) == 2
    assert "no such command 'lst'; did you mean 'list'?" in capsys.readouterr().err
    assert run(["robots", "sony_ers"]) == 2
    assert "unknown robot 'sony_ers' (did you mean" in capsys.readouterr().err


def test_shipped_motions_are_listed_with_files_that_can_be_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["motion", "list", "--robot", "sony_ers7", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [entry["motion"] for entry in listed] == ["kick_right", "nod", "play_bow"]
    assert {entry["motion"]: Path(entry["file"]) for entry in listed} == pw.shipped_motions(
        pw.robot("sony_ers7")
    )


def test_every_command_is_in_a_panel_of_the_help() -> None:
    panels = {name: command.rich_help_panel for name, command in ROOT_COMMAND.commands.items()}
    assert panels == {command.name: command.panel for command in COMMANDS}


def test_help_shows_the_panels_with_the_sentence_of_each_command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("typer.rich_utils.MAX_WIDTH", 110)
    assert run(["--help"]) == 0
    output = capsys.readouterr().out
    for command in COMMANDS:
        assert f"─ {command.panel} ─" in output
        assert command.summary in output


@pytest.mark.parametrize("old_name", RENAMED)
def test_an_old_name_is_answered_with_the_new_one_in_one_line(
    old_name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert RENAMED[old_name] in VERBS or RENAMED[old_name] == "aibo archive"
    assert run([*old_name.split(), "FILE", "--json"]) == 2
    assert capsys.readouterr().err == f"error: posewright {old_name} is now posewright {RENAMED[old_name]}\n"


def loaded_after(program: str) -> set[str]:
    """Return the heavy modules that a program leaves loaded."""
    program += f"\nimport sys\nprint('loaded:', *(name for name in {HEAVY} if name in sys.modules))"
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)  # noqa: S603 -- our own program
    return set(process.stdout.splitlines()[-1].split()[1:])


@pytest.mark.parametrize("command", [["--version"], ["--help"], ["rum"], ["gait", "--help"]])
def test_what_only_tells_names_loads_no_room(command: list[str]) -> None:
    assert loaded_after(f"from posewright.cli.app import run\nrun({command})") == set()


def test_no_verb_loads_a_room_before_it_is_run() -> None:
    program = "from posewright.cli.app import build_parser\nbuild_parser()"
    assert loaded_after(program) == set()


def test_what_the_type_checker_sees_of_the_door_is_what_is_there() -> None:
    tree = ast.parse(Path(pw.__file__).read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    imported = {
        alias.asname or alias.name: (node.module or "", alias.name, alias.asname is not None)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    exports = {
        name: (room, attribute) for name, (room, attribute, is_exported) in imported.items() if is_exported
    }
    for node in block.body:
        if isinstance(node, ast.Assign):  # offered under another name
            exports[ast.unparse(node.targets[0])] = imported[ast.unparse(node.value)][:2]
    assert exports.keys() == set(pw.__all__) - {"__version__"}
    for name, (room, attribute) in exports.items():
        assert getattr(pw, name) is getattr(__import__(room, fromlist=[attribute]), attribute)


def test_a_chart_is_checked_tabulated_made_smaller_drawn_and_run_from_python(tmp_path: Path) -> None:
    chart = pw.read_chart(SHIPPED / "behaviours/obstacle_mealy.chart.yaml")
    assert pw.check_chart(chart) == ()
    assert len(pw.tabulate_chart(chart).rows) == 32
    minimised = pw.minimise_chart(chart, "junctions", order="best")
    assert minimised.rows == pw.minimise_chart(chart, order=("w", "v", "u")).rows
    assert minimised.rows == pw.minimise_chart(chart, order="w, v, u").rows
    pw.draw_chart(chart, tmp_path / "chart.svg", active="walking", labels="words")
    assert (tmp_path / "chart.svg").read_text().startswith("<svg ")
    (tmp_path / "rows.csv").write_text("front,left,right\n0,0,0\n1,0,0\n")
    inputs = {"front": False, "left": False, "right": False}, "front=1"
    ticks = pw.run_chart(chart, inputs)
    assert [tick.after.state for tick in ticks] == ["walking", "turning_left"]
    file_ticks = pw.run_chart(chart, tmp_path / "rows.csv")
    assert [tick.after for tick in file_ticks] == [tick.after for tick in ticks]
    assert pw.run_chart(chart, ["right=1"], start="10")[0].before == "turning_right"


def test_an_unsound_chart_is_neither_tabulated_nor_run(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("state,key,next,light\ndark,0,dark,0\n")
    chart = pw.read_chart(tmp_path / "t.csv")
    for use in (pw.tabulate_chart, pw.minimise_chart, lambda chart: pw.run_chart(chart, ["key=1"])):
        with pytest.raises(pw.PosewrightError, match="no transition in dark with key=1"):
            use(chart)


def test_a_motion_is_sampled_in_any_unit_and_drawn_from_python(tmp_path: Path) -> None:
    walk = pw.read_motion(SHIPPED / "motions/walk_forward.motion.yaml")
    samples = pw.sample_motion(walk, BIOLOID, rate_hz=8, unit="ticks", numbering="uc3m_thesis")
    assert samples.values("ticks") == pytest.approx(samples.values("servo_deg") * 1024 / 300)
    assert samples.csv().startswith("time_s,1,2,3,6,7,8,11,")
    pw.save_figure(pw.draw_motion(walk), str(tmp_path / "walk.svg"))
    pw.save_figure(pw.draw_motion(walk, BIOLOID), tmp_path / "again.svg")
    assert (tmp_path / "walk.svg").read_bytes() == (tmp_path / "again.svg").read_bytes()
