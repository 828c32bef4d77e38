"""What a shell offers where a name is wanted: robots, gaits, layouts, pages of a file, files by suffix.

`option` and `argument` look here for what they are called: `--robot` has the same names with every verb.
Where something is wrong nothing is offered, and a shell then offers files.
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

Offers = Callable[[typer.Context, str], list[tuple[str, str]]]

_WORDS = ("COMP_WORDS", "_TYPER_COMPLETE_ARGS")  # in bash, in other shells


def is_asked() -> bool:
    """Tell whether a shell started this program to learn what it may offer."""
    return "_POSEWRIGHT_COMPLETE" in os.environ


def words_so_far(words: Sequence[str]) -> list[str]:
    """Return the words after the program's name: those given, or those that a shell wants completed."""
    if not is_asked():
        return list(words)
    return next((os.environ[name].split()[1:] for name in _WORDS if name in os.environ), [])


def _offering(names: Callable[[typer.Context], Iterable[tuple[str, str]]]) -> Offers:
    """Return what completes `names`, those alone that a shell need not quote."""

    def offers(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
        with contextlib.suppress(Exception):  # whatever it is, it is told of when the words are run
            known = dict(names(ctx)).items()
            return [one for one in known if one[0].startswith(incomplete) and shlex.quote(one[0]) == one[0]]
        return []

    return offers


def words(*known: str) -> Offers:
    """Offer words that are always the same."""
    return _offering(lambda _: [(word, "") for word in known])


def catalogue(*listed: str, more: Sequence[str] = ()) -> Offers:
    """Offer what functions of rooms list, each told as `posewright.gaits.gait_names`, and some words more."""

    def found(_: typer.Context) -> Iterator[tuple[str, str]]:
        for room, __, names in (one.rpartition(".") for one in listed):
            known = getattr(importlib.import_module(room), names)
            yield from ((str(name), "") for name in (known() if callable(known) else known))
        yield from ((word, "") for word in more)

    return _offering(found)


def files(*suffixes: str, also: Offers | None = None) -> Offers:
    """Offer what `also` does; else files that end so, and folders.

    Nothing is offered where there are folders only: shells themselves go into folders better.
    """

    def offers(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
        if also is not None and (named := also(ctx, incomplete)):
            return named
        folder, _, begin = incomplete.rpartition("/")
        found = []
        with contextlib.suppress(OSError, ValueError):
            for entry in os.scandir(f"{folder}/" if folder or incomplete.startswith("/") else "."):
                is_wanted = entry.name.lower().endswith(suffixes) or entry.is_dir()
                if is_wanted and entry.name.startswith(begin) and (begin or not entry.name.startswith(".")):
                    path = incomplete.removesuffix(begin) + entry.name
                    found.append((f"{path}/" if entry.is_dir() else path, ""))
        fit = [one for one in sorted(found) if shlex.quote(one[0]) == one[0]]
        return fit if any(not path.endswith("/") for path, _ in fit) else []

    return offers


def _given(ctx: typer.Context) -> tuple[Path | None, str | None]:
    """Return the file and the robot that the words before name.

    Typer leaves words unread where the last is an option whose value is just to be completed.
    """
    robots = [after for word, after in pairwise(ctx.args) if word == "--robot"]
    paths = [ctx.params.get(name) for name in ("file", "source", "motion", "chart")] + ctx.args
    path = next((Path(path) for path in paths if path and Path(path).is_file()), None)
    return path, ctx.params.get("robot") or next(iter(robots), None)


def _gait_names(ctx: typer.Context) -> Iterator[tuple[str, str]]:
    from posewright.gaits import gait_names

    yield from ((name, "") for name in gait_names(_given(ctx)[1]))


def _pages(ctx: typer.Context) -> Iterator[tuple[str, str]]:
    from posewright.formats import read_motion_file

    path, robot = _given(ctx)
    for page in () if path is None else read_motion_file(path, robot=robot).pages:
        is_plain = page.name and shlex.quote(page.name) == page.name
        yield (page.name, f"page {page.number}") if is_plain else (str(page.number), page.name)


def _poses(ctx: typer.Context) -> Iterator[tuple[str, str]]:
    from posewright import formats, gaits, robots

    path, robot = _given(ctx)
    gait = ctx.params.get("gait") or next(iter(ctx.args), None)
    if robot is not None:
        card = robots.robot(robot)
    elif path is not None and path.name.lower().endswith(MOTION_FILES):
        card = formats.robot_of_motion(formats.read_motion_file(path).motion())
    else:
        _, card = gaits.read_gait_and_robot(str(gait))
    yield from ((name, "") for name in card.poses)


def _states(ctx: typer.Context) -> Iterator[tuple[str, str]]:
    from posewright.charts import read_chart

    path, _ = _given(ctx)
    yield from ((name, "") for name in (() if path is None else read_chart(path).state_names))


MOTION_FILES = (".motion.yaml", ".mtn", ".mot", ".pos", ".motion", ".h", ".csv", ".oda")

_robots = files("robot.yaml", also=catalogue("posewright.robots.robot_names"))
_gaits = files(".gait.yaml", also=_offering(_gait_names))
_motions, _charts, _recordings = files(*MOTION_FILES), files(".chart.yaml", ".scxml", ".csv"), files(".mcap")
_bodies = catalogue(
    "posewright.runs.plant_names", "posewright.bodies.domain_randomization_names", more=["nominal"]
)

OFFERS: Mapping[str, Offers] = {
    **dict.fromkeys(("ROBOT", "--robot"), _robots),
    **dict.fromkeys(("FILE", "IN", "MOTION"), _motions),
    "GAIT": _gaits,
    **dict.fromkeys(("CHART", "OTHER"), _charts),
    "RECORDING": _recordings,
    "ARCHIVE": files(".oda"),
    "TUNING": files(".tune.yaml", also=catalogue("posewright.runs.tune_names")),
    "TRIAL": files(
        ".trial.yaml",
        also=catalogue("posewright.runs.trial_names", "posewright.contests.contest_names"),
    ),
    "PROGRAM": files(".cfg", also=catalogue("posewright.runtimes.openr.programs.PROGRAMS")),
    "--objects": files(".py"),
    "--poses": files(".h"),
    "--player": words("sony", "exact"),
    "--layout": files(".layout.yaml", also=catalogue("posewright.arenas.layout_names", more=["random"])),
    "--behaviour": files(
        ".behaviour.yaml", also=catalogue("posewright.controllers.behaviours.behaviour_names")
    ),
    "--body": files(".bodies.yaml", also=_bodies),
    "--motions": files(".mtn"),
    "--rules": files(".rules.yaml"),
    "--scenario": files(".scenario.yaml"),
    "--report": files(".jsonl"),
    "--page": _offering(_pages),
    **dict.fromkeys(("--pose", "--from POSE", "--to POSE"), _offering(_poses)),
    "--camera": words("field", "top", "chase", "side", "front"),
    "--to": catalogue("posewright.formats.FORMATS"),
    "--from STATE": _offering(_states),
    "--active": _offering(_states),
    "--keys": words("own", "all"),
    "--gzip": words("none", "file", "entries"),
    "--unit": words("deg", "rad", "servo_deg", "ticks"),
    "--method": words("junctions", "two-level"),
    "--labels": words("auto", "words", "signs", "numbers"),
    "--agent": words("monetagentMTN", "monetagentMTNWALK"),
    "--model": words("ERS-7", "ERS-210", "ERS-220"),
}
"""What is offered for an argument or an option, by the words that help shows for it, or its first alone."""


def offers_for(shown: str) -> Offers | None:
    """Return what completes an argument or an option, by the words that help shows for it."""
    return OFFERS.get(shown) or OFFERS.get(shown.partition(" ")[0])
