"""List contests, read an entry, and read the ranking of a contest day.

As `posewright contest list`, `contest show` and `contest rank`; 28_contest_day.py plays a day.
"""

import sys
from pathlib import Path

import posewright as pw

out = Path(sys.argv[1] if len(sys.argv) > 1 else "out")

for name in pw.contest_names():
    contest = pw.contest(name)
    print(f"{name}: {contest.title}, for {' and '.join(contest.entries)}")

folder = out / "lonely"
folder.mkdir(parents=True, exist_ok=True)
(folder / "entry.yaml").write_text(
    "entry: Lonely\nclub: Home\nrobot: robotis_bioloid\nbehaviours:\n  passivity-test: passivity_test\n"
)
entry = pw.check_contestant(pw.read_contestant(folder))
print(entry, "can be read" if not entry.forfeits else entry.forfeits)

pw.play_day([folder], out / "short_day", rules="ceabot_2013", seed=1)
day = pw.read_day(out / "short_day")
print([(row.place, row.name, round(row.points, 1)) for row in day.ranking])
print("recordings that contradict themselves or the results:", list(pw.check_day(day)))
for name, repeated in pw.rerun_day(day):
    print(f"{name}: {repeated}")
