"""Playing: from a behaviour to frames for any body, through safety, on one clock.

Names load on first use: who only wants safety does not load charts and formats.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from posewright.playing.behaviour import Behaviour
    from posewright.playing.behaviour_reading import behaviour_names, read_behaviour
    from posewright.playing.loop import Block, Watcher, perform
    from posewright.playing.player import Player
    from posewright.playing.runner import BehaviourRunner, Tick
    from posewright.playing.safety import Guard, Intervention, SafeFrames, Safety
    from posewright.playing.scan import Beams, Scan, Side
    from posewright.playing.schedule import Schedule

_ROOM = {
    "Beams": "scan",
    "Behaviour": "behaviour",
    "BehaviourRunner": "runner",
    "Block": "loop",
    "Guard": "safety",
    "Intervention": "safety",
    "Player": "player",
    "SafeFrames": "safety",
    "Safety": "safety",
    "Scan": "scan",
    "Schedule": "schedule",
    "Side": "scan",
    "Tick": "runner",
    "Watcher": "loop",
    "behaviour_names": "behaviour_reading",
    "perform": "loop",
    "read_behaviour": "behaviour_reading",
}

__all__ = [
    "Beams",
    "Behaviour",
    "BehaviourRunner",
    "Block",
    "Guard",
    "Intervention",
    "Player",
    "SafeFrames",
    "Safety",
    "Scan",
    "Schedule",
    "Side",
    "Tick",
    "Watcher",
    "behaviour_names",
    "perform",
    "read_behaviour",
]


if not TYPE_CHECKING:  # else any name, misspelt ones too, would be there for who checks types

    def __getattr__(name: str) -> object:
        if name not in _ROOM:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f"{__name__}.{_ROOM[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
