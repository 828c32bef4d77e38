"""A file, its document and where a motion came from are shown in a line each, however large they are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from posewright.formats import FORMATS, WriteOptions, origin_of, read_motion_file
from posewright.motions import Keyframe, Motion, Pose
from posewright.robots import robot

POSES = 200


@pytest.mark.parametrize("name", FORMATS)
def test_what_comes_of_a_file_is_shown_in_a_line(name: str, saved: Callable[..., Path]) -> None:
    known = FORMATS[name]
    card = next(card for card in map(robot, ("robotis_bioloid", "sony_ers7")) if known.supports_robot(card))
    stand = card.pose("stand") if "stand" in card.poses else card.pose(next(iter(card.poses)))
    frames = (Keyframe(Pose(card.joint_names, stand), 0.128),) * POSES
    motion = Motion("stand", card.name, card.joint_names, frames, start=frames[0].pose)
    written = known.render(motion, Path("stand"), WriteOptions())
    file = read_motion_file(saved(written.data, f"stand{(known.suffixes or ('',))[0]}"), robot=card)
    origin = origin_of(file.motion())
    document = () if isinstance(file.document, bytes) else (file.document,)
    for shown in map(repr, (known, written, file, origin, *document)):
        assert "\n" not in shown
        assert len(shown) < 500
