"""Run, list and edit programs of a Robi 2, and turn a motion into a program.

As `posewright robi run`, `watch`, `list`, `assemble`, `patch` and `postures`.
Run: `python examples/22_robi.py [folder]`
"""

import sys
from pathlib import Path

import posewright as pw

out = Path(sys.argv[1]) if len(sys.argv) > 1 else None

for posture in pw.judge_robi_postures(rule="printed"):
    correction = f", is {posture.right}" if posture.contradicts else ""
    print(f"{posture.pose}: judged {posture.judged}{correction}")

recording = pw.run_robi("startup", words="1@1, 3@9", body="mock")
result = pw.robi_result(recording)
print(f"{result['duration_s']:.1f} s, now {result['posture']}; servos at rest: {len(result['mapped'])}")

dance = pw.robi_motion(pw.open_robi_program("dance")).motion
print(f"{dance}, lights {', '.join(dance.lights)}")
program = pw.robi_program(dance).program
text = pw.list_robi_program(program)
print("unchanged by listing and assembling:", pw.assemble_robi_program(text).render() == program.render())

if out is not None:
    out.mkdir(parents=True, exist_ok=True)
    (out / "dance.rm4").write_bytes(program.render())
    (out / "faster.csv").write_text("0x000001de,31 34,32 38\n")  # its first time, 0x0028, is 0x0014
    patch = pw.read_robi_patch(out / "faster.csv")
    pw.patch_robi_program(out / "dance.rm4", patch, out / "faster.rm4")
    pw.unpatch_robi_program(out / "faster.rm4", patch, out / "again.rm4")
    print(f"{patch}, and taken back")
