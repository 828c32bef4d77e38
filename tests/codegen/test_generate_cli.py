"""`posewright board generate`, `build`, `flash`; and what they do where a person changed things by hand."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from posewright.charts import read_chart
from posewright.cli.app import run as run_words
from posewright.codegen import build, explain, generate, generating
from posewright.codegen.c.truth_table import Style
from posewright.codegen.toolchains import CompileError, run_tool
from posewright.documents import write_atomically
from posewright.errors import InputError, OutputError, UnavailableError, UnknownNameError

from .conftest import need_tool

CHART = Path(__file__).parents[2] / "examples" / "charts" / "document" / "obstacle_mealy.chart.yaml"


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def run(*words: object) -> int:
    return run_words([str(word) for word in words])


def test_the_same_document_gives_the_same_bytes_wherever_it_is_written(tmp_path: Path) -> None:
    for name in ("one", "two/deeper"):
        generate(CHART, tmp_path / name / "board", "arduino-uno")
    one = files(tmp_path / "one/board")
    assert one == files(tmp_path / "two/deeper/board")
    assert not [name for name, content in one.items() if str(tmp_path).encode() in content]


def test_every_generated_source_says_what_made_it(tmp_path: Path) -> None:
    made = generate(CHART, tmp_path, "cm900", monitors=True)
    sources = [name for name in made.written if name.endswith((".c", ".h")) and name != "board_hooks.c"]
    assert "obstacle_mealy.c" in sources
    for name in sources:
        head = (tmp_path / name).read_text().partition("*/")[0]
        assert head.startswith("/*")
        assert "Posewright" in head
        assert "for cm900; options: monitors True" in head
        assert re.search(r"obstacle_mealy\.chart\.yaml: SHA-256 [0-9a-f]{64}", head)


def test_what_is_generated_again_after_a_change_by_hand_is_refused_and_nothing_changes(
    tmp_path: Path,
) -> None:
    generate(CHART, tmp_path)
    mine = tmp_path / "unit.h"
    mine.write_text(mine.read_text() + "/* mine */\n")
    before = files(tmp_path)
    with pytest.raises(OutputError, match=r"unit\.h.*was changed since"):
        generate(CHART, tmp_path, "arduino-uno")
    assert files(tmp_path) == before
    generate(CHART, tmp_path, force=True)
    assert "mine" not in mine.read_text()


def test_files_that_were_never_generated_are_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "unit.c").write_text("int mine;\n")
    with pytest.raises(OutputError, match="was not generated"):
        generate(CHART, tmp_path)
    assert files(tmp_path) == {"unit.c": b"int mine;\n"}


def test_files_of_the_user_are_written_once_and_then_left_alone(tmp_path: Path) -> None:
    generate(CHART, tmp_path, "arduino-uno")
    (tmp_path / "board_hooks.cpp").write_text("/* mine */\n")
    made = generate(CHART, tmp_path, "arduino-uno", force=True)
    assert "board_hooks.cpp" in made.kept
    assert (tmp_path / "board_hooks.cpp").read_text() == "/* mine */\n"


def test_a_folder_holds_what_it_was_generated_for_last_only(tmp_path: Path) -> None:
    generate(CHART, tmp_path, "host")
    generate(CHART, tmp_path, "cm900")
    assert not (tmp_path / "host.c").exists()
    assert not (tmp_path / "host.h").exists()


def test_what_cannot_be_written_leaves_everything_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    generate(CHART, tmp_path)
    before = files(tmp_path)
    write = generating.write_atomically

    def full(path: Path, content: bytes, *, durable: bool) -> None:
        if path.name == "unit.c" and b"monitors" in content:
            raise OutputError.at(path, "the disk is full")
        write(path, content, durable=durable)

    monkeypatch.setattr(generating, "write_atomically", full)
    with pytest.raises(OutputError, match="full"):
        generate(CHART, tmp_path, monitors=True)
    assert files(tmp_path) == before


def test_every_transition_leads_to_its_lines_and_back(tmp_path: Path) -> None:
    made = generate(CHART, tmp_path)
    document = CHART.read_text().splitlines()
    ways = [place for place in made.places if place.element.kind == "transition"]
    assert {place.element.line for place in ways} >= {
        transition.line for state in read_chart(CHART).states for transition in state.transitions
    }
    for place in ways:
        assert place in explain(f"{tmp_path}/{place.file}:{place.first}")
        assert place in explain(f"{CHART.name}:{place.element.line}", tmp_path)
        assert place in explain(place.element.name, tmp_path)
        assert place.element.line is not None
        goal = place.element.name.split(" -> ")[-1]
        assert goal in "".join(document[place.element.line - 1 : place.element.line + 3])
        text = (tmp_path / place.file).read_text().splitlines()[place.first - 1 : place.last]
        assert any(line.strip() for line in text)
    main_line = next(place.first for place in ways if place.file == "obstacle_mealy.c")
    assert explain(str(main_line), tmp_path)


def test_explain_says_what_it_does_not_know(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no generated code here"):
        explain("3", tmp_path)
    generate(CHART, tmp_path)
    with pytest.raises(InputError, match="line 1 of"):
        explain("1", tmp_path)
    with pytest.raises(UnknownNameError):
        explain("flying", tmp_path)
    with pytest.raises(UnknownNameError):
        explain("other.c:3", tmp_path)


def test_explain_tells_wrong_names_from_what_has_no_lines(
    tmp_path: Path,
) -> None:
    generate(CHART, tmp_path, "arduino-uno", style=Style.TABLE)
    with pytest.raises(InputError, match=r"no line 9999: the file has \d+"):
        explain("obstacle_mealy.c:9999", tmp_path)
    with pytest.raises(InputError, match="is yours"):
        explain("board_pins.h:3", tmp_path)
    generate(CHART, tmp_path / "host", style=Style.TABLE)
    with pytest.raises(
        UnknownNameError, match=r"no line is for the state walking alone .*'stopped -> walking'"
    ):
        explain("walking", tmp_path / "host")


UNSOUND = """\
chart: lights
period_s: 0.1
inputs: {a: bool, b: bool}
outputs: {o: bool}
initial: x
states:
  x: {transitions: [{when: a, go: y}, {when: b, go: x}], entry: {o: false}}
  y: {transitions: [{when: not a, go: x}], entry: {o: true}}
