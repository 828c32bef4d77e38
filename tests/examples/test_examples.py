"""Every example runs, says something, and writes only where it was told to."""

from __future__ import annotations

import ast
import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from posewright.cli.app import build_parser

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))
TOOL = build_parser()
EACH = pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)


@pytest.mark.usefixtures("short_races")
@EACH
def test_the_example_runs_and_writes_only_into_the_folder_it_is_given(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", [str(path), "given"])
    runpy.run_path(str(path), run_name="__main__")
    said = capsys.readouterr()
    assert said.out.strip()
    assert said.err == ""
    assert {entry.name for entry in tmp_path.iterdir()} <= {"given"}


def test_the_examples_are_numbered_without_a_gap() -> None:
    assert [path.name[:3] for path in EXAMPLES] == [f"{number:02}_" for number in range(1, len(EXAMPLES) + 1)]


def verbs(command: Any, *words: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield every command that has none below it, and its words."""
    below = getattr(command, "commands", {})
    if not below:
        yield words, command
    for name, part in below.items():
        yield from verbs(part, *words, name)


def test_every_verb_of_the_command_line_has_an_example_that_says_it_is_its_twin() -> None:
    told = [ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "" for path in EXAMPLES]

    def has_twin(words: tuple[str, ...]) -> bool:
        return any(f"posewright {words[0]}" in text and words[-1] in text for text in told)

    assert [words for words, _ in verbs(TOOL) if not has_twin(words)] == []


def test_every_twin_of_a_verb_is_used_by_an_example() -> None:
    used = "\n".join(path.read_text(encoding="utf-8") for path in EXAMPLES)
    names = {name for _, verb in verbs(TOOL) for name in re.findall(r"posewright\.(\w+)", verb.epilog)}
    assert {name for name in names if f"pw.{name}(" not in used} == set()
