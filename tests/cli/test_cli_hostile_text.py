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
import typer
from rich.console import Console

import posewright
from posewright.cli import console
from posewright.cli.app import EXIT_BAD_INPUT, EXIT_INTERNAL, build_app, run
from posewright.recordings import Header, Recording, RobotHeader, RobotRecord, write_mcap
from posewright.robots import robot

Captured = pytest.CaptureFixture[str]

STEERING = "\x1b]0;mine\x07\x9b2J\u202e\u2066\x85\x7f\nerror: forged"
IN_YAML = '"' + STEERING.encode("unicode_escape").decode() + '"'
SRC = Path(posewright.__file__).parent
BIOLOID, AIBO = Path(robot("robotis_bioloid").folder or ""), Path(robot("sony_ers7").folder or "")
MEALY = BIOLOID / "behaviours/obstacle_mealy.chart.yaml"
MOST = 10  # so many texts of a document are tried, evenly spread

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


def is_clean(shown: str) -> bool:
    return all(sign.isprintable() or sign == "\n" for sign in shown) and "\nerror: forged" not in shown


def spoilt(text: str) -> Iterator[str]:
    """Yield a document with one text after the other, then all of them, and a key, made hostile."""
    words = list(
        re.finditer(r"(?m)^(\s*(?:- )?[\w ]+: )(?:\"[^\"\n]*\"|'[^'\n]*'|[A-Za-z][^\n#{\[]*)$", text)
    )
    for found in words:
        yield text[: found.end(1)] + IN_YAML + text[found.end() :]
    yield re.sub(r"(?m)^(\s*)(\w+):", lambda one: f"{one[1]}{IN_YAML}:", text, count=1)


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_texts_of_a_document_are_shown_without_what_steers(
    kind: str, capsys: Captured, tmp_path: Path
) -> None:
    source, verbs = DOCUMENTS[kind]
    for other in source.parent.iterdir():
        if other.is_file():
            (tmp_path / other.name).write_bytes(other.read_bytes())
    path = tmp_path / source.name
    texts = list(spoilt(source.read_text(encoding="utf-8")))
    assert len(texts) > 2
    for text in texts[:: len(texts) // MOST + 1]:
        path.write_text(text, encoding="utf-8")
        for verb in verbs:
            code = run(verb.format(file=path, out=tmp_path / "made").split())
            shown = capsys.readouterr()
            assert code != EXIT_INTERNAL, shown.err
            assert is_clean(shown.out + shown.err), (verb, shown)
            if verb.endswith("--json") and code in (0, 1):
                json.loads(shown.out)


def commands(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    below = getattr(command, "commands", {})
    if not below:
        yield words, command
    for name, inner in below.items():
        yield from commands(inner, (*words, name))


COMMANDS = dict(commands(typer.main.get_command(build_app())))


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_words_of_the_command_line_are_shown_without_what_steers(
    words: tuple[str, ...], capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    hostile = f"{STEERING}\udcff"
    arguments = [hostile for one in COMMANDS[words].params if one.param_type_name == "argument"]
    options = [one.opts[0] for one in COMMANDS[words].params if one.param_type_name == "option"]
    takes = [option for option in options if not option.startswith(("--help", "--keys"))]
    bare = [[]] if arguments else []  # a verb that needs no word would just do its work
    for given in (*bare, [hostile] * 3, [f"--{STEERING}"], *([one, hostile] for one in takes)):
        code = run([*words, *arguments, *given])
        shown = capsys.readouterr()
        assert code in (EXIT_BAD_INPUT, 1) or not arguments, shown
        assert code != EXIT_INTERNAL, shown.err
        assert is_clean(shown.out + shown.err), shown


def test_texts_of_a_recording_are_shown_without_what_steers(capsys: Captured, tmp_path: Path) -> None:
    path = tmp_path / "x.mcap"
    for told in ({"contest": STEERING}, {"layout": STEERING}, {"controller": STEERING}, {"robot": STEERING}):
        words = {"robot": "robotis_bioloid", "controller": "walk", **told}
        header = RobotHeader(words.pop("robot"), words.pop("controller"), ("knee",))
        rows = dict.fromkeys(("positions", "commands", "efforts"), np.zeros((2, 1)))
        places = {"base": np.tile([0.0, 0, 0.3, 1, 0, 0, 0], (2, 1)), "footprints": np.zeros((2, 0, 4, 3))}
        contacts = {"foot_contacts": np.zeros((2, 0)), "box_contacts": np.zeros((2, 0))}
        record = RobotRecord(header, **rows, **places, **contacts)  # type: ignore[arg-type]  # flags and numbers
        named = Header({"one": header}, **words)  # type: ignore[arg-type]  # texts
        write_mcap(Recording(named, np.array([0.0, 0.1]), {"one": record}, np.zeros((2, 0, 7))), path)
        for verb in ("judge", "replay", "evaluate"):
            for more in ([], ["--json"]):
                code = run([verb, str(path), *more])
                shown = capsys.readouterr()
                assert code != EXIT_INTERNAL, shown.err
                assert is_clean(shown.out + shown.err), shown


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
        for words in (("motion", "info"), ("chart", "check"), ("aibo", "check"), ("aibo", "archive", "list")):
            code = run([*words, str(tmp_path / name)])
            shown = capsys.readouterr()
            assert code != EXIT_INTERNAL, shown.err
            assert is_clean(shown.out + shown.err), shown


def test_what_is_being_done_is_shown_without_what_steers(monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.StringIO()
    monkeypatch.setattr(console, "stderr", Console(file=file, width=100, force_terminal=True, no_color=True))
    monkeypatch.setattr(console, "BAR_DELAY_S", 0.0)
    with console.spinner(STEERING) as say, console.progress_bar(STEERING) as tell:
        say(STEERING)
        tell(1, 2)
    assert "mine" in file.getvalue()
    assert "\x1b]0" not in file.getvalue()
    assert not set("\x9b\u202e\x07") & set(file.getvalue())


def test_a_document_on_a_terminal_steers_nothing_and_in_a_file_is_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for is_terminal in (True, False):
        file = io.StringIO()
        monkeypatch.setattr(file, "isatty", lambda it=is_terminal: it)
        monkeypatch.setattr("sys.stdout", file)
        console.print_document(f"a,b\n{STEERING}\n")
        assert is_clean(file.getvalue().replace("\nerror", "")) is is_terminal
        assert (STEERING in file.getvalue()) is not is_terminal


OTHERS = ("file.write", "bus.write")  # to a file, and to a servo
WRITERS = {"print", "echo", "secho", "write", "writelines", "getvalue"}


@pytest.mark.parametrize("path", sorted((SRC / "cli").glob("[!_]*.py")), ids=lambda path: path.stem)
def test_no_verb_writes_past_the_console(path: Path) -> None:
    """Colours and control characters are looked after in one place."""
    if path.stem in ("console", "app"):
        return
    called = [
        ast.unparse(node.func)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
    ]
    assert [name for name in called if name.rpartition(".")[2] in WRITERS and name not in OTHERS] == []
