"""Where the simulated dog stays up: every motion of Sony's MOTION7.ODA, played by MoNet one after the other.

    python -m benchmarks.monet_table MONETCMD.CFG MONET.CFG MOTION7.ODA

The robot begins lying; MoNet takes it through every posture and every motion of the archive. Printed is a
table in Markdown: as the motions are written (up to the stops of the mechanism, at any speed), and with what
`Safety` lets through by default (the joints' limits and the servos' speed).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from posewright.arrays import Floats
from posewright.control import Safety, drive
from posewright.evaluation.thresholds import PhysicsRules
from posewright.formats import document_of
from posewright.recordings import Header, Recorder, Recording, RobotHeader
from posewright.recordings.falls import tilt
from posewright.robots import robot
from posewright.rotation import roll_pitch_yaw
from posewright.runtimes.openr import UntilIdle
from posewright.runtimes.openr.monet.messages import IDLE
from posewright.runtimes.openr.programs import Setting, open_program, program
from posewright.runtimes.openr.script import read_script
from posewright.simulation import SimulatedBody, World
from posewright.sticks import MonetSetup, read_stick

DOG = robot("sony_ers7")
CYCLES = 5
STEP_S = 1.392
"""One cycle of the walks; the exact player takes a frame more, for the last keyframe."""

NEAR_DEG = 10.0
"""So near the author's attitude a motion ends that leaves the robot as it should."""


@dataclass(frozen=True)
class Played:
    """What a motion did.

    Attributes:
        leans_deg: largest lean of the base to a side.
        ends_deg: how far the base leans back in the end.
        moved_m: forward and to the left, as seen from where it began.
    """

    name: str
    seconds: float
    tilt_deg: float
    leans_deg: float
    ends_deg: float
    moved_m: tuple[float, float]
    turned_deg: float
    slowed: int

    def stays_up(self, wanted_deg: float) -> bool:
        """Tell whether the robot never lay on a side, and ended as the author wants it."""
        return self.leans_deg < PhysicsRules().side_deg and abs(self.ends_deg - wanted_deg) < NEAR_DEG


def script(step_s: float) -> str:
    """Return commands that play every motion of the archive, the walks without a frame between cycles."""
    walks = [
        f"{number}@{begin_s + k * step_s:.3f}"
        for number, begin_s in ((12, 52), (13, 60))
        for k in range(CYCLES)
    ]
    return f"1@0, 100@15, 2@18, 101@28, 0@31, 2@39, 10@49, {', '.join(walks)}, 11@68, 1@71, 0@83"


def recorded(setup: MonetSetup, *, hardware: bool, exact: bool = False) -> Recording:
    """Play the script on a simulated dog."""
    monet = program("monet")
    commands = read_script(script(STEP_S + exact * DOG.frame_period_s))
    setting = Setting(DOG, commands, monet=setup, exact=exact)
    controller = open_program(monet.config, setting, monet.pose)
    world = World(DOG)
    body = SimulatedBody(world, start_pose=DOG.pose(monet.pose))
    header = Header(robots={DOG.name: RobotHeader.of(body, "openr monet")}, rate_hz=125.0)
    recorder = Recorder(header, world, every=1)
    watchers = [recorder, UntilIdle(controller, 1.0)]
    safety = {DOG.name: Safety(DOG, hardware=hardware)}
    drive(world, {DOG.name: controller}, until_s=120.0, watchers=watchers, safety=safety)
    return recorder.recording()


def played(recording: Recording) -> Iterator[Played]:
    """Yield what each motion did, walks in one row."""
    times, base = recording.times, np.asarray(recording.robot().base)
    begun = [
        (event.time_s, str(event.data["state"]).removeprefix(IDLE))
        for event in recording.events_of("openr")
        if event.data["what"] == "state" and event.data["object"] == "MotionAgents"
    ]
    began_s = 0.0
    for place, (time_s, name) in enumerate(begun):
        before = begun[place - 2][1] if place > 1 else ""
        began_s = began_s if name == before or not name else time_s
        after = begun[place + 1] if place + 1 < len(begun) else (times[-1], "")
        if not name or (place + 2 < len(begun) and begun[place + 2][1] == name):
            continue
        rows = (times >= began_s) & (times <= after[0])
        slowed = {
            str(event.data["joint"])
            for event in recording.events_of("safety")
            if began_s <= event.time_s <= after[0] and event.data["guard"] == "speed limit"
        }
        yield _figures(name, after[0] - began_s, base[rows], len(slowed))


def _figures(name: str, seconds: float, base: Floats, slowed: int) -> Played:
    roll, pitch, yaw = np.rad2deg(roll_pitch_yaw(base[:, 3:])).T
    (x, y), first = (base[-1, :2] - base[0, :2]).tolist(), np.deg2rad(yaw[0])
    moved = (x * np.cos(first) + y * np.sin(first), y * np.cos(first) - x * np.sin(first))
    largest = float(np.rad2deg(tilt(base)).max())
    leans, turned = float(np.abs(roll).max()), float(yaw[-1] - yaw[0])
    return Played(name, seconds, largest, leans, float(-pitch[-1]), moved, turned, slowed)


def table(setup: MonetSetup) -> Iterator[str]:
    """Yield the lines of the table."""
    assert setup.motions is not None
    documents = [document_of(one, n, setup.motions.archive) for n, one in enumerate(setup.motions.entries, 1)]
    pitch = {one.name: float(np.rad2deg(one.attitudes[-1, 1] / 1e6)) for one in documents}
    written = list(played(recorded(setup, hardware=True)))
    limited = {one.name: one for one in played(recorded(setup, hardware=False))}
    exact = {one.name: one for one in played(recorded(setup, hardware=True, exact=True))}
    yield "| motion | s | stays up | largest tilt | forward, left | turns | ends leaning back | remarks |"
    yield "|---|---|---|---|---|---|---|---|"
    for one in written:
        wanted = pitch.get(one.name, 0.0)
        slow, other = limited[one.name], exact[one.name]
        up = ("no", "yes")
        apart = np.hypot(*np.subtract(one.moved_m, other.moved_m)) * 1000.0
        remarks = [
            f"with default safety: {up[slow.stays_up(wanted)]}, tilt {slow.tilt_deg:.1f}, "
            f"{slow.moved_m[0]:+.3f} m, {slow.slowed} joints slowed down",
            f"exact player: {up[other.stays_up(wanted)]}, {apart:.1f} mm from there",
        ]
        yield (
            f"| `{one.name}` | {one.seconds:.3f} | {up[one.stays_up(wanted)]} | {one.tilt_deg:.1f} deg | "
            f"{one.moved_m[0]:+.3f} m, {one.moved_m[1]:+.3f} m | {one.turned_deg:+.1f} deg | "
            f"{one.ends_deg:.1f} deg, written {wanted:.1f} | {'; '.join(remarks)} |"
        )


if __name__ == "__main__":
    for line in table(read_stick(*sys.argv[1:]).setups[0]):
        print(line)
