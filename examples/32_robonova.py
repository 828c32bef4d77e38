"""Run and check programs of a RoboNova-1, and convert routines to motions and back.

As `posewright basic run`, `check`, `format` and `motions`.
Run: `python examples/32_robonova.py [folder]`
"""

import sys
from pathlib import Path

import posewright as pw

out = Path(sys.argv[1]) if len(sys.argv) > 1 else None

recording = pw.run_basic("hello", inputs="REMOCON=1@2", body="mock")
result = pw.basic_result(recording)
print(f"{result['program']}: {result['duration_s']:.1f} s, {result['ended']} at {result['label']}")

source = pw.read_basic("race")
print("findings:", *[finding.message for finding in pw.check_basic(source)] or ["none"])
print("already formatted:", pw.format_basic(source) == source.text)

routines = pw.basic_routines("kick")
print("routines:", ", ".join(routine.label for routine in routines if routine.label))
motions, _ = pw.basic_motions("kick")
program = pw.basic_program(motions)
print(f"{len(motions)} motions, and a program of {len(program.text.splitlines())} lines again")

if out is not None:
    out.mkdir(parents=True, exist_ok=True)
    for motion in motions:
        pw.write_motion(motion, out / f"{motion.name}.motion.yaml")
    (out / "again.bas").write_bytes(program.data)
