"""Find the servos of a robot, read and write their registers, and diagnose the bus.

As `posewright bus scan`, `ping`, `read`, `write`, `set-id`, `set-baud`, `diagnose` and `fake`. It runs
on a fake bus; for a real one, name its port, such as /dev/ttyUSB0.
"""

import time

import posewright as pw

bioloid = pw.robot("robotis_bioloid")

with pw.fake_port(pw.fake_bus(bioloid)) as fake:
    with pw.open_bus(fake.path, robot=bioloid) as bus:
        scan = pw.scan_bus(bus, bioloid, ids=range(1, 20), rates=[1_000_000])
        print(f"{len(scan.servos)} servos, {len(scan.missing)} missing")

        print(bus.ping(13).device, "at ID 13 moves", bus.joints[13])
        bus.write(13, "led", 1)
        print("its LED:", bus.read(13, "led"), " its voltage:", bus.read(13, "present_voltage") / 10, "V")

        print("now it is", pw.set_servo_id(bus, 13, 20).id)
        pw.set_servo_id(bus, 20, 13)
        pw.set_servo_rate(bus, 13, 57_600)
        second_scan = pw.scan_bus(bus, bioloid, ids=[13], rates=[1_000_000, 57_600])
        print(second_scan.servos[0].remark)

    with pw.open_bus(fake.path, baud=57_600, robot=bioloid) as bus:
        pw.set_servo_rate(bus, 13, 1_000_000)

    with pw.open_bus(fake.path, robot=bioloid) as bus:
        diagnosis = pw.diagnose_bus(bus, bioloid, now=time.perf_counter, n=50)
    print("to do:", *diagnosis.advice, sep="\n  ")
