"""Posewright: a workbench for small legged robots.

>>> import posewright as pw
>>> robot = pw.robot("robotis_bioloid")
>>> walk = pw.read_motion("humanoid.mtn", page="F_M_L")
>>> trial = pw.run_trial("obstacle-race", layout="random", seed=7)
>>> trial.result.total_points

Every verb of the command line has its twin here; `TWINS` says which. Where the command line draws or films
a run by an option (`run --plot`, `--video`), `draw_trial` and `film_trial` do it from `trial.trace`.
Importing this module loads nothing heavy: the room behind a name is loaded when the name is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from posewright.version import __version__

if TYPE_CHECKING:
    from posewright.arenas import random_layout as random_layout
    from posewright.arenas import read_layout as read_layout
    from posewright.arenas import write_layout as write_layout
    from posewright.charts import check_chart as check_chart
    from posewright.charts import cover_chart as cover_chart
    from posewright.charts import coverage_of as coverage_of
    from posewright.charts import draw_chart as draw_chart
    from posewright.charts import draw_timeline as draw_timeline
    from posewright.charts import equivalent as compare_charts  # noqa: F401 -- a public name
    from posewright.charts import minimise as minimise_chart  # noqa: F401 -- a public name
    from posewright.charts import mutate_chart as mutate_chart
    from posewright.charts import read_chart as read_chart
    from posewright.charts import run_chart as run_chart
    from posewright.charts import run_scenarios as run_scenarios
    from posewright.charts import tabulate_chart as tabulate_chart
    from posewright.charts import write_chart as write_chart
    from posewright.contests import judge as judge
    from posewright.contests import score as score
    from posewright.errors import PosewrightError as PosewrightError
    from posewright.formats import WriteOptions as WriteOptions
    from posewright.formats import add_to_archive as add_to_archive
    from posewright.formats import convert_motion as convert_motion
    from posewright.formats import create_archive as create_archive
    from posewright.formats import extract_archive as extract_archive
    from posewright.formats import read_archive_file as read_archive  # noqa: F401 -- a public name
    from posewright.formats import read_motion as read_motion
    from posewright.formats import read_motion_file as read_motion_file
    from posewright.formats import remove_from_archive as remove_from_archive
    from posewright.formats import write_archive_file as write_archive  # noqa: F401 -- a public name
    from posewright.formats import write_motion as write_motion
    from posewright.gaits import VelocityCommand as VelocityCommand
    from posewright.gaits import check_gait as check_gait
    from posewright.gaits import gait_names as gait_names
    from posewright.gaits import read_gait as read_gait
    from posewright.gaits import sample_gait as sample_gait
    from posewright.gaits import write_gait as write_gait
    from posewright.motions import check_motion as check_motion
    from posewright.motions import sample_motion as sample_motion
    from posewright.playing import read_behaviour as read_behaviour
    from posewright.robots import describe as describe_robot  # noqa: F401 -- a public name
    from posewright.robots import robot as robot
    from posewright.robots import robot_names as robot_names
    from posewright.sticks import add_to_stick as add_to_stick
    from posewright.sticks import check_monet as check_monet
    from posewright.sticks import read_stick as read_stick
    from posewright.traces import read_mcap as read_trace  # noqa: F401 -- a public name
    from posewright.traces import write_mcap as write_trace  # noqa: F401 -- a public name
    from posewright.trials import draw_gait as draw_gait
    from posewright.trials import draw_gait_trial as draw_gait_trial
    from posewright.trials import draw_motion as draw_motion
    from posewright.trials import draw_trial as draw_trial
    from posewright.trials import film_motion as film_motion
    from posewright.trials import film_trial as film_trial
    from posewright.trials import replay as replay
    from posewright.trials import run_trial as run_trial
    from posewright.trials import try_motion as try_motion
    from posewright.trials import tune_gait as tune_gait
    from posewright.trials import walk_gait as walk_gait
    from posewright.trials import walk_many as walk_many
    from posewright.trials.tuning import draw_tuning as draw_tuning

_ROOM_OF = {
    "VelocityCommand": ("gaits", "VelocityCommand"),
    "WriteOptions": ("formats", "WriteOptions"),
    "add_to_archive": ("formats", "add_to_archive"),
    "add_to_stick": ("sticks", "add_to_stick"),
    "check_chart": ("charts", "check_chart"),
    "check_gait": ("gaits", "check_gait"),
    "check_monet": ("sticks", "check_monet"),
    "check_motion": ("motions", "check_motion"),
    "compare_charts": ("charts", "equivalent"),
    "convert_motion": ("formats", "convert_motion"),
    "cover_chart": ("charts", "cover_chart"),
    "coverage_of": ("charts", "coverage_of"),
    "create_archive": ("formats", "create_archive"),
    "describe_robot": ("robots", "describe"),
    "draw_chart": ("charts", "draw_chart"),
    "draw_gait": ("trials", "draw_gait"),
    "draw_gait_trial": ("trials", "draw_gait_trial"),
    "draw_motion": ("trials", "draw_motion"),
    "draw_timeline": ("charts", "draw_timeline"),
    "draw_trial": ("trials", "draw_trial"),
    "draw_tuning": ("trials.tuning", "draw_tuning"),
    "extract_archive": ("formats", "extract_archive"),
    "film_motion": ("trials", "film_motion"),
    "film_trial": ("trials", "film_trial"),
    "gait_names": ("gaits", "gait_names"),
    "judge": ("contests", "judge"),
    "minimise_chart": ("charts", "minimise"),
    "mutate_chart": ("charts", "mutate_chart"),
    "random_layout": ("arenas", "random_layout"),
    "read_archive": ("formats", "read_archive_file"),
    "read_behaviour": ("playing", "read_behaviour"),
    "read_chart": ("charts", "read_chart"),
    "read_gait": ("gaits", "read_gait"),
    "read_layout": ("arenas", "read_layout"),
    "read_motion": ("formats", "read_motion"),
    "read_motion_file": ("formats", "read_motion_file"),
    "read_stick": ("sticks", "read_stick"),
    "read_trace": ("traces", "read_mcap"),
    "remove_from_archive": ("formats", "remove_from_archive"),
    "replay": ("trials", "replay"),
    "robot": ("robots", "robot"),
    "robot_names": ("robots", "robot_names"),
    "run_chart": ("charts", "run_chart"),
    "run_scenarios": ("charts", "run_scenarios"),
    "run_trial": ("trials", "run_trial"),
    "sample_gait": ("gaits", "sample_gait"),
    "sample_motion": ("motions", "sample_motion"),
    "score": ("contests", "score"),
    "tabulate_chart": ("charts", "tabulate_chart"),
    "try_motion": ("trials", "try_motion"),
    "tune_gait": ("trials", "tune_gait"),
    "walk_gait": ("trials", "walk_gait"),
    "walk_many": ("trials", "walk_many"),
    "write_archive": ("formats", "write_archive_file"),
    "write_chart": ("charts", "write_chart"),
    "write_gait": ("gaits", "write_gait"),
    "write_layout": ("arenas", "write_layout"),
    "write_motion": ("formats", "write_motion"),
    "write_trace": ("traces", "write_mcap"),
    "PosewrightError": ("errors", "PosewrightError"),
}

TWINS = {
    "robots": ("robot_names",),
    "robots show": ("robot", "describe_robot"),
    "motion info": ("read_motion_file",),
    "motion convert": ("convert_motion",),
    "motion check": ("check_motion", "try_motion"),
    "motion plot": ("draw_motion",),
    "motion film": ("film_motion",),
    "motion sample": ("sample_motion",),
    "archive list": ("read_archive",),
    "archive extract": ("extract_archive",),
    "archive create": ("create_archive",),
    "archive add": ("add_to_archive",),
    "archive remove": ("remove_from_archive",),
    "monet check": ("read_stick", "check_monet"),
    "monet add": ("add_to_stick",),
    "chart check": ("check_chart",),
    "chart table": ("tabulate_chart",),
    "chart minimise": ("minimise_chart",),
    "chart draw": ("draw_chart",),
    "chart run": ("run_chart", "draw_timeline"),
    "chart test": ("run_scenarios",),
    "chart coverage": ("coverage_of",),
    "chart cover": ("cover_chart",),
    "chart mutate": ("mutate_chart",),
    "chart diff": ("compare_charts",),
    "chart convert": ("write_chart",),
    "gait list": ("gait_names",),
    "gait show": ("read_gait", "check_gait"),
    "gait plot": ("draw_gait",),
    "gait sample": ("sample_gait", "write_motion"),
    "gait run": ("walk_gait", "walk_many", "draw_gait_trial"),
    "gait compare": ("walk_gait",),
    "tune": ("tune_gait", "write_gait", "draw_tuning"),
    "run": ("run_trial", "draw_trial", "film_trial"),
    "replay": ("replay",),
    "judge": ("judge",),
    "score obstacle-race": ("score",),
}
"""Which names here do what a verb of the command line does."""

__all__ = ["TWINS", "__version__", *_ROOM_OF]  # noqa: PLE0604 -- the names are the table's keys, all of them text


def __getattr__(name: str) -> object:
    """Load the room behind a public name when the name is first used."""
    if name not in _ROOM_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    room, attribute = _ROOM_OF[name]
    value = getattr(importlib.import_module(f"{__name__}.{room}"), attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
