"""Playing: from a behaviour to frames for any body, through safety, on one clock."""

from __future__ import annotations

from posewright.playing.behaviour import Behaviour
from posewright.playing.behaviour_reading import behaviour_names, read_behaviour
from posewright.playing.loop import Block, Watcher, perform
from posewright.playing.player import Player
from posewright.playing.runner import BehaviourRunner, Tick
from posewright.playing.safety import Guard, Intervention, SafeFrames, Safety
from posewright.playing.scan import Beams, Scan, Side
from posewright.playing.schedule import Schedule

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
