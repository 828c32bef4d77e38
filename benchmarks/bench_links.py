"""Round trips to a robot in another process, through Zenoh and YARP, beside the raw library and socket.

A round trip is one frame of a robot of 18 joints: its commands there, what the joints did and what the body
says back. The raw ones echo as many bytes: a Zenoh query of eclipse-zenoh, and a TCP socket without Nagle's
delay. The body is a mock, so that nothing is counted but the way.

`python -m benchmarks.bench_links SECONDS` prints the table of a simulated robot that is driven in real time.
"""

from __future__ import annotations

import multiprocessing
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from benchmarks.figure import Figure
from posewright.bodies import BodySpec, FaultKind, JointCommands, Plant
from posewright.control import Block, RealClock, Script, drive
from posewright.documents.plain import plain_with_arrays
from posewright.errors import PosewrightError
from posewright.network.remote_plant import RemotePlant
from posewright.network.wire_messages import pack
from posewright.network.wire_records import encode_commands
from posewright.robots import robot
from posewright.runs import make_plant

CARD = robot("robotis_bioloid")
STAND = JointCommands(CARD.pose("stand")[np.newaxis])
WARM, ASKS = 50, 500
PATIENCE_S = 30.0

Percentiles = tuple[float, float]
"""Half, and ninety-nine of a hundred, took no longer [ms]."""


