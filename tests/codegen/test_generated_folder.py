"""What a folder of generated code holds is what is built, flashed and verified."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from posewright.charts import read_chart
from posewright.charts.machine import lower
from posewright.cli.app import run as run_words
from posewright.codegen import find_changed_files, generate, verify_folder
from posewright.codegen.proof.input_generation import chart_stream
from posewright.codegen.records import RecordFormat
from posewright.errors import InputError

from .conftest import need_tool

EXAMPLES = Path(__file__).parents[2] / "examples" / "charts"
LAMP = EXAMPLES / "button_lamp" / "button_lamp.chart.yaml"


def run(*words: object) -> int:
    return run_words([str(word) for word in words])


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_a_folder_as_it_was_generated_is_verified_without_its_chart_beside_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    need_tool("gcc")
    chart = tmp_path / "elsewhere" / LAMP.name
    chart.parent.mkdir()
    shutil.copy(LAMP, chart)
    generate(chart, tmp_path / "lamp")
    chart.unlink()
    assert run("board", "verify", tmp_path / "lamp", "--steps", 2000, "--json") == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["subject"], data["mismatches"], data["changed"]) == ("button_lamp", 0, [])
    assert data["transitions_taken"] == 8


@pytest.mark.parametrize("target", ["host", "arduino-uno", "cm900"])
def test_a_change_by_hand_is_found_and_told_by_every_verb(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], target: str
) -> None:
    need_tool("gcc")
    if target == "arduino-uno":
        need_tool("avr-gcc")
    if target == "cm900":
        need_tool("arm-none-eabi-gcc")
    folder = tmp_path / "lamp"
    generate(LAMP, folder, target)
    source = folder / "button_lamp.c"
    lines = {line.strip() for line in source.read_text().splitlines() if "chart->state = " in line}
    first, second, *_ = sorted(lines)  # two transitions that lead to different states
    change(source, first, second)
    assert find_changed_files(folder) == ("button_lamp.c was changed since it was generated",)
    verification = verify_folder(folder, steps=5000)
    assert not verification.same
    assert run("board", "verify", folder, "--steps", 5000) == 1
    assert "button_lamp.c was changed since it was generated" in capsys.readouterr().out
    assert run("board", "build", folder, "--json") == 0
    built = capsys.readouterr()
    assert json.loads(built.out)["changed"] == ["button_lamp.c was changed since it was generated"]
    assert "posewright board verify" in built.err
    if target != "host":
        assert run("board", "flash", folder, "--dry-run") == 0
        assert "was changed since it was generated" in capsys.readouterr().err


def test_added_and_missing_files_are_told(tmp_path: Path) -> None:
    generate(LAMP, tmp_path, "cm900")
    assert find_changed_files(tmp_path) == ()
    (tmp_path / "board_hooks.c").write_text("/* mine */\n")
    (tmp_path / "extra.c").write_text("int extra;\n")
    (tmp_path / "unit.h").unlink()
    assert find_changed_files(tmp_path) == ("unit.h is missing", "extra.c was not generated")
    with pytest.raises(InputError, match="this generated file is missing"):
        verify_folder(tmp_path)


def test_a_folder_of_a_behaviour_finds_its_documents(tmp_path: Path) -> None:
    need_tool("gcc")
    generate("document_mealy", tmp_path)
    assert verify_folder(tmp_path, steps=500).same


def test_a_folder_is_verified_with_its_own_options_and_target(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    generate(LAMP, tmp_path)
    assert run("board", "verify", tmp_path, "--monitors") == 2
    assert "generated with its options" in capsys.readouterr().err
    assert run("board", "verify", tmp_path, "--target", "cm900") == 2
    assert "was generated for host" in capsys.readouterr().err
    assert run("board", "verify", tmp_path.parent) == 2
    assert "this is a folder" in capsys.readouterr().err


COUNTERS = """
chart: passes
kind: statechart
period_s: 0.1
events: [pass, clear]
inputs: {door: bool, calm: bool}
outputs: {full: bool}
locals: {count: {int: [0, 2000]}}
initial: counting
states:
  counting:
    transitions:
      - {on: clear, do: {count: 0}, go: counting}
      - {when: count >= 1000, do: {full: true}, go: done}
      - {on: pass, when: door, do: {count: count + 1}}
  done:
    transitions:
      - {on: clear, do: {full: false, count: 0}, go: counting}
"""


@pytest.mark.parametrize("limit", [999, 1001])
def test_a_limit_of_a_counter_is_met(tmp_path: Path, limit: int) -> None:
    need_tool("gcc")
    chart = tmp_path / "passes.chart.yaml"
    chart.write_text(COUNTERS)
    generate(chart, tmp_path / "c")
    change(tmp_path / "c" / "passes.c", "chart->count >= 1000)", f"chart->count >= {limit})")
    verification = verify_folder(tmp_path / "c")
    assert verification.steps == 100_000
    assert not verification.same


def test_random_inputs_alone_count_up_to_the_numbers_of_a_chart(tmp_path: Path) -> None:
    (tmp_path / "passes.chart.yaml").write_text(COUNTERS)
    record_format = RecordFormat(lower(read_chart(tmp_path / "passes.chart.yaml")))
    stream = chart_stream(record_format, covering=False)
    most_passes = 0
    n_ticks = 0
    for episode in stream.episodes(seed=0):
        n_ticks += len(episode)
        if n_ticks > 100_000:
            break
        n_passes = 0
        for door, has_passed, is_cleared in zip(
            episode["door"], episode["pass"], episode["clear"], strict=True
        ):
            n_passes = 0 if is_cleared else n_passes + bool(door and has_passed)
            most_passes = max(most_passes, n_passes)
    assert most_passes > 1000
