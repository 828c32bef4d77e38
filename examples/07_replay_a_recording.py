"""Read, judge, draw and film a recording.  As `posewright replay RACE.mcap`."""

import sys
from pathlib import Path

import numpy as np

import posewright as pw
from posewright.figures import recorded_world
from posewright.simulation import Film

out = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
out.mkdir(parents=True, exist_ok=True)
pw.run_trial("obstacle-race", layout="example_2", record=out / "race.mcap")

outcome = pw.replay(out / "race.mcap", plot=out / "race.png")
recording = outcome.recording
record = recording.robot()
knee = np.degrees(record.positions[:, record.header.joint("right_knee")])
print(f"{recording.n_rows} rows, {recording.duration_s:.1f} s; knee {knee.min():.0f}..{knee.max():.0f} deg")
print("documents in the recording:", *sorted(recording.header.documents))

try:
    pw.film_recording(recording, out / "race.mp4", camera="chase", size=(320, 240), speed=40.0)
    with Film(recorded_world(recording), 960, 600, "chase") as film:  # one frame: docs/pictures/field.png
        row = int(np.searchsorted(recording.times, 7.0))
        picture = film.frame((record.base[row], record.positions[row]), recording.boxes[row])
    from matplotlib.image import imsave

    imsave(out / "field.png", picture)
except pw.PosewrightError as error:  # no graphics on this machine, or an extra is not installed
    print("no film:", error)
