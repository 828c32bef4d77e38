"""The main job: run a race, record it, draw it.  Twin of `posewright run obstacle-race`."""

import sys
from pathlib import Path

import posewright as pw
from posewright.experiments import Progress

out = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
out.mkdir(parents=True, exist_ok=True)


def tell(now: Progress) -> None:
    if now.time_s % 10 < 0.1:
        print(f"{now.time_s:5.1f} s  leg {now.leg}  {now.distance_cm:5.1f} cm  {now.chart_state}")


outcome = pw.run_trial("obstacle-race", layout="random", seed=7, record=out / "race.mcap", tell=tell)
pw.draw_trial(outcome.trace, out / "race.png", outcome.result)

for number, leg in enumerate(outcome.result.legs, 1):
    print(f"leg {number}: {leg.time_s:.1f} s, {leg.penalties} penalties, {leg.points:.2f} points")
print(f"{outcome.result.total_points:.2f} points; trace {outcome.trace.digest()[:16]}")
