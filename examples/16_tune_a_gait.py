"""A gait found by search.  Twin of `posewright tune`."""

import sys
from pathlib import Path

import posewright as pw

out = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
out.mkdir(parents=True, exist_ok=True)
journal = out / "fast.tune.jsonl"

# Four candidates only; the whole search is `posewright tune fast`. What was walked once is not walked again:
# the same call with more generations goes on where the journal ends.
found = pw.tune_gait("fast", generations=1, population=4, journal=journal)
for generation in found.result.generations:
    print(f"generation {generation.number}: best so far {generation.best_so_far:.3f}")
pw.save_figure(pw.draw_tuning(journal), out / "tuning.png")

if found.gait is not None:
    pw.write_gait(found.gait, out / "fast.gait.yaml")
    print(found.gait.source)
