"""Whatever a file, its name or the command line says: nothing that is shown steers a terminal."""

from __future__ import annotations

import ast
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import posewright
from posewright.cli import console
from posewright.cli.app import EXIT_BAD_INPUT, EXIT_INTERNAL, build_parser, run
from posewright.recordings import Header, Recording, RobotHeader, RobotRecord, write_mcap
from posewright.robots import robot

Captured = pytest.CaptureFixture[str]

STEERING = "\x1b]0;mine\x07\x9b2J\u202e\u2066\x85\x7f\nerror: forged"
IN_YAML = '"' + STEERING.encode("unicode_escape").decode() + '"'
SRC = Path(posewright.__file__).parent
BIOLOID, AIBO = Path(robot("robotis_bioloid").folder or ""), Path(robot("sony_ers7").folder or "")
MEALY = BIOLOID / "behaviours/obstacle_mealy.chart.yaml"
MAX_TEXTS = 10  # so many texts of a document are tried, evenly spread

DOCUMENTS: dict[str, tuple[Path, list[str]]] = {
    "motion": (
        AIBO / "motions/nod.motion.yaml",
        [
            "motion info {file}",
            "motion check {file}",
            "motion convert {file} {out}.mtn --accept-loss",
            "motion sample {file} --rate 8 -o {out}.csv",
            "motion info {file} --json",
        ],
    ),
    "gait": (
        AIBO / "gaits/trot.gait.yaml",
        ["gait show {file} --no-check", "gait show {file} --no-check --json"],
    ),
    "robot": (AIBO / "robot.yaml", ["robots show {file} --section all", "robots show {file} --json"]),
    "chart": (
        MEALY,
        ["chart check {file}", "chart table {file} -o {out}.csv", "chart run {file} --input front=1"],
    ),
    "layout": (
        SRC / "arenas/layouts/example_1.layout.yaml",
        ["run obstacle-race --layout {file} --body nobody"],
    ),
    "behaviour": (
        BIOLOID / "behaviours/obstacle_race.behaviour.yaml",
        ["run obstacle-race --behaviour {file} --body nobody"],
    ),
    "tuning": (AIBO / "tunes/trot.tune.yaml", ["tune {file} --journal {out}/no/x.tune.jsonl"]),
    "rules": (
        SRC / "contests/obstacle_race/obstacle_race.rules.yaml",
        ["inspect robotis_bioloid --rules {file}", "inspect robotis_bioloid --rules {file} --json"],
    ),
}


def is_clean(output: str) -> bool:
    return (
        all(character.isprintable() or character == "\n" for character in output)
        and "\nerror: forged" not in output
    )


