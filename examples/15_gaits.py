"""Check, draw and walk gaits.  As `posewright gait list`, `show`, `plot`, `sample`, `run` and `compare`."""

import sys
from pathlib import Path

import posewright as pw

out = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
out.mkdir(parents=True, exist_ok=True)
robot = pw.robot("sony_ers7")
command = pw.VelocityCommand(forward_m_s=0.15, turn_rad_s=0.4)

for name in pw.gait_names(robot):
    gait = pw.read_gait(name, robot=robot)
    check = pw.check_gait(gait, robot)  # the load of its commands on the joints, without simulation
    count = f"{check.n_within_bounds} of {len(check.command_checks)}"
    print(f"{name}: {gait.description}; {count} commands within all limits")

trot = pw.read_gait("trot", robot=robot)
pw.save_figure(pw.draw_gait(trot, robot, command=command), out / "trot.png")
pw.write_motion(pw.sample_gait(trot, command=command), out / "trot.motion.yaml")  # repeats for ever
steps = pw.sample_gait(trot, command=command, cycles=8, every_frames=2, from_pose="stand", to_pose="stand")
pw.write_motion(steps, out / "trot.mtn")  # for a memory stick

result = pw.walk_gait(trot, robot, command=command, seconds=4.0)
report = result.report.to_dict()
print(
    f"walked {report['speed_m_s']:.3f} m/s, turned {report['turn_rad_s']:.2f} rad/s, {report['falls']} falls"
)
pw.save_figure(pw.draw_walk(result), out / "walk.png")

higher = trot.with_values({"central_height_m": 0.02})  # any parameter, by its name
higher_report = pw.walk_gait(higher, command=command, seconds=4.0).report.to_dict()
print(f"feet higher: {higher_report['speed_m_s']:.3f} m/s")
many = pw.walk_many(trot, robot, command=command, bodies=2, seconds=2.0)
print(f"{many.to_dict()['upright']} of 2 random bodies stay upright")
