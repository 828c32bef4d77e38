"""Search for a better gait.  As `posewright tune`."""

import sys
from pathlib import Path

import posewright as pw

out = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
out.mkdir(parents=True, exist_ok=True)
journal = out / "fast.tune.jsonl"

# Only four candidates; the full search is `posewright tune fast`. The same call with more generations
# continues where the journal ends.
tuned = pw.tune_gait("fast", generations=1, population=4, journal=journal)
for generation in tuned.result.generations:
    print(f"generation {generation.number}: best so far {generation.best_so_far:.3f}")
pw.save_figure(pw.draw_tuning(journal), out / "tuning.png")

if tuned.gait is not None:
    pw.write_gait(tuned.gait, out / "fast.gait.yaml")
    print(tuned.gait.source)