def free_port() -> int:
    """Return a port that nobody has."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@contextmanager
def served(body: str) -> Iterator[dict[str, str]]:
    """Serve the robot in another process; give the address of its body by wire."""
    ports = {"Zenoh": free_port(), "YARP": free_port()}
    zenoh, yarp = f"tcp/127.0.0.1:{ports['Zenoh']}", f"127.0.0.1:{ports['YARP']}"
    command = [sys.executable, "-m", "posewright", "serve", CARD.name, "--json", "--body", body]
    ways = (("--zenoh", "--listen", zenoh), ("--yarp", "--name-server", "--name", "bench", "--listen", yarp))
    nowhere: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    begun = [subprocess.Popen([*command, *way], **nowhere) for way in ways]  # noqa: S603 -- our own program
    try:
        yield {"Zenoh": f"zenoh:{CARD.name}@{zenoh}", "YARP": f"yarp:/bench@{yarp}"}
    finally:
        for one in begun:
            one.send_signal(signal.SIGTERM)
            one.wait()


def plant_at(address: str) -> RemotePlant:
    """Return the robot at an address, once it is there."""
    ends_s = time.monotonic() + PATIENCE_S
    part = BodySpec(CARD.name, CARD, STAND.angles[0], (0.0, 0.0, 0.0))
    while True:
        try:
            plant: Plant = make_plant(address, [part], None)
        except PosewrightError:
            if time.monotonic() > ends_s:
                raise
            time.sleep(0.1)
        else:
            assert isinstance(plant, RemotePlant)
            return plant


def sizes() -> tuple[int, int]:
    """Return how many bytes an ask and its answer have."""
    (body,) = make_plant(
        "mock", [BodySpec(CARD.name, CARD, STAND.angles[0], (0.0, 0.0, 0.0))], None
    ).bodies.values()
    head = {"ask": "advance", "session": "0" * 16, "number": 1000}
    ask = pack({**head, "commands": {CARD.name: encode_commands(STAND)}})
    told = {
        "states": {CARD.name: plain_with_arrays(body.observe())},
        "read": {CARD.name: plain_with_arrays(body.read())},
    }
    return len(ask), len(pack({**head, **told}))


def percentiles(ask: Callable[[], Any]) -> Percentiles:
    """Return how long one of many asks takes [ms]."""
    took = []
    for _ in range(WARM + ASKS):
        began = time.perf_counter()
        ask()
        took.append(time.perf_counter() - began)
    p50, p99 = np.percentile(np.array(took[WARM:]) * 1000.0, (50.0, 99.0))
    return float(p50), float(p99)


def ours(address: str) -> Percentiles:
    """Return how long a frame takes to a served mock and back."""
    plant = plant_at(address)
    (body,) = plant.bodies.values()
    body.open()
    found = percentiles(lambda: plant.advance({CARD.name: STAND}))
    body.close()
    return found


def _echo(zenoh_at: str, socket_port: int, size: int, ready: Any) -> None:
    """Answer raw queries and a raw socket with so many bytes, until the socket is closed."""
    import zenoh

    answer = bytes(size)
    config = zenoh.Config()
    config.insert_json5("scouting/multicast/enabled", "false")
    config.insert_json5("listen/endpoints", f'["{zenoh_at}"]')
    with zenoh.open(config) as session, socket.create_server(("127.0.0.1", socket_port)) as listener:
        session.declare_queryable("echo", lambda query: query.reply("echo", answer))
        ready.set()
        line, _ = listener.accept()
        with line:
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while line.recv(1 << 16):
                line.sendall(answer)


def raw() -> dict[str, Percentiles]:
    """Return how long as many bytes take by the raw library and socket."""
    import zenoh

    ask, answer = sizes()
    zenoh_at, port = f"tcp/127.0.0.1:{free_port()}", free_port()
    context = multiprocessing.get_context("spawn")
    ready = context.Event()
    process = context.Process(target=_echo, args=(zenoh_at, port, answer, ready), daemon=True)
    process.start()
    ready.wait(PATIENCE_S)
    config = zenoh.Config()
    config.insert_json5("mode", '"client"')
    config.insert_json5("connect/endpoints", f'["{zenoh_at}"]')
    request, found = bytes(ask), {}
    with socket.create_connection(("127.0.0.1", port)) as line, zenoh.open(config) as session:
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        found["Zenoh"] = percentiles(lambda: list(session.get("echo", payload=request)))

        def by_socket() -> None:
            line.sendall(request)
            left = answer
            while left > 0:
                left -= len(line.recv(left))

        found["YARP"] = percentiles(by_socket)
    process.join()
    return found


def figures() -> list[Figure]:
    """Return the round trips, and how many times those of the raw ones they are."""
    try:
        beside = raw()
    except ImportError:
        return [Figure("round trips", None, note="needs the extra net")]
    names = {"Zenoh": "raw Zenoh", "YARP": "raw socket"}
    found = []
    with served("mock") as addresses:
        for wire, address in addresses.items():
            (p50, p99), (raw_p50, raw_p99) = ours(address), beside[wire]
            note = f"99 % within {p99:.2f} ms; {names[wire]} {raw_p50:.3f} ms, 99 % {raw_p99:.3f} ms"
            found.append(Figure(f"a frame through {wire}, there and back", p50, "ms", note=note))
            found.append(Figure(f"a frame through {wire} : {names[wire]}", p50 / raw_p50))
    return found


class _Late:
    frames = 0

    def watch(self, block: Block) -> bool:
        """Count the frames that were late."""
        self.frames += sum(fault.kind is FaultKind.LATE for fault in block.states.faults)
        return False


def latency_table(seconds: float) -> str:
    """Return a row for each wire: a simulated robot driven in real time from another process."""
    rows: list[Sequence[str]] = [("wire", "frames", "p50 [ms]", "p99 [ms]", "worst [ms]", "lost", "late")]
    with served("sim") as addresses:
        for wire, address in addresses.items():
            plant, late = plant_at(address), _Late()
            clock = RealClock(time.monotonic, time.sleep)
            drive(plant, {CARD.name: Script([STAND])}, until_s=seconds, watchers=[late], clock=clock)
            told = plant.latencies
            times = (f"{one:.2f}" for one in (told.p50_ms, told.p99_ms, told.worst_ms))
            rows.append((wire, str(told.frames), *times, str(told.lost), str(late.frames)))
    return "\n".join("".join(f"{cell:>12s}" for cell in row) for row in rows)


if __name__ == "__main__":
    print(latency_table(float(sys.argv[1]) if len(sys.argv) > 1 else 10.0))
