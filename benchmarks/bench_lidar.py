"""The cost of a flash lidar of 64 x 48 beams on the robot's chest in a race.

It is read at every tick of the chart, ten times a second. A recording contains its readings exactly, as a
depth picture and as points. Both races are measured in turn by CPU time from the first frame on; the best
counts.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.bench_race import LAYOUT, SEED, TRIAL, Elapsed, Stopwatch
from benchmarks.figure import Figure
from posewright.robots import robot_folder
from posewright.runs import run_trial

LIDAR = (
    "sensors:\n  flash: {kind: flash_lidar, mount: laser_mount, max_range_m: 5,"
    " horizontal_fov_deg: 60, vertical_fov_deg: 45}\n"
)


def with_lidar(folder: Path) -> Path:
    """Write the race's behaviour with an additional flash lidar into a folder, and return its path."""
    shipped = robot_folder("robotis_bioloid") / "behaviours"
    chart = "obstacle_race.chart.yaml"
    (folder / chart).write_text((shipped / chart).read_text(encoding="utf-8"), encoding="utf-8")
    text = (shipped / "obstacle_race.behaviour.yaml").read_text(encoding="utf-8")
    path = folder / "with_lidar.behaviour.yaml"
    named = text.replace("behaviour: obstacle_race", "behaviour: with_lidar")
    path.write_text(named.replace("sensors:\n", LIDAR), encoding="utf-8")
    return path


def timed(record: Path | None, behaviour: Path | None) -> Elapsed:
    """Return the time of a race, from its first frame to its score or its recording."""
    watch = Stopwatch()
    run_trial(TRIAL, layout=LAYOUT, seed=SEED, behaviour=behaviour, record=record, clock=watch)
    assert watch.began is not None, "the trial has a first frame"
    return watch.began.since()


def figures(rounds: int) -> list[Figure]:
    """Return the additional time as a share of the race, without and with a recording."""
    with tempfile.TemporaryDirectory() as folder:
        seeing = with_lidar(Path(folder))
        path = Path(folder) / "seen.mcap"
        timed(None, None)  # both have their modules loaded
        shares = []
        for record in (None, path):
            pairs = [(timed(record, seeing), timed(record, None)) for _ in range(rounds)]
            with_it, without = (min(took).cpu_s for took in zip(*pairs, strict=True))
            shares.append(with_it / without - 1.0)
        timed(path, seeing)
        note = f"the recording has {path.stat().st_size / 1e6:.0f} MB"
    return [
        Figure("flash lidar at 10 Hz, share of a race", shares[0], below=0.25),
        Figure("flash lidar at 10 Hz, share of a race that is written down", shares[1], note=note),
    ]
