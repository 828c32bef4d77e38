"""Posewright: a workbench for small legged robots.

>>> import posewright as pw
>>> robot = pw.robot("robotis_bioloid")
>>> walk = pw.read_motion("humanoid.mtn", page="F_M_L")
>>> trial = pw.run_trial("obstacle-race", layout="random", seed=7)
>>> trial.result.total_points

Every verb of the command line has its twin here. Importing this module loads nothing heavy: the room
behind a name is loaded when the name is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from posewright.version import __version__

if TYPE_CHECKING:
    from posewright.charts import read_chart as read_chart
    from posewright.contests import judge as judge
    from posewright.contests import score as score
    from posewright.errors import PosewrightError as PosewrightError
    from posewright.formats import convert_motion as convert_motion
    from posewright.formats import read_motion as read_motion
    from posewright.formats import read_motion_file as read_motion_file
    from posewright.formats import write_motion as write_motion
    from posewright.motions import check_motion as check_motion
    from posewright.playing import read_behaviour as read_behaviour
    from posewright.robots import robot as robot
    from posewright.robots import robot_names as robot_names
    from posewright.traces import read_mcap as read_trace  # noqa: F401 -- a public name
    from posewright.traces import write_mcap as write_trace  # noqa: F401 -- a public name
    from posewright.trials import replay as replay
    from posewright.trials import run_trial as run_trial

_ROOM_OF = {
    "PosewrightError": ("errors", "PosewrightError"),
    "check_motion": ("motions", "check_motion"),
    "convert_motion": ("formats", "convert_motion"),
    "judge": ("contests", "judge"),
    "read_behaviour": ("playing", "read_behaviour"),
    "read_chart": ("charts", "read_chart"),
    "read_motion": ("formats", "read_motion"),
    "read_motion_file": ("formats", "read_motion_file"),
    "read_trace": ("traces", "read_mcap"),
    "replay": ("trials", "replay"),
    "robot": ("robots", "robot"),
    "robot_names": ("robots", "robot_names"),
    "run_trial": ("trials", "run_trial"),
    "score": ("contests", "score"),
    "write_motion": ("formats", "write_motion"),
    "write_trace": ("traces", "write_mcap"),
}

__all__ = ["__version__", *_ROOM_OF]  # noqa: PLE0604 -- the names are the table's keys, all of them text


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
