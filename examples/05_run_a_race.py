"""Run a race, record it, draw it.  As `posewright run obstacle-race`."""

import sys
from pathlib import Path

import posewright as pw
from posewright.runs import Progress

out = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
out.mkdir(parents=True, exist_ok=True)


def print_progress(progress: Progress) -> None:
    if progress.time_s % 10 < 0.1:
        print(f"{progress.time_s:5.1f} s  {progress.standing}  {progress.state}")


outcome = pw.run_trial(
    "obstacle-race", layout="random", seed=7, record=out / "race.mcap", on_progress=print_progress
)
pw.save_figure(pw.draw_outcome(outcome), out / "race.png")

for number, leg in enumerate(outcome.score.legs, 1):
    print(f"leg {number}: {leg.time_s:.1f} s, {leg.penalties} penalties, {leg.points:.2f} points")
print(f"{outcome.score.total_points:.2f} points; digest {outcome.recording.digest()[:16]}")
