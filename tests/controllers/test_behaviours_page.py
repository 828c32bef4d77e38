"""What docs/behaviours.md shows works as it is shown."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from posewright.controllers.behaviours import read_behaviour
from posewright.recordings import read_mcap

PAGE = Path(__file__).parents[2] / "docs" / "behaviours.md"
RECORDINGS = PAGE.with_name("recordings.md")

CHART = """\
chart: my_walk
kind: mealy
period_s: 0.1
otherwise: stay
inputs: {near: bool, heading_deg: float, free_m: float}
outputs: {s1: bool, s0: bool}
initial: standing
states:
  standing:
    - {when: not near, do: {s1: 1, s0: 1}, go: walking}
  walking:
    - {when: near and (heading_deg < 90 or free_m > 1), do: {s1: 0, s0: 1}, go: standing}
"""


def blocks(language: str, page: Path = PAGE) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


def test_its_behaviour_is_read(tmp_path: Path) -> None:
    (text,) = blocks("yaml")
    (tmp_path / "my_walk.chart.yaml").write_text(CHART)
    (tmp_path / "my_walk.behaviour.yaml").write_text(text)
    behaviour = read_behaviour(tmp_path / "my_walk.behaviour.yaml")
    assert (behaviour.name, behaviour.wait_s) == ("my_walk", 5.0)
    assert behaviour.motions["walk"].speed == 0.9


def test_the_program_that_records_a_behaviour_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    program = blocks("python", RECORDINGS)[-1]
    exec(compile(program, str(RECORDINGS), "exec"), {})  # noqa: S102 - the page's own example
    recording = read_mcap(tmp_path / "run.mcap")
    assert recording.times[-1] == 10.0
    assert recording.robot().decisions.playing[-1] == "walk_forward"


def test_every_kind_of_entry_in_its_table_is_known(desk) -> None:
    """Each entry shown is wired as it stands, numbers put where the table names keys."""
    numbers = {"width_m": "0.4", "length_m": "0.6", "side": "left", "within_deg": "60"}
    numbers |= {"towards_deg": "0", "step_deg": "5", "up_to_deg": "90"}
    entries = re.findall(
        r"`(\{(?:sensor|joint|load|clock|playing|standing|random): .*?\}+)`", PAGE.read_text()
    )
    assert len(entries) >= 14
    for entry in entries:
        filled = re.sub(r"(?<=[{ ])(\w+)(?=[,}])", lambda m: _with_number(m[1], numbers), entry)
        flag = any(part in entry for part in ("contact", "fallen", "playing", "standing", "above"))
        desk.wired(filled, "bool" if flag else "float", "x" if flag else "x > 0")


def _with_number(placeholder: str, numbers: dict[str, str]) -> str:
    return f"{placeholder}: {numbers[placeholder]}" if placeholder in numbers else placeholder
