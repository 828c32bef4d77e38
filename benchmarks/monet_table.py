"""Table of the motions of Sony's MOTION7.ODA in which the simulated dog stays up, played by MoNet in turn.

    python -m benchmarks.monet_table MONETCMD.CFG MONET.CFG MOTION7.ODA

The robot starts lying; MoNet takes it through every posture and every motion of the archive. The table is
that of docs/openr.md, for motions as designed (up to the mechanical limits, at any speed). Below it are the
differences with the default `Safety` (limits of joints and of servo speeds), and with the exact player.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from posewright.arrays import Floats
from posewright.control import Safety, Until
from posewright.evaluation.thresholds import PhysicsRules
from posewright.formats import document_of
from posewright.recordings import Recording
from posewright.recordings.falls import tilt
from posewright.robots import robot
from posewright.rotation import roll_pitch_yaw
from posewright.runs import perform
from posewright.runtimes.openr import set_up_openr
from posewright.runtimes.openr.monet.messages import IDLE
from posewright.runtimes.openr.stick import read_stick

DOG = robot("sony_ers7")
CYCLES = 5
STEP_S = 1.392
"""One cycle of the walks; the exact player takes a frame more, for the last keyframe."""

NEAR_DEG = 10.0
"""Tolerance of the final attitude against that of the motion's author [deg]."""


@dataclass(frozen=True)
class PlayedMotion:
    """The result of a motion.

    Attributes:
        sideways_deg: largest lean of the base to a side.
        ends_deg: how far the base leans back in the end.
        moved_m: forward and to the left, as seen from where it began.
        slowed: joints that safety slowed down.
    """

    name: str
    seconds: float
    tilt_deg: float
    sideways_deg: float
    ends_deg: float
    moved_m: tuple[float, float]
    slowed: int

    def stays_up(self, expected_deg: float) -> bool:
        """Return whether the robot never lay on its side, and ended in the expected attitude."""
        return (
            self.sideways_deg < PhysicsRules().fall_sideways_deg
            and abs(self.ends_deg - expected_deg) < NEAR_DEG
        )


def script(step_s: float) -> str:
    """Return commands that play every motion of the archive, the walks without a frame between cycles."""
    walks = [
        f"{number}@{begin_s + k * step_s:.3f}"
        for number, begin_s in ((12, 52), (13, 60))
        for k in range(CYCLES)
    ]
    return f"1@0, 100@15, 2@18, 101@28, 0@31, 2@39, 10@49, {', '.join(walks)}, 11@68, 1@71, 0@83"


def recorded(files: Sequence[str], *, hardware: bool, player: str = "sony") -> Recording:
    """Play the script on a simulated dog."""
    commands = script(STEP_S + (player == "exact") * DOG.frame_period_s)
    controller = set_up_openr("monet", monet=files, commands=commands, player=player).controller()
    safety = Safety(DOG, hardware=hardware)
    until = Until(lambda: controller.is_idle, 1.0)
    return perform(
        controller, DOG, name="openr monet", until_s=120.0, pose="sleep", safety=safety, watchers=[until]
    )


def played(recording: Recording) -> Iterator[PlayedMotion]:
    """Yield the result of each motion, with all cycles of a walk as one."""
    times = recording.times
    base = np.asarray(recording.robot().base)
    starts = [
        (event.time_s, str(event.data["state"]).removeprefix(IDLE))
        for event in recording.events_of("openr")
        if event.data["what"] == "state" and event.data["object"] == "MotionAgents"
    ]
    start_s = 0.0
    for place, (time_s, name) in enumerate(starts):
        before = starts[place - 2][1] if place > 1 else ""
        start_s = start_s if name == before or not name else time_s
        after = starts[place + 1] if place + 1 < len(starts) else (times[-1], "")
        if not name or (place + 2 < len(starts) and starts[place + 2][1] == name):
            continue
        rows = (times >= start_s) & (times <= after[0])
        slowed = {
            str(event.data["joint"])
            for event in recording.events_of("safety")
            if start_s <= event.time_s <= after[0] and event.data["guard"] == "speed limit"
        }
        yield _figures(name, after[0] - start_s, base[rows], len(slowed))


def _figures(name: str, seconds: float, base: Floats, slowed: int) -> PlayedMotion:
    roll, pitch, yaw = np.rad2deg(roll_pitch_yaw(base[:, 3:])).T
    (x, y), first = (base[-1, :2] - base[0, :2]).tolist(), np.deg2rad(yaw[0])
    moved = (x * np.cos(first) + y * np.sin(first), y * np.cos(first) - x * np.sin(first))
    largest = float(np.rad2deg(tilt(base)).max())
    sideways = float(np.abs(roll).max())
    return PlayedMotion(name, seconds, largest, sideways, float(-pitch[-1]), moved, slowed)


def table(files: Sequence[str]) -> Iterator[str]:
    """Yield the lines of the table and of the differences."""
    motions = read_stick(*files).setups[0].motions
    assert motions is not None
    documents = [document_of(row, n, motions.oda_archive) for n, row in enumerate(motions.entries, 1)]
    pitch = {row.name: float(np.rad2deg(row.attitudes[-1, 1] / 1e6)) for row in documents}
    written = list(played(recorded(files, hardware=True)))
    limited = {row.name: row for row in played(recorded(files, hardware=False))}
    exact = {row.name: row for row in played(recorded(files, hardware=True, player="exact"))}

    def stays(row: PlayedMotion) -> str:
        return "yes" if row.stays_up(pitch.get(row.name, 0.0)) else "no"

    yield "| motion | lasts | stays up | leans | moved |"
    yield "|---|---|---|---|---|"
    for row in written:
        figures = f"{row.seconds:.3f} s | {stays(row)} | {row.tilt_deg:.1f} deg | {row.moved_m[0]:+.2f} m"
        yield f"| `{row.name}` | {figures} |"
    for row in written:
        slow = limited[row.name]
        exact_row = exact[row.name]
        distance_mm = 1000.0 * np.hypot(*np.subtract(row.moved_m, exact_row.moved_m))
        yield (
            f"{row.name}: default safety slows down {slow.slowed} joints, stays up: {stays(slow)}; "
            f"exact player {distance_mm:.1f} mm from there, stays up: {stays(exact_row)}"
        )


if __name__ == "__main__":
    for line in table(sys.argv[1:]):
        print(line)
