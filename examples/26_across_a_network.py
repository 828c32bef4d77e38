"""A robot that is served, and driven from elsewhere.

Twin of `posewright serve`, `posewright motion play --body zenoh:NAME` and `gait run --body zenoh:NAME`. Both
ends run in this program; across a room they are two computers.
"""

import tempfile
import threading
import time

import posewright as pw
from posewright.gaits import VelocityCommand
from posewright.network.zenoh.session import SessionConfig
from posewright.network.zenoh.transport import ZenohTransport

aibo, where = pw.robot("sony_ers7"), f"unixsock-stream/{tempfile.mkdtemp()}/aibo"
transport = ZenohTransport(SessionConfig(listen=(where,)), "aibo")


def serve() -> None:
    pw.serve(aibo, {"zenoh": transport}, seconds=8.0, now=time.monotonic, sleep=time.sleep)


serving = threading.Thread(target=serve)
serving.start()
time.sleep(1.0)

body = f"zenoh:aibo@{where}"
nod = pw.read_motion(aibo.folder / "motions" / "nod.motion.yaml")
here, there = pw.play_motion(nod), pw.play_motion(nod, body=body)
print("the same to the last bit:", here.digest() == there.digest())

walk = pw.play_gait(pw.read_gait("trot"), command=VelocityCommand(0.1), seconds=3.0, body=body)
print(f"walked {walk.robot().base[-1, 0]:.2f} m, asked frame by frame through the network")
serving.join()
