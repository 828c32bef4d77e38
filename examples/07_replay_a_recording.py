"""From a recording alone: numbers, a picture, a film's still.  Twin of `posewright replay RACE.mcap`."""

import sys
from pathlib import Path

import numpy as np

import posewright as pw
from posewright.simulation import Film
from posewright.trials import stage_of

out = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
out.mkdir(parents=True, exist_ok=True)
pw.run_trial("obstacle-race", layout="example_2", record=out / "race.mcap")

outcome = pw.replay(out / "race.mcap", plot=out / "race.png")  # video="race.mp4" makes a film
trace = outcome.trace
knee = np.degrees(trace.joint_positions[:, trace.joint("right_knee")])
print(f"{trace.n_rows} rows of {trace.duration_s:.1f} s; right knee {knee.min():.0f} to {knee.max():.0f} deg")
print("the recording carries", *sorted(trace.header.documents))

try:  # one picture of it, as docs/pictures/field.png was made
    with Film(stage_of(trace.header), 960, 600, "chase") as film:
        row = int(np.searchsorted(trace.times, 14.0))
        picture = film.frame(trace.trunk[row], trace.joint_positions[row], trace.boxes[row])
    from matplotlib.image import imsave

    imsave(out / "field.png", picture)
except pw.PosewrightError as error:  # a machine that cannot draw, or without matplotlib
    print("no still:", error)
