"""A contest day with two entries.  As `posewright contest run` and `posewright contest report`."""

import sys
from pathlib import Path

import posewright as pw

out = Path(sys.argv[1] if len(sys.argv) > 1 else "out")

ENTRY = """
entry: {name}
club: {club}
robot: robotis_bioloid
behaviours:
  obstacle-race: {race}
  passivity-test: passivity_test
"""


def main() -> None:
    # An entry is a folder with an entry.yaml and your own behaviours and charts.
    for name, club, race in (("Ours", "Leganés", "obstacle_race"), ("Theirs", "Gijón", "document_mealy")):
        folder = out / "entries" / name.lower()
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "entry.yaml").write_text(ENTRY.format(name=name, club=club, race=race), encoding="utf-8")

    # A second run, such as after a power failure, repeats only what is missing.
    day = pw.play_day([out / "entries"], out / "day", rules="ceabot_2013", seed=1)
    for row in day.ranking:
        print(f"{row.place}. {row.name} ({row.club}): {row.points:.1f} points")
    print(pw.write_site(day, films=0))


if __name__ == "__main__":  # with `workers=2` each process imports this script
    main()
