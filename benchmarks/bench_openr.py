"""A minute of all OPEN-R objects at once, on a mock and on the simulated dog; the best run, by CPU time.

MoveHead, MoveLegs, EKMotion and MoNet, with an archive made here, are all told something every ten seconds.
Where they move the same joint the last has it; the messages are the same.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import posewright as pw
from benchmarks.figure import Figure
from posewright.runtimes.openr.programs import PROGRAMS

SECONDS = 60
AIM_S = 3.0


def everything(folder: Path) -> dict[str, object]:
    """Write a CONNECT.CFG of all objects and MONET files into a folder; return arguments of `run_openr`."""
    lines = [line for program in PROGRAMS.values() for line in program.config.lines]
    text = "".join(f"{line}\n" for line in dict.fromkeys(map(str, lines)))
    (folder / "CONNECT.CFG").write_text(text, encoding="utf-8")
    motions = pw.robot("sony_ers7").folder / "motions"
    options = pw.WriteOptions(straighten=True)
    pw.convert_motion(motions / "play_bow.motion.yaml", folder / "bow.mtn", options=options)
    pw.create_archive(folder / "MOTION7.ODA", [folder / "bow.mtn"])
    (folder / "MONETCMD.CFG").write_text("#\n", encoding="ascii")
    (folder / "MONET.CFG").write_text("monetagentNEUTRAL a_nt#sleep_standard 0\n", encoding="ascii")
    archive = folder / "MOTION7.ODA"
    commands = folder / "MONETCMD.CFG"
    pw.add_to_stick(folder / "bow.mtn", (archive, commands), id=60, name="a_any#any_bow")
    return {
        "program": folder / "CONNECT.CFG",
        "monet": [archive, commands, folder / "MONET.CFG"],
        "seconds": float(SECONDS),
        "commands": ", ".join(
            f"{command}@{begin}"
            for begin in range(0, SECONDS, 10)
            for command in ("MOVE_MP", "MOVE_SI", "EKMotion:102", "MoNetExecute(60)")
        ),
    }


def best(rounds: int, **options: object) -> float:
    """Return the shortest CPU time of several runs [s]."""
    times = []
    for _ in range(rounds):
        begin = time.process_time()
        pw.run_openr(**options)  # type: ignore[arg-type]  # keywords of one call
        times.append(time.process_time() - begin)
    return min(times)


def figures(rounds: int) -> list[Figure]:
    """Return the CPU time of a minute of all objects."""
    with tempfile.TemporaryDirectory() as folder:
        options = everything(Path(folder))
        mock = best(rounds, **options, body="mock")
        simulated = best(1, **options)
    return [
        Figure("openr: a minute of all objects on a mock", mock, "s", below=AIM_S),
        Figure(
            "openr: the same on a mock : on the simulated dog", mock / simulated, note=f"{simulated:.2f} s"
        ),
    ]
