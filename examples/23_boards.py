"""Generate, verify and run charts on microcontroller boards.

As `posewright board generate`, `posewright board build`, `posewright board flash`,
`posewright board verify` and `posewright run --controller`.
Run: `python examples/23_boards.py [folder]`
"""

import sys
from pathlib import Path

import posewright as pw

out = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
out.mkdir(parents=True, exist_ok=True)
chart = Path(__file__).parent / "charts" / "document" / "obstacle_mealy.chart.yaml"

generated = pw.generate(chart, out / "uno", "arduino-uno")
print(f"{len(generated.written)} files; origin of the first generated lines: {generated.places[0]}")
print(*pw.explain("walking -> turning_left", generated.folder), sep="\n")

try:
    proof = pw.verify(chart, "arduino-uno", steps=10_000)
    print(f"{proof.steps} steps, {proof.mismatches} mismatches")
    if proof.footprint:
        print(f"{proof.footprint.flash_bytes} bytes, {proof.footprint.step_cycles_mean:.0f} cycles a step")
    print(f"{pw.build(generated.folder).image.name} goes onto a board with:")
    print(*pw.flash_command(generated.folder, "/dev/ttyACM0"))

    # An emulated board controls the simulated robot; a real board is "serial:/dev/ttyACM0".
    walk = pw.run_trial("obstacle-race", behaviour="document_mealy", controller="arduino-uno")
    print(walk.board.summary if walk.board else "")
    pw.save_figure(pw.draw_board(walk), out / "states.png")
except pw.PosewrightError as error:  # no compiler or emulator; the message names the package to install
    print(f"only generated: {error}")
