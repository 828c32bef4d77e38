"""Bodies: what is driven, behind one small interface."""

from __future__ import annotations

from posewright.bodies.body import Body, Hands
from posewright.bodies.mock import MockBody, Placement
from posewright.bodies.state import BodyState, Reading
from posewright.bodies.track import Flags, Floats, Frames, Track, WorldTrack
from posewright.bodies.variation import NOMINAL, BodyVariation
from posewright.bodies.variation_ranges import Draw, Normal, Uniform, VariationRanges, random_variation
from posewright.bodies.variation_reading import read_variation_ranges, variation_names, variation_ranges

__all__ = [
    "NOMINAL",
    "Body",
    "BodyState",
    "BodyVariation",
    "Draw",
    "Flags",
    "Floats",
    "Frames",
    "Hands",
    "MockBody",
    "Normal",
    "Placement",
    "Reading",
    "Track",
    "Uniform",
    "VariationRanges",
    "WorldTrack",
    "random_variation",
    "read_variation_ranges",
    "variation_names",
    "variation_ranges",
]
