"""Judge, score, rank, inspect.  As `posewright judge|inspect` and `posewright score obstacle-race`."""

import sys
from pathlib import Path

import posewright as pw
from posewright.contests import rank

out = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
out.mkdir(parents=True, exist_ok=True)

# The judge needs only the recording, which contains the rules of its run.
run = pw.run_trial("obstacle-race", layout="example_5", record=out / "race.mcap")
recording = pw.read_recording(out / "race.mcap")
result = pw.judge(recording)
print(f"{result.total_points:.2f} points, the same as the run's own: {result == run.score}")

# Is it forged? Its parts are compared with each other, and the run is simulated again.
print("contradictions:", *map(str, pw.find_inconsistencies(recording)))
print(pw.rerun(recording))

# One leg by the formula: 80 s, the full distance, one touch by the referee.
leg = pw.score(80.0, 150.0, penalties=1)
print(f"{leg.time_points:.2f} + {leg.distance_points:.2f} - {leg.penalty_points:.2f} = {leg.raw_points:.2f}")

# Raw points, which may be negative, decide the places; points in the total are at least 0.
entries = {
    name: pw.score(300.0, distance_cm, penalties).raw_points
    for name, distance_cm, penalties in (("A", 50, 0), ("B", 150, 3))
}
for standing in rank(entries):
    print(
        f"place {standing.place}: {standing.name}, {standing.raw_points:+.2f}, earns {standing.place_points}"
    )

# Inspection: compare the robot's measures with the limits of the rules.
for verdict in pw.inspect_robot("robotis_bioloid").verdicts:
    print(verdict)
