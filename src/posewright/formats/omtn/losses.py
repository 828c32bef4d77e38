"""What of a motion an OMTN cannot hold, in words."""

from __future__ import annotations

from collections.abc import Iterator

from posewright.motions import Easing, Keyframe, Motion

MONET_NAME, SDK_NAME = 31, 127
"""Letters that a MONET command, and the SDK's player, have room for (formats.md 1.1 and 1.3)."""


def losses_of(motion: Motion) -> Iterator[str]:
    """Yield what is lost of the motion itself, apart from its times and joints."""
    easings = sorted({frame.easing.value for frame in motion.keyframes if _eases(frame)})
    if easings:
        yield f"easing {' and '.join(easings)}: the robot goes from keyframe to keyframe at an even speed"
    stiff = {joint for frame in motion.keyframes for joint in frame.stiffness or ()}
    if stiff:
        yield f"stiffness of {_listed(motion, stiff)}: the file says where the joints go, not how firmly"
    free = {joint for frame in motion.keyframes for joint in frame.pose.free}
    if free:
        yield f"torque off of {_listed(motion, free)}: the file cannot let a joint go, so it stays as it was"
    if motion.loops:
        times = "for ever" if motion.repeat is None else f"{motion.repeat} times"
        yield f"that it is played {times}: the file is played once each time it is called"
    for what, name in (("next", motion.next), ("exit", motion.exit)):
        if name is not None:
            yield f"{what} motion {name}: the file names no other"


def remarks_on_name(name: str) -> Iterator[str]:
    """Yield what is to be said of a long name."""
    if len(name) > SDK_NAME:
        yield f"the name has {len(name)} letters: more than {SDK_NAME} crash the player of Sony's SDK"
    elif len(name) > MONET_NAME:
        yield f"the name has {len(name)} letters: a MONETCMD.CFG can call a motion by {MONET_NAME} at most"


def in_latin_1(name: str) -> str:
    """Return a name with `_` for the letters that an OMTN cannot hold."""
    return "".join(letter if ord(letter) < 256 else "_" for letter in name)


def _eases(frame: Keyframe) -> bool:
    if frame.reach_s == 0.0 or frame.easing is Easing.LINEAR:
        return False
    return frame.easing is not Easing.TRAPEZOID or frame.accel_share > 0.0


def _listed(motion: Motion, joints: set[str]) -> str:
    """Return joints in the motion's order; all of them in a word."""
    if joints >= set(motion.joints):
        return "all joints"
    return ", ".join(joint for joint in motion.joints if joint in joints)
