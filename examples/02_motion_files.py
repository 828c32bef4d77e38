"""Read, convert and write motion files.

As `posewright motion list`, `posewright motion info` and `posewright motion convert`.
"""

import sys
from pathlib import Path

import posewright as pw

out = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
out.mkdir(parents=True, exist_ok=True)
bioloid = pw.robot("robotis_bioloid")
shipped = bioloid.folder / "motions"
print("motions that come with it:", ", ".join(pw.shipped_motions(bioloid)))

# The content tells the format: native YAML, RoboPlus .mtn, the UC3M thesis's tables.
walk = pw.read_motion(shipped / "walk_forward.motion.yaml")
print(f"{walk.name}: {len(walk.keyframes)} keyframes, one pass takes {walk.duration} s")

# Convert to a RoboPlus file. Data that the format cannot store is an error unless you accept the loss.
try:
    pw.convert_motion(shipped / "walk_forward.motion.yaml", out / "walk.mtn")
except pw.PosewrightError as error:
    print("error:", error.message)
pw.convert_motion(shipped / "walk_forward.motion.yaml", out / "walk.mtn", accept_loss=True)

# A file with pages: list them, read one by name or number, copy the complete file byte for byte.
file = pw.read_motion_file(out / "walk.mtn")
print(f"{file.format} with {file.n_pages} pages, used: {[f'{p.number} {p.name}' for p in file.pages]}")
page = pw.read_motion(out / "walk.mtn", page=file.pages[0].name)
pw.write_motion(page, out / "page.motion.yaml")
pw.convert_motion(out / "walk.mtn", out / "copy.mtn")
print("copied byte for byte:", (out / "copy.mtn").read_bytes() == (out / "walk.mtn").read_bytes())
