"""Run programs of a RoboNova-1, check and format one, make motions of its routines, and a program of them.

The twins of `posewright basic run`, `check`, `format` and `motions`.
Run: `python examples/32_robonova.py [folder]`
"""

import sys
from pathlib import Path

import posewright as pw

given = Path(sys.argv[1]) if len(sys.argv) > 1 else None

recording = pw.run_basic("hello", inputs="REMOCON=1@2", body="mock")
result = pw.basic_result(recording)
print(f"{result['program']}: {result['duration_s']:.1f} s, {result['ended']} at {result['label']}")

source = pw.read_basic("race")
print("wrong with it:", *[one.message for one in pw.check_basic(source)] or ["nothing"])
print("laid out:", pw.format_basic(source) == source.text)

routines = pw.basic_routines("kick")
print("routines:", ", ".join(one.label for one in routines if one.label))
motions, _ = pw.basic_motions("kick")
program = pw.basic_program(motions)
print(f"{len(motions)} motions, and a program of {len(program.text.splitlines())} lines again")

if given is not None:
    given.mkdir(parents=True, exist_ok=True)
    for motion in motions:
        pw.write_motion(motion, given / f"{motion.name}.motion.yaml")
    (given / "again.bas").write_bytes(program.data)
