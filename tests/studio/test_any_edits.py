"""Whatever is done in whatever order can be undone and done again, and every window sees it alike."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from posewright.formats import read_motion_file
from posewright.motions import Easing, Motion
from posewright.studio.commands import COMMANDS

STEPS = 60


class Hand:
    """Does one thing after the other, as somebody who has never seen a studio."""

    def __init__(self, studio: Any, window: Any, seed: int) -> None:
        self.draw = random.Random(seed)  # noqa: S311 - nothing secret
        self.session, self.window = studio.session, window
        self.clipboard = ""
        self.did: list[Any] = []

    @property
    def motion(self) -> Motion:
        return self.session.document.pages.motion(1)  # type: ignore[no-any-return]

    def act(self) -> None:
        """Do anything; what makes no sense is refused, and that is no fault."""
        draw = self.draw
        actions: list[tuple[str, dict[str, Any]]] = [
            *[("session.edit", self.edit(command)) for command in draw.sample(sorted(COMMANDS), 8)],
            ("session.look", {"keyframe": draw.randint(-1, 3), "selected": self.places()}),
            (draw.choice(["session.undo", "session.redo"]), {}),
            ("player.seek", {"time_s": draw.uniform(0.0, 2.0)}),
            ("timeline.move", {"before": draw.randint(0, 5)}),
            ("timeline.paste", {"text": self.clipboard}),
            *[(f"timeline.{what}", {}) for what in ("add", "duplicate", "delete", "copy")],
        ]
        action, arguments = draw.choice(actions)
        told = self.window.answer(action, **arguments)
        self.did.append((action, arguments, told))
        assert "fault" not in told.get("error", {}).get("message", ""), self.did
        if action == "timeline.copy":
            self.clipboard = told.get("answer", "")

    def places(self) -> list[int]:
        count = len(self.motion.keyframes)
        return sorted({self.draw.randrange(count) for _ in range(self.draw.randint(1, 3))})

    def edit(self, command: str) -> dict[str, Any]:
        """Return a command with any arguments that it knows."""
        draw, robot = self.draw, self.session.document.robot
        joints = draw.sample(robot.joint_names, 4)
        frame = draw.randint(-1, len(self.motion.keyframes) - 1)
        arguments: dict[str, Any] = {
            "page": 1,
            "after": 1,
            "to": 2,
            "keyframe": frame,
            "also": self.places(),
            "keyframes": self.places(),
            "angles_deg": {joint: draw.uniform(-200.0, 200.0) for joint in joints},
            "symmetric": draw.random() < 0.5,
            "joints": draw.choice([joints, list(robot.joint_names)]),
            "left": draw.choice(["held", "free"]),
            "share": draw.choice([0.0, 0.4, 1.0]),
            "other": frame,
            "reach_s": draw.choice([0.0, 0.0005, 0.3, draw.uniform(0.0, 2.0)]),
            "pause_s": draw.choice([0.0, draw.uniform(0.0, 2.0)]),
            "easing": draw.choice([easing.value for easing in Easing]),
            "stiffness": draw.choice([{}, {self.motion.joints[0]: 1.5}]),
            "factor": draw.choice([0.001, 0.5, 2.0]),
            "reach_by_s": draw.uniform(-0.5, 0.5),
            "lights": {led.name: draw.choice([None, 0, 12.5]) for led in robot.leds[:2]},
            "name": draw.choice(["bow", "Ünï"]),
            "repeat": draw.choice([0, 1, 3]),
            "next": draw.choice(["", "elsewhere"]),
            "speed": draw.choice([0.5, 1.37]),
        }
        known = {name.replace("_rad", "_deg"): name for name in COMMANDS[command].__dataclass_fields__}
        told = {name: value for name, value in arguments.items() if name in known}
        return {"command": command, "arguments": told, "gesture": draw.choice(["", "drag"])}


@pytest.mark.parametrize(("name", "seed"), [("play_bow", 1), ("walk_forward", 2), ("sit_down", 3)])
def test_any_edits_are_undone_and_done_again_and_saved_as_they_were_shown(
    shipped: Callable[[str], Path], studio_of: Any, window_of: Any, name: str, seed: int
) -> None:
    path = shipped(name)
    studio = studio_of(path)
    window = window_of(studio)
    as_read, hand = window.topics["motion"], Hand(studio, window, seed)
    before = hand.motion
    for _ in range(STEPS):
        hand.act()
    shown, made = window.topics["motion"], hand.motion
    later = window_of(studio)
    news = {topic: later.topics[topic] for topic in ("motion", "pages", "cursor", "history", "links")}
    assert news == {topic: window.topics[topic] for topic in news}, hand.did
    was_undone = window.topics["history"]["redo"] is not None
    while window.topics["history"]["undo"] is not None:
        window.ask("session.undo")
    assert (window.topics["motion"], hand.motion) == (as_read, before), hand.did
    assert not window.topics["history"]["dirty"]
    while window.topics["history"]["redo"] is not None:
        window.ask("session.redo")
    assert was_undone or (window.topics["motion"], hand.motion) == (shown, made), hand.did
    assert "saved" in window.ask("files.save")
    saved, now = read_motion_file(path).motion(), hand.motion
    assert len(saved.keyframes) == len(now.keyframes)
    np.testing.assert_allclose(saved.keyframe_times, now.keyframe_times, atol=1e-4 * len(now.keyframes))
    for one, other in zip(saved.keyframes, now.keyframes, strict=True):
        np.testing.assert_allclose(one.pose.angles, other.pose.angles, atol=1e-4, equal_nan=True)
        assert (one.pose.free, one.easing, one.lights) == (other.pose.free, other.easing, other.lights)
