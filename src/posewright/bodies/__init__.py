"""Bodies: what is driven, behind one small interface."""

from __future__ import annotations

from posewright.bodies.body import Body, Hands
from posewright.bodies.mock import MockBody, Placement
from posewright.bodies.state import BodyState, Reading
from posewright.bodies.track import Flags, Floats, Frames, Track, WorldTrack

__all__ = [
    "Body",
    "BodyState",
    "Flags",
    "Floats",
    "Frames",
    "Hands",
    "MockBody",
    "Placement",
    "Reading",
    "Track",
    "WorldTrack",
]
