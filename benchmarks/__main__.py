"""Run all benchmarks and print their figures; the exit code is always 0."""

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


def measure(rounds: int, *, show_progress: bool) -> list[Figure]:
    """Return all figures; progress is printed to stderr."""
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
    all_figures: list[Figure] = []
    for name, figures in parts.items():
        if show_progress:
            print(f"measuring: {name} ...", file=sys.stderr, flush=True)
        all_figures += figures()
    return all_figures


def machine() -> dict[str, str | int | float]:
    """Return the versions, the number of cores and the load of this machine."""
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
    parser.add_argument(
        "--rounds", type=int, default=7, help="number of rounds; more reduce the noise (default 7)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")
    options = parser.parse_args()
    machine_facts = machine()
    figures = measure(max(1, options.rounds), show_progress=not options.json)
    if options.json:
        print(json.dumps({"machine": machine_facts, "figures": [figure.to_dict() for figure in figures]}))
        return
    print(", ".join(f"{name} {value}" for name, value in machine_facts.items()))
    print(table(figures))
    missed = [figure.name for figure in figures if figure.met is False]
    print(f"missed: {', '.join(missed)}" if missed else "all targets met")


if __name__ == "__main__":
    main()
