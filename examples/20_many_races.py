"""Run many races and rank them.  As `posewright run --seeds` and `posewright rank`."""

import sys
from pathlib import Path

import posewright as pw

out = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
out.mkdir(parents=True, exist_ok=True)


def main() -> None:
    # Each seed draws a layout and a body. A second run skips seeds that are done.
    races = pw.run_many("obstacle-race", seeds="5-7", layout="random", body="random", folder=out / "races")
    print(f"{races.mean:.2f} points on average; worst: seed {races.worst.name}")
    for row in races.table():
        print(
            f"seed {row['seed']}: {row['points']:.2f} points in {row['time_s']:.1f} s, {row['falls']} falls"
        )

    # Rank recordings, wherever they come from, by the contest's own rules.
    for row in pw.rank(out / "races").runs:
        print(f"{row.figures['place']}. {row.name}")


if __name__ == "__main__":  # with `workers=4` each process imports this script
    main()
