"""Shell completion: names of robots, gaits and layouts, pages of a motion file, files by suffix.

`option` and `argument` look up their completer here by their declaration, so `--robot` completes the same
names with every verb. If an error occurs, nothing is suggested, and shells then suggest files.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import typer

Completer = Callable[[typer.Context, str], list[tuple[str, str]]]
"""Takes the context and the incomplete word; returns pairs of a completion and its help text."""

NameSource = Callable[[typer.Context], Iterable[tuple[str, str]]]
"""Returns all names that may be completed, each with its help text."""

_TYPED_LINE_VARIABLES = ("COMP_WORDS", "_TYPER_COMPLETE_ARGS")
"""Environment variables with the typed command line: of bash, of other shells."""


def is_completing() -> bool:
    """Return whether a shell started this program to complete a word."""
    return "_POSEWRIGHT_COMPLETE" in os.environ


def read_typed_words(arguments: Sequence[str]) -> list[str]:
    """Return the words typed after `posewright`: the arguments, or the line that a shell completes."""
    if not is_completing():
        return list(arguments)
    for variable in _TYPED_LINE_VARIABLES:
        if variable in os.environ:
            return os.environ[variable].split()[1:]
    return []


def _needs_no_quotes(text: str) -> bool:
    return shlex.quote(text) == text


def _complete_names(list_names: NameSource) -> Completer:
    """Return a completer of names; names that a shell would have to quote are left out."""

    def complete(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
        """Return the names that begin with the incomplete word, with help texts; none after an error."""
        with contextlib.suppress(Exception):  # any error is reported when the command is run
            names = dict(list_names(ctx))
            return [
                (name, help_text)
                for name, help_text in names.items()
                if name.startswith(incomplete) and _needs_no_quotes(name)
            ]
        return []

    return complete


def choices(*names: str) -> Completer:
    """Return a completer of fixed names."""
    return _complete_names(lambda _: [(name, "") for name in names])


def catalogue(*name_source_paths: str, extra_names: Sequence[str] = ()) -> Completer:
    """Return a completer of names that are imported when needed.

    Args:
        name_source_paths: dotted paths of collections of names, or of functions that return one, such as
            `posewright.gaits.gait_names`.
        extra_names: names to complete as well.
    """

    def list_names(_: typer.Context) -> Iterator[tuple[str, str]]:
        """Yield each name with an empty help text."""
        for source_path in name_source_paths:
            module_name, _dot, attribute = source_path.rpartition(".")
            names = getattr(importlib.import_module(module_name), attribute)
            if callable(names):
                names = names()
            yield from ((str(name), "") for name in names)
        yield from ((name, "") for name in extra_names)

    return _complete_names(list_names)


def files(*suffixes: str, names: Completer | None = None) -> Completer:
    """Return a completer of files with one of the suffixes, and of folders.

    If only folders match, nothing is suggested, because shells complete folders better themselves.

    Args:
        suffixes: lower-case ends of file names.
        names: a completer of names; files are suggested only if it suggests nothing.
    """

    def complete(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
        """Return the names that match, or else the files and folders."""
        matching_names = [] if names is None else names(ctx, incomplete)
        if matching_names:
            return matching_names
        folder, _slash, prefix = incomplete.rpartition("/")
        scanned_folder = (
            f"{folder}/" if folder or incomplete.startswith("/") else "."
        )  # "/name" is in the root
        paths: list[str] = []
        with contextlib.suppress(OSError, ValueError):  # no such folder, or not a valid path
            for entry in os.scandir(scanned_folder):
                is_hidden = entry.name.startswith(".") and not prefix
                if is_hidden or not entry.name.startswith(prefix):
                    continue
                path = incomplete.removesuffix(prefix) + entry.name
                if entry.is_dir():
                    paths.append(f"{path}/")
                elif entry.name.lower().endswith(suffixes):
                    paths.append(path)
        paths = [path for path in sorted(paths) if _needs_no_quotes(path)]
        has_files = any(not path.endswith("/") for path in paths)
        return [(path, "") for path in paths] if has_files else []

    return complete


def _typed_file_and_robot(ctx: typer.Context) -> tuple[Path | None, str | None]:
    """Return the file and the robot that were typed before the word to complete.

    Typer leaves words in `ctx.args` if the last word is an option whose value is to be completed.
    """
    robots = [value for option, value in pairwise(ctx.args) if option == "--robot"]
    file_parameters = ("file", "source", "motion", "chart", "chart_path")  # of the verbs' functions
    words = [ctx.params.get(name) for name in file_parameters] + ctx.args
    path = next((Path(word) for word in words if word and Path(word).is_file()), None)
    robot = ctx.params.get("robot") or ctx.params.get("robot_name") or next(iter(robots), None)
    return path, robot


def _gait_names(ctx: typer.Context) -> Iterator[tuple[str, str]]:
    """Yield the gaits of the robot that was typed, or of all robots."""
    from posewright.gaits import gait_names

    _path, robot = _typed_file_and_robot(ctx)
    yield from ((name, "") for name in gait_names(robot))


def _page_names(ctx: typer.Context) -> Iterator[tuple[str, str]]:
    """Yield the pages of the typed motion file: their names, or their numbers if a name needs quotes."""
    from posewright.formats import read_motion_file

    path, robot = _typed_file_and_robot(ctx)
    if path is None:
        return
    for page in read_motion_file(path, robot=robot).pages:
        if page.name and _needs_no_quotes(page.name):
            yield page.name, f"page {page.number}"
        else:
            yield str(page.number), page.name


def _pose_names(ctx: typer.Context) -> Iterator[tuple[str, str]]:
    """Yield the poses of the robot that was typed, or of the typed motion's or gait's robot."""
    from posewright import formats, gaits, robots

    path, robot = _typed_file_and_robot(ctx)
    if robot is not None:
        card = robots.robot(robot)
    elif path is not None and path.name.lower().endswith(MOTION_FILES):
        card = formats.robot_of_motion(formats.read_motion_file(path).motion())
    else:
        gait = ctx.params.get("gait_name") or next(iter(ctx.args), None)
        _gait, card = gaits.read_gait_and_robot(str(gait))
    yield from ((name, "") for name in card.poses)


def _state_names(ctx: typer.Context) -> Iterator[tuple[str, str]]:
    """Yield the states of the typed chart."""
    from posewright.charts import read_chart

    path, _robot = _typed_file_and_robot(ctx)
    if path is not None:
        yield from ((name, "") for name in read_chart(path).state_names)


MOTION_FILES = (".motion.yaml", ".mtn", ".mot", ".pos", ".motion", ".h", ".csv", ".oda")
"""Suffixes of motion files, in all formats."""

_robots = files("robot.yaml", names=catalogue("posewright.robots.robot_names"))
_gaits = files(".gait.yaml", names=_complete_names(_gait_names))
_motions = files(*MOTION_FILES)
_charts = files(".chart.yaml", ".scxml", ".csv")
_poses = _complete_names(_pose_names)
_states = _complete_names(_state_names)
_bodies = catalogue(
    "posewright.runs.plant_names", "posewright.bodies.domain_randomization_names", extra_names=["nominal"]
)

COMPLETERS: Mapping[str, Completer] = {
    "ROBOT": _robots,
    "--robot": _robots,
    "FILE": _motions,
    "IN": _motions,
    "MOTION": _motions,
    "GAIT": _gaits,
    "GAIT|BEHAVIOUR": files(
        ".gait.yaml",
        ".behaviour.yaml",
        names=catalogue("posewright.gaits.gait_names", "posewright.controllers.behaviours.behaviour_names"),
    ),
    "CHART": _charts,
    "OTHER": _charts,
    "RECORDING": files(".mcap"),
    "ARCHIVE": files(".oda"),
    "TUNING": files(".tune.yaml", names=catalogue("posewright.runs.tune_names")),
    "TRIAL": files(
        ".trial.yaml",
        names=catalogue("posewright.runs.trial_names", "posewright.contests.contest_names"),
    ),
    "PROGRAM": files(".cfg", names=catalogue("posewright.runtimes.openr.programs.PROGRAMS")),
    "--objects": files(".py"),
    "--poses": files(".h"),
    "--player": choices("sony", "exact"),
    "--layout": files(
        ".layout.yaml", names=catalogue("posewright.arenas.layout_names", extra_names=["random"])
    ),
    "--behaviour": files(
        ".behaviour.yaml", names=catalogue("posewright.controllers.behaviours.behaviour_names")
    ),
    "--contest": files(
        ".trial.yaml",
        names=catalogue("posewright.runs.trial_names", "posewright.contests.contest_names"),
    ),
    "--factors": catalogue("posewright.runs.FACTORS"),
    "--body": files(".bodies.yaml", names=_bodies),
    "--motions": files(".mtn"),
    "--rules": files(".rules.yaml"),
    "--scenario": files(".scenario.yaml"),
    "--report": files(".jsonl"),
    "--page": _complete_names(_page_names),
    "--pose": _poses,
    "--from POSE": _poses,
    "--to POSE": _poses,
    "--camera": choices("field", "top", "chase", "side", "front"),
    "--to": catalogue("posewright.formats.FORMATS"),
    "--from STATE": _states,
    "--active": _states,
    "--keys": choices("own", "all"),
    "--gzip": choices("none", "file", "entries"),
    "--unit": choices("deg", "rad", "servo_deg", "ticks"),
    "--method": choices("junctions", "two-level"),
    "--labels": choices("auto", "words", "signs", "numbers"),
    "--agent": choices("monetagentMTN", "monetagentMTNWALK"),
    "--model": choices("ERS-7", "ERS-210", "ERS-220"),
}
"""Completers of arguments and options by their declaration, or by its first word."""


def find_completer(declaration: str) -> Completer | None:
    """Return the completer of an argument or option, given its declaration such as `--from STATE`."""
    return COMPLETERS.get(declaration) or COMPLETERS.get(declaration.partition(" ")[0])
