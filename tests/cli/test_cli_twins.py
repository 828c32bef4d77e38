"""Every verb of the command line has its twin in the door, `import posewright as pw`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import posewright as pw
from posewright.cli.app import VERBS, build_app

BIOLOID = pw.robot("robotis_bioloid")
SHIPPED = Path(BIOLOID.folder or "")


def verbs(command: Any, words: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield the words of everything that can be run."""
    below = getattr(command, "commands", {})
    if words and (not below or command.invoke_without_command):
        yield " ".join(words)
    for name, inner in below.items():
        yield from verbs(inner, (*words, name))


def test_every_verb_has_its_twin_and_every_twin_its_verb() -> None:
    found = set(verbs(typer.main.get_command(build_app())))
    assert {words.split()[0] for words in found} == set(VERBS)
    assert found == set(pw.TWINS)


@pytest.mark.parametrize("words", pw.TWINS)
def test_a_twin_is_there_and_can_be_called(words: str) -> None:
    assert pw.TWINS[words]
    for name in pw.TWINS[words]:
        assert name in pw.__all__
        assert callable(getattr(pw, name))


def test_what_the_type_checker_sees_of_the_door_is_what_is_there() -> None:
    tree = ast.parse(Path(pw.__file__).read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    imported = {
        alias.asname or alias.name: (node.module or "", alias.name, alias.asname is not None)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    seen = {name: (room, attribute) for name, (room, attribute, offered) in imported.items() if offered}
    for node in block.body:
        if isinstance(node, ast.Assign):  # offered under another name
            seen[ast.unparse(node.targets[0])] = imported[ast.unparse(node.value)][:2]
    assert seen.keys() == set(pw.__all__) - {"TWINS", "__version__"}
    for name, (room, attribute) in seen.items():
        assert getattr(pw, name) is getattr(__import__(room, fromlist=[attribute]), attribute)


def test_a_chart_is_checked_tabulated_made_smaller_drawn_and_run_from_python(tmp_path: Path) -> None:
    chart = pw.read_chart(SHIPPED / "behaviours/obstacle_mealy.chart.yaml")
    assert pw.check_chart(chart) == ()
    assert len(pw.tabulate_chart(chart).rows) == 32
    small = pw.minimise_chart(chart, "junctions", order="best")
    assert small.rows == pw.minimise_chart(chart, order=("w", "v", "u")).rows
    assert small.rows == pw.minimise_chart(chart, order="w, v, u").rows
    pw.draw_chart(chart, tmp_path / "chart.svg", active="walking", labels="words")
    assert (tmp_path / "chart.svg").read_text().startswith("<svg ")
    (tmp_path / "rows.csv").write_text("front,left,right\n0,0,0\n1,0,0\n")
    rows = {"front": False, "left": False, "right": False}, "front=1"
    ticks = pw.run_chart(chart, rows)
    assert [tick.after.state for tick in ticks] == ["walking", "turning_left"]
    filed = pw.run_chart(chart, tmp_path / "rows.csv")
    assert [tick.after for tick in filed] == [tick.after for tick in ticks]
    assert pw.run_chart(chart, ["right=1"], start="10")[0].before == "turning_right"


def test_an_unsound_chart_is_neither_tabulated_nor_run(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("state,key,next,light\ndark,0,dark,0\n")
    chart = pw.read_chart(tmp_path / "t.csv")
    for use in (pw.tabulate_chart, pw.minimise_chart, lambda one: pw.run_chart(one, ["key=1"])):
        with pytest.raises(pw.PosewrightError, match="no transition in dark with key=1"):
            use(chart)


def test_a_motion_is_sampled_in_any_unit_and_drawn_from_python(tmp_path: Path) -> None:
    walk = pw.read_motion(SHIPPED / "motions/walk_forward.motion.yaml")
    table = pw.sample_motion(walk, BIOLOID, rate_hz=8, unit="ticks", numbering="uc3m_thesis")
    assert table.values("ticks") == pytest.approx(table.values("servo_deg") * 1024 / 300)
    assert table.csv().startswith("time_s,1,2,3,6,7,8,11,")
    pw.draw_motion(walk, str(tmp_path / "walk.svg"))
    pw.draw_motion(walk, tmp_path / "again.svg", BIOLOID)
    assert (tmp_path / "walk.svg").read_bytes() == (tmp_path / "again.svg").read_bytes()
