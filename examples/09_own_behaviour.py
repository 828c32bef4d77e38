"""A behaviour of your own: a copy of the shipped one, changed.  As `posewright run --behaviour FILE`."""

import sys
from pathlib import Path

import posewright as pw

out = Path(sys.argv[1] if len(sys.argv) > 1 else "out") / "mine"
out.mkdir(parents=True, exist_ok=True)

# A behaviour consists of text documents: itself, its chart and its motions. Copy the first two.
for name, text in pw.read_behaviour("obstacle_race").documents.items():
    if not name.endswith(".motion.yaml"):
        (out / name).write_text(text, encoding="utf-8")

# Turn only if the heading is off by 30 degrees instead of 18.
chart = out / "obstacle_race.chart.yaml"
chart.write_text(
    chart.read_text(encoding="utf-8").replace("tolerance_deg: 18", "tolerance_deg: 30"), encoding="utf-8"
)

mine = out / "obstacle_race.behaviour.yaml"
for behaviour in ("obstacle_race", mine):
    result = pw.run_trial("obstacle-race", layout="example_5", behaviour=behaviour).score
    times = " + ".join(f"{leg.time_s:.1f} s" for leg in result.legs)
    print(f"{behaviour!s:>50}: {times}, {len(result.penalties)} penalties, {result.total_points:.2f} points")
