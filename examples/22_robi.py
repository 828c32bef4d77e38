"""Run, list and edit programs of a Robi 2, and have it play a motion of one's own.

The twins of `posewright robi run`, `watch`, `list`, `assemble`, `patch` and `postures`.
Run: `python examples/22_robi.py [folder]`
"""

import sys
from pathlib import Path

import posewright as pw

given = Path(sys.argv[1]) if len(sys.argv) > 1 else None

for one in pw.judge_robi_postures(rule="printed"):
    print(f"{one.pose}: judged {one.judged}" + (f", is {one.right}" if one.contradicts else ""))

recording = pw.run_robi("startup", words="1@1, 3@9", body="mock")
result = pw.robi_result(recording)
told = f"{result['duration_s']:.1f} s, now {result['posture']}"
print(f"{told}; servos that do not dance: {len(result['mapped'])}")

dance = pw.robi_motion(pw.open_robi_program("dance")).motion
print(f"{dance}, lights {', '.join(dance.lights)}")
program = pw.robi_program(dance).program
text = pw.list_robi_program(program)
print("the same again:", pw.assemble_robi_program(text).render() == program.render())

if given is not None:
    given.mkdir(parents=True, exist_ok=True)
    (given / "dance.rm4").write_bytes(program.render())
    (given / "faster.csv").write_text("0x000001de,31 34,32 38\n")  # its first time, 0x0028, is 0x0014
    patch = pw.read_robi_patch(given / "faster.csv")
    pw.patch_robi_program(given / "dance.rm4", patch, given / "faster.rm4")
    pw.unpatch_robi_program(given / "faster.rm4", patch, given / "again.rm4")
    print(f"{patch}, and taken back")
