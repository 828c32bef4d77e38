"""Serve a robot, and drive it from another program.

As `posewright serve`, `posewright motion play --body zenoh:NAME` and `gait run --body zenoh:NAME`.
"""

import tempfile
import threading
import time

import posewright as pw
from posewright.gaits import VelocityCommand
from posewright.network.zenoh.session import SessionConfig
from posewright.network.zenoh.transport import ZenohTransport

aibo = pw.robot("sony_ers7")
address = f"unixsock-stream/{tempfile.mkdtemp()}/aibo"
transport = ZenohTransport(SessionConfig(listen=(address,)), "aibo")


def serve() -> None:
    pw.serve(aibo, {"zenoh": transport}, seconds=8.0, now=time.monotonic, sleep=time.sleep)


serving = threading.Thread(target=serve)
serving.start()
time.sleep(1.0)

body = f"zenoh:aibo@{address}"
nod = pw.read_motion(aibo.folder / "motions" / "nod.motion.yaml")
local_recording = pw.play_motion(nod)
remote_recording = pw.play_motion(nod, body=body)
print("exactly the same:", local_recording.digest() == remote_recording.digest())

walk = pw.play_gait(pw.read_gait("trot"), command=VelocityCommand(0.1), seconds=3.0, body=body)
print(f"walked {walk.robot().base[-1, 0]:.2f} m, commanded frame by frame over the network")
serving.join()
