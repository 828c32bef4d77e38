"""A humanoid that walks: a gait for its legs, how robust it is, and a walk made of pages.

As `posewright robots legs`, `posewright gait new`, `posewright gait report`, `posewright stress` and
`posewright motion walk`.
"""

import sys
from pathlib import Path

import posewright as pw
from posewright.runs import WalkBenchmark

out = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
out.mkdir(parents=True, exist_ok=True)

# The lengths of the legs, as the model has them, and a shipped gait scaled to them.
print(pw.biped_block("robotis_bioloid"))
gait = pw.create_gait("stroll", pw.robot("robotis_bioloid"))
pw.write_gait(gait, out / "stroll.gait.yaml")

# One run with each value of a factor. `posewright stress biped` takes five, of seven factors.
program = pw.read_stressed_program("biped", command=pw.VelocityCommand(0.1), seconds=1.0)
stress_map = pw.stress_program(program, factors=["slope"], trials=1)
pw.save_figure(pw.draw_stress(stress_map), out / "stress.png")

# The benchmark of `posewright gait report biped`, cut to a few short runs.
benchmark = WalkBenchmark(
    seconds=0.5, forward_shares=(0.5,), other_shares=(), n_speed_bodies=1, fall_seconds=1.5, n_fall_bodies=1,
    impulses_n_s=(0.3,), n_sides=2, n_phases=1, n_push_bodies=0, push_after_s=0.3, seconds_after_push=0.3,
    plates_mm=(3.0,), slopes_deg=(4.0,), n_floor_bodies=1,
)  # fmt: skip
report = pw.report_walk("biped", benchmark=benchmark)
pw.save_figure(pw.draw_walk_report(report), out / "report.png")

# The gait as pages of a Bioloid's file, and those pages as a gait whose rate and lean can be set.
steps = pw.sample_gait(gait, command=pw.VelocityCommand(0.1), every_frames=2)
pw.write_motion(steps, out / "stroll.mtn", accept_loss=True)
pages = pw.read_page_gait(out / "stroll.mtn").with_values({"rate": 0.9, "lean_rad": 0.02})
pw.write_page_gait(pages, out / "slow_stroll.mtn", accept_faults=True)
