"""The command on the lights of a motion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from posewright.documents import Node
from posewright.formats.native.reader import read_light
from posewright.motions import Motion
from posewright.robots import Robot
from posewright.studio.commands.changes import MotionCommand, require_keyframe, with_range
from posewright.studio.requests import Anything


@dataclass(frozen=True)
class SetLights(MotionCommand):
    """Say what lights show from the way into a keyframe on.

    Attributes:
        lights: by LED, as a native file has them; None where it stays as it was. Others are left as they are.
    """

    keyframe: int
    lights: Mapping[str, Anything]

    @property
    def label(self) -> str:
        """What the menu says."""
        return f"light {next(iter(self.lights))}" if len(self.lights) == 1 else "set lights"

    def _changed(self, motion: Motion, robot: Robot) -> Motion:
        require_keyframe(motion, self.keyframe)
        frame = motion.keyframes[self.keyframe]
        leds = {name: robot.led(name) for name in self.lights}
        others = {name: light for name, light in (frame.lights or {}).items() if name not in leds}
        told = {
            name: read_light(Node(light), leds[name])
            for name, light in self.lights.items()
            if light is not None
        }
        lit = replace(frame, lights={**others, **told} or None)
        return with_range(motion, self.keyframe, self.keyframe + 1, [lit])
