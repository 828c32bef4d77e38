"""Layouts: from the catalogue, random, or your own.  As `posewright run --layout NAME | random | FILE`."""

import sys
from pathlib import Path

import posewright as pw
from posewright import arenas
from posewright.arenas import Box

out = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
out.mkdir(parents=True, exist_ok=True)

print("shipped:", *arenas.layout_names())
print("example_2:", *((box.x, box.y) for box in arenas.layout("example_2")))
print("random, seed 7:", len(pw.random_layout(7)), "boxes")

# x from the start wall, y from the middle line to the left [m]. Gaps must be 50 cm wide.
for fault in arenas.check_layout([Box(1.2, 0.3), Box(1.2, -0.3)]):
    print("fault:", fault.message)

mine = (Box(1.0, 0.2), Box(1.65, -0.3))
pw.write_layout(out / "mine.layout.yaml", mine)
print("read back as written:", pw.read_layout(out / "mine.layout.yaml") == mine)

result = pw.run_trial("obstacle-race", layout=out / "mine.layout.yaml").score
print(f"finished: {result.finished}, {len(result.penalties)} penalties, {result.total_points:.2f} points")
