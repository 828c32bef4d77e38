"""Which robot a design label means, and how files for it are written.

Source: formats.md 1.1 (design labels and the variant of the ERS-110 and ERS-111, seen in 4028 motions).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from posewright.formats.omtn.document import DEFAULT_FRAME_MS, OmtnDocument
from posewright.robots import Robot, robot, unlisted_robot

NAMING = "open_r"
"""The naming on a card in which joints are called by Sony's locators."""


@dataclass(frozen=True)
class Dialect:
    """How files for one kind of robot are written.

    Attributes:
        robot: the robot's card; None where there is none.
        whole_minor: version of a motion of the whole body.
        part_minor: version of a motion of a part of it.
        frame_ms: what the file says of a frame [ms].
        is_short: whether the size of section 3 takes two bytes.
        is_padded: whether sections 1 and 2 are filled up to four bytes.
    """

    robot: str | None = None
    whole_minor: int = 2
    part_minor: int = 1
    frame_ms: int = DEFAULT_FRAME_MS
    is_short: bool = False
    is_padded: bool = True

    def minor(self, design: str) -> int:
        """Return the version of a motion with this design label."""
        return self.part_minor if "_" in design else self.whole_minor


DIALECTS: Mapping[str, Dialect] = MappingProxyType(
    {
        "DRX-700": Dialect("sony_ers110", 0, 0, 0, is_short=True, is_padded=False),
        "DRX-900": Dialect("sony_ers220"),
        "DRX-910": Dialect("sony_ers210"),
        "DRX-1000": Dialect("sony_ers7"),
    }
)
"""By what the label begins with. DRX-801 (ERS-31x) has no card, and its files are as most are."""


def model_of(design: str) -> str:
    """Return the label without the part of the body that it may name: `DRX-1000_Head` is of a `DRX-1000`."""
    return design.partition("_")[0]


def dialect_of(design: str) -> Dialect:
    """Return how files with this design label are written."""
    return DIALECTS.get(model_of(design), Dialect())


def card_for(document: OmtnDocument, asked: Robot | None = None) -> Robot:
    """Return the card of the robot that a motion is for.

    It is the one asked for, if that has these joints; else the one its design label means, if that has;
    else one made up, on which the joints are called by their locators. So a motion of another robot than
    was asked for is told from one of that robot, and can be carried over to it.
    """
    if asked is not None and _has_joints(asked, document.locators):
        return asked
    return _meant(document.design, document.locators)


def is_listed(card: Robot) -> bool:
    """Tell whether this card was not made up by `card_for`."""
    return card.folder is not None or bool(card.poses)


@lru_cache(maxsize=64)
def _meant(design: str, locators: tuple[str, ...]) -> Robot:
    """Return the card that a design label means; the thousands of motions of an archive share one."""
    name = dialect_of(design).robot
    if name is not None and _has_joints(card := robot(name), locators):
        return card
    return unlisted_robot(model_of(design) or "AIBO", locators, scheme=NAMING, design=design)


def _has_joints(card: Robot, locators: tuple[str, ...]) -> bool:
    known = card.namings.get(NAMING, {})
    return all(locator in known for locator in locators)