"""


def test_an_unsound_chart_is_refused_as_when_it_is_run_and_verify_warns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    need_tool("cc")
    chart = tmp_path / "lights.chart.yaml"
    chart.write_text(UNSOUND, encoding="utf-8")
    assert run("chart", "run", chart, "--input", "a=1") == 2
    said = capsys.readouterr().err
    assert run("board", "generate", chart, "-o", tmp_path / "out") == 2
    assert capsys.readouterr().err == said
    assert not (tmp_path / "out").exists()
    assert run("board", "verify", chart, "--steps", "2000") == 0
    assert capsys.readouterr().err == said.replace("error:", "warning:")
    assert run("board", "generate", chart, "-o", tmp_path / "out", "--unchecked") == 0


def test_what_a_compiler_says_keeps_its_lines_and_nothing_of_it_steers_the_terminal() -> None:
    error = CompileError("gcc found errors", "", ("a.c:1: error: one", "a.c:2: error: \x1b[2Jtwo"))
    assert str(error).splitlines() == ["gcc found errors", "a.c:1: error: one", "a.c:2: error: \\x1b[2Jtwo"]


def test_an_assembler_that_is_missing_is_told_with_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gcc = tmp_path / "gcc"
    gcc.write_text("#!/bin/sh\necho \"gcc: fatal error: cannot execute 'as': execvp\" >&2\nexit 1\n")
    gcc.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(UnavailableError, match=r"there is no as .*apt install binutils"):
        run_tool("gcc", "x.c")


def test_the_verbs_generate_explain_build_and_tell_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    need_tool("cc")
    assert run("board", "generate", CHART, "-o", tmp_path, "--json") == 0
    assert "unit.c" in json.loads(capsys.readouterr().out)["written"]
    assert run("board", "generate", "--explain", "stopped -> walking", "-o", tmp_path) == 0
    assert "transition stopped -> walking, line" in capsys.readouterr().out
    assert run("board", "build", tmp_path, "--json") == 0
    image = Path(json.loads(capsys.readouterr().out)["image"])
    assert image.is_file()
    assert run("board", "flash", tmp_path, "--dry-run") == 2
    assert run("board", "generate", CHART) == 2
    assert "the output folder is missing" in capsys.readouterr().err
    assert run("board", "generate", tmp_path, "-o", tmp_path) == 2
    assert "this is a folder" in capsys.readouterr().err
    assert run("board", "generate", CHART, "-o", tmp_path, "--target", "moon") == 2


def test_flash_tells_the_exact_command_for_a_cm900(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    need_tool("arm-none-eabi-gcc")
    generate(CHART, tmp_path, "cm900")
    assert run("board", "flash", tmp_path, "--dry-run", "--port", "/dev/ttyACM3", "--json") == 0
    command = json.loads(capsys.readouterr().out)["command"]
    assert command[:2] == ["opencm9.04_ld", "/dev/ttyACM3"]
    assert Path(command[3]).is_file()
    assert sum(flash for flash, _ in build(tmp_path).parts.values()) < 52 * 1024


def test_a_chart_run_with_native_says_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    said = []
    for more in ((), ("--native",)):
        assert run("chart", "run", CHART, "--input", "front=1", "--input", "left=1,right=1", *more) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]


@pytest.mark.parametrize("nth", [1, 4, 9])
def test_generating_that_was_cut_off_is_not_built_and_is_made_good_by_generating_anew(
    nth: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for before in (True, False):
        folder = tmp_path / str(before)
        if before:
            generate(CHART, folder, "cm900", monitors=True)
        written = list[Path]()

        def cut_off(path: Path, content: bytes, *, durable: bool = True, seen: list[Path] = written) -> None:
            seen.append(path)
            if len(seen) > nth:
                raise KeyboardInterrupt  # as a kill: nothing is put back
            write_atomically(path, content, durable=durable)

        with monkeypatch.context() as patch:
            patch.setattr(generating, "write_atomically", cut_off)
            with pytest.raises(KeyboardInterrupt):
                generate(CHART, folder, "arduino-uno")
        with pytest.raises(InputError, match="the generation was interrupted here"):
            build(folder)
        generate(CHART, folder)
        generate(CHART, tmp_path / "clean")
        same = files(tmp_path / "clean")
        assert {name: content for name, content in files(folder).items() if name in same} == same
