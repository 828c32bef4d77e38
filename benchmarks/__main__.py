"""Run all benchmarks and print their figures; the exit code is 0 whatever they are."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys

import mujoco
import numpy as np

from benchmarks import (
    bench_archive,
    bench_basic,
    bench_boards,
    bench_bout,
    bench_bus,
    bench_charts,
    bench_codegen,
    bench_gaits,
    bench_import,
    bench_kinematics,
    bench_lidar,
    bench_links,
    bench_openr,
    bench_parallel,
    bench_race,
    bench_simulation,
    bench_studio,
    bench_zenoh,
)
from benchmarks.figure import Figure, cores, table


def measure(rounds: int, *, tell: bool) -> list[Figure]:
    """Return all figures; `tell` on the error stream what is being measured."""
    parts = {
        "import": bench_import.figures,
        "archive": lambda: bench_archive.figures(max(1, rounds // 2)),
        "charts": lambda: bench_charts.figures(max(1, rounds // 2)),
        "compiled charts": lambda: bench_codegen.figures(max(1, rounds // 2)),
        "boards": bench_boards.figures,
        "servo bus": bench_bus.figures,
        "race": lambda: bench_race.figures(rounds),
        "flash lidar": lambda: bench_lidar.figures(rounds),
        "parallel races": lambda: bench_parallel.figures(max(1, rounds // 2)),
        "simulation": lambda: bench_simulation.figures(rounds),
        "two robots": lambda: bench_bout.figures(rounds),
        "kinematics": lambda: bench_kinematics.figures(max(1, rounds // 2)),
        "basic": lambda: bench_basic.figures(max(1, rounds // 2)),
        "openr": lambda: bench_openr.figures(max(1, rounds // 2)),
        "links": bench_links.figures,
        "gaits": lambda: bench_gaits.figures(max(1, rounds // 2)),
        "zenoh": bench_zenoh.figures,
        "studio": bench_studio.figures,
    }
    found: list[Figure] = []
    for name, figures in parts.items():
        if tell:
            print(f"measuring: {name} ...", file=sys.stderr, flush=True)
        found += figures()
    return found


def machine() -> dict[str, str | int | float]:
    """Return what the figures were measured with, and how busy it was."""
    return {
        "python": platform.python_version(),
        "mujoco": mujoco.__version__,
        "numpy": np.__version__,
        "cores": cores(),
        "load": round(os.getloadavg()[0], 2),
    }


def main() -> None:
    """Run the benchmarks and print the table, or JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="more rounds, calmer figures (default 7)")
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")
    options = parser.parse_args()
    about = machine()
    figures = measure(max(1, options.rounds), tell=not options.json)
    if options.json:
        print(json.dumps({"machine": about, "figures": [figure.to_dict() for figure in figures]}))
        return
    print(", ".join(f"{name} {value}" for name, value in about.items()))
    print(table(figures))
    missed = [figure.name for figure in figures if figure.met is False]
    print(f"missed: {', '.join(missed)}" if missed else "all aims met")


if __name__ == "__main__":
    main()
