"""Two hundred random charts of all features do the same in the interpreter, on this computer and on boards."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from posewright.codegen.c import ChartSubject
from posewright.codegen.proof.source_coverage import *

from .batch import *
from .drawn_charts import drawn_charts

GROUPS = [dict(), dict(floats=True)]


def test_x():
    for g in GROUPS:
        t = time.time()
        cs = drawn_charts(20, 3, **g)
        print(g, "draw", time.time() - t, len(cs))
        b = BatchSubject([ChartSubject(c) for c in cs])
        t = time.time()
        s = b.sources()
        print("gen", time.time() - t)
        with tempfile.TemporaryDirectory() as d:
            t = time.time()
            build_program(s, Path(d), ["-O1"])
            print("gcc", time.time() - t)
            import subprocess

            for cc in (
                ["avr-gcc", "-mmcu=atmega328p", "-Os"],
                ["arm-none-eabi-gcc", "-mcpu=cortex-m3", "-mthumb", "-Os"],
            ):
                t = time.time()
                subprocess.run(
                    [*cc, "-std=c99", "-c", *[x.name for x in s if x.name.endswith(".c")]], cwd=d, check=True
                )
                print(cc[0], time.time() - t)
                print(
                    subprocess.run(
                        "size *.o | awk '{t+=$1;b+=$3} END {print t,b}'",
                        shell=True,
                        cwd=d,
                        capture_output=True,
                        text=True,
                    ).stdout
                )