def make_hostile(text: str) -> Iterator[str]:
    """Yield a document with one text after the other, then all of them, and a key, made hostile."""
    values = list(
        re.finditer(r"(?m)^(\s*(?:- )?[\w ]+: )(?:\"[^\"\n]*\"|'[^'\n]*'|[A-Za-z][^\n#{\[]*)$", text)
    )
    for match in values:
        yield text[: match.end(1)] + IN_YAML + text[match.end() :]
    yield re.sub(r"(?m)^(\s*)(\w+):", lambda match: f"{match[1]}{IN_YAML}:", text, count=1)


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_texts_of_a_document_are_shown_without_what_steers(
    kind: str, capsys: Captured, tmp_path: Path
) -> None:
    source, verbs = DOCUMENTS[kind]
    for sibling in source.parent.iterdir():
        if sibling.is_file():
            (tmp_path / sibling.name).write_bytes(sibling.read_bytes())
    path = tmp_path / source.name
    texts = list(make_hostile(source.read_text(encoding="utf-8")))
    assert len(texts) > 2
    for text in texts[:: len(texts) // MAX_TEXTS + 1]:
        path.write_text(text, encoding="utf-8")
        for verb in verbs:
            code = run(verb.format(file=path, out=tmp_path / "made").split())
            captured = capsys.readouterr()
            assert code != EXIT_INTERNAL, captured.err
            assert is_clean(captured.out + captured.err), (verb, captured)
            if verb.endswith("--json") and code in (0, 1):
                json.loads(captured.out)


def commands(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    subcommands = getattr(command, "commands", {})
    if not subcommands:
        yield words, command
    for name, subcommand in subcommands.items():
        yield from commands(subcommand, (*words, name))


COMMANDS = dict(commands(build_parser()))


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_words_of_the_command_line_are_shown_without_what_steers(
    words: tuple[str, ...], capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    hostile = f"{STEERING}\udcff"
    arguments = [hostile for parameter in COMMANDS[words].params if parameter.param_type_name == "argument"]
    options = [
        parameter.opts[0] for parameter in COMMANDS[words].params if parameter.param_type_name == "option"
    ]
    value_options = [option for option in options if not option.startswith(("--help", "--keys"))]
    no_arguments = [[]] if arguments else []  # a verb that needs no word would just do its work
    for extra_arguments in (
        *no_arguments,
        [hostile] * 3,
        [f"--{STEERING}"],
        *([option, hostile] for option in value_options),
    ):
        code = run([*words, *arguments, *extra_arguments])
        captured = capsys.readouterr()
        assert code in (EXIT_BAD_INPUT, 1) or not arguments, captured
        assert code != EXIT_INTERNAL, captured.err
        assert is_clean(captured.out + captured.err), captured


def test_texts_of_a_recording_are_shown_without_what_steers(capsys: Captured, tmp_path: Path) -> None:
    path = tmp_path / "x.mcap"
    for texts in ({"contest": STEERING}, {"layout": STEERING}, {"controller": STEERING}, {"robot": STEERING}):
        header_texts = {"robot": "robotis_bioloid", "controller": "walk", **texts}
        header = RobotHeader(header_texts.pop("robot"), header_texts.pop("controller"), ("knee",))
        arrays = dict.fromkeys(("positions", "commands", "efforts"), np.zeros((2, 1)))
        poses = {"base": np.tile([0.0, 0, 0.3, 1, 0, 0, 0], (2, 1)), "footprints": np.zeros((2, 0, 4, 3))}
        contacts = {"foot_contacts": np.zeros((2, 0)), "box_contacts": np.zeros((2, 0))}
        record = RobotRecord(header, **arrays, **poses, **contacts)  # type: ignore[arg-type]  # flags and numbers
        recording_header = Header({"one": header}, **header_texts)  # type: ignore[arg-type]  # texts
        write_mcap(
            Recording(recording_header, np.array([0.0, 0.1]), {"one": record}, np.zeros((2, 0, 7))), path
        )
        for verb in ("judge", "replay", "evaluate"):
            for options in ([], ["--json"]):
                code = run([verb, str(path), *options])
                captured = capsys.readouterr()
                assert code != EXIT_INTERNAL, captured.err
                assert is_clean(captured.out + captured.err), captured


def test_lines_of_other_peoples_files_are_shown_without_what_steers(capsys: Captured, tmp_path: Path) -> None:
    line = STEERING.replace("\n", " ")
    files = {
        "MONETCMD.CFG": f"[MONETCMD]\n1 {line} monetagentMTN\n",
        "t.csv": f"state,key,next,light\ndark,0,{line},0\n",
        "c.scxml": f"<scxml xmlns='http://www.w3.org/2005/07/scxml'><state id='{line[1:3]}'/></scxml>",
        "m.mot": f"#POS\ndelay {line}\nNECK:tilt {line}\n",
        "m.motion": f"#WEBOTS_MOTION,V1.0,{line}\nPose1,{line},0\n",
        "m.json": f'{{"version": "{line}"}}',
        "m.h": f"int a[] = {{ {line} }};\n",
        "m.mtn": f"type={line}\npage_begin\nname={line}\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        for command in (
            ("motion", "info"),
            ("chart", "check"),
            ("aibo", "check"),
            ("aibo", "archive", "list"),
        ):
            code = run([*command, str(tmp_path / name)])
            captured = capsys.readouterr()
            assert code != EXIT_INTERNAL, captured.err
            assert is_clean(captured.out + captured.err), captured


def test_what_is_being_done_is_shown_without_what_steers(monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.StringIO()
    monkeypatch.setattr(console, "stderr", Console(file=file, width=100, force_terminal=True, no_color=True))
    monkeypatch.setattr(console, "BAR_DELAY_S", 0.0)
    with console.spinner(STEERING) as describe, console.progress_bar(STEERING) as on_progress:
        describe(STEERING)
        on_progress(1, 2)
    assert "mine" in file.getvalue()
    assert "\x1b]0" not in file.getvalue()
    assert not set("\x9b\u202e\x07") & set(file.getvalue())


def test_a_document_on_a_terminal_steers_nothing_and_in_a_file_is_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for is_terminal in (True, False):
        file = io.StringIO()
        monkeypatch.setattr(file, "isatty", lambda value=is_terminal: value)
        monkeypatch.setattr("sys.stdout", file)
        console.print_document(f"a,b\n{STEERING}\n")
        assert is_clean(file.getvalue().replace("\nerror", "")) is is_terminal
        assert (STEERING in file.getvalue()) is not is_terminal


OTHER_WRITERS = ("file.write", "bus.write")  # to a file, and to a servo
WRITERS = {"print", "echo", "secho", "write", "writelines", "getvalue"}


@pytest.mark.parametrize("path", sorted((SRC / "cli").glob("[!_]*.py")), ids=lambda path: path.stem)
def test_no_verb_writes_past_the_console(path: Path) -> None:
    """Colours and control characters are looked after in one place."""
    if path.stem in ("console", "app"):
        return
    calls = [
        ast.unparse(node.func)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
    ]
    assert [name for name in calls if name.rpartition(".")[2] in WRITERS and name not in OTHER_WRITERS] == []
