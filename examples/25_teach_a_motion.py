"""Calibrate a robot and teach it a motion by hand, on a fake bus.

As `posewright bus calibrate`, `teach` and `monitor`. Run: `python examples/25_teach_a_motion.py [folder]`
"""

import sys
import time
from pathlib import Path

import posewright as pw

out = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
out.mkdir(parents=True, exist_ok=True)
card = pw.robot("robotis_bioloid")

with pw.fake_port(pw.fake_bus(card)) as fake, pw.open_bus(fake.path, robot=card) as bus:
    print(pw.measure_offsets(bus, card, card.pose("stand")) or "every centre is where the card has it")
    wizard = pw.DirectionWizard(
        bus, card, lambda question: question.answers[0], time.sleep
    )  # the first answer: yes
    calibration = wizard.run(["right_elbow"], name="mine")
    pw.write_calibration(calibration, out / "mine.calibration.yaml")
    calibrated = pw.apply_calibration(card, pw.read_calibration(out / "mine.calibration.yaml"))

    with pw.Teacher(bus, calibrated, time.monotonic) as teacher:
        teacher.hold("all")
        teacher.release("right_arm")
        for elbow_rad in (0.3, 1.5, 0.3):
            fake.bus.hold("right_elbow", elbow_rad)  # as a hand would move it
            time.sleep(0.4)
            teacher.catch(seconds=0.5)
        pw.write_motion(teacher.motion("wave"), out / "wave.motion.yaml")
    print(pw.read_motion(out / "wave.motion.yaml"))
    knee = pw.watch_bus(bus, calibrated, 0.0, now=time.monotonic, sleep=time.sleep)[-1][12]
    print(knee.joint, knee.reading, *knee.warnings)
