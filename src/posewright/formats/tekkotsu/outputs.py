"""Tekkotsu's outputs: what its files call the joints and LEDs of its robots.

Source: outputNames and TargetName of Tekkotsu's Shared/ERS7Info.h, ERS210Info.h and ERS220Info.h. Which
joint of a card a name is, the card says itself, as its naming `tekkotsu`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType

from posewright.robots import Robot, robot, robot_names

NAMING = "tekkotsu"
"""Name of the naming on a robot's card."""

DEFAULT_ROBOT = "sony_ers7"
"""Whose file it is where its names do not tell: Tekkotsu's last and best known AIBO."""

LED = "LED:"
PADDING = "~"

_LEGS = tuple(
    f"{leg}:{joint}" for leg in ("LFr", "RFr", "LBk", "RBk") for joint in ("rotor", "elvtr", "knee")
)
_FACE_210 = tuple(f"{LED}{name}" for name in ("botL", "botR", "midL", "midR", "topL", "topR", "topBr"))

_OUTPUTS_ERS7 = (
    *_LEGS,
    *("NECK:tilt", "NECK:pan", "NECK:nod", "TAIL:tilt", "TAIL:pan", "MOUTH"),
    *(f"{LED}{name}" for name in ("headC", "headW", "modeR", "modeG", "modeB", "wless")),
    *(f"{LED}face{letter}" for letter in "ABCDEFGHIJKLMN"),
    *(f"{LED}{name}" for name in ("bkFrC", "bkFrW", "bkMdC", "bkMdW", "bkRrC", "bkRrW", "ABmod")),
    *("EAR:left", "EAR:right"),
)
_OUTPUTS_ERS210 = (
    *_LEGS,
    *("NECK:tilt", "NECK:pan", "NECK:roll", "TAIL:tilt", "TAIL:pan", "MOUTH"),
    *_FACE_210,
    *(f"{LED}{name}" for name in ("tlRed", "tlBlu")),
    *("EAR:left", "EAR:right"),
)
_OUTPUTS_ERS220 = (
    *_LEGS,
    *("NECK:tilt", "NECK:pan", "NECK:roll"),
    *_FACE_210,
    *(f"{LED}{name}" for name in ("bkL1", "bkL2", "bkL3", "bkR3", "bkR2", "bkR1", "tailL", "tailC", "tailR")),
    *(f"{LED}{name}" for name in ("faceB", "faceA", "faceC", "light")),
)

OUTPUTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"ERS-7": _OUTPUTS_ERS7, "ERS-210": _OUTPUTS_ERS210, "ERS-220": _OUTPUTS_ERS220}
)
"""All outputs of a model in Tekkotsu's order, which is that of a condensed posture's arrays."""

MODELS: Mapping[str, str] = MappingProxyType(
    {"sony_ers7": "ERS-7", "sony_ers210": "ERS-210", "sony_ers220": "ERS-220"}
)
"""What Tekkotsu calls the robots that ship here."""


def plain(name: str) -> str:
    """Return an output's name without the padding that older files have."""
    return name.rstrip(PADDING)


def joints_called(name: str, card: Robot) -> tuple[str, ...]:
    """Return the joints of `card` that an output is: one, both where no side is named, or none."""
    names = card.namings.get(NAMING, {})
    if name in names:
        return (names[name],)
    pair = tuple(names[side + name] for side in "LR" if side + name in names)
    return pair if len(pair) == 2 else ()


def unit_rad(joint: str, card: Robot) -> float:
    """Return what a value of 1 means [rad]; an ear has two places, which Tekkotsu calls 0 and 1."""
    known = card.joint(joint)
    return known.upper_rad if known.two_state else 1.0


def is_led(name: str) -> bool:
    """Tell whether an output is a LED."""
    return name.startswith(LED)


def robot_of(names: Iterable[str]) -> Robot:
    """Return the robot that ships and knows most of the outputs `names`; the ERS-7 where several do."""
    joints = {name for name in names if name and not is_led(name)}
    ships = [DEFAULT_ROBOT, *(name for name in robot_names() if name != DEFAULT_ROBOT)]
    cards = [card for card in map(robot, ships) if NAMING in card.namings]
    return max(cards, key=lambda card: len(joints & _known(card)))


def _known(card: Robot) -> set[str]:
    """Return all names that are joints of a robot, those without a side included."""
    names = card.namings[NAMING]
    return {*names, *(name[1:] for name in names if joints_called(name[1:], card))}


def is_for(model: str, card: Robot) -> bool:
    """Tell whether what is specialised for `model`, a pattern of model names, is meant for a robot."""
    return not model or _matches(model, MODELS.get(card.name, card.name))


@lru_cache(maxsize=64)
def _matches(model: str, name: str) -> bool:
    return re.fullmatch(model, name) is not None
